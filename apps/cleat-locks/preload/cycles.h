/* cycles: threads that wait for each other's locks. */
#ifndef CLEAT_LOCKS_CYCLES_H
#define CLEAT_LOCKS_CYCLES_H

#include "trace_format.h"

/* find_cycle notes in a thread's block whether its wait, which is noted there, closes a cycle. */
void find_cycle(struct trace_thread* block);

#endif
