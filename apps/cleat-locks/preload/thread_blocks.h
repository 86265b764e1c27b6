/* thread_blocks: the threads of this process, and their blocks of the trace. */
#ifndef CLEAT_LOCKS_THREAD_BLOCKS_H
#define CLEAT_LOCKS_THREAD_BLOCKS_H

#include "trace_format.h"

/* prepare_threads is called once, as the library is loaded. */
void prepare_threads(void);

/* register_thread gives the calling thread a block of the trace; NULL: nothing is recorded of it.
 */
struct trace_thread* register_thread(void);

/* note_all_progress puts every running thread's name and CPU time into its block. */
void note_all_progress(void);

/* running_threads counts the threads that have a block. */
unsigned running_threads(void);

/* forget_threads is called in a new process, of which only this thread is left. */
void forget_threads(void);

#endif
