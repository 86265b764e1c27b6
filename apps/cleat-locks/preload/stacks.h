/* stacks: call stacks of acquisitions and of CPU samples. */
#ifndef CLEAT_LOCKS_STACKS_H
#define CLEAT_LOCKS_STACKS_H

#include "trace_format.h"

#include <stdbool.h>
#include <stdint.h>

/* take_stack takes the stack of an acquisition from where its caller goes on, and leaves it in
 * self.last_stack. With `with_unattributed` the site's unattributed counts are added to it. */
void take_stack(
    struct trace_thread* block, struct trace_site* site, uintptr_t return_to,
    bool with_unattributed);

/* sample_stack takes the stack of a CPU sample from where a signal interrupted. */
void sample_stack(struct trace_thread* block, void const* context, uint64_t samples);

#endif
