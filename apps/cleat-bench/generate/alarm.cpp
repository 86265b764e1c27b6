#include "generate/alarm.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <sys/timerfd.h>

namespace cleat::bench {

alarm::alarm(net::worker& worker)
{
    unique_fd fd{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
    if (!fd)
        throw std::system_error{errno, std::system_category(), "timerfd_create"};
    entry_.reset(new net::readiness::entry{worker.readiness(), std::move(fd)});
}

void alarm::set(moment due) noexcept
{
    // steady_clock is CLOCK_MONOTONIC. Zero would disarm the timer; a moment that has passed makes
    // it expire at once.
    auto const since = std::max<std::int64_t>(due.time_since_epoch().count(), 1);
    itimerspec const when{
        .it_interval = {},
        .it_value = {.tv_sec = since / 1'000'000'000, .tv_nsec = since % 1'000'000'000}};
    entry_->use_up_read();
    static_cast<void>(::timerfd_settime(entry_->fd(), TFD_TIMER_ABSTIME, &when, nullptr));
}

} // namespace cleat::bench
