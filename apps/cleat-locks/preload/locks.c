/* Locks and groups of locks.
 *
 * A lock that was made by pthread_mutex_init or the like belongs to the group of those that were
 * made at the same place, until a second thread touches it: then it gets an entry of its own. So
 * the many locks of short-lived objects need one entry, and those that threads share have one each.
 * Earlier counts stay with the group; where a group has one lock, the reader joins the two. Of a
 * place that makes very many shared locks, those beyond the first separate_max stay in the group.
 *
 * A lock whose init was not seen (a static one, or std::mutex) has an entry to itself. Once these
 * are most of what there is room for, the next ones are grouped by where they are first taken.
 */
#include "locks.h"
#include "thread_state.h"
#include "trace_file.h"

#include <stddef.h>

enum
{
    separate_max = 512, /* shared locks of one group that have an entry of their own */
    unmade_max = trace_locks_max / 4 * 3 /* entries, until locks without init are grouped */
};

/* reuse_slot gives an address the slot of a destroyed lock, for no slot in its reach is free. */
static struct trace_slot* reuse_slot(uintptr_t address)
{
    uint64_t position = first_slot(address);
    for (int probe = 0; probe < probes_max; ++probe, ++position) {
        struct trace_slot* slot = &trace_slots[position % trace_slots_max];
        uint64_t seen = atomic_load_explicit(&slot->address, memory_order_acquire);
        if (slot->kind == trace_gone && atomic_load(&slot->lock) == 0 &&
            atomic_compare_exchange_strong(&slot->address, &seen, address)) {
            slot->kind = 0;
            return slot;
        }
    }
    return NULL;
}

struct trace_slot* find_slot(uintptr_t address, bool make)
{
    uint64_t position = first_slot(address);
    for (int probe = 0; probe < probes_max; ++probe, ++position) {
        struct trace_slot* slot = &trace_slots[position % trace_slots_max];
        uint64_t seen = atomic_load_explicit(&slot->address, memory_order_acquire);
        if (seen == address)
            return slot;
        if (seen != 0)
            continue;
        if (!make)
            return NULL;
        if (atomic_compare_exchange_strong(&slot->address, &seen, address) || seen == address)
            return slot;
    }
    return make ? reuse_slot(address) : NULL;
}

/* new_lock gives index + 1 of a new entry, or 0: all are used. */
static uint32_t new_lock(uint64_t address, uint64_t made_at, uint32_t kind, uint32_t flags)
{
    uint32_t const position = atomic_fetch_add(&trace->locks, 1);
    if (position >= trace_locks_max) {
        atomic_fetch_sub(&trace->locks, 1);
        return 0;
    }
    struct trace_lock* lock = &trace_locks[position];
    lock->address = address;
    lock->made_at = made_at;
    lock->kind = kind;
    lock->flags = flags;
    atomic_store_explicit(&lock->ready, 1, memory_order_release);
    return position + 1;
}

/* Groups, by the place where their locks are made: index + 1 of the entry. */
static _Atomic uint32_t groups[1 << 12];
/* How many locks of a group have an entry of their own. */
static _Atomic uint32_t separate[1 << 12];

void forget_locks(void)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; ++i)
        groups[i] = separate[i] = 0;
}

/* find_group gives index + 1 of the group of locks that are made at a place; `first` is one of
 * them.
 */
static uint32_t find_group(uint64_t first, uint64_t made_at, uint32_t kind, uint32_t flags)
{
    uint64_t position = mix(mix(3 + flags, made_at), kind) >> 20;
    uint32_t const groups_max = sizeof groups / sizeof *groups;
    for (int probe = 0; probe < probes_max; ++probe, ++position) {
        _Atomic uint32_t* place = &groups[position % groups_max];
        uint32_t seen = atomic_load_explicit(place, memory_order_acquire);
        if (seen == 0) {
            uint32_t const made = new_lock(first, made_at, kind, trace_group | flags);
            if (made == 0)
                return 0;
            /* Two threads may both make it; the second entry stays unused, and empty. */
            if (atomic_compare_exchange_strong(place, &seen, made))
                return made;
        }
        struct trace_lock const* group = &trace_locks[seen - 1];
        if (group->made_at == made_at && group->kind == kind &&
            group->flags == (trace_group | flags))
            return seen;
    }
    return 0;
}

void lock_made(void* address, enum trace_kind kind, void* made_at)
{
    if (!trace || at_work() || self.forking)
        return;
    begin_work();
    struct trace_slot* slot = find_slot((uintptr_t)address, true);
    if (slot) {
        uint32_t const group = find_group((uintptr_t)address, (uintptr_t)made_at, kind, 0);
        if (group)
            atomic_fetch_add_explicit(&trace_locks[group - 1].instances, 1, memory_order_relaxed);
        slot->kind = kind;
        atomic_store_explicit(&slot->made_at, (uintptr_t)made_at, memory_order_relaxed);
        atomic_store_explicit(&slot->threads, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->lock, group, memory_order_release);
    }
    end_work();
}

void lock_destroyed(void* address)
{
    if (!trace || at_work() || self.forking)
        return;
    begin_work();
    struct trace_slot* slot = find_slot((uintptr_t)address, false);
    if (slot) {
        atomic_store_explicit(&slot->lock, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->made_at, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->threads, 0, memory_order_release);
        slot->kind = trace_gone;
    }
    end_work();
}

uint32_t note_first_touch(
    struct trace_slot* slot, enum trace_kind kind, uint64_t bit, void* return_to)
{
    uint64_t const threads = atomic_fetch_or(&slot->threads, bit) | bit;
    unsigned const count = (unsigned)__builtin_popcountll(threads);
    uint32_t number = atomic_load_explicit(&slot->lock, memory_order_acquire);
    if (number == 0) {
        uint64_t const address = atomic_load(&slot->address);
        uint32_t const made =
            atomic_load(&trace->locks) < unmade_max
                ? new_lock(address, 0, kind, 0)
                : find_group(address, (uintptr_t)return_to, kind, trace_first_taken);
        if (made == 0)
            return 0;
        slot->kind = kind;
        atomic_fetch_add(&trace_locks[made - 1].instances, 1);
        if (atomic_compare_exchange_strong(&slot->lock, &number, made))
            number = made;
    }
    struct trace_lock* lock = &trace_locks[number - 1];
    if (!(lock->flags & trace_group)) {
        atomic_fetch_or(&lock->threads, threads);
        return number;
    }
    uint32_t most = atomic_load(&lock->threads_max);
    while (most < count && !atomic_compare_exchange_weak(&lock->threads_max, &most, count))
        ;
    if (count < 2)
        return number;
    /* Two threads have touched this lock of a group: it gets an entry of its own. */
    _Atomic uint32_t* separated = &separate[(number - 1) % (sizeof separate / sizeof *separate)];
    if (atomic_load_explicit(separated, memory_order_relaxed) >= separate_max)
        return number;
    uint32_t const made =
        new_lock(atomic_load(&slot->address), atomic_load(&slot->made_at), kind, 0);
    if (made == 0)
        return number;
    atomic_fetch_add(separated, 1);
    atomic_store(&trace_locks[made - 1].instances, 1);
    atomic_store(&trace_locks[made - 1].threads, threads);
    return atomic_compare_exchange_strong(&slot->lock, &number, made) ? made : number;
}
