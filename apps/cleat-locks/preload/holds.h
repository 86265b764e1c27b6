/* holds: how long a lock is held, of a sample of its acquisitions. */
#ifndef CLEAT_LOCKS_HOLDS_H
#define CLEAT_LOCKS_HOLDS_H

#include "compiler.h"
#include "thread_state.h"
#include "trace_format.h"

extern unsigned hold_interval;  /* One of so many acquisitions is timed, at random. */
int random_hold_interval(void); /* Acquisitions until the next one that is timed. */

/* A timed hold begins with the acquisition; end_hold is called before the release. */
void begin_hold(void* lock, enum trace_kind kind, struct trace_site* site);
void end_hold(void* lock);

static inline void before_release(void* lock)
{
    if (UNLIKELY(self.holds != 0))
        end_hold(lock);
}

static ALWAYS_INLINE void maybe_begin_hold(
    void* lock, enum trace_kind kind, struct trace_site* site)
{
    if (kind > trace_spin)
        return; /* Conditions, semaphores and once have no holder. */
    if (UNLIKELY(--self.acquisitions_until_hold <= 0 || self.holds != 0))
        begin_hold(lock, kind, site);
}

#endif
