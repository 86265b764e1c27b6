// admin_facts: what the main thread tells the admin server about the process.

#pragma once

#include "log/log_sink.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cleat::app {

/// reload_counts is how reloads have ended.
struct reload_counts
{
    std::uint64_t done = 0;
    std::uint64_t refused = 0;
    bool last_was_done = true; ///< Before the first one, too.
    /// When the present configuration was put into service: at the start, or by a reload.
    std::chrono::system_clock::time_point last_done{};
};

/// certificate_counts is about the certificates of the present configuration.
struct certificate_counts
{
    std::size_t all = 0;
    std::size_t expired = 0;
    std::size_t expiring = 0; ///< Within expires_soon, without the expired ones.
    std::optional<std::chrono::sys_seconds> soonest_end{}; ///< Of all, the expired ones included.
};

/// admin_facts is never changed once it is published.
struct admin_facts
{
    std::string version;
    std::string tls_library;
    std::string pid;
    std::chrono::system_clock::time_point started{};
    std::vector<std::string> frontends; ///< The addresses that the workers listen on.
    std::vector<std::pair<std::string, std::string>> settings; ///< Key and value, as in a file.
    std::size_t configurations = 0; ///< In use: the present one, and those of older connections.
    certificate_counts certificates;
    reload_counts reloads;
    std::optional<std::chrono::seconds> ticket_rotation; ///< Unset: no tickets.
    std::shared_ptr<log_sink const> log;
    std::uint64_t lines_lost_before = 0; ///< By logs before this one.
};

} // namespace cleat::app
