/* interruptions: how often the calling thread lost its core. */
#ifndef CLEAT_LOCKS_INTERRUPTIONS_H
#define CLEAT_LOCKS_INTERRUPTIONS_H

#include "trace_format.h"

#include <stdint.h>

/* interruptions_prepare notes in the trace whether they are known. */
void interruptions_prepare(struct trace_header* header);

/* interruptions is how often the calling thread has lost its core; 0: unknown. */
uint64_t interruptions(void);

#endif
