#include "sandbox/memory.hpp"

#include <cerrno>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace cleat::app {

// RLIMIT_CORE does not count for a core_pattern that is a pipe; PR_SET_DUMPABLE does.
void hide_memory() noexcept
{
    rlimit const none{0, 0};
    static_cast<void>(::setrlimit(RLIMIT_CORE, &none));
    static_cast<void>(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
}

void raise_locking_limit() noexcept
{
    rlimit const all{RLIM_INFINITY, RLIM_INFINITY};
    static_cast<void>(::setrlimit(RLIMIT_MEMLOCK, &all));
}

// Below a limit, allocations would fail once the process has grown to it.
error_code lock_memory() noexcept
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return last_system_error();
    if (limit.rlim_max == RLIM_INFINITY && limit.rlim_cur != RLIM_INFINITY) {
        limit.rlim_cur = RLIM_INFINITY;
        static_cast<void>(::setrlimit(RLIMIT_MEMLOCK, &limit));
    }
    if (limit.rlim_cur != RLIM_INFINITY)
        return make_error_code(boost::system::errc::operation_not_permitted);
    if (::mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0)
        return last_system_error();
    return {};
}

} // namespace cleat::app
