// admission_loading: makes the address lists of frontends from what the configuration says, and
// from the files that it names.

#pragma once

#include "admission/admission.hpp"
#include "config/config.hpp"
#include "config/problem_list.hpp"
#include "privileged/opener.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::app {

/// admission_loading reads each file once. A file that cannot be read, or a line of it that is no
/// prefix, is an error in `problems`. root_files opens what this process may not. All of them
/// outlive it.
class admission_loading
{
public:
    admission_loading(config const& settings, problem_list& problems, opener const& root_files)
        : settings_{settings}, problems_{problems}, root_files_{root_files}
    {
    }

    /// find is the admission of a frontend; null where it has no list. Lists that are written alike
    /// are shared.
    [[nodiscard]] std::shared_ptr<admission const> find(frontend_config const& frontend);

private:
    [[nodiscard]] std::shared_ptr<address_list const> list(
        std::string_view key, setting<address_sources> const& written);
    void read_file(
        std::string_view key, location const& where, std::string const& path, prefixes& networks);

    config const& settings_;
    problem_list& problems_;
    opener const& root_files_;
    std::map<std::string, std::shared_ptr<address_list const>> lists_; // By their text.
};

} // namespace cleat::app
