/* The rules of a cache with a private copy for each thread, as large as memory (MESI): a thread
 * that reads a line which another one has written since gets it from there, and a thread that
 * writes a line takes it from all that have it. Each of these is a move. Where no other thread has
 * touched the line, or all only read it, nothing moves.
 */
#include "accesses.h"
#include "line_table.h"
#include "recording.h"
#include "threads.h"

#include <sched.h>

static uint64_t const holders = (1ull << writer_shift) - 1;

static uint64_t byte_mask(unsigned first, unsigned count)
{
    return (count >= 64 ? ~0ull : (1ull << count) - 1) << first;
}

struct move
{
    uint32_t thread_before;
    enum lines_kind kind;
    bool other_bytes;
};

static uint64_t move_key(
    struct move const* move, struct thread_state const* thread, struct line_state const* line,
    uint32_t stack, uintptr_t address)
{
    /* Memory that was not allocated has a place of its own: a global variable, or a stack. */
    uint64_t key = line->allocated != 0 ? line->allocated : address >> line_shift;
    key = key * 0x9e3779b97f4a7c15ull ^ stack;
    key = key * 0x9e3779b97f4a7c15ull ^ line->writer;
    key = key * 0x9e3779b97f4a7c15ull ^
          ((uint64_t)thread->number << 16 | move->thread_before << 8 | move->kind);
    return (key ^ key >> 31) | 1;
}

static void count_move(
    struct move const* move, struct thread_state* thread, struct line_state const* line,
    uintptr_t address, size_t size, uintptr_t site)
{
    uint32_t const stack = current_stack(thread, site);
    uint64_t const key = move_key(move, thread, line, stack, address);
    for (uint32_t i = 0; i < lines_probes_max; ++i) {
        struct lines_move* const row = &recording->moves[((key >> 9) + i) & (lines_moves_max - 1)];
        uint64_t found = __atomic_load_n(&row->key, __ATOMIC_RELAXED);
        if (found == 0 && __atomic_compare_exchange_n(
                              &row->key, &found, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            row->address = address;
            row->stack = stack;
            row->stack_before = line->writer;
            row->allocated = line->allocated;
            row->thread = (uint8_t)thread->number;
            row->thread_before = (uint8_t)move->thread_before;
            row->kind = (uint8_t)move->kind;
            row->size = (uint8_t)(size > 64 ? 64 : size);
            found = key;
        }
        if (found != key)
            continue;
        __atomic_fetch_add(&row->count, 1, __ATOMIC_RELAXED);
        if (move->other_bytes)
            __atomic_fetch_add(&row->other_bytes, 1, __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_add(&recording->header.moves_lost, 1, __ATOMIC_RELAXED);
}

/* lock_line keeps other threads from the line's state while one changes it, which is short. It
 * gives what the line was. A signal's handler does not come here: see note_access. */
static uint64_t lock_line(struct line_state* line)
{
    for (unsigned tries = 0;; ++tries) {
        uint64_t held = __atomic_load_n(&line->held, __ATOMIC_RELAXED);
        if (!(held & line_locked) &&
            __atomic_compare_exchange_n(
                &line->held, &held, held | line_locked, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return held;
        if (tries % 64 == 63)
            sched_yield();
    }
}

/* take_line gives the thread the line, and counts the move if another thread had it. */
static void take_line(
    struct line_state* line, struct thread_state* thread, uintptr_t address, size_t size,
    uint64_t bytes, bool writes, uintptr_t site)
{
    uint64_t const before = lock_line(line);
    uint64_t const writer = before >> writer_shift;
    uint64_t const others = before & holders & ~thread->bit;
    bool const of_other_writer = writer != 0 && writer != thread->number + 1;
    bool const moves = writes ? others != 0 : of_other_writer && !(before & thread->bit);
    if (moves && __atomic_load_n(&recording->header.counts, __ATOMIC_RELAXED)) {
        struct move const move = {
            .thread_before =
                of_other_writer ? (uint32_t)writer - 1 : (uint32_t)__builtin_ctzll(others),
            .kind = writes ? lines_write : lines_read,
            .other_bytes = of_other_writer && (line->written & bytes) == 0};
        count_move(&move, thread, line, address, size, site);
    }
    uint64_t after = before | thread->bit;
    if (writes) {
        after = (uint64_t)(thread->number + 1) << writer_shift | thread->bit;
        line->written = of_other_writer ? bytes : line->written | bytes;
        line->writer = current_stack(thread, site);
    }
    __atomic_store_n(&line->held, after, __ATOMIC_RELEASE);
}

static void touch_line(
    struct thread_state* thread, uintptr_t address, size_t size, bool writes, uintptr_t site)
{
    struct line_state* const line = line_of(address);
    if (!line)
        return;
    uint64_t const bytes = byte_mask(address & (line_bytes - 1), (unsigned)size);
    uint64_t const held = __atomic_load_n(&line->held, __ATOMIC_RELAXED);
    if (!writes) {
        if (held & thread->bit)
            return;
    } else if (held == ((uint64_t)(thread->number + 1) << writer_shift | thread->bit)) {
        line->written |= bytes; /* Unlocked: a thread that takes the line just now may miss it. */
        return;
    }
    take_line(line, thread, address, size, bytes, writes, site);
}

void note_access(uintptr_t address, size_t size, bool writes, uintptr_t site)
{
    struct thread_state* const thread = &own;
    if (!recording || thread->is_recording)
        return;
    thread->is_recording = true;
    number_thread(thread);
    if ((++thread->accesses & (lines_accesses_step - 1)) == 0)
        describe_thread(thread);
    while (size > 0) {
        size_t const room = line_bytes - (address & (line_bytes - 1));
        size_t const part = size < room ? size : room;
        touch_line(thread, address, part, writes, site);
        address += part;
        size -= part;
    }
    thread->is_recording = false;
}
