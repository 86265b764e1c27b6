/* recorder: the recording of this process, from the library's start to the process's end. */
#ifndef CLEAT_LOCKS_RECORDER_H
#define CLEAT_LOCKS_RECORDER_H

/* process_ends writes the threads' last figures and the end into the trace. */
void process_ends(void);

#endif
