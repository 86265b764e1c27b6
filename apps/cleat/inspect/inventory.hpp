// inventory: every certificate that the settings name, with its findings.

#pragma once

#include "config/config.hpp"
#include "inspect/findings.hpp"

#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/certificates/key_type.hpp>
#include <cleat/tls/store/certificate_scan.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cleat::app {

struct inspected_certificate
{
    tls::certificate_paths paths;
    location where{};       ///< Where a setting names it.
    std::string_view key{}; ///< That setting.
    std::optional<tls::certificate_description>
        facts;                           ///< Empty: the file cannot be read or decoded.
    std::vector<std::size_t> frontends;  ///< In which it serves.
    std::vector<std::size_t> default_in; ///< Where clients without a known SNI get it.
    std::vector<finding> findings;       ///< The worst first.

    [[nodiscard]] bool has(finding_grade grade) const noexcept
    {
        return !findings.empty() && findings.front().grade <= grade;
    }
};

struct inventory
{
    std::vector<inspected_certificate> certificates; ///< As the settings name them.
    std::vector<std::string> frontends;              ///< Their addresses.
};

/// inspected_file is what is known of a certificate's files.
struct inspected_file
{
    std::optional<tls::certificate_description> facts;
    std::string error;                 ///< Empty: it can be served.
    std::optional<tls::key_type> type; ///< Empty: it cannot.
};
[[nodiscard]] inspected_file inspected(tls::scanned_certificate const& found);

/// inspected_files are by certificate_store::origin.
using inspected_files = std::unordered_map<std::string, inspected_file>;

/// take_inventory reads every certificate that is not known, with all CPUs. A file that cannot be
/// read is a finding. It does not report a pem-dir that cannot be read: load does.
[[nodiscard]] inventory take_inventory(
    config const& settings, inspected_files const& known, std::chrono::sys_seconds now);

/// examine_certificates is the certificates of take_inventory without where they serve, and without
/// findings about that: it makes no index of names.
[[nodiscard]] std::vector<inspected_certificate> examine_certificates(
    config const& settings, inspected_files const& known, std::chrono::sys_seconds now);

} // namespace cleat::app
