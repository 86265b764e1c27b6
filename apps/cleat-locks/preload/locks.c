/* Which lock is at an address, and what was done with it.
 *
 * A lock that was made by pthread_mutex_init or the like belongs to the group of those that were
 * made at the same place, until a second thread touches it: then it is told of by itself. So the
 * many locks of short-lived objects need one entry, and those that threads share have one each.
 * What was counted before stays with the group; where a group has one lock, the reader joins the
 * two. Of a place that makes very many shared ones, those beyond the first stay in the group.
 *
 * A lock whose init was not seen (a static one, or std::mutex) has an entry to itself. Once these
 * are most of what there is room for, the next ones are grouped by where they are first taken.
 *
 * An acquisition counts as shared when, by then, more than one thread has touched the lock.
 */
#include "recorder.h"

#include <pthread.h>

enum
{
    probes_max = 64,
    told_apart_max = 512, /* shared locks of one group that are told of by themselves */
    unmade_max = trace_locks_max / 4 * 3 /* entries, until locks without init are grouped */
};

unsigned hold_part = 16;

static uint64_t first_slot(uintptr_t address)
{
    return mix(1, address >> 3) >> 20;
}

/* take_over gives an address the slot of a lock that was destroyed: there is no free one where it
 * is looked for. */
static struct trace_slot* take_over(uintptr_t address)
{
    uint64_t at = first_slot(address);
    for (int probe = 0; probe < probes_max; ++probe, ++at) {
        struct trace_slot* slot = &trace_slots[at % trace_slots_max];
        uint64_t seen = atomic_load_explicit(&slot->address, memory_order_acquire);
        if (slot->kind == trace_gone && atomic_load(&slot->lock) == 0 &&
            atomic_compare_exchange_strong(&slot->address, &seen, address)) {
            slot->kind = 0;
            return slot;
        }
    }
    return NULL;
}

/* slot_at finds an address's slot; with `make`, it makes one. */
static __attribute__((noinline)) struct trace_slot* slot_at(uintptr_t address, bool make)
{
    uint64_t at = first_slot(address);
    for (int probe = 0; probe < probes_max; ++probe, ++at) {
        struct trace_slot* slot = &trace_slots[at % trace_slots_max];
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
    return make ? take_over(address) : NULL;
}

/* lock_new gives index + 1 of a new entry, or 0: all are used. */
static uint32_t lock_new(uint64_t address, uint64_t made_at, uint32_t kind, uint32_t flags)
{
    uint32_t const at = atomic_fetch_add(&trace->locks, 1);
    if (at >= trace_locks_max) {
        atomic_fetch_sub(&trace->locks, 1);
        return 0;
    }
    struct trace_lock* lock = &trace_locks[at];
    lock->address = address;
    lock->made_at = made_at;
    lock->kind = kind;
    lock->flags = flags;
    atomic_store_explicit(&lock->ready, 1, memory_order_release);
    return at + 1;
}

/* Groups by the place where their locks are made: index + 1 of the lock. And how many of a group's
 * are told of by themselves already. */
static _Atomic uint32_t groups[1 << 12];
static _Atomic uint32_t told_apart[1 << 12];

void forget_locks(void)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; ++i)
        groups[i] = told_apart[i] = 0;
}

/* group_of gives index + 1 of the group of locks that are made at a place; `first` is one of them.
 */
