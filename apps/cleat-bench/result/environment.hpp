// environment: a description of the machine of a measurement. Figures cannot be compared without
// it.

#pragma once

#include "result/result.hpp"

#include <string>
#include <vector>

namespace cleat::bench {

/// program_version is the line of `cleat-bench --version`: the program's version and its TLS
/// library's.
[[nodiscard]] std::string program_version();

/// describe_environment names this program, its TLS library, and this machine: processor, cores
/// that may be used, kernel, memory, load, limits.
[[nodiscard]] std::vector<fact> describe_environment();

/// ephemeral_ports is how many ports the kernel has for connections from one address to one server.
[[nodiscard]] std::size_t ephemeral_ports() noexcept;

} // namespace cleat::bench
