// memory_gauge: how much memory counts for max-memory.

#pragma once

#include <cstdint>
#include <functional>

namespace cleat::app {

/// memory_gauge returns a reader of that number, in bytes; it gives 0 where nothing can be read,
/// and errno says why. It is the number of the control group where that has a limit, as
/// memory_in_use has it. Otherwise it is the memory of this process, without the kernel's:
/// resident_memory. The group is looked for once. Throws std::bad_alloc, as the reader does.
[[nodiscard]] std::function<std::uint64_t()> memory_gauge();

} // namespace cleat::app
