// memory_planning: the bytes that max-memory is here, and whether they are enough.

#pragma once

#include "config/config.hpp"
#include "config/problem_list.hpp"

#include <cstdint>
#include <optional>

namespace cleat::app {

/// plan_memory is max-memory in bytes; 0: there is none. An error is a bound above the control
/// group's limit, because the kernel would end the process first; auto without such a limit; and
/// one in a chroot, where the kernel's files cannot be read.
[[nodiscard]] std::uint64_t plan_memory(config const& settings, problem_list& problems);

/// memory_need is how much memory there has to be, beside some room for connections.
struct memory_need
{
    std::uint64_t bytes = 0;
    bool is_present = false; ///< In use now, with connections; else in use without any.
};

/// memory_shortage is an error where `most` bytes are too few. Nothing where `most` is 0, or
/// enough.
[[nodiscard]] std::optional<problem> memory_shortage(
    setting<memory_bound> const& bound, std::uint64_t most, memory_need needed);

} // namespace cleat::app
