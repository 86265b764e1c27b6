#include "owners.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* This futex operation compares a word with a value before it wakes and moves threads; here it is
 * to wake and move none. It takes a quarter of the time of owner_elsewhere. */
bool is_owner(uint64_t lock, uint32_t kind, int32_t tid)
{
    size_t const offset = owner_offset(kind);
    if (offset == 0)
        return false;
    int const error = errno;
    uint64_t const word = lock + offset;
    long const result = syscall(SYS_futex, word, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0L, word, (long)tid);
    errno = error;
    return result == 0;
}

int32_t owner_elsewhere(uint64_t lock, uint32_t kind)
{
    size_t const offset = owner_offset(kind);
    if (offset == 0)
        return 0;
    int const error = errno;
    int32_t owner = 0;
    struct iovec const to = {&owner, sizeof owner};
    struct iovec const from = {(void*)(uintptr_t)(lock + offset), sizeof owner};
    bool const whole = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof owner;
    errno = error;
    return whole ? owner : 0;
}
