// process_numbers: numbers that the kernel has about this process.

#pragma once

#include <cstdint>
#include <optional>

namespace cleat::app {

/// process_numbers are those of one moment. A number that the kernel does not tell is unset.
struct process_numbers
{
    double cpu_seconds = 0;
    std::optional<std::uint64_t> resident_bytes;
    std::optional<std::uint64_t> virtual_bytes;
    std::optional<std::uint64_t> open_fds;
    std::uint64_t max_fds = 0;
};

/// read_process_numbers reads them from /proc.
[[nodiscard]] process_numbers read_process_numbers();

} // namespace cleat::app
