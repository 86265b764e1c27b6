/* An acquisition counts as shared when, by then, more than one thread has touched the lock. */
#include "acquisitions.h"
#include "clock.h"
#include "contention.h"
#include "cycles.h"
#include "locks.h"
#include "orders.h"
#include "owners.h"
#include "stacks.h"
#include "thread_blocks.h"
#include "trace_file.h"
#include "tries.h"

static uint64_t site_key(uint32_t lock, enum trace_how how, void* return_to)
{
    /* Lock and how are not mixed with each other, for both are small: 5 mixed with 2 would be 6
     * mixed with 1. */
    uint64_t const what = ((uint64_t)lock + 1) << 2 | how;
    return mix(mix(0, what), (uintptr_t)return_to) | 1;
}

static __attribute__((noinline)) struct trace_site* find_site(
    struct trace_thread* block, uint32_t lock, enum trace_how how, void* return_to)
{
    uint64_t const key = site_key(lock, how, return_to);
    uint64_t position = key >> 20;
    for (int probe = 0; probe < probes_max; ++probe, ++position) {
        struct trace_site* site = &block->site[position % trace_sites_max];
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
        know_lock(block, site);
        return site;
    }
    ++block->sites_lost;
    return NULL;
}

/* find_lock_site gives the site of a lock, and notes in the attempt whether the lock is shared, and
 * was waited for. Most are at the first place of the table. */
static ALWAYS_INLINE struct trace_site* find_lock_site(
    struct trace_thread* block, void* address, enum trace_kind kind, enum trace_how how,
    void* return_to, struct attempt* attempt)
{
    struct trace_slot* slot = &trace_slots[first_slot((uintptr_t)address) % trace_slots_max];
    if (UNLIKELY(atomic_load_explicit(&slot->address, memory_order_relaxed) != (uintptr_t)address))
        slot = find_slot((uintptr_t)address, true);
    if (UNLIKELY(!slot)) {
        atomic_fetch_add_explicit(&trace->slots_lost, 1, memory_order_relaxed);
        return NULL;
    }
    uint64_t const bit = own_bit();
    uint64_t const threads = atomic_load_explicit(&slot->threads, memory_order_relaxed);
    uint32_t number = atomic_load_explicit(&slot->lock, memory_order_relaxed);
    if (UNLIKELY(!(threads & bit) || number == 0))
        number = note_first_touch(slot, kind, bit, return_to);
    if (UNLIKELY(number == 0)) {
        atomic_fetch_add_explicit(&trace->slots_lost, 1, memory_order_relaxed);
        return NULL;
    }
    uint64_t const all = threads | bit;
    attempt->lock = atomic_load_explicit(&slot->contention, memory_order_relaxed) |
                    ((all & (all - 1)) != 0 ? attempt_shared : 0u);
    uint64_t const key = site_key(number - 1, how, return_to);
    struct trace_site* const site = &block->site[(key >> 20) % trace_sites_max];
    return site->key == key ? site : find_site(block, number - 1, how, return_to);
}

/* wants_stack chooses the acquisitions whose stack is taken: the first two of a site, then a part
 * that becomes smaller, to one of 1024. It does so at random: of two callers that take turns, every
 * second acquisition would show only one. */
static ALWAYS_INLINE bool wants_stack(uint64_t count)
{
    uint64_t const most = 2048;
    self.random = self.random * 1664525u + 1013904223u;
    return (uint64_t)self.random * (count < most ? count : most) < UINT64_C(2) << 32;
}

struct attempt begin_attempt(void* lock, enum trace_kind kind, enum trace_how how, void* return_to)
{
    struct attempt attempt = {.site = NULL};
    if (!trace || UNLIKELY(self.forking))
        return attempt;
    struct trace_thread* block = self.block ? self.block : register_thread();
    if (UNLIKELY(!block))
        return attempt;
    if (at_work()) {
        attempt.lock = attempt_nested;
        return attempt;
    }
    begin_work();
    attempt.site = find_lock_site(block, lock, kind, how, return_to, &attempt);
    if (attempt.site && UNLIKELY(wants_stack(attempt.site->acquisitions + 1)))
        take_stack(block, attempt.site, (uintptr_t)return_to, true);
    end_work();
    return attempt;
}

/* own_block gives the calling thread's block, if a site is still in it: a handler may have forked
 * during a wait. */
static struct trace_thread* own_block(struct trace_site const* site)
{
    struct trace_thread* const block = self.block;
    bool const own = block && site >= block->site && site < block->site + trace_sites_max;
    return own ? block : NULL;
}

/* begin_contention notes that a thread waits for a lock. */
static void begin_contention(struct attempt attempt, void* lock, uint64_t now)
{
    struct contention* const contention = find_contention(find_slot((uintptr_t)lock, false));
    self.waits_first = attempt_contention(attempt) == 0;
    self.wait.contention = NULL;
    if (!contention)
        return;
    start_wait(&self.wait, contention, now);
    atomic_fetch_add_explicit(&contention->waiting, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&contention->asked, 1, memory_order_relaxed);
}

