// probe: finds out what a TLS server chooses and offers, by many connections to it.

#pragma once

#include "probe/probe_options.hpp"
#include "probe/probe_report.hpp"
#include "text/json.hpp"

#include <string>
#include <vector>

namespace cleat::bench {

/// probe connects to host:port a few dozen times, one connection after the other, and blocks until
/// it is done. A server that cannot be probed is reported in probe_report::error. Throws
/// tls::spec_error for invalid authorities, and std::bad_alloc.
[[nodiscard]] probe_report probe(
    std::string const& host, std::string const& port, probe_options const& options);

/// probe_target parses HOST, HOST:PORT, [V6]:PORT or https://HOST/ (default port 443) and probes
/// it. An invalid text is reported in probe_report::error.
[[nodiscard]] probe_report probe_target(std::string const& text, probe_options const& options);

/// judge is the verdict on what was found: weaknesses first.
[[nodiscard]] std::vector<probed_finding> judge(probe_report const& report);

/// to_text is the report on one server, in several lines.
[[nodiscard]] std::string to_text(probe_report const& report);

/// to_line is the report on one of many servers: one line, with its newline.
[[nodiscard]] std::string to_line(probe_report const& report);

[[nodiscard]] json::object to_json(probe_report const& report);

} // namespace cleat::bench
