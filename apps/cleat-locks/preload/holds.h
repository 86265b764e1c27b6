/* holds: how long a lock is held: of a sample of its acquisitions, and of each that another thread
 * waited for. */
#ifndef CLEAT_LOCKS_HOLDS_H
#define CLEAT_LOCKS_HOLDS_H

#include "compiler.h"
#include "thread_state.h"
#include "trace_format.h"

extern unsigned hold_interval;  /* One in this many acquisitions is timed, at random. */
int random_hold_interval(void); /* Acquisitions until the next one that is timed. */

/* A timed hold begins with the acquisition; end_hold is called before the release. `contention` is
 * the number of the lock's record of waits. */
void begin_hold(void* lock, enum trace_kind kind, struct trace_site* site, unsigned contention);
void end_hold(void* lock);

/* forget_holds is called as a thread leaves its block. */
void forget_holds(void);

static inline void before_release(void* lock)
{
    if (UNLIKELY(self.attention != 0))
        end_hold(lock);
}

static ALWAYS_INLINE void maybe_begin_hold(
    void* lock, enum trace_kind kind, struct trace_site* site, unsigned contention)
{
    if (kind > trace_spin)
        return; /* Conditions, semaphores and once have no holder. */
    if (UNLIKELY(--self.acquisitions_until_hold <= 0 || (self.attention | contention) != 0))
        begin_hold(lock, kind, site, contention);
}

#endif
