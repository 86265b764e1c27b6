// client_rules_loading: makes the rules for clients' certificates from what the configuration says,
// and from the files that it names.

#pragma once

#include "client_rules/allow_rule.hpp"
#include "config/config.hpp"
#include "config/problem_list.hpp"
#include "config/tls_scope.hpp"
#include "privileged/opener.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cleat::app {

/// client_check is the check of the certificates that clients of a frontend show.
struct client_check
{
    bool has_rules = false; ///< Otherwise every certificate that verifies is good.
    allow_rules rules{{}};
};

/// client_rules_loading reads each file once. A file that cannot be read, or a mistake in it, is an
/// error in `problems`. root_files opens what this process may not. All of them outlive it.
class client_rules_loading
{
public:
    client_rules_loading(config const& settings, problem_list& problems, opener const& root_files)
        : settings_{settings}, problems_{problems}, root_files_{root_files}
    {
    }

    /// find is the check of a scope; null where it asks no client for a certificate. Scopes with
    /// the same rules, written in one place, share it: a frontend and its routes, for example.
    [[nodiscard]] std::shared_ptr<client_check const> find(tls_scope const& scope);

private:
    /// make is a check by the blocks `written` and the rules of the file. `place` is where
    /// the frontend or the route is.
    [[nodiscard]] std::shared_ptr<client_check const> make(
        std::vector<allow_config> const& written, setting<std::string> const& file,
        location const& place);
    [[nodiscard]] std::vector<allow_config> const& read(setting<std::string> const& file);

    config const& settings_;
    problem_list& problems_;
    opener const& root_files_;
    std::map<std::string, std::vector<allow_config>> files_; // By path.
    // By the place of the first block, and the path of the file.
    std::map<std::pair<std::string, std::string>, std::shared_ptr<client_check const>> checks_;
};

} // namespace cleat::app
