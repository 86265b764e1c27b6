// start: the steps of main that can fail, each with a message that says what to do.

#pragma once

#include "log/log.hpp"
#include "log/log_sink.hpp"
#include "process.hpp"
#include "snapshot.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// report prints problems to stderr, a line each. False when one of them is an error.
bool report(std::vector<problem> const& problems);

/// start_error ends a start, with what to tell the operator.
struct start_error
{
    problem why;
};

// What follows throws start_error.

[[nodiscard]] background enter_background(config const& settings);
[[nodiscard]] std::unique_ptr<log_sink> open_log(
    config const& settings, std::optional<identity> const& who);
[[nodiscard]] log_level log_level_for(config const& settings) noexcept;
[[nodiscard]] pid_file write_pid_file(config const& settings);
void drop_privileges(config const& settings, std::optional<identity> const& who);

/// foresee_files appends what write_pid_file and open_log would throw about files, as far as that
/// is seen without making or changing one. The cleat that is checked for may be running.
void foresee_files(config const& settings, std::vector<problem>& problems);

/// tell_start logs what serves where.
void tell_start(logger const& log, std::vector<std::string> const& addresses, snapshot const& use);

} // namespace cleat::app
