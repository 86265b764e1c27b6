/* blocks: the threads' blocks of the trace, by number and by thread. */
#ifndef CLEAT_LOCKS_BLOCKS_H
#define CLEAT_LOCKS_BLOCKS_H

#include "trace_format.h"

#include <stdatomic.h>
#include <stdint.h>

/* By number; NULL: it is not mapped. */
extern struct trace_thread* _Atomic blocks[trace_threads_max];

/* note_thread notes the thread that a block belongs to from now on. */
void note_thread(struct trace_thread const* block);

/* find_block finds the block of a thread that runs; NULL: there is none. */
struct trace_thread* find_block(int32_t tid);

#endif
