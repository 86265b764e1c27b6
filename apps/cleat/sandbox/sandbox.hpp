// sandbox: the rights that cleat gives up once it serves, so that an attacker in it has fewer
// (docs/decisions/sandbox.md).

#pragma once

#include "config/config.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/sandbox_facts.hpp"
#include "watch/watched_files.hpp"

#include <string>
#include <vector>

namespace cleat::app {

/// sandbox is the restrictions that are in force. A default-made one has none.
class sandbox
{
public:
    sandbox() = default;

    /// enter restricts the calling thread and those that it starts: call it when the process has
    /// its user, and before it serves. A limit that the settings ask for by name, and that the
    /// kernel does not have, is a problem. For `named` and `folder` see rules_for.
    [[nodiscard]] static sandbox enter(
        config const& settings, watched_files const& named, std::string const& folder,
        std::vector<problem>& problems);

    [[nodiscard]] sandbox_facts const& facts() const noexcept { return facts_; }

    /// denies: the sandbox denies this process a path that its user may reach.
    [[nodiscard]] bool denies_reading(std::string const& path) const;
    [[nodiscard]] bool denies_logging(std::string const& path) const;

    /// explain adds a problem for each path and port of the settings that the sandbox denies.
    /// `named` is as for enter.
    void explain(
        config const& wanted, watched_files const& named, std::vector<problem>& problems) const;

    /// refuse_upstream adds a problem where no connection to the settings' upstream can be made.
    void refuse_upstream(config const& wanted, std::vector<problem>& problems) const;

private:
    [[nodiscard]] bool denies(std::string const& path, std::uint64_t rights) const;

    sandbox_facts facts_;
    landlocked landlock_;
    sandbox_rules rules_;
};

/// start_memory_protection does the part that comes before a key is read, and
/// finish_memory_protection the rest, once the process has its user. The problem: memory cannot be
/// locked.
void start_memory_protection(config const& settings) noexcept;
void finish_memory_protection(config const& settings, std::vector<problem>& problems);

/// check_sandbox adds a problem where the settings ask for Landlock by name, and the kernel does
/// not have it.
void check_sandbox(config const& settings, std::vector<problem>& problems);

/// check_sandbox_folders warns of a sandbox-read or sandbox-write that gives no right, because
/// there is no such folder at the start.
void check_sandbox_folders(config const& settings, std::vector<problem>& problems);

/// offered_limits is what the kernel has, and whether a seccomp filter holds for this process, as a
/// container's does: for `cleat --version`.
[[nodiscard]] std::string offered_limits();

} // namespace cleat::app
