// landlock: takes rights to files and TCP ports from this thread and all that it starts, for good
// (landlock(7)).

#pragma once

#include "sandbox/rules.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cleat::app {

/// granted_places are the files and folders that rules give rights to. As in the kernel, a folder
/// that was replaced by another of the same name is none of them.
class granted_places
{
public:
    void add(dev_t device, ino_t inode, std::uint64_t rights);

    /// allow: everything of `rights` is given at this path, or at the folder where it would be.
    /// Links are followed.
    [[nodiscard]] bool allow(std::string const& path, std::uint64_t rights) const;

private:
    struct place
    {
        dev_t device = 0;
        ino_t inode = 0;
        std::uint64_t rights = 0;
    };

    [[nodiscard]] std::uint64_t rights_at(std::string const& path) const noexcept;

    std::vector<place> places_;
};

/// landlocked is the result of enter_landlock.
struct landlocked
{
    int abi = 0;        ///< 0: nothing is in force.
    error_code fault{}; ///< Why not.
    granted_places places{};
    /// /proc/self: procfs makes another inode for it, without the rule, once nobody has it open.
    unique_fd own_facts{};
};

/// landlock_abi is what the kernel offers.
[[nodiscard]] result<int> landlock_abi() noexcept;

/// enter_landlock restricts the calling thread, which needs PR_SET_NO_NEW_PRIVS or CAP_SYS_ADMIN.
/// Paths that are missing, or that this process cannot reach, are left out. Executing a program,
/// making other files than the rules say, and a signal to a process outside are forbidden too, as
/// far as the kernel knows how.
[[nodiscard]] landlocked enter_landlock(sandbox_rules const& rules);

} // namespace cleat::app
