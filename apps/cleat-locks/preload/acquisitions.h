/* acquisitions: what was done with a lock, from the attempt to its outcome. */
#ifndef CLEAT_LOCKS_ACQUISITIONS_H
#define CLEAT_LOCKS_ACQUISITIONS_H

#include "compiler.h"
#include "holds.h"
#include "thread_state.h"
#include "trace_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of an acquisition before it is tried. What has to be looked for is found then, and
 * a stack is taken then: later, others may be waiting for who has the lock. */
struct attempt
{
    struct trace_site* site; /* NULL: it is not recorded, */
    bool nested;             /* because a signal handler asked that interrupted the recorder */
    bool shared;             /* another thread has touched the lock */
};

struct attempt begin_attempt(void* lock, enum trace_kind kind, enum trace_how how, void* return_to);

/* begin_wait is told that the calling thread is about to wait, and says when that was: a wait that
 * does not end is told of by nobody else. */
uint64_t begin_wait(struct attempt attempt);

/* One of these three tells what became of it: had at once, had after a wait, or not had, after a
 * wait or without one (0). */
static ALWAYS_INLINE void note_acquired(struct attempt attempt, void* lock, enum trace_kind kind);
void note_waited(struct attempt attempt, void* lock, enum trace_kind kind, uint64_t wait_ns);
void note_failed(struct attempt attempt, uint64_t wait_ns);
void note_reacquired(
    void* mutex, void* return_to); /* Taken again as a wait for a condition ended. */

void note_nested(struct attempt attempt); /* Of locks.c, for what is below. */
void add_to_stack(struct trace_site* site, unsigned times, bool contended, uint64_t wait_ns);

/* The caller has the lock by now: as little as can be. */
static ALWAYS_INLINE void note_acquired(struct attempt attempt, void* lock, enum trace_kind kind)
{
    if (UNLIKELY(!attempt.site)) {
        note_nested(attempt);
        return;
    }
    ++attempt.site->acquisitions;
    attempt.site->shared += attempt.shared;
    if (UNLIKELY(self.last_stack != NULL))
        add_to_stack(attempt.site, 1, false, 0);
    else
        ++attempt.site->unattributed_acquisitions;
    maybe_begin_hold(lock, kind, attempt.site);
}

#endif
