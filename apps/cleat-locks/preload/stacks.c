/* Call stacks, each kept once for each thread.
 *
 * The stacks of a part of the acquisitions are taken, at random: the more acquisitions a site has
 * had, the smaller is that part. A stack stands for all acquisitions of its site since the last
 * stack. An acquisition that waits has a stack that stands for it alone. It is taken before the
 * wait: afterwards this thread has the lock, and others would wait for it. A thread's CPU time for
 * stacks is bounded: see can_afford_stack.
 */
#include "clock.h"
#include "hash.h"
#include "maps.h"
#include "orders.h"
#include "stacks.h"
#include "thread_state.h"
#include "unwind.h"

#include <string.h>

enum
{
    cpu_share_max = 64,      /* one part in so many of a thread's CPU time goes into stacks */
    allowance_max = 5000000, /* and so much at once: at its start, or after a quiet time, in ns */
    stack_cost_ns = 4000,    /* of one stack, in ns */
    own_frames_max = 8       /* from the recorder to its caller */
};

struct walk
{
    uint64_t frames[trace_depth_max];
    unsigned depth;
    bool truncated;
};

/* record_frames takes down a frame and all that called it. */
static void record_frames(struct walk* walk, struct unwind_frame* frame)
{
    walk->truncated = false;
    walk->depth = 0;
    do {
        if (walk->depth == trace_depth_max) {
            walk->truncated = true;
            return;
        }
        walk->frames[walk->depth++] = frame->pc;
    } while (unwind_next(frame));
}

/* walk_from_caller begins with the frame that goes on at `return_to`. A walk that does not reach it
 * records that place alone. */
static void walk_from_caller(struct walk* walk, uintptr_t return_to)
{
    struct unwind_frame frame;
    unwind_here(&frame);
    for (unsigned own = 0; own < own_frames_max && unwind_next(&frame); ++own)
        if (frame.pc == return_to) {
            record_frames(walk, &frame);
            return;
        }
    walk->truncated = true;
    walk->depth = 1;
    walk->frames[0] = return_to;
}

/* find_stack finds the record of a stack, or makes it. */
static struct trace_stack* find_stack(
    struct trace_thread* block, struct walk const* walk, enum trace_stack_what what, uint32_t lock,
    uint32_t how)
{
    uint64_t hash = mix(mix(what, lock), how);
    for (unsigned i = 0; i < walk->depth; ++i)
        hash = mix(hash, walk->frames[i]);
    unsigned const head = sizeof(struct trace_stack) / sizeof(uint64_t);
    for (unsigned probe = 0; probe < 64; ++probe) {
        uint32_t* index = &block->index[(hash + probe) % trace_index_max];
        if (*index != 0) {
            struct trace_stack* found = (struct trace_stack*)&block->words[*index - 1];
            if (found->hash == hash && found->depth == walk->depth)
                return found;
            continue;
        }
        uint32_t const size = head + walk->depth;
        /* The zero after the last one stays. */
        if (block->words_used + size + head > trace_words_max)
            break;
        struct trace_stack* made = (struct trace_stack*)&block->words[block->words_used];
        made->hash = hash;
        made->depth = (uint16_t)walk->depth;
        made->what = (uint8_t)what;
        made->truncated = walk->truncated;
        made->lock = lock;
        made->how = how;
        memcpy(
            &block->words[block->words_used + head], walk->frames, walk->depth * sizeof(uint64_t));
        atomic_signal_fence(memory_order_release);
        made->size = size;
        *index = block->words_used + 1;
        block->words_used += size;
        return made;
    }
    ++block->stacks_lost;
    return NULL;
}

/* can_afford_stack says whether the allowance pays for a stack at `now`, in CPU time, of which a
 * part is earned as it passes. Wall time would earn too much where threads are more than cores. */
static bool can_afford_stack(uint64_t now)
{
    if (self.refilled_cpu_ns == 0)
        self.allowance_ns = allowance_max;
    else
        self.allowance_ns += (int64_t)((now - self.refilled_cpu_ns) / cpu_share_max);
    if (self.allowance_ns > allowance_max)
        self.allowance_ns = allowance_max;
    self.refilled_cpu_ns = now;
    return self.allowance_ns >= stack_cost_ns;
}

void take_stack(
    struct trace_thread* block, struct trace_site* site, uintptr_t return_to,
    bool with_unattributed)
{
    self.last_stack = NULL;
    /* The next stack that can be afforded stands for those that cannot. CPU time is a system call,
     * so it is not read before the thread can have earned a stack. */
    if (self.allowance_ns < stack_cost_ns && now_ns() < self.next_stack_ns)
        return;
    uint64_t const began = own_cpu_ns();
    if (!can_afford_stack(began)) {
        self.next_stack_ns =
            now_ns() + (uint64_t)(stack_cost_ns - self.allowance_ns) * cpu_share_max;
        return;
    }
    struct walk walk;
    walk_from_caller(&walk, return_to);
    struct trace_stack* stack = find_stack(block, &walk, trace_taken, site->lock, site->how);
    self.last_stack_site = site;
    self.last_stack = stack;
    if (stack && with_unattributed) {
        stack->count += site->acquisitions - site->attributed_acquisitions;
        site->attributed_acquisitions = site->acquisitions;
        stack->contended += site->unattributed_contended;
        stack->wait_ns += site->unattributed_wait_ns;
        site->unattributed_contended = site->unattributed_wait_ns = 0;
    }
    if (with_unattributed)
        note_orders(block, site);
    self.allowance_ns -= (int64_t)(own_cpu_ns() - began);
    block->seen_ns = now_ns();
    refresh_maps(block->seen_ns);
}

void sample_stack(struct trace_thread* block, void const* context, uint64_t samples)
{
    struct walk walk;
    struct unwind_frame frame;
    unwind_context(&frame, context);
    record_frames(&walk, &frame);
    struct trace_stack* stack = find_stack(block, &walk, trace_cpu, 0, 0);
    if (stack)
        stack->count += samples;
}
