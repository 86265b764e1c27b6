// secret_loading: the ticket secrets of a configuration.

#pragma once

#include "config/config.hpp"
#include "config/problem_list.hpp"
#include "privileged/opener.hpp"

#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/ticket_ratchet.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace cleat::app {

/// planned_secrets is what the keys of session tickets are derived from; the first seals.
struct planned_secrets
{
    std::vector<std::shared_ptr<tls::ticket_secret const>> all; ///< Empty: a mistake was reported.
    bool is_random = false; ///< No file has them: they end with the process.
    /// Instead, with ticket-ratchet. The main thread moves them on at the end of an epoch, while no
    /// reload reads them. All else of a snapshot stays as it is.
    std::vector<std::shared_ptr<tls::ticket_ratchet>> ratchets{};
    std::chrono::seconds rotation{}; ///< The length of an epoch of the ratchets.

    [[nodiscard]] bool empty() const noexcept { return all.empty() && ratchets.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return all.size() + ratchets.size(); }
};

/// load_ticket_secrets reads the file of ticket-secret, and reports what is wrong with it. Without
/// a file the secret is random, and stays the one of the configuration before, if that had one; a
/// ratchet only with the same ticket-epoch, and where it can move on to the present one.
/// Secrets that are in `before` keep their memory: contexts that have them need not be made again.
/// root_files opens a file that this process may not open; not one with states of ratchets, which
/// this process has to write. Ratchets have moved on to the oldest epoch that opens tickets.
[[nodiscard]] planned_secrets load_ticket_secrets(
    config const& settings, planned_secrets const* before, problem_list& problems,
    opener const& root_files);

} // namespace cleat::app
