/* line_table: the state of each cache line that the program has touched. */
#ifndef APPS_CLEAT_LOCKS_LINES_RECORD_LINE_TABLE_H
#define APPS_CLEAT_LOCKS_LINES_RECORD_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum
{
    line_shift = 6, /* 64 bytes: x86-64's and most of arm64's. */
    line_bytes = 1 << line_shift,
    part_shift = 16, /* Lines of a part: 4 MiB of the program's memory. */
    part_lines = 1 << part_shift
};

/* line_state. `held` has the bits of the threads that have the line as it is now; above them the
 * number of the thread that wrote it last, and one more, which is 0 where none has; and a bit while
 * a thread changes the state. */
struct line_state
{
    uint64_t held;
    uint64_t written;   /* A bit for each byte that it has written since another thread wrote. */
    uint32_t writer;    /* Its stack, as it got the line. */
    uint32_t allocated; /* The stack that allocated the memory; 0: none that is known. */
};

enum
{
    writer_shift = 56
};

static uint64_t const line_locked = 1ull << 63;

/* line_of is the state of the line of an address; null: there is no memory for it. */
struct line_state* line_of(uintptr_t address);

/* note_block: the memory is allocated by the stack of this number. Lines stay where they are, but
 * where the memory is new, no thread has had them. */
void note_block(uintptr_t address, size_t size, uint32_t allocated, bool is_new);

#endif
