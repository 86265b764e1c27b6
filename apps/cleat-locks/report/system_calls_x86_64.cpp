#include "report/off_cpu.hpp"

#include <sys/syscall.h>

namespace cleat::locks {

std::string_view old_call_name(std::int64_t call) noexcept
{
    switch (call) {
    case SYS_epoll_wait:
        return "epoll_wait";
    case SYS_poll:
        return "poll";
    case SYS_select:
        return "select";
    case SYS_pause:
        return "a signal";
    case SYS_open:
        return "open";
    default:
        return {};
    }
}

} // namespace cleat::locks
