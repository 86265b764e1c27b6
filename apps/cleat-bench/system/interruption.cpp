#include "system/interruption.hpp"

#include <ctime>
#include <initializer_list>

namespace cleat::bench {

interruption::interruption() noexcept
{
    ::sigemptyset(&held_);
    for (int const signal : {SIGINT, SIGTERM, SIGHUP})
        ::sigaddset(&held_, signal);
    ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

interruption::~interruption()
{
    static_cast<void>(asked()); // Takes a signal that is pending: it has had its effect.
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool interruption::asked() noexcept
{
    timespec const at_once{};
    while (::sigtimedwait(&held_, nullptr, &at_once) > 0)
        asked_ = true;
    return asked_;
}

} // namespace cleat::bench
