/* owners: which thread has a lock, as glibc notes it in the lock. */
#ifndef CLEAT_LOCKS_OWNERS_H
#define CLEAT_LOCKS_OWNERS_H

#include "trace_format.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* owner_offset is where a lock has its owner; 0: it has none. */
static inline size_t owner_offset(uint32_t kind)
{
    if (kind == trace_mutex)
        return offsetof(pthread_mutex_t, __data.__owner);
    if (kind == trace_rwlock)
        return offsetof(pthread_rwlock_t, __data.__cur_writer);
    return 0;
}

/* owner_of gives the owner of a lock that the caller uses now; 0: unknown, or none. */
static inline int32_t owner_of(void const* lock, uint32_t kind)
{
    size_t const offset = owner_offset(kind);
    return offset != 0 ? *(int32_t const volatile*)((char const*)lock + offset) : 0;
}

/* The next two are for a lock that the program may have unmapped, or unmaps at this moment. The
 * kernel reads the owner: a check before a read of our own could be outdated as we read. */

/* is_owner says whether a thread has a lock. */
bool is_owner(uint64_t lock, uint32_t kind, int32_t tid);

/* owner_elsewhere gives the owner of another thread's lock; 0: unknown, or none. */
int32_t owner_elsewhere(uint64_t lock, uint32_t kind);

#endif
