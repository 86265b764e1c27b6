/* clock: the clocks that the recorder reads, in nanoseconds. */
#ifndef CLEAT_LOCKS_CLOCK_H
#define CLEAT_LOCKS_CLOCK_H

#include <stdint.h>
#include <time.h>

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

#endif
