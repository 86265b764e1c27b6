/* The locks that a thread holds are found by the owner of each lock that it has taken before. A
 * list of held locks would cost a write in each acquisition.
 */
#include "hash.h"
#include "orders.h"
#include "owners.h"
#include "thread_state.h"
#include "trace_file.h"

#include <stddef.h>

enum
{
    places_max = 16 /* where an entry may be */
};

void know_lock(struct trace_thread* block, struct trace_site const* site)
{
    uint32_t const kind = trace_locks[site->lock].kind;
    if ((kind == trace_mutex || kind == trace_rwlock) && site->how != trace_shared)
        self.known[self.known_count++ % known_max] = (uint16_t)(site - block->site);
}

static void add_order(struct trace_thread* block, uint32_t held_site, uint32_t site)
{
    uint64_t place = mix(mix(5, held_site), site) >> 20;
    for (int probe = 0; probe < places_max; ++probe, ++place) {
        struct trace_order* order = &block->orders[place % trace_orders_max];
        if (order->times == 0) {
            order->held_site = held_site;
            order->site = site;
            uint64_t const* const stack = (uint64_t const*)(void const*)self.last_stack;
            order->stack = stack ? (uint32_t)(stack - block->words) + 1 : 0;
        } else if (order->held_site != held_site || order->site != site)
            continue;
        ++order->times;
        return;
    }
}

void note_orders(struct trace_thread* block, struct trace_site const* site)
{
    uint32_t const kind = trace_locks[site->lock].kind;
    if (self.only_tries || self.known_count == 0 || kind > trace_spin)
        return; /* An attempt that does not wait is in no deadlock. */
    unsigned const count = self.known_count < known_max ? self.known_count : known_max;
    for (unsigned i = 0; i < count; ++i) {
        struct trace_site const* const held = &block->site[self.known[i]];
        struct trace_lock const* const lock = &trace_locks[held->lock];
        if (held->lock == site->lock || lock->address == 0 || (lock->flags & trace_group))
            continue;
        if (is_owner(lock->address, lock->kind, block->tid))
            add_order(block, self.known[i], (uint32_t)(site - block->site));
    }
}
