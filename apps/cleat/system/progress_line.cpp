#include "standard_error.hpp"
#include "system/progress_line.hpp"

#include <unistd.h>

namespace cleat::app {
namespace {

constexpr std::chrono::milliseconds first_after{1000};
constexpr std::chrono::milliseconds again_after{200};

} // namespace

progress_line::progress_line(std::string_view what, std::size_t all) noexcept
    : what_{what}
    , all_{all}
    , is_terminal_{::isatty(STDERR_FILENO) == 1}
    , next_{clock::now() + first_after}
{
}

progress_line::~progress_line()
{
    if (shown_)
        complain("\r\x1b[K"); // The line is of no use afterwards.
}

void progress_line::show(std::size_t done)
{
    if (!is_terminal_)
        return;
    clock::time_point const now = clock::now();
    if (now < next_)
        return;
    complain("\rcleat: {} of {} {}", done, all_, what_);
    shown_ = true;
    next_ = now + again_after;
}

} // namespace cleat::app
