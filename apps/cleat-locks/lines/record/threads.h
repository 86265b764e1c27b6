/* threads: each thread's number, and the functions that it is in. */
#ifndef APPS_CLEAT_LOCKS_LINES_RECORD_THREADS_H
#define APPS_CLEAT_LOCKS_LINES_RECORD_THREADS_H

#include <stdbool.h>
#include <stdint.h>

enum
{
    calls_max = 512
};

/* thread_state is a thread's own. Calls beyond calls_max are counted and not kept. */
struct thread_state
{
    uint64_t bit; /* Of its number; 0: it has none yet. */
    uint32_t number;
    bool is_recording;   /* The recorder's own accesses do not count. */
    uintptr_t allocates; /* Where operator new was called, which is calling malloc; 0: nowhere. */
    uint64_t accesses;
    unsigned depth;
    uintptr_t calls[calls_max]; /* Where each function returns to. */
};

/* own is initial-exec: the first access of a thread must not allocate. */
extern __thread struct thread_state own __attribute__((tls_model("initial-exec")));

/* number_thread gives the thread its number, if it has none. */
void number_thread(struct thread_state* thread);

/* describe_thread writes what the file has of the thread: its accesses, and its name, which it may
 * have got since its start. */
void describe_thread(struct thread_state const* thread);

/* current_stack is the number of the thread's stack with `site` innermost, in the recording's table
 * and one more; 0: there is no room. */
uint32_t current_stack(struct thread_state const* thread, uintptr_t site);

#endif
