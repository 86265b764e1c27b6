/* thread_state: what the recorder keeps of a thread beside its block of the trace.
 *
 * Everything in this library runs inside a program that is not ours: on its stacks, between any two
 * of its instructions, in its signal handlers. So nothing here allocates, takes a lock, or calls a
 * function that might. A thread's data is written by that thread alone; common data is written with
 * atomic operations, rarely.
 */
#ifndef CLEAT_LOCKS_THREAD_STATE_H
#define CLEAT_LOCKS_THREAD_STATE_H

#include "compiler.h"
#include "trace_format.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum
{
    holds_max = 16 /* holds that one thread times at once */
};

/* A hold that is being timed. */
struct hold
{
    uintptr_t lock; /* 0: free */
    uint64_t began_ns;
    uint64_t interruptions; /* of its thread, by then */
    struct trace_site* site;
    unsigned inner_open; /* its thread has it so many times more */
    unsigned inner_all;  /* acquisitions that made it so, also those that are over */
};

/* What the recorder keeps of a thread beside its block of the trace. */
struct thread_state
{
    struct trace_thread* block;  /* NULL: not met yet, or nothing is recorded of it */
    uint32_t number;             /* from 1, in the order in which threads were met */
    int busy;                    /* the recorder is at work, and must not meet itself */
    uintptr_t busy_from;         /* where on the stack it began */
    bool refused;                /* there was no room for a block */
    bool forking;                /* from before a fork until after it nothing is recorded */
    int acquisitions_until_hold; /* acquisitions until one is timed; below 0: a handler interrupted
                                  */
    unsigned holds;              /* in use */
    uint32_t random;
    int64_t allowance_ns; /* of CPU time, what may be spent on stacks now */
    uint64_t refilled_cpu_ns;
    uint64_t next_stack_ns; /* not before this is there enough for a stack */
    uint64_t ended_cpu_ns;  /* of the thread's CPU time, what was before the trace, or what a block
                               that it left has already */
    uint64_t interruptions; /* that the kernel has told of */
    struct hold hold[holds_max];
    struct trace_site* last_stack_site; /* the site of the stack that was taken last, */
    struct trace_stack* last_stack;     /* which tells of the next acquisition there; or NULL */
    timer_t timer;
    bool timer_runs;
};

extern __thread struct thread_state self __attribute__((tls_model("initial-exec")));

/* Whatever may run the program's code, or be interrupted by it, stands between these two. Asked for
 * in between, by a signal handler, the recorder must do nothing. */
static ALWAYS_INLINE void begin_work(void)
{
    if (self.busy++ == 0)
        self.busy_from = (uintptr_t)__builtin_frame_address(0);
}

static ALWAYS_INLINE void end_work(void)
{
    --self.busy;
}

/* work_abandoned says whether the work has been broken off: see thread_state.c. */
bool work_abandoned(uintptr_t stack);

static ALWAYS_INLINE bool at_work(void)
{
    return UNLIKELY(self.busy != 0) && !work_abandoned((uintptr_t)__builtin_frame_address(0));
}

/* A thread's number in a word of bits; threads beyond 64 share bits, which can only hide sharing.
 */
static inline uint64_t own_bit(void)
{
    return UINT64_C(1) << ((self.number - 1) % 64);
}

void name_thread(struct trace_thread* block); /* The calling thread's. */

/* see puts down how far the calling thread has come. */
void note_progress(struct trace_thread* block);

#endif
