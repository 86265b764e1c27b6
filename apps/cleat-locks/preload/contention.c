#include "contention.h"
#include "hash.h"
#include "locks.h"
#include "thread_blocks.h"
#include "trace_file.h"

#include <stddef.h>
#include <string.h>

enum
{
    attributed_ns_least = 1000, /* shorter waits are not divided: that would take as long as they */
    places_max = 32             /* where an entry of waits_for may be */
};

struct contention contentions[contentions_max];
static _Atomic uint32_t contentions_used;

void forget_contentions(void)
{
    uint32_t const used = contentions_used < contentions_max ? contentions_used : contentions_max;
    memset(contentions, 0, used * sizeof *contentions);
    contentions_used = 0;
}

struct contention* find_contention(void const* lock)
{
    struct trace_slot* slot = find_slot((uintptr_t)lock, false);
    if (!slot)
        return NULL;
    uint16_t number = atomic_load_explicit(&slot->contention, memory_order_relaxed);
    if (number)
        return contention_of(number);
    if (atomic_load_explicit(&contentions_used, memory_order_relaxed) >= contentions_max)
        return NULL;
    uint32_t const made = atomic_fetch_add(&contentions_used, 1) + 1;
    if (made > contentions_max)
        return NULL;
    /* Two threads may both make one; the second stays unused. */
    return atomic_compare_exchange_strong(&slot->contention, &number, (uint16_t)made)
               ? contention_of(made)
               : contention_of(number);
}

/* Holds of one lock end one after the other, except those of readers. */
void note_waited_hold(struct contention* contention, struct waited_hold hold)
{
    uint32_t const place = atomic_load_explicit(&contention->released, memory_order_relaxed);
    contention->last[place % waited_holds_kept] = hold;
    atomic_store_explicit(&contention->released, place + 1, memory_order_release);
}

static void add_wait_for(
    struct trace_thread* block, uint32_t site, uint32_t holder, uint32_t holder_site, uint64_t ns)
{
    uint64_t place = mix(mix(mix(4, site), holder), holder_site) >> 20;
    for (int probe = 0; probe < places_max; ++probe, ++place) {
        struct trace_wait_for* entry = &block->waits_for[place % trace_waits_for_max];
        if (entry->waits == 0) {
            entry->site = site;
            entry->holder = holder;
            entry->holder_site = holder_site;
        } else if (
            entry->site != site || entry->holder != holder || entry->holder_site != holder_site)
            continue;
        entry->ns += ns;
        if (ns > entry->max_ns)
            entry->max_ns = ns;
        ++entry->waits;
        return;
    }
    ++block->waits_for_lost;
}

void attribute_wait(
    struct trace_thread* block, struct contention* contention, struct trace_site const* site,
    uint64_t began_ns, uint64_t now_ns, int32_t owner)
{
    if (now_ns - began_ns < attributed_ns_least)
        return;
    uint32_t const index = (uint32_t)(site - block->site);
    uint32_t const released = atomic_load_explicit(&contention->released, memory_order_acquire);
    uint64_t until = now_ns; /* The time from here on is attributed. */
    for (uint32_t i = 1; i <= waited_holds_kept && i <= released; ++i) {
        struct waited_hold const hold = contention->last[(released - i) % waited_holds_kept];
        if (hold.released_ns <= began_ns)
            break;
        uint64_t const from = hold.began_ns > began_ns ? hold.began_ns : began_ns;
        uint64_t const to = hold.released_ns < until ? hold.released_ns : until;
        if (to <= from)
            continue;
        add_wait_for(block, index, hold.block, hold.site, to - from);
        until = from;
    }
    struct trace_thread const* const holder =
        owner != 0 && until > began_ns ? find_block(owner) : NULL;
    if (holder)
        add_wait_for(block, index, holder->number, trace_site_unknown, until - began_ns);
}
