// sandbox_facts: the restrictions that this process has put on itself.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::app {

/// sandbox_facts is for the log, the status page and the metric.
struct sandbox_facts
{
    int landlock_abi = 0;          ///< 0: Landlock is not in force.
    std::string landlock_fault{};  ///< Why not, where it was wanted.
    bool landlock_refused = false; ///< The kernel has it, and did not give it.
    bool ports = false;            ///< TCP only at the ports of the start.
    bool seccomp = false;
    bool no_new_privs = false;
    bool core_dumps = true; ///< A core dump, and a debugger of the same user, can read the memory.
    bool memory_locked = false;

    /// fields is a name and a value for each.
    [[nodiscard]] std::vector<std::pair<std::string_view, std::string>> fields() const
    {
        auto const word = [](bool yes) { return std::string{yes ? "yes" : "no"}; };
        std::string const landlock = landlock_abi == 0 ? "no" : std::to_string(landlock_abi);
        return {{"landlock", landlock},           {"ports", word(ports)},
                {"seccomp", word(seccomp)},       {"no_new_privs", word(no_new_privs)},
                {"core_dumps", word(core_dumps)}, {"memory_locked", word(memory_locked)}};
    }
};

} // namespace cleat::app
