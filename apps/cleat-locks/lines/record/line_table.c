#include "line_table.h"
#include "recording.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum
{
    address_bits = 48,
    parts = 1 << (address_bits - line_shift - part_shift)
};

/* Zero pages until they are used. */
static struct line_state* _Atomic directory[parts];

static struct line_state* new_part(struct line_state* _Atomic* place)
{
    size_t const size = sizeof(struct line_state[part_lines]);
    void* const made = mmap(
        NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
        return NULL;
    struct line_state* none = NULL;
    if (atomic_compare_exchange_strong(place, &none, made))
        return made;
    munmap(made, size);
    return none;
}

struct line_state* line_of(uintptr_t address)
{
    uintptr_t const line = address >> line_shift;
    uintptr_t const part = line >> part_shift;
    if (part >= parts)
        return NULL;
    struct line_state* found = atomic_load_explicit(&directory[part], memory_order_acquire);
    if (!found && !(found = new_part(&directory[part])))
        return NULL;
    return &found[line & (part_lines - 1)];
}

enum
{
    noted_max = 1 << 28 /* Bytes of a block whose lines are noted. */
};

void note_block(uintptr_t address, size_t size, uint32_t allocated, bool is_new)
{
    if (size > noted_max)
        size = noted_max;
    for (uintptr_t line = address & ~(uintptr_t)(line_bytes - 1); line < address + size;
         line += line_bytes) {
        struct line_state* const state = line_of(line);
        if (!state)
            return;
        state->allocated = allocated;
        if (!is_new)
            continue;
        __atomic_store_n(&state->held, 0, __ATOMIC_RELAXED);
        state->written = 0;
        state->writer = 0;
    }
}
