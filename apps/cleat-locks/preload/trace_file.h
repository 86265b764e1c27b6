/* trace_file: the trace of this process, as a memory map of its file.
 *
 * The file grows by a block when a thread is registered. It is never unmapped: a thread may take
 * locks until its very end, and so may the process.
 */
#ifndef CLEAT_LOCKS_TRACE_FILE_H
#define CLEAT_LOCKS_TRACE_FILE_H

#include "trace_format.h"

#include <stdint.h>

/* The trace's header; NULL: nothing is recorded. */
extern struct trace_header* trace;
extern struct trace_slot* trace_slots;
extern struct trace_lock* trace_locks;

/* begin_trace makes a trace in a folder; where that fails, nothing is recorded. */
void begin_trace(char const* folder, uint32_t cpu_hz);

/* leave_trace ends recording into the parent's trace, in the child of a fork. */
void leave_trace(void);

/* shrink_trace gives back the parts of the file that nothing was written to, as the process ends. A
 * page that is written later is allocated again. */
void shrink_trace(void);

/* copy_trace copies the trace as it is, into a file beside it with this extension. */
void copy_trace(char const* extension);

/* remove_copy removes such a copy, if there is one. */
void remove_copy(char const* extension);

/* map_block maps the block of a number, from 0; NULL: there is no room. */
struct trace_thread* map_block(uint32_t number);

#endif
