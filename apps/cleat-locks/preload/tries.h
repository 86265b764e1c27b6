/* tries: a thread that tries a lock again and again waits for it, from the first failed try on. */
#ifndef CLEAT_LOCKS_TRIES_H
#define CLEAT_LOCKS_TRIES_H

#include "thread_state.h"
#include "trace_format.h"

#include <stdbool.h>
#include <stdint.h>

/* tries_note notes a failed try that did not wait. */
void tries_note(void* lock, struct trace_site* site);

/* tries_succeed says whether the calling thread, which has a lock now, tried it before in vain;
 * then `start` is as the first try failed. The tries end. */
bool tries_succeed(void const* lock, uint64_t now, struct wait_start* start);

/* tries_end is called as the calling thread has taken a lock: the tried one, or another one, with
 * which it has given up. */
void tries_end(void const* lock, struct trace_site* site);

/* tries_given_up ends the tries, if there are any: the wait lasted until the last one. */
void tries_given_up(void);

#endif
