/* locks: which lock is at an address. */
#ifndef CLEAT_LOCKS_LOCKS_H
#define CLEAT_LOCKS_LOCKS_H

#include "hash.h"
#include "trace_format.h"

#include <stdbool.h>
#include <stdint.h>

enum
{
    probes_max = 64 /* places where an entry of a table may be */
};

void forget_locks(void); /* In a new process, which has a new trace. */
void lock_made(void* address, enum trace_kind kind, void* made_at);
void lock_destroyed(void* address);

/* first_slot is where the slot of an address is looked for first, modulo the size of the table. */
static inline uint64_t first_slot(uintptr_t address)
{
    return mix(1, address >> 3) >> 20;
}

/* find_slot gives an address's slot, or NULL; with `make`, it makes one. */
struct trace_slot* find_slot(uintptr_t address, bool make);

/* note_first_touch adds a thread, by its bit, to those that have touched a lock. It gives index + 1
 * of the entry that counts from now on; 0: all are used. */
uint32_t note_first_touch(
    struct trace_slot* slot, enum trace_kind kind, uint64_t bit, void* return_to);

#endif