static uint32_t group_of(uint64_t first, uint64_t made_at, uint32_t kind, uint32_t flags)
{
    uint64_t at = mix(mix(3 + flags, made_at), kind) >> 20;
    uint32_t const groups_max = sizeof groups / sizeof *groups;
    for (int probe = 0; probe < probes_max; ++probe, ++at) {
        _Atomic uint32_t* place = &groups[at % groups_max];
        uint32_t seen = atomic_load_explicit(place, memory_order_acquire);
        if (seen == 0) {
            uint32_t const made = lock_new(first, made_at, kind, trace_group | flags);
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
    if (!trace || at_work() || self.forks)
        return;
    begin_work();
    struct trace_slot* slot = slot_at((uintptr_t)address, true);
    if (slot) {
        uint32_t const group = group_of((uintptr_t)address, (uintptr_t)made_at, kind, 0);
        if (group)
            atomic_fetch_add_explicit(&trace_locks[group - 1].instances, 1, memory_order_relaxed);
        slot->kind = kind;
        atomic_store_explicit(&slot->made_at, (uintptr_t)made_at, memory_order_relaxed);
        atomic_store_explicit(&slot->threads, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->lock, group, memory_order_release);
    }
    end_work();
}

void lock_ended(void* address)
{
    if (!trace || at_work() || self.forks)
        return;
    begin_work();
    struct trace_slot* slot = slot_at((uintptr_t)address, false);
    if (slot) {
        atomic_store_explicit(&slot->lock, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->made_at, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->threads, 0, memory_order_release);
        slot->kind = trace_gone;
    }
    end_work();
}

/* touched is told when a thread meets a lock for the first time, and gives index + 1 of the entry
 * that counts from now on. */
static uint32_t touched(
    struct trace_slot* slot, enum trace_kind kind, uint64_t bit, void* return_to)
{
    uint64_t const threads = atomic_fetch_or(&slot->threads, bit) | bit;
    unsigned const count = (unsigned)__builtin_popcountll(threads);
    uint32_t number = atomic_load_explicit(&slot->lock, memory_order_acquire);
    if (number == 0) {
        uint64_t const address = atomic_load(&slot->address);
        uint32_t const made =
            atomic_load(&trace->locks) < unmade_max
                ? lock_new(address, 0, kind, 0)
                : group_of(address, (uintptr_t)return_to, kind, trace_first_taken);
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
    /* From a group's lock to one by itself: two threads know it now. */
    _Atomic uint32_t* apart = &told_apart[(number - 1) % (sizeof told_apart / sizeof *told_apart)];
    if (atomic_load_explicit(apart, memory_order_relaxed) >= told_apart_max)
        return number;
    uint32_t const made =
        lock_new(atomic_load(&slot->address), atomic_load(&slot->made_at), kind, 0);
    if (made == 0)
        return number;
    atomic_fetch_add(apart, 1);
    atomic_store(&trace_locks[made - 1].instances, 1);
    atomic_store(&trace_locks[made - 1].threads, threads);
    return atomic_compare_exchange_strong(&slot->lock, &number, made) ? made : number;
}

static uint64_t site_key(uint32_t lock, enum trace_how how, void* return_to)
{
    /* Not one mixed with the other: both are small, and 5 of the one with 2 of the other would be 6
     * with 1. */
    uint64_t const what = ((uint64_t)lock + 1) << 2 | how;
    return mix(mix(0, what), (uintptr_t)return_to) | 1;
}

static __attribute__((noinline)) struct trace_site* site_of(
    struct trace_thread* block, uint32_t lock, enum trace_how how, void* return_to)
{
    uint64_t const key = site_key(lock, how, return_to);
    uint64_t at = key >> 20;
    for (int probe = 0; probe < probes_max; ++probe, ++at) {
        struct trace_site* site = &block->site[at % trace_sites_max];
        if (site->key == key)
            return site;
        if (site->key != 0)
            continue;
        site->return_to = (uintptr_t)return_to;
        site->lock = lock;
        site->how = how;
        atomic_signal_fence(memory_order_release);
        site->key = key;
        ++block->sites;
        return site;
    }
    ++block->sites_lost;
    return NULL;
}

int next_hold(void)
{
    self.random = self.random * 1664525u + 1013904223u;
    return 1 + (int)((self.random >> 16) % (2 * hold_part - 1)); /* hold_part, on average. */
}

/* found is the site of a lock, and whether the lock was shared. Most are where they are looked for
 * first. */
static ALWAYS_INLINE struct trace_site* found(
    struct trace_thread* block, void* address, enum trace_kind kind, enum trace_how how,
    void* return_to, bool* shared)
{
    struct trace_slot* slot = &trace_slots[first_slot((uintptr_t)address) % trace_slots_max];
    if (UNLIKELY(atomic_load_explicit(&slot->address, memory_order_relaxed) != (uintptr_t)address))
        slot = slot_at((uintptr_t)address, true);
    if (UNLIKELY(!slot)) {
        atomic_fetch_add_explicit(&trace->slots_lost, 1, memory_order_relaxed);
        return NULL;
    }
    uint64_t const bit = own_bit();
    uint64_t const threads = atomic_load_explicit(&slot->threads, memory_order_relaxed);
    uint32_t number = atomic_load_explicit(&slot->lock, memory_order_relaxed);
    if (UNLIKELY(!(threads & bit) || number == 0))
        number = touched(slot, kind, bit, return_to);
    if (UNLIKELY(number == 0)) {
        atomic_fetch_add_explicit(&trace->slots_lost, 1, memory_order_relaxed);
        return NULL;
    }
    uint64_t const all = threads | bit;
    *shared = (all & (all - 1)) != 0;
    uint64_t const key = site_key(number - 1, how, return_to);
    struct trace_site* const site = &block->site[(key >> 20) % trace_sites_max];
    return site->key == key ? site : site_of(block, number - 1, how, return_to);
}

static struct hold* hold_of(void const* lock)
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

/* within says whether the calling thread, which has just taken the lock, had it before. */
static bool within(void const* lock, enum trace_kind kind)
{
    struct __pthread_mutex_s const* mutex = &((pthread_mutex_t const*)lock)->__data;
    enum
    {
        types = 3 /* The other bits of __kind say more, such as who inherits a priority. */
    };
    return kind == trace_mutex && (mutex->__kind & types) == PTHREAD_MUTEX_RECURSIVE &&
           mutex->__count > 1;
}

/* note_hold is told of one that is `chosen` to be timed, or that others are timed beside. */
static void note_hold(void* lock, enum trace_kind kind, struct trace_site* site, bool chosen)
{
    struct hold* hold = hold_of(lock);
    /* What a thread has already, nobody is kept out of for longer than by the outer hold: the inner
     * ones are counted with that, and take no time. */
    bool const inner = within(lock, kind) ||
                       (hold && site->how == trace_shared && hold->site->how == trace_shared);
    if (hold && inner) {
        ++hold->deeper;
        ++hold->inner;
    } else if (hold)
        forget_hold(hold); /* Another thread let go of it. */
    if (!chosen || inner)
        return;
    hold = hold_of(NULL);
    if (!hold)
        return;
    ++self.holds;
    hold->lock = (uintptr_t)lock;
    hold->site = site;
    hold->deeper = hold->inner = 0;
    hold->interruptions = interruptions();
    hold->began_ns = now_ns();
}

void hold_begins(void* lock, enum trace_kind kind, struct trace_site* site)
{
    bool const chosen = self.until_hold <= 0;
    if (chosen)
        self.until_hold = next_hold();
    if (at_work())
        return;
    begin_work();
    note_hold(lock, kind, site, chosen);
    end_work();
}

/* wants_stack: the first two of a site have one, then a part that becomes smaller, to one of 1024.
 * At random: where two callers take turns, every second one would always be the same. */
static ALWAYS_INLINE bool wants_stack(uint64_t count)
{
    uint64_t const most = 2048;
    self.random = self.random * 1664525u + 1013904223u;
    return (uint64_t)self.random * (count < most ? count : most) < UINT64_C(2) << 32;
}

struct asked ask(void* lock, enum trace_kind kind, enum trace_how how, void* return_to)
{
    struct asked by = {.site = NULL};
    if (!trace || UNLIKELY(self.forks))
        return by;
    struct trace_thread* block = self.block ? self.block : meet_thread();
    if (UNLIKELY(!block))
        return by;
    if (at_work()) {
        by.nested = true;
        return by;
    }
    begin_work();
    by.site = found(block, lock, kind, how, return_to, &by.shared);
    if (by.site && UNLIKELY(wants_stack(by.site->acquisitions + 1)))
        take_stack(block, by.site, (uintptr_t)return_to, true);
    end_work();
    return by;
}

/* own_block gives the calling thread's block, if a site is in it still: a handler may have forked
 * during a wait. */
static struct trace_thread* own_block(struct trace_site const* site)
{
    struct trace_thread* const block = self.block;
    bool const own = block && site >= block->site && site < block->site + trace_sites_max;
    return own ? block : NULL;
}

uint64_t begin_wait(struct asked by)
{
    uint64_t const now = now_ns();
    struct trace_thread* block = by.site ? own_block(by.site) : NULL;
    if (!block || at_work())
        return now;
    begin_work();
    bool const told = self.told_in && self.told_at == by.site;
    if (!told)
        take_stack(block, by.site, (uintptr_t)by.site->return_to, false);
    block->waits_in =
        self.told_in ? (uint32_t)((uint64_t*)(void*)self.told_in - block->words) + 1 : 0;
    block->wait_began_ns = now;
    atomic_signal_fence(memory_order_release);
    block->waits_at = (uint32_t)(by.site - block->site) + 1;
    end_work();
    return now;
}

void note_nested(struct asked by)
{
    if (by.nested && self.block)
        ++self.block->nested;
}

void tell_stack(struct trace_site* site, unsigned times, bool contended, uint64_t wait_ns)
{
    /* A signal handler may have asked for another lock meanwhile. */
    struct trace_stack* const stack = self.told_at == site ? self.told_in : NULL;
    self.told_in = NULL;
    if (stack) {
        stack->count += times;
        stack->contended += contended;
        stack->wait_ns += wait_ns;
    } else {
        site->untold_acquisitions += times;
        site->untold_contended += contended;
        site->untold_wait_ns += wait_ns;
    }
}

void note_waited(struct asked by, void* lock, enum trace_kind kind, uint64_t wait_ns)
{
    if (!by.site) {
        note_nested(by);
        return;
    }
    struct trace_thread* const block = own_block(by.site);
    if (!block)
        return;
    block->waits_at = 0;
    struct trace_site* const site = by.site;
    ++site->acquisitions;
    site->shared += by.shared;
    ++site->contended;
    site->wait_ns += wait_ns;
    if (wait_ns > site->wait_max_ns)
        site->wait_max_ns = wait_ns;
    tell_stack(site, 1, true, wait_ns);
    hold_may_begin(lock, kind, site);
}

void note_failed(struct asked by, uint64_t wait_ns)
{
    struct trace_thread* const block = by.site ? own_block(by.site) : NULL;
    if (!block)
        return;
    block->waits_at = 0;
    ++by.site->failed;
    by.site->wait_ns += wait_ns;
    if (wait_ns > by.site->wait_max_ns)
        by.site->wait_max_ns = wait_ns;
    tell_stack(by.site, 0, false, wait_ns);
}

void note_again(void* mutex, void* return_to)
{
    if (!trace)
        return;
    struct trace_thread* block = self.block ? self.block : meet_thread();
    if (!block || at_work() || self.forks)
        return;
    begin_work();
    bool shared = false;
    struct trace_site* site = found(block, mutex, trace_mutex, trace_again, return_to, &shared);
    if (site)
        ++site->acquisitions;
    end_work();
    if (site)
        hold_may_begin(mutex, trace_mutex, site);
}

void hold_ended(void* lock)
{
    if (at_work() || self.forks)
        return;
    begin_work();
    struct hold* const hold = hold_of(lock);
    if (hold && hold->deeper > 0)
        --hold->deeper;
    else if (hold) {
        uint64_t const took = now_ns() - hold->began_ns;
        struct trace_site* site = hold->site;
        if (took > site->hold_max_ns)
            site->hold_max_ns = took;
        /* From each of them the reader takes what reading the clock takes. */
        uint64_t const counted = took + hold->inner * trace->clock_ns;
        site->holds += 1 + hold->inner;
        site->hold_ns += counted;
        if (interruptions() != hold->interruptions) {
            site->interrupted += 1 + hold->inner;
            site->interrupted_ns += counted;
        }
        forget_hold(hold);
    }
    end_work();
}
