#include "recording.h"
#include "threads.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct thread_state own;

void number_thread(struct thread_state* thread)
{
    if (thread->bit != 0)
        return;
    int const error = errno; /* The program's, which may be about to look at it. */
    uint32_t number = __atomic_fetch_add(&recording->header.threads, 1, __ATOMIC_RELAXED);
    if (number >= lines_threads_max)
        number = lines_threads_max - 1;
    thread->number = number;
    thread->bit = 1ull << number;
    struct lines_thread* const noted = &recording->header.thread[number];
    noted->tid = (uint32_t)syscall(SYS_gettid);
    noted->own_memory = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    describe_thread(thread);
    write_lines_map(); /* It has the thread's stack now. */
    errno = error;
}

void describe_thread(struct thread_state const* thread)
{
    struct lines_thread* const noted = &recording->header.thread[thread->number];
    noted->accesses = thread->accesses;
    prctl(PR_GET_NAME, noted->name);
}

static uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

uint32_t current_stack(struct thread_state const* thread, uintptr_t site)
{
    uintptr_t frames[lines_frames_max];
    uint32_t depth = 0;
    uint64_t hash = mixed(1, site);
    frames[depth++] = site;
    unsigned left = thread->depth < calls_max ? thread->depth : calls_max;
    while (left > 0 && depth < lines_frames_max) {
        frames[depth] = thread->calls[--left];
        hash = mixed(hash, frames[depth++]);
    }
    hash |= 1; /* 0 is a free place. */
    struct lines_stack* const stacks = recording->stacks;
    for (uint32_t i = 0; i < lines_probes_max; ++i) {
        uint32_t const place = ((uint32_t)(hash >> 7) + i) & (lines_stacks_max - 1);
        struct lines_stack* const stack = &stacks[place];
        uint64_t found = __atomic_load_n(&stack->hash, __ATOMIC_RELAXED);
        if (found == 0 &&
            __atomic_compare_exchange_n(
                &stack->hash, &found, hash, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            for (uint32_t frame = 0; frame < depth; ++frame)
                stack->frames[frame] = frames[frame];
            stack->depth = depth;
            return place + 1;
        }
        if (found == hash)
            return place + 1;
    }
    __atomic_fetch_add(&recording->header.stacks_lost, 1, __ATOMIC_RELAXED);
    return 0;
}
