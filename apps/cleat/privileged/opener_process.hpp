// opener_process: the process that opens root's files, from its beginning to its end.

#pragma once

#include <cleat/core/unique_fd.hpp>

#include <array>
#include <cstddef>
#include <string>

namespace cleat::app {

struct serve;

/// opener_channels_max: the number of threads that can ask at once; another one waits until one of
/// them has its answer. The opener serves one at a time.
inline constexpr std::size_t opener_channels_max = 4;

/// opener_channels is one end of each connection between cleat and the opener.
using opener_channels = std::array<unique_fd, opener_channels_max>;

/// run_opener is called in a process that has just been forked. It sends one message on the first
/// channel: an answer without an error when it is confined, or why it cannot be. Then it serves
/// requests until cleat has closed a channel, also by ending.
[[noreturn]] void run_opener(
    opener_channels channels, serve const& start, std::string const& folder) noexcept;

} // namespace cleat::app
