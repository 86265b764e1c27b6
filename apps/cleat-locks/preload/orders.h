/* orders: which locks a thread takes while it has others. */
#ifndef CLEAT_LOCKS_ORDERS_H
#define CLEAT_LOCKS_ORDERS_H

#include "trace_format.h"

/* know_lock notes a new site of the calling thread. */
void know_lock(struct trace_thread* block, struct trace_site const* site);

/* note_orders notes which other locks the calling thread has as it asks for one. It is called for
 * the attempts whose stack is taken, the first two of each site among them; the stack is in
 * self.last_stack. */
void note_orders(struct trace_thread* block, struct trace_site const* site);

#endif
