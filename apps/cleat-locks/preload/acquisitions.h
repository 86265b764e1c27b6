/* acquisitions: records a thread's acquisition of a lock, from the attempt to its outcome. */
#ifndef CLEAT_LOCKS_ACQUISITIONS_H
#define CLEAT_LOCKS_ACQUISITIONS_H

#include "compiler.h"
#include "holds.h"
#include "thread_state.h"
#include "trace_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* attempt: an acquisition before the lock is tried. Site and stack are taken first, because
 * afterwards this thread may have the lock, and other threads may wait for it. */
struct attempt
{
    struct trace_site* site; /* NULL: it is not recorded */
    uint64_t lock;           /* what is known of the lock: number of its record of waits (0: nobody
                                has waited for it), and bits of enum attempt_bits */
};

enum attempt_bits
{
    attempt_shared = 1 << 16, /* another thread has touched the lock */
    attempt_nested = 1 << 17  /* not recorded: made in a signal handler inside the recorder */
};

static inline unsigned attempt_contention(struct attempt attempt)
{
    return (uint16_t)attempt.lock;
}

struct attempt begin_attempt(void* lock, enum trace_kind kind, enum trace_how how, void* return_to);

/* begin_wait notes in the trace that the calling thread is about to wait, and gives the time: a
 * wait that never ends has no other record. */
uint64_t begin_wait(struct attempt attempt, void* lock, enum trace_kind kind);

/* One of these three notes the outcome: acquired at once, acquired after a wait that began then, or
 * failed, after a wait or without one (0). */
static ALWAYS_INLINE void note_acquired(struct attempt attempt, void* lock, enum trace_kind kind);
void note_waited(struct attempt attempt, void* lock, enum trace_kind kind, uint64_t began_ns);
void note_failed(struct attempt attempt, void* lock, enum trace_kind kind, uint64_t began_ns);

/* note_reacquired notes that a mutex was taken again as a wait for a condition ended. */
void note_reacquired(void* mutex, void* return_to);

/* For note_acquired below. */
void note_nested(struct attempt attempt);
void add_to_stack(struct trace_site* site, unsigned times, bool contended, uint64_t wait_ns);

/* Short, because the caller holds the lock by now. */
static ALWAYS_INLINE void note_acquired(struct attempt attempt, void* lock, enum trace_kind kind)
{
    if (UNLIKELY(!attempt.site)) {
        note_nested(attempt);
        return;
    }
    ++attempt.site->acquisitions;
    if (attempt.lock & attempt_shared)
        ++attempt.site->shared;
    if (UNLIKELY(self.last_stack != NULL))
        add_to_stack(attempt.site, 1, false, 0);
    maybe_begin_hold(lock, kind, attempt.site, attempt_contention(attempt));
}

#endif
