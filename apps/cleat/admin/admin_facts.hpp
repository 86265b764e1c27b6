// admin_facts: what the main thread tells the admin server about the process.

#pragma once

#include "access/access_log.hpp"
#include "certificates/expiry_stage.hpp"
#include "config/config.hpp"
#include "health/upstream_states.hpp"
#include "liveness/worker_watch.hpp"
#include "log/log_sink.hpp"
#include "memory/memory_counts.hpp"
#include "resolver/dns_counts.hpp"
#include "sandbox/sandbox_facts.hpp"
#include "tickets/ticket_file_counts.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cleat::app {

/// refused_reload is why the present configuration is not the newest one.
struct refused_reload
{
    std::chrono::system_clock::time_point when{};
    std::vector<problem> problems{}; ///< The gravest ones: at most limits::admin_problems_max.
    std::size_t problem_count = 0;   ///< All of them.
};

/// reload_counts is how reloads have ended.
struct reload_counts
{
    std::uint64_t done = 0;
    std::uint64_t refused = 0;
    bool last_was_done = true; ///< Before the first one, too.
    /// When the present configuration was put into service: at the start, or by a reload.
    std::chrono::system_clock::time_point last_done{};
    /// Of the last reload; null where it was done.
    std::shared_ptr<refused_reload const> refusal{};
};

/// soon_certificate is one of the certificates that end first.
struct soon_certificate
{
    std::string origin;               ///< As the log names it: "site.pem".
    std::vector<std::string> names{}; ///< The first few.
    std::size_t name_count = 0;       ///< All of them.
    std::chrono::sys_seconds end{};
    expiry_stage stage = expiry_stage::far;
};

/// days_left_bounds divide certificates by the days that are left: up to each bound, and more than
/// the last.
inline constexpr std::array<int, 5> days_left_bounds{0, 1, 7, 30, 90};

/// certificate_counts is about the certificates of the present configuration.
struct certificate_counts
{
    std::chrono::system_clock::time_point when{}; ///< They were counted then.
    std::size_t all = 0;
    std::array<std::size_t, expiry_stage_count> by_stage{};
    std::size_t at(expiry_stage stage) const noexcept
    {
        return by_stage[static_cast<std::size_t>(stage)];
    }

    std::optional<std::chrono::sys_seconds> soonest_end{}; ///< Of all, the expired ones included.
    std::array<std::size_t, days_left_bounds.size() + 1> by_days_left{};
    /// First ones first: at most limits::admin_soonest_max, or certificate-metrics where that is
    /// more.
    std::vector<soon_certificate> soonest{};
    std::size_t with_metric = 0; ///< So many of these have a metric of their own.
};

/// admin_facts is never changed once it is published.
struct admin_facts
{
    std::string version;
    std::string tls_library;
    std::string pid;
    sandbox_facts sandbox;
    std::chrono::system_clock::time_point started{};
    std::vector<std::string> frontends; ///< The addresses that the workers listen on.
    std::vector<known_upstream> upstreams;
    std::vector<std::pair<std::string, std::string>> settings; ///< Key and value, as in a file.
    std::vector<std::string> changed_keys; ///< Of the settings: those that differ from the default.
    std::string configuration_file;        ///< Empty: there is none, only flags.
    std::shared_ptr<std::string const> configuration_text{}; ///< As it was read; null: likewise.
    std::size_t configurations = 0; ///< In use: the present one, and those of older connections.
    certificate_counts certificates;
    std::optional<std::chrono::sys_seconds> soonest_crl_end{}; ///< The first nextUpdate.
    reload_counts reloads;
    std::optional<std::chrono::seconds> ticket_rotation; ///< Unset: no tickets.
    std::size_t ticket_secrets = 0;                      ///< How many open tickets.
    /// Null: no file with the states of ratchets is rewritten.
    std::shared_ptr<ticket_file_counts const> ticket_file{};
    std::shared_ptr<log_sink const> log;
    int log_level = 0; ///< In force: the configuration's, or the one that a command has set.
    std::uint64_t lines_lost_before = 0;      ///< By logs before this one.
    std::shared_ptr<access_log const> access; ///< Null: there is none.
    /// By access logs before this one; null: there was none.
    std::shared_ptr<std::atomic<std::uint64_t> const> access_lines_lost_before{};
    std::shared_ptr<dns_counts const> names{};     ///< Null: no name was looked up again.
    std::shared_ptr<hold_counts const> holds{};    ///< Null: workers are not watched.
    std::shared_ptr<memory_counts const> memory{}; ///< Null, or a limit of 0: without max-memory.
};

} // namespace cleat::app
