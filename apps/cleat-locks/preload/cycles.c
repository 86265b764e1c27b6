/* The last thread of a cycle finds the cycle as it begins to wait. Each of the others waits by
 * then, and cannot release its lock. A thread notes its own wait before it looks at those of
 * others, so of two threads that begin to wait at the same moment at least one sees the other's
 * wait.
 */
#include "blocks.h"
#include "cycles.h"
#include "owners.h"

#include <stddef.h>

/* next_owner gives the owner of the lock that a thread waits for; 0: it does not wait, or the owner
 * is not known. */
static int32_t next_owner(int32_t tid)
{
    struct trace_thread const volatile* const holder = find_block(tid);
    if (!holder || holder->wait_site == 0)
        return 0;
    uint64_t const lock = holder->wait_lock;
    int32_t const owner = owner_elsewhere(lock, holder->wait_kind);
    return holder->wait_site != 0 && holder->wait_lock == lock ? owner : 0;
}

void find_cycle(struct trace_thread* block)
{
    atomic_thread_fence(memory_order_seq_cst);
    int32_t cycle[trace_cycle_max];
    unsigned size = 0;
    int32_t owner = block->wait_owner;
    while (owner != 0 && owner != block->tid && size + 1 < trace_cycle_max) {
        cycle[size++] = owner;
        owner = next_owner(owner);
    }
    if (owner != block->tid)
        return;
    cycle[size++] = block->tid;
    for (unsigned i = size; i-- > 0;) {
        if (i + 1 < trace_cycle_max)
            block->cycle[i + 1] = i + 1 < size ? cycle[i + 1] : 0;
        block->cycle[i] = cycle[i];
    }
}
