/* unwind_tables: where the table for a piece of code is, and how its numbers are written. The
 * tables are .eh_frame_hdr and .eh_frame: the Linux Standard Base, Core, chapter 10.6. They belong
 * to loaded files, and are read as they are.
 */
#ifndef CLEAT_LOCKS_UNWIND_TABLES_H
#define CLEAT_LOCKS_UNWIND_TABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The table of the code around an address. */
struct table
{
    uint8_t const* cie_begin; /* Instructions. */
    uint8_t const* cie_end;
    uint8_t const* fde_begin;
    uint8_t const* fde_end;
    uintptr_t code_begin;
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
    bool signal_frame;
};

/* find_table finds the table for the code at an address; false: there is none that can be read. */
bool find_table(struct table* table, uintptr_t pc);

/* Each reads a number at `cursor`, and steps over it. */

static inline uint64_t uleb(uint8_t const** cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t const byte = *(*cursor)++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

static inline int64_t sleb(uint8_t const** cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
        uint8_t const byte = *(*cursor)++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80)) {
            if (shift < 64 && (byte & 0x40))
                value |= ~UINT64_C(0) << shift;
            return (int64_t)value;
        }
    }
}

static inline uint64_t fixed(uint8_t const** cursor, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, *cursor, size); /* Little-endian: x86-64, and arm64 as Linux runs it. */
    *cursor += size;
    return value;
}

#endif
