// program: a program that is run to be recorded.

#pragma once

#include "report/trace.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cleat::locks {

/// program_file is the file that a shell would run by this name. Throws std::runtime_error where
/// there is none, or where it is not executable.
[[nodiscard]] std::filesystem::path program_file(std::string const& name);

/// start_program forks and executes. From then on SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1 and
/// SIGUSR2 to this process alone are passed on to it; those of the terminal it gets itself. There
/// is one program at a time. Throws std::runtime_error where it cannot be executed.
[[nodiscard]] pid_t start_program(std::vector<std::string> const& command);

/// wait_for_program waits for its end.
[[nodiscard]] process_end wait_for_program(pid_t program);

/// exit_code is that of a wait status; 128 + N if signal N ended the program.
[[nodiscard]] int exit_code(int wait_status) noexcept;

} // namespace cleat::locks
