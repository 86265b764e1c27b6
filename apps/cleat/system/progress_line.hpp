// progress_line: the progress of a long step of the start, on a terminal.

#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace cleat::app {

/// progress_line rewrites one line of standard error, where that is a terminal and the step takes
/// longer than a second; otherwise it writes nothing.
class progress_line
{
public:
    /// what: "certificates read". It outlives the line.
    progress_line(std::string_view what, std::size_t all) noexcept;
    progress_line(progress_line&&) = delete;

    /// Ends the line, if there is one.
    ~progress_line();

    void show(std::size_t done);

private:
    using clock = std::chrono::steady_clock;

    std::string_view what_;
    std::size_t all_;
    bool is_terminal_;
    bool shown_ = false;
    clock::time_point next_;
};

} // namespace cleat::app
