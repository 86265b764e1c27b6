#include "clock.h"
#include "contention.h"
#include "holds.h"
#include "interruptions.h"
#include "tries.h"

#include <pthread.h>
#include <stddef.h>

unsigned hold_interval = 16;

int random_hold_interval(void)
{
    self.random = self.random * 1664525u + 1013904223u;
    /* hold_interval, on average. */
    return 1 + (int)((self.random >> 16) % (2 * hold_interval - 1));
}

static struct hold* find_hold(void const* lock)
{
    for (unsigned i = 0; i < self.holds; ++i)
        if (self.hold[i].lock == (uintptr_t)lock)
            return &self.hold[i];
    return NULL;
}

static void forget_hold(struct hold* hold)
{
    if (hold != &self.hold[--self.holds])
        *hold = self.hold[self.holds];
    pay_attention();
}

void forget_holds(void)
{
    self.holds = 0;
    pay_attention();
}

/* is_inner_hold says whether the calling thread, which has just taken the lock, had it before. */
static bool is_inner_hold(void const* lock, enum trace_kind kind)
{
    struct __pthread_mutex_s const* mutex = &((pthread_mutex_t const*)lock)->__data;
    enum
    {
        types = 3 /* The other bits of __kind are options, such as priority inheritance. */
    };
    return kind == trace_mutex && (mutex->__kind & types) == PTHREAD_MUTEX_RECURSIVE &&
           mutex->__count > 1;
}

static uint64_t place_of(struct trace_site const* site)
{
    return place_key(self.block->number, (uint32_t)(site - self.block->site));
}

/* note_hold begins a hold, and times it where it is of the sample or the lock was waited for. */
static void note_hold(
    void* lock, enum trace_kind kind, struct trace_site* site, bool sampled,
    struct contention* contention)
{
    struct hold* hold = find_hold(lock);
    /* An inner hold keeps no thread out for longer than the outer one does, and is none by itself.
     */
    bool const inner = is_inner_hold(lock, kind) ||
                       (hold && site->how == trace_shared && hold->site->how == trace_shared);
    if (hold && inner)
        ++hold->inner_open;
    else if (hold)
        forget_hold(hold); /* Another thread released it. */
    if (inner) {
        site->inner += sampled;
        return;
    }
    if ((!sampled && !contention) || self.holds == holds_max)
        return;
    hold = &self.hold[self.holds++];
    pay_attention();
    hold->lock = (uintptr_t)lock;
    hold->site = site;
    hold->inner_open = 0;
    hold->sampled = sampled;
    hold->contention = contention;
    hold->asked = contention ? atomic_load_explicit(&contention->asked, memory_order_relaxed) : 0;
    hold->interruptions = interruptions();
    hold->began_ns = now_ns();
    if (contention)
        note_holding(contention, place_of(site), hold->began_ns);
}

void begin_hold(void* lock, enum trace_kind kind, struct trace_site* site, unsigned contention)
{
    bool const sampled = self.acquisitions_until_hold <= 0;
    if (sampled)
        self.acquisitions_until_hold = random_hold_interval();
    if (at_work())
        return;
    begin_work();
    if (UNLIKELY(self.tries.lock != 0))
        tries_end(lock, site);
    note_hold(lock, kind, site, sampled, contention_of(contention));
    end_work();
}

/* is_waited_for says whether a thread has asked for the lock since the hold began. */
static bool is_waited_for(struct hold const* hold)
{
    struct contention* const contention = hold->contention;
    return contention &&
           (atomic_load_explicit(&contention->waiting, memory_order_relaxed) != 0 ||
            atomic_load_explicit(&contention->asked, memory_order_relaxed) != hold->asked);
}

static void count_waited_hold(struct hold const* hold, uint64_t took, bool interrupted)
{
    struct trace_site* const site = hold->site;
    ++site->waited_holds;
    site->waited_hold_ns += took;
    if (interrupted) {
        ++site->waited_interrupted;
        site->waited_interrupted_ns += took;
    }
    note_waited_hold(hold->contention, place_of(site), took);
}

static void count_sampled_hold(struct trace_site* site, uint64_t took, bool interrupted)
{
    ++site->holds;
    site->hold_ns += took;
    if (interrupted) {
        ++site->interrupted;
        site->interrupted_ns += took;
    } else {
        site->hold_ns_squares += (double)took * (double)took;
    }
}

static void count_hold(struct hold const* hold)
{
    struct trace_site* const site = hold->site;
    site->sampled += hold->sampled;
    bool const waited = is_waited_for(hold);
    if (!waited && !hold->sampled)
        return;
    uint64_t const took = now_ns() - hold->began_ns;
    bool const interrupted = interruptions() != hold->interruptions;
    if (took > site->hold_max_ns)
        site->hold_max_ns = took;
    if (waited)
        count_waited_hold(hold, took, interrupted);
    else
        count_sampled_hold(site, took, interrupted);
}

void end_hold(void* lock)
{
    if (at_work() || self.forking)
        return;
    begin_work();
    struct hold* const hold = find_hold(lock);
    if (hold && hold->inner_open > 0)
        --hold->inner_open;
    else if (hold) {
        count_hold(hold);
        if (hold->contention)
            note_release(hold->contention);
        forget_hold(hold);
    }
    end_work();
}
