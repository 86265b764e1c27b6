/* thread_blocks: the threads of this process, and their blocks of the trace. */
#ifndef CLEAT_LOCKS_THREAD_BLOCKS_H
#define CLEAT_LOCKS_THREAD_BLOCKS_H

#include "trace_format.h"

void prepare_threads(void); /* Once in a process. */

struct trace_thread* register_thread(void); /* The calling thread's block, or NULL. */
void note_all_progress(void);               /* Puts down how far every thread has come. */
void forget_threads(void); /* In a new process, of which only this thread is left. */

#endif
