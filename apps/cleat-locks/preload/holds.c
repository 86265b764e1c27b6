#include "clock.h"
#include "holds.h"
#include "interruptions.h"
#include "trace_file.h"

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
    for (int i = 0; i < holds_max; ++i)
        if (self.hold[i].lock == (uintptr_t)lock)
            return &self.hold[i];
    return NULL;
}

static void forget_hold(struct hold* hold)
{
    hold->lock = 0;
    --self.holds;
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

/* note_hold begins a hold, and times it where it is `chosen`. */
static void note_hold(void* lock, enum trace_kind kind, struct trace_site* site, bool chosen)
{
    struct hold* hold = find_hold(lock);
    /* An inner hold keeps no thread out for longer than the outer one does: it is counted with the
     * outer one, and takes no time of its own. */
    bool const inner = is_inner_hold(lock, kind) ||
                       (hold && site->how == trace_shared && hold->site->how == trace_shared);
    if (hold && inner) {
        ++hold->inner_open;
        ++hold->inner_all;
    } else if (hold)
        forget_hold(hold); /* Another thread released it. */
    if (!chosen || inner)
        return;
    hold = find_hold(NULL);
    if (!hold)
        return;
    ++self.holds;
    hold->lock = (uintptr_t)lock;
    hold->site = site;
    hold->inner_open = hold->inner_all = 0;
    hold->interruptions = interruptions();
    hold->began_ns = now_ns();
}

void begin_hold(void* lock, enum trace_kind kind, struct trace_site* site)
{
    bool const chosen = self.acquisitions_until_hold <= 0;
    if (chosen)
        self.acquisitions_until_hold = random_hold_interval();
    if (at_work())
        return;
    begin_work();
    note_hold(lock, kind, site, chosen);
    end_work();
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
        uint64_t const took = now_ns() - hold->began_ns;
        struct trace_site* site = hold->site;
        if (took > site->hold_max_ns)
            site->hold_max_ns = took;
        /* The reader subtracts the time of reading the clock from each of them. */
        uint64_t const counted = took + hold->inner_all * trace->clock_ns;
        site->holds += 1 + hold->inner_all;
        site->hold_ns += counted;
        if (interruptions() != hold->interruptions) {
            site->interrupted += 1 + hold->inner_all;
            site->interrupted_ns += counted;
        }
        forget_hold(hold);
    }
    end_work();
}
