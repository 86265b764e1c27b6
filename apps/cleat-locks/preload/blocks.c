#include "blocks.h"

#include <stdbool.h>
#include <stddef.h>

struct trace_thread* _Atomic blocks[trace_threads_max];

/* Numbers of blocks, + 1, by the thread's number; of two threads with one place the later one. */
static _Atomic uint32_t by_tid[2 * trace_threads_max];

static _Atomic uint32_t* place_of(int32_t tid)
{
    return &by_tid[(uint32_t)tid % (sizeof by_tid / sizeof *by_tid)];
}

static bool runs(struct trace_thread const* block, int32_t tid)
{
    return block && block->tid == tid && atomic_load(&block->state) == trace_running;
}

void note_thread(struct trace_thread const* block)
{
    atomic_store_explicit(place_of(block->tid), block->number + 1, memory_order_release);
}

struct trace_thread* find_block(int32_t tid)
{
    uint32_t const known = atomic_load_explicit(place_of(tid), memory_order_acquire);
    struct trace_thread* const block = known ? atomic_load(&blocks[known - 1]) : NULL;
    return runs(block, tid) ? block : NULL;
}
