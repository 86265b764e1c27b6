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
/// `folder`. `running` is the configuration that serves. Where it has the ratchet of the same file,
/// it is a warning that the file cannot be replaced: a refusal would keep other changes out, and
/// the running configuration needs the file as much. It is an error all the same where every user
/// may replace the file, whose states a reload takes.
void add_ratchet_problems(
    config const& settings, std::string const& folder, config const& running,
    std::vector<problem>& problems);

/// check_ticket_file finds out the same before the start, with the rights of the user that cleat
/// becomes. Each finding is an error. Call it while the process has one thread.
void check_ticket_file(
    config const& settings, std::optional<identity> const& user, std::vector<problem>& problems);

/// rewrite_ratchets_at_start rewrites the file, so that cleat never serves with what it had before,
/// and throws a start_error where it cannot. Call it with the rights with which cleat serves.
void rewrite_ratchets_at_start(config const& settings, std::string const& folder);

} // namespace cleat::app
