/* thread_state: the recorder's data on a thread, besides the thread's block of the trace.
 *
 * Everything in this library runs inside a program that is not ours: on its stacks, between any two
 * of its instructions, in its signal handlers. So nothing here allocates, takes a lock, or calls a
 * function that might. A thread's data is written by that thread alone; common data is written with
 * atomic operations, rarely.
 */
#ifndef CLEAT_LOCKS_THREAD_STATE_H
#define CLEAT_LOCKS_THREAD_STATE_H

#include "compiler.h"
#include "contention.h"
#include "trace_format.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum
{
    holds_max = 16, /* holds that one thread times at once */
    known_max = 32  /* sites at which a thread has taken locks, the newest */
};

/* A hold that is being timed. */
struct hold
{
    uintptr_t lock;
    uint64_t began_ns;
    uint64_t interruptions; /* of its thread as it began */
    struct trace_site* site;
    struct contention* contention; /* of its lock; NULL: no thread has waited for it */
    uint32_t asked;                /* how often that lock had been waited for as the hold began */
    unsigned inner_open;           /* inner holds by its thread that have not ended */
    bool sampled;                  /* it is part of the sample */
};

/* A lock that its thread tries again and again. */
struct tries
{
    uintptr_t lock; /* 0: none */
    struct trace_site* site;
    uint64_t last_ns;
    struct wait_start start; /* as the first try failed */
};

struct thread_state
{
    struct trace_thread* block;  /* NULL: not registered yet, or nothing is recorded of it */
    uint32_t number;             /* from 1, in the order in which threads were registered */
    int busy;                    /* the recorder is at work, and must not be entered again */
    uintptr_t busy_from;         /* where on the stack its work began */
    bool refused;                /* there was no room for a block */
    bool forking;                /* in a fork, during which nothing is recorded */
    int acquisitions_until_hold; /* until one is timed; below 0: a handler interrupted */
    unsigned attention;          /* not 0: a hold is timed, or a lock was tried in vain */
    unsigned holds;              /* entries of `hold` in use */
    uint32_t random;
    int64_t allowance_ns; /* CPU time that may be spent on stacks now */
    uint64_t refilled_cpu_ns;
    uint64_t next_stack_ns; /* before this the allowance cannot pay for a stack */
    uint64_t ended_cpu_ns;  /* the thread's CPU time before it got its present block: before the
                               trace, or counted in a block that it has left */
    uint64_t interruptions; /* the kernel's count when it was read last */
    struct hold hold[holds_max];
    struct tries tries;
    uint16_t known[known_max]; /* indices of sites */
    unsigned known_count;      /* so far */
    bool only_tries;           /* the present attempt does not wait */
    bool waits_first;          /* its present wait is the lock's first: no hold was timed for it */
    struct wait_start wait;    /* its present wait for a lock */
    struct trace_site* last_stack_site; /* where the last stack was taken */
    struct trace_stack* last_stack;     /* it counts the next acquisition there; or NULL */
    timer_t timer;
    bool timer_runs;
};

extern __thread struct thread_state self __attribute__((tls_model("initial-exec")));

/* All of the recorder's work that a signal handler of the program could interrupt, or that may run
 * the program's code, is between begin_work and end_work. A lock that is taken meanwhile is not
 * recorded. */
static ALWAYS_INLINE void begin_work(void)
{
    if (self.busy++ == 0)
        self.busy_from = (uintptr_t)__builtin_frame_address(0);
}

static ALWAYS_INLINE void end_work(void)
{
    --self.busy;
}

/* work_abandoned says whether a handler has jumped out of the work: see thread_state.c. */
bool work_abandoned(uintptr_t stack);

static ALWAYS_INLINE bool at_work(void)
{
    return UNLIKELY(self.busy != 0) && !work_abandoned((uintptr_t)__builtin_frame_address(0));
}

static inline void pay_attention(void)
{
    self.attention = self.holds + (self.tries.lock != 0);
}

/* A thread's number in a word of bits; threads beyond 64 share bits, which can only hide sharing.
 */
static inline uint64_t own_bit(void)
{
    return UINT64_C(1) << ((self.number - 1) % 64);
}

/* name_thread puts the calling thread's name into its block. */
void name_thread(struct trace_thread* block);

/* note_progress puts the calling thread's name and CPU time into its block. */
void note_progress(struct trace_thread* block);

#endif
