/* recorder: what the parts of the preload library know of each other.
 *
 * Everything here runs inside a program that is not ours: on its stacks, between any two of its
 * instructions, in its signal handlers. So nothing here allocates, takes a lock, or calls a
 * function that might. What belongs to a thread is written by that thread alone; what is common is
 * written with atomic operations, rarely.
 */
#ifndef CLEAT_LOCKS_RECORDER_H
#define CLEAT_LOCKS_RECORDER_H

#define _GNU_SOURCE
#include "trace_format.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* On the way of every acquisition. */
#define ALWAYS_INLINE __attribute__((always_inline)) inline

/* The whole trace, or NULL: nothing is recorded. */
extern struct trace_header* trace;
extern struct trace_slot* trace_slots;
extern struct trace_lock* trace_locks;

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
    unsigned deeper; /* its thread has it so many times more */
    unsigned inner;  /* acquisitions that made it so, also those that are over */
};

/* What the recorder keeps of a thread beside its block of the trace. */
struct self
{
    struct trace_thread* block; /* NULL: not met yet, or nothing is recorded of it */
    uint32_t number;            /* from 1, in the order in which threads were met */
    int busy;                   /* the recorder is at work, and must not meet itself */
    uintptr_t busy_from;        /* where on the stack it began */
    bool refused;               /* there was no room for a block */
    bool forks;                 /* from before a fork until after it nothing is recorded */
    int until_hold; /* acquisitions until one is timed; below 0: a handler interrupted */
    unsigned holds; /* in use */
    uint32_t random;
    int64_t allowance_ns; /* of CPU time, what may be spent on stacks now */
    uint64_t refilled_cpu_ns;
    uint64_t earned_ns;     /* not before this is there enough for a stack */
    uint64_t ended_cpu_ns;  /* of the thread's CPU time, what was before the trace, or what a block
                               that it left has already */
    uint64_t interruptions; /* that the kernel has told of */
    struct hold hold[holds_max];
    struct trace_site* told_at;  /* the site of the stack that was taken last, */
    struct trace_stack* told_in; /* which tells of the next acquisition there; or NULL */
    timer_t timer;
    bool timer_runs;
};

extern __thread struct self self __attribute__((tls_model("initial-exec")));

static inline uint64_t read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* A system call, which now_ns is not. */
static inline uint64_t own_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

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

/* left_behind says whether the work has been broken off: see recorder.c. */
bool left_behind(uintptr_t stack);

static ALWAYS_INLINE bool at_work(void)
{
    return UNLIKELY(self.busy != 0) && !left_behind((uintptr_t)__builtin_frame_address(0));
}

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

/* A thread's number in a word of bits; threads beyond 64 share bits, which can only hide sharing.
 */
static inline uint64_t own_bit(void)
{
    return UINT64_C(1) << ((self.number - 1) % 64);
}

/* next.c: before anything else. */
void next_find_all(void);

/* recorder.c: the trace and its threads. */
struct trace_thread* meet_thread(void);       /* The calling thread's block, or NULL. */
void name_thread(struct trace_thread* block); /* The calling thread's. */
void process_ends(void);

/* maps.c: the process's memory map, beside its trace. */
void name_maps(char const* trace, size_t size); /* The trace's name, less .trace. */
void forget_maps(void);                         /* In a new process. */
void write_maps(void);
void refresh_maps(uint64_t now); /* Writes it again, when that is due. */

/* locks.c: which lock is at an address, and what has been done with it. */
extern unsigned hold_part; /* One of so many acquisitions is timed, at random. */
int next_hold(void);       /* How many there are until then. */
void forget_locks(void);   /* In a new process, which has a new trace. */
void lock_made(void* address, enum trace_kind kind, void* made_at);
void lock_ended(void* address);

/* What is known of an acquisition before it is tried. What has to be looked for is found then, and
 * a stack is taken then: later, others may be waiting for who has the lock. */
struct asked
{
    struct trace_site* site; /* NULL: it is not recorded, */
    bool nested;             /* because a signal handler asked that interrupted the recorder */
    bool shared;             /* another thread has touched the lock */
};

struct asked ask(void* lock, enum trace_kind kind, enum trace_how how, void* return_to);

/* begin_wait is told that the calling thread is about to wait, and says when that was: a wait that
 * does not end is told of by nobody else. */
uint64_t begin_wait(struct asked by);

/* One of these three tells what became of it: had at once, had after a wait, or not had, after a
 * wait or without one (0). */
static ALWAYS_INLINE void note_acquired(struct asked by, void* lock, enum trace_kind kind);
void note_waited(struct asked by, void* lock, enum trace_kind kind, uint64_t wait_ns);
void note_failed(struct asked by, uint64_t wait_ns);
void note_again(void* mutex, void* return_to); /* Taken again as a wait for a condition ended. */

/* A hold that is to be timed begins with the acquisition; hold_ended is called before the release.
 */
void hold_ended(void* lock);

static inline void before_release(void* lock)
{
    if (UNLIKELY(self.holds != 0))
        hold_ended(lock);
}

void note_nested(struct asked by); /* Of locks.c, for what is below. */
void tell_stack(struct trace_site* site, unsigned times, bool contended, uint64_t wait_ns);
void hold_begins(void* lock, enum trace_kind kind, struct trace_site* site);

static ALWAYS_INLINE void hold_may_begin(void* lock, enum trace_kind kind, struct trace_site* site)
{
    if (kind > trace_spin)
        return; /* Who ends a wait of another kind is nobody's holder. */
    if (UNLIKELY(--self.until_hold <= 0 || self.holds != 0))
        hold_begins(lock, kind, site);
}

/* The caller has the lock by now: as little as can be. */
static ALWAYS_INLINE void note_acquired(struct asked by, void* lock, enum trace_kind kind)
{
    if (UNLIKELY(!by.site)) {
        note_nested(by);
        return;
    }
    ++by.site->acquisitions;
    by.site->shared += by.shared;
    if (UNLIKELY(self.told_in != NULL))
        tell_stack(by.site, 1, false, 0);
    else
        ++by.site->untold_acquisitions;
    hold_may_begin(lock, kind, by.site);
}

/* interruptions.c: how often the calling thread lost its core. */
void interruptions_prepare(struct trace_header* header);
uint64_t interruptions(void);

/* stacks.c: call stacks, from where an acquisition's caller goes on or a signal interrupted.
 * take_stack leaves it in self.told_in; with `tell` it stands for what the site has not told yet,
 * too. */
void take_stack(struct trace_thread* block, struct trace_site* site, uintptr_t from, bool tell);
void sample_stack(struct trace_thread* block, void const* context, uint64_t samples);

/* sampler.c: a timer of each thread's CPU time. */
extern int sampler_signal;
void sampler_prepare(void);
void sampler_begin(void); /* Of the calling thread. */
void sampler_end(void);

#endif
