/* holds: how long a lock is held, of a sample of its acquisitions. */
#ifndef CLEAT_LOCKS_HOLDS_H
#define CLEAT_LOCKS_HOLDS_H

#include "compiler.h"
#include "thread_state.h"
#include "trace_format.h"

extern unsigned hold_part; /* One of so many acquisitions is timed, at random. */
int next_hold(void);       /* How many there are until then. */

/* A hold that is to be timed begins with the acquisition; hold_ended is called before the release.
 */
void hold_begins(void* lock, enum trace_kind kind, struct trace_site* site);
void hold_ended(void* lock);

static inline void before_release(void* lock)
{
    if (UNLIKELY(self.holds != 0))
        hold_ended(lock);
}

static ALWAYS_INLINE void hold_may_begin(void* lock, enum trace_kind kind, struct trace_site* site)
{
    if (kind > trace_spin)
        return; /* Who ends a wait of another kind is nobody's holder. */
    if (UNLIKELY(--self.until_hold <= 0 || self.holds != 0))
        hold_begins(lock, kind, site);
}

#endif
