#include "unwind_tables.h"

#include <dlfcn.h>

static int32_t signed_word(uint8_t const* bytes)
{
    int32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* encoded_size is how many bytes a pointer takes; 0: not one of a fixed size. */
static unsigned encoded_size(uint8_t encoding)
{
    switch (encoding & 0x07) {
    case 0x00:
        return (encoding & 0x08) || (encoding & 0x70) == 0x50 ? 0 : 8;
    case 0x02:
        return 2;
    case 0x03:
        return 4;
    case 0x04:
        return 8;
    default:
        return 0;
    }
}

/* find_entry finds the entry for the code at an address. Linkers write one kind of table only:
 * sorted pairs of 32-bit offsets from its beginning. */
static uint8_t const* find_entry(uintptr_t pc)
{
    struct dl_find_object found;
    if (_dl_find_object((void*)pc, &found) != 0 || !found.dlfo_eh_frame)
        return NULL;
    uint8_t const* const head = found.dlfo_eh_frame;
    if (head[0] != 1 || head[2] != 0x03 || head[3] != 0x3b || encoded_size(head[1]) != 4)
        return NULL;
    uint32_t count;
    memcpy(&count, head + 8, sizeof count);
    uint8_t const* const pairs = head + 12;
    uint32_t low = 0;
    for (uint32_t high = count; low < high;) {
        uint32_t const middle = low + (high - low) / 2;
        if ((uintptr_t)head + (uintptr_t)(intptr_t)signed_word(pairs + 8 * (size_t)middle) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : head + signed_word(pairs + 8 * (size_t)(low - 1) + 4);
}

/* read_cie gives how the entry writes addresses, or -1. */
static int read_cie(struct table* table, uint8_t const* cursor)
{
    uint64_t const length = fixed(&cursor, 4);
    table->cie_end = cursor + length;
    if (length == 0 || length >= 0xfffffff0 || fixed(&cursor, 4) != 0)
        return -1;
    uint8_t const version = *cursor++;
    char const* augmentation = (char const*)cursor;
    cursor += strlen(augmentation) + 1;
    if ((version != 1 && version != 3) || (*augmentation && *augmentation != 'z'))
        return -1;
    table->code_align = uleb(&cursor);
    table->data_align = sleb(&cursor);
    table->return_register = version == 1 ? *cursor++ : uleb(&cursor);
    int encoding = 0;
    table->signal_frame = false;
    table->cie_begin = cursor;
    if (!*augmentation)
        return encoding;
    uint64_t const size = uleb(&cursor);
    table->cie_begin = cursor + size;
    for (char const* c = augmentation + 1; *c; ++c)
        if (*c == 'L')
            ++cursor;
        else if (*c == 'R')
            encoding = *cursor++;
        else if (*c == 'S')
            table->signal_frame = true;
        else if (*c == 'P') {
            unsigned const pointer = encoded_size(*cursor++);
            if (pointer == 0)
                return -1;
            cursor += pointer;
        } else if (*c != 'B')
            return -1;
    return encoding;
}

bool find_table(struct table* table, uintptr_t pc)
{
    uint8_t const* cursor = find_entry(pc);
    if (!cursor)
        return false;
    uint64_t const length = fixed(&cursor, 4);
    if (length == 0 || length >= 0xfffffff0)
        return false;
    table->fde_end = cursor + length;
    uint8_t const* const back_from = cursor;
    uint64_t const back = fixed(&cursor, 4);
    int const encoding = back == 0 ? -1 : read_cie(table, back_from - back);
    /* Relative to its own address, as all compilers write it. */
    if (encoding < 0 || (encoding & 0xf0) != 0x10 || encoded_size((uint8_t)encoding) == 0)
        return false;
    unsigned const size = encoded_size((uint8_t)encoding);
    uintptr_t const here = (uintptr_t)cursor;
    uint64_t const begin = fixed(&cursor, size);
    table->code_begin = here + (size == 4 ? (uint64_t)(int64_t)(int32_t)begin : begin);
    uint64_t const range = fixed(&cursor, size);
    if (size == 2 || pc < table->code_begin || pc - table->code_begin >= range)
        return false;
    uint64_t const skipped = uleb(&cursor); /* The augmentation begins with 'z': R follows it. */
    table->fde_begin = cursor + skipped;
    return true;
}
