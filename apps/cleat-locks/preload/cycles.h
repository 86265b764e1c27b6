/* cycles: threads that wait for each other's locks. */
#ifndef CLEAT_LOCKS_CYCLES_H
#define CLEAT_LOCKS_CYCLES_H

#include "trace_format.h"

#include <pthread.h>
#include <stdint.h>

/* owner_of gives the thread that has a lock, as glibc notes it; 0: unknown, or none. */
static inline int32_t owner_of(void const* lock, uint32_t kind)
{
    if (kind == trace_mutex)
        return ((pthread_mutex_t const*)lock)->__data.__owner;
    if (kind == trace_rwlock)
        return ((pthread_rwlock_t const*)lock)->__data.__cur_writer;
    return 0;
}

/* find_cycle notes in a thread's block whether its wait, which is noted there, closes a cycle. */
void find_cycle(struct trace_thread* block);

#endif