/* end_contention ends what begin_contention began. */
static struct contention* end_contention(void* lock)
{
    struct contention* const contention = find_contention(find_slot((uintptr_t)lock, false));
    if (contention)
        atomic_fetch_sub_explicit(&contention->waiting, 1, memory_order_relaxed);
    return contention;
}

uint64_t begin_wait(struct attempt attempt, void* lock, enum trace_kind kind)
{
    uint64_t const now = now_ns();
    struct trace_thread* block = attempt.site ? own_block(attempt.site) : NULL;
    if (!block || at_work())
        return now;
    begin_work();
    if (self.tries.lock != 0 && self.tries.lock != (uintptr_t)lock)
        tries_given_up();
    bool const has_stack = self.last_stack && self.last_stack_site == attempt.site;
    if (!has_stack)
        take_stack(block, attempt.site, (uintptr_t)attempt.site->return_to, false);
    block->wait_stack =
        self.last_stack ? (uint32_t)((uint64_t*)(void*)self.last_stack - block->words) + 1 : 0;
    block->wait_owner = owner_of(lock, kind);
    if (kind <= trace_spin)
        begin_contention(attempt, lock, now);
    block->wait_began_ns = now;
    block->wait_lock = (uintptr_t)lock;
    block->wait_kind = kind;
    block->cycle[0] = 0;
    atomic_signal_fence(memory_order_release);
    block->wait_site = (uint32_t)(attempt.site - block->site) + 1;
    if (kind <= trace_spin)
        find_cycle(block);
    end_work();
    return now;
}

void note_nested(struct attempt attempt)
{
    if ((attempt.lock & attempt_nested) && self.block)
        ++self.block->nested;
}

void add_to_stack(struct trace_site* site, unsigned times, bool contended, uint64_t wait_ns)
{
    /* A signal handler may have asked for another lock meanwhile. */
    struct trace_stack* const stack = self.last_stack_site == site ? self.last_stack : NULL;
    self.last_stack = NULL;
    if (stack) {
        site->attributed_acquisitions += times;
        stack->count += times;
        stack->contended += contended;
        stack->wait_ns += wait_ns;
    } else {
        site->unattributed_contended += contended;
        site->unattributed_wait_ns += wait_ns;
    }
}

static void note_wait(struct trace_site* site, uint64_t wait_ns)
{
    site->wait_ns += wait_ns;
    if (wait_ns > site->wait_max_ns)
        site->wait_max_ns = wait_ns;
}

void note_waited(struct attempt attempt, void* lock, enum trace_kind kind, uint64_t began_ns)
{
    uint64_t const now = now_ns();
    if (!attempt.site) {
        note_nested(attempt);
        return;
    }
    struct trace_thread* const block = own_block(attempt.site);
    if (!block)
        return;
    block->wait_site = 0;
    struct trace_site* const site = attempt.site;
    struct contention* contention = NULL;
    if (kind <= trace_spin) {
        begin_work();
        contention = end_contention(lock);
        /* A handler may have waited for another lock meanwhile. */
        bool const own = self.wait.contention == contention && self.wait.began_ns == began_ns;
        if (tries_succeed(lock, now, &self.wait))
            began_ns = self.wait.began_ns;
        else if (!own)
            self.wait.contention = NULL;
        attribute_wait(block, &self.wait, site, now, self.waits_first ? block->wait_owner : 0);
        end_work();
    }
    ++site->acquisitions;
    site->shared += (attempt.lock & attempt_shared) != 0;
    ++site->contended;
    note_wait(site, now - began_ns);
    add_to_stack(site, 1, true, now - began_ns);
    maybe_begin_hold(lock, kind, site, contention ? (unsigned)(contention - contentions) + 1 : 0);
}

void note_failed(struct attempt attempt, void* lock, enum trace_kind kind, uint64_t began_ns)
{
    uint64_t const wait_ns = began_ns ? now_ns() - began_ns : 0;
    struct trace_thread* const block = attempt.site ? own_block(attempt.site) : NULL;
    if (!block)
        return;
    block->wait_site = 0;
    ++attempt.site->failed;
    if (kind <= trace_spin && began_ns) {
        tries_given_up();
        end_contention(lock);
    } else if (kind <= trace_spin && !at_work()) {
        begin_work();
        tries_note(lock, attempt.site);
        end_work();
    }
    note_wait(attempt.site, wait_ns);
    add_to_stack(attempt.site, 0, false, wait_ns);
}

void note_reacquired(void* mutex, void* return_to)
{
    if (!trace)
        return;
    struct trace_thread* block = self.block ? self.block : register_thread();
    if (!block || at_work() || self.forking)
        return;
    begin_work();
    struct attempt attempt = {.site = NULL};
    struct trace_site* site =
        find_lock_site(block, mutex, trace_mutex, trace_again, return_to, &attempt);
    if (site)
        ++site->acquisitions;
    end_work();
    if (site)
        maybe_begin_hold(mutex, trace_mutex, site, attempt_contention(attempt));
}
