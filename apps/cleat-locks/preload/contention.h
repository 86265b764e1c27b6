/* contention: a lock that a thread has waited for: how many wait now, which place has it, and how
 * long each place had it while others waited.
 *
 * A lock gets a record with its first wait. From then on each of its holds is timed as it begins,
 * and at the release the record says whether to read the clock again: a hold without a waiter that
 * is not part of the sample needs no second reading.
 *
 * When a hold that a thread waited for ends, its time is added to the account of its place. A
 * waiter takes the difference of the accounts between start and end of its wait, without the part
 * of the first hold that was before the wait.
 */
#ifndef CLEAT_LOCKS_CONTENTION_H
#define CLEAT_LOCKS_CONTENTION_H

#include "trace_format.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum
{
    contentions_max = 4096, /* locks with a record; the holds of other locks are a sample */
    accounts_max = 10       /* places of one lock that have an account */
};

/* A place that takes a lock: the number of a thread's block, + 1, and of a site in it. */
static inline uint64_t place_key(uint32_t block, uint32_t site)
{
    return ((uint64_t)block + 1) << 32 | site;
}

/* The present hold of a lock: its place, and when it began. 0: there is none, or it is not timed.
 */
struct holding
{
    _Atomic uint64_t place;
    _Atomic uint64_t began_ns;
};

struct account
{
    _Atomic uint64_t place; /* 0: free */
    _Atomic uint64_t ns;
};

struct contention
{
    _Atomic uint32_t waiting;  /* threads that wait now */
    _Atomic uint32_t asked;    /* waits that have begun, and failed tries */
    _Atomic uint32_t released; /* holds that are in the accounts */
    struct holding now;
    struct account accounts[accounts_max];
} __attribute__((aligned(64)));

/* The accounts as a wait began. */
struct wait_start
{
    struct contention* contention; /* NULL: no wait */
    uint64_t began_ns;
    uint64_t place;   /* that had the lock then; 0: unknown */
    uint64_t held_ns; /* for so long by then */
    uint64_t ns[accounts_max];
};

extern struct contention contentions[contentions_max];

/* contention_of gives the record that a slot has a number of; NULL: it has none. */
static inline struct contention* contention_of(unsigned number)
{
    return number ? &contentions[number - 1] : NULL;
}

/* find_contention gives the record of a lock with a slot, and makes one where there is room; NULL:
 * there is none. */
struct contention* find_contention(struct trace_slot* slot);

void forget_contentions(void); /* In a new process, in which no other thread waits. */

/* note_holding notes the present hold of a lock, note_release its end. */
static inline void note_holding(struct contention* contention, uint64_t place, uint64_t began_ns)
{
    atomic_store_explicit(&contention->now.began_ns, began_ns, memory_order_relaxed);
    atomic_store_explicit(&contention->now.place, place, memory_order_relaxed);
}

static inline void note_release(struct contention* contention)
{
    atomic_store_explicit(&contention->now.place, 0, memory_order_relaxed);
}

/* note_waited_hold adds a hold that a thread waited for to its place's account, as it ends. */
void note_waited_hold(struct contention* contention, uint64_t place, uint64_t held_ns);

/* start_wait notes the accounts as the calling thread begins to wait. */
void start_wait(struct wait_start* start, struct contention* contention, uint64_t began_ns);

/* attribute_wait divides the calling thread's wait for a lock, at a site of its block, among the
 * places that held the lock meanwhile. `owner` is the thread that had it as the wait began, in a
 * hold that was not timed; 0: unknown, or it was. */
void attribute_wait(
    struct trace_thread* block, struct wait_start const* start, struct trace_site const* site,
    uint64_t now_ns, int32_t owner);

#endif
