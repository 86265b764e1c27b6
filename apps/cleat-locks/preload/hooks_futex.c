/* A wrapper of syscall(): programs that wait in a futex of their own call it by that, as Rust's
 * standard library, MariaDB and std::atomic::wait do. Programs that have the kernel's instruction
 * themselves (Go) are not seen here.
 */
#include "acquisitions.h"
#include "next.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long arguments[6];

static bool waits_in_futex(long number, long const* argument)
{
    if (number != SYS_futex)
        return false;
    long const operation = argument[1] & FUTEX_CMD_MASK;
    return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
           operation == FUTEX_LOCK_PI || operation == FUTEX_WAIT_REQUEUE_PI;
}

static long call(long number, long const* argument)
{
    NEXT(syscall);
    return next_syscall(
        number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

EXPORTED long syscall(long number, ...)
{
    arguments argument;
    va_list given;
    va_start(given, number);
    for (int i = 0; i < 6; ++i) /* As libc does: those that were not given are not used. */
        argument[i] = va_arg(given, long);
    va_end(given);
    if (!waits_in_futex(number, argument))
        return call(number, argument);
    int const before = errno;
    void* const futex = (void*)argument[0];
    struct attempt const attempt = begin_attempt(futex, trace_futex, trace_exclusive, CALLER);
    uint64_t const began = begin_wait(attempt, futex, trace_futex);
    errno = before;
    long const result = call(number, argument);
    int const error = errno;
    if (result == 0)
        note_waited(attempt, futex, trace_futex, began);
    else
        note_failed(attempt, futex, trace_futex, began);
    errno = error;
    return result;
}
