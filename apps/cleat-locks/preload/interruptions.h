/* interruptions: how often the calling thread lost its core. */
#ifndef CLEAT_LOCKS_INTERRUPTIONS_H
#define CLEAT_LOCKS_INTERRUPTIONS_H

#include "trace_format.h"

#include <stdint.h>

void interruptions_prepare(struct trace_header* header);
uint64_t interruptions(void);

#endif
