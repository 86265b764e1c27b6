// test_command: `cleat -t` says what a start would, and what clients would find wrong.

#pragma once

#include "command_line/command.hpp"

namespace cleat::app {

/// test_configuration writes the problems of a start, and the warnings of `cleat check` that a
/// start does not have. It returns the exit code: warnings do not change it.
[[nodiscard]] int test_configuration(check_only const& request);

} // namespace cleat::app
