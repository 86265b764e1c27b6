/* stacks: call stacks of acquisitions and of CPU samples. */
#ifndef CLEAT_LOCKS_STACKS_H
#define CLEAT_LOCKS_STACKS_H

#include "trace_format.h"

#include <stdbool.h>
#include <stdint.h>

/* take_stack begins where an acquisition's caller goes on, and leaves the stack in self.last_stack;
 * with `tell` it stands for what the site has not told yet, too. */
void take_stack(
    struct trace_thread* block, struct trace_site* site, uintptr_t return_to,
    bool with_unattributed);

/* sample_stack begins where a signal interrupted. */
void sample_stack(struct trace_thread* block, void const* context, uint64_t samples);

#endif
