#include "blocks.h"
#include "contention.h"
#include "hash.h"

#include <stdbool.h>
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

struct contention* find_contention(struct trace_slot* slot)
{
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

/* find_account finds a place's account, or makes it; NULL: all are of other places. */
static struct account* find_account(struct contention* contention, uint64_t place)
{
    for (int i = 0; i < accounts_max; ++i) {
        struct account* account = &contention->accounts[i];
        uint64_t seen = atomic_load_explicit(&account->place, memory_order_relaxed);
        if (seen == place ||
            (seen == 0 &&
             (atomic_compare_exchange_strong(&account->place, &seen, place) || seen == place)))
            return account;
    }
    return NULL;
}

void note_waited_hold(struct contention* contention, uint64_t place, uint64_t held_ns)
{
    struct account* const account = find_account(contention, place);
    if (account)
        atomic_fetch_add_explicit(&account->ns, held_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&contention->released, 1, memory_order_release);
}

/* A hold that ends meanwhile would be in the accounts, or not: then they are read once more. */
void start_wait(struct wait_start* start, struct contention* contention, uint64_t began_ns)
{
    start->contention = contention;
    start->began_ns = began_ns;
    for (int times = 0; times < 4; ++times) {
        uint32_t const released = atomic_load_explicit(&contention->released, memory_order_acquire);
        uint64_t const since =
            atomic_load_explicit(&contention->now.began_ns, memory_order_relaxed);
        start->place = atomic_load_explicit(&contention->now.place, memory_order_relaxed);
        start->held_ns = since < began_ns ? began_ns - since : 0;
        for (int i = 0; i < accounts_max; ++i)
            start->ns[i] = atomic_load_explicit(&contention->accounts[i].ns, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (released == atomic_load_explicit(&contention->released, memory_order_relaxed))
            return;
    }
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

/* time_of gives the time for which a place held the lock during a wait. */
static uint64_t time_of(struct wait_start const* start, int i)
{
    struct account* const account = &start->contention->accounts[i];
    uint64_t const ns = atomic_load_explicit(&account->ns, memory_order_relaxed) - start->ns[i];
    bool const had_it = start->place == atomic_load_explicit(&account->place, memory_order_relaxed);
    uint64_t const before = had_it ? start->held_ns : 0;
    return ns > before ? ns - before : 0;
}

void attribute_wait(
    struct trace_thread* block, struct wait_start const* start, struct trace_site const* site,
    uint64_t now_ns, int32_t owner)
{
    uint64_t const waited = now_ns - start->began_ns;
    if (!start->contention || waited < attributed_ns_least)
        return;
    uint32_t const index = (uint32_t)(site - block->site);
    uint64_t left = waited; /* Readers have it at a time: together no more than all. */
    for (int i = 0; i < accounts_max && left > 0; ++i) {
        uint64_t const place =
            atomic_load_explicit(&start->contention->accounts[i].place, memory_order_relaxed);
        uint64_t ns = place ? time_of(start, i) : 0;
        if (ns > left)
            ns = left;
        if (ns > 0)
            add_wait_for(block, index, (uint32_t)(place >> 32) - 1, (uint32_t)place, ns);
        left -= ns;
    }
    struct trace_thread const* const holder = owner != 0 && left > 0 ? find_block(owner) : NULL;
    if (holder)
        add_wait_for(block, index, holder->number, trace_site_unknown, left);
}
