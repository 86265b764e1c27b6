// landlock_abi: the kernel's interface of Landlock, by number: the C library has no functions for
// it, and the headers of Debian 12 end with ABI 3. From include/uapi/linux/landlock.h of Linux
// 6.18, and landlock(7).

#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/syscall.h>
#include <unistd.h>

namespace cleat::app::landlock {

// Rights below a path. Each of the first 13 is in ABI 1; a comment has the ABI of the others.
inline constexpr std::uint64_t execute = 1U << 0;
inline constexpr std::uint64_t write_file = 1U << 1;
inline constexpr std::uint64_t read_file = 1U << 2;
inline constexpr std::uint64_t read_dir = 1U << 3;
inline constexpr std::uint64_t remove_file = 1U << 5;
inline constexpr std::uint64_t make_reg = 1U << 8;
inline constexpr std::uint64_t make_sock = 1U << 9;
inline constexpr std::uint64_t first_rights = (1U << 13) - 1;
inline constexpr std::uint64_t refer = 1U << 13;     // ABI 2: rename or link into another folder
inline constexpr std::uint64_t truncate = 1U << 14;  // ABI 3
inline constexpr std::uint64_t ioctl_dev = 1U << 15; // ABI 5

// A rule for a file, not a folder, takes these only.
inline constexpr std::uint64_t file_rights =
    execute | write_file | read_file | truncate | ioctl_dev;

// ABI 4, for TCP.
inline constexpr std::uint64_t bind_tcp = 1U << 0;
inline constexpr std::uint64_t connect_tcp = 1U << 1;

// ABI 6: no signal to a process outside. The scope of abstract UNIX sockets is left out: `cleat
// reload` gets its answer on one.
inline constexpr std::uint64_t scope_signal = 1U << 1;

struct ruleset_attr
{
    std::uint64_t handled_access_fs = 0;
    std::uint64_t handled_access_net = 0; // ABI 4
    std::uint64_t scoped = 0;             // ABI 6
};

struct [[gnu::packed]] path_beneath_attr
{
    std::uint64_t allowed_access = 0;
    std::int32_t parent_fd = -1;
};

struct net_port_attr
{
    std::uint64_t allowed_access = 0;
    std::uint64_t port = 0;
};

inline constexpr int rule_path_beneath = 1;
inline constexpr int rule_net_port = 2;

// The same on every architecture, as all calls since Linux 5.1 are.
inline constexpr long create_ruleset_number = 444;
inline constexpr long add_rule_number = 445;
inline constexpr long restrict_self_number = 446;

/// version is the kernel's ABI; -1, with errno: it has no Landlock, or was started without it.
[[nodiscard]] inline int version() noexcept
{
    constexpr unsigned ask_version = 1;
    return static_cast<int>(::syscall(create_ruleset_number, nullptr, 0, ask_version));
}

/// create_ruleset is a descriptor; -1 with errno.
[[nodiscard]] inline int create_ruleset(ruleset_attr const& attr) noexcept
{
    return static_cast<int>(::syscall(create_ruleset_number, &attr, sizeof attr, 0));
}

[[nodiscard]] inline int add_rule(int ruleset, path_beneath_attr const& attr) noexcept
{
    return static_cast<int>(::syscall(add_rule_number, ruleset, rule_path_beneath, &attr, 0));
}

[[nodiscard]] inline int add_rule(int ruleset, net_port_attr const& attr) noexcept
{
    return static_cast<int>(::syscall(add_rule_number, ruleset, rule_net_port, &attr, 0));
}

[[nodiscard]] inline int restrict_self(int ruleset) noexcept
{
    return static_cast<int>(::syscall(restrict_self_number, ruleset, 0));
}

} // namespace cleat::app::landlock
