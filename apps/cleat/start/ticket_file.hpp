// ticket_file: whether cleat can rewrite the file of ticket-secret, as ticket-ratchet needs it.

#pragma once

#include "config/config.hpp"
#include "process/process.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// add_ratchet_problems finds out whether cleat can rewrite the file, with the rights of this
/// process. Without ticket-ratchet and a file there is nothing to find. Relative paths begin in
/// `folder`.
void add_ratchet_problems(
    config const& settings, std::string const& folder, std::vector<problem>& problems);

/// check_ticket_file is add_ratchet_problems with the rights of the user that cleat becomes. Call
/// it while the process has one thread.
void check_ticket_file(
    config const& settings, std::optional<identity> const& user, std::vector<problem>& problems);

/// rewrite_ratchets_at_start rewrites the file, so that cleat never serves with what it had before,
/// and throws a start_error where it cannot. Call it with the rights with which cleat serves.
void rewrite_ratchets_at_start(config const& settings, std::string const& folder);

} // namespace cleat::app
