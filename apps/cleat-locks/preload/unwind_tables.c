#include "unwind_tables.h"

#include <dlfcn.h>

static int32_t signed_word(uint8_t const* at)
{
    int32_t value;
    memcpy(&value, at, sizeof value);
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

/* entry_of finds the entry for the code at an address. Linkers write one kind of table only: sorted
 * pairs of 32-bit offsets from its beginning. */
static uint8_t const* entry_of(uintptr_t pc)
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
static int read_cie(struct table* of, uint8_t const* at)
{
    uint64_t const length = fixed(&at, 4);
    of->cie_end = at + length;
    if (length == 0 || length >= 0xfffffff0 || fixed(&at, 4) != 0)
        return -1;
    uint8_t const version = *at++;
    char const* augmentation = (char const*)at;
    at += strlen(augmentation) + 1;
    if ((version != 1 && version != 3) || (*augmentation && *augmentation != 'z'))
        return -1;
    of->code_align = uleb(&at);
    of->data_align = sleb(&at);
    of->return_register = version == 1 ? *at++ : uleb(&at);
    int encoding = 0;
    of->signal_frame = false;
    of->cie_begin = at;
    if (!*augmentation)
        return encoding;
    uint64_t const size = uleb(&at);
    of->cie_begin = at + size;
    for (char const* c = augmentation + 1; *c; ++c)
        if (*c == 'L')
            ++at;
        else if (*c == 'R')
            encoding = *at++;
        else if (*c == 'S')
            of->signal_frame = true;
        else if (*c == 'P') {
            unsigned const pointer = encoded_size(*at++);
            if (pointer == 0)
                return -1;
            at += pointer;
        } else if (*c != 'B')
            return -1;
    return encoding;
}

bool table_for(struct table* of, uintptr_t pc)
{
    uint8_t const* at = entry_of(pc);
    if (!at)
        return false;
    uint64_t const length = fixed(&at, 4);
    if (length == 0 || length >= 0xfffffff0)
        return false;
    of->fde_end = at + length;
    uint8_t const* const back_from = at;
    uint64_t const back = fixed(&at, 4);
    int const encoding = back == 0 ? -1 : read_cie(of, back_from - back);
    /* Relative to where it stands, as all compilers write it. */
    if (encoding < 0 || (encoding & 0xf0) != 0x10 || encoded_size((uint8_t)encoding) == 0)
        return false;
    unsigned const size = encoded_size((uint8_t)encoding);
    uintptr_t const here = (uintptr_t)at;
    uint64_t const begin = fixed(&at, size);
    of->code_begin = here + (size == 4 ? (uint64_t)(int64_t)(int32_t)begin : begin);
    uint64_t const range = fixed(&at, size);
    if (size == 2 || pc < of->code_begin || pc - of->code_begin >= range)
        return false;
    uint64_t const skipped = uleb(&at); /* 'z' was asked for: R is behind it. */
    of->fde_begin = at + skipped;
    return true;
}
