/* contention: a lock that a thread has waited for: how many wait now, and its last holds that
 * somebody waited for.
 *
 * A lock gets a record with its first wait. From then on each of its holds is timed as it begins,
 * and at the release the record says whether to read the clock again: a hold that nobody waited for
 * and that is not part of the sample needs no second reading.
 */
#ifndef CLEAT_LOCKS_CONTENTION_H
#define CLEAT_LOCKS_CONTENTION_H

#include "trace_format.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum
{
    contentions_max = 4096, /* locks that were waited for; of others no hold is timed for that */
    waited_holds_kept = 8   /* the last holds of each that somebody waited for */
};

/* A hold that somebody waited for: its time, and where the lock was taken. */
struct waited_hold
{
    uint64_t began_ns;
    uint64_t released_ns;
    uint32_t block;
    uint32_t site;
};

struct contention
{
    _Atomic uint32_t waiting; /* threads that wait now */
    _Atomic uint32_t asked;   /* waits that have begun, and failed tries */
    _Atomic uint32_t released;
    struct waited_hold last[waited_holds_kept]; /* of `released`, the newest behind the others */
} __attribute__((aligned(64)));

extern struct contention contentions[contentions_max];

/* contention_of gives the record that a slot has a number of; NULL: it has none. */
static inline struct contention* contention_of(unsigned number)
{
    return number ? &contentions[number - 1] : NULL;
}

/* find_contention gives a lock's record, and makes one where there is room; NULL: there is none. */
struct contention* find_contention(void const* lock);

void forget_contentions(void); /* In a new process, in which no other thread waits. */

/* note_waited_hold keeps a hold that somebody waited for, as it ends. */
void note_waited_hold(struct contention* contention, struct waited_hold hold);

/* attribute_wait divides the calling thread's wait for a lock, at a site of its block, among those
 * that held the lock meanwhile. `owner` is the thread that had it as the wait began, in a hold that
 * was not timed; 0: unknown, or it was. */
void attribute_wait(
    struct trace_thread* block, struct contention* contention, struct trace_site const* site,
    uint64_t began_ns, uint64_t now_ns, int32_t owner);

#endif
