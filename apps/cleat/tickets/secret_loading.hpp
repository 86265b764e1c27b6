// secret_loading: the ticket secrets of a configuration.

#pragma once

#include "config/config.hpp"
#include "config/problem_list.hpp"
#include "privileged/opener.hpp"

#include <cleat/tls/context_spec.hpp>

#include <memory>
#include <vector>

namespace cleat::app {

/// planned_secrets is what the keys of session tickets are derived from; the first seals.
struct planned_secrets
{
    std::vector<std::shared_ptr<tls::ticket_secret const>> all; ///< Empty: a mistake was reported.
    bool is_random = false; ///< No file has them: they end with the process.
};

/// load_ticket_secrets reads the file of ticket-secret, and reports what is wrong with it. Without
/// a file the secret is random, and stays the one of the configuration before, if that had one.
/// Secrets that are in `before` keep their memory: contexts that have them need not be made again.
/// root_files opens a file that this process may not open.
[[nodiscard]] planned_secrets load_ticket_secrets(
    config const& settings, planned_secrets const* before, problem_list& problems,
    opener const& root_files);

} // namespace cleat::app
