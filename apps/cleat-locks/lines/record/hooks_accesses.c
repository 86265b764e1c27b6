/* hooks_accesses: the calls that -fsanitize=thread puts before each access of the program to its
 * memory, and around each function. The names and their meaning are the compilers' (gcc and clang).
 */
#include "accesses.h"
#include "threads.h"

#define EXPORTED __attribute__((visibility("default")))

#define ACCESS(name, size, writes)                                                                 \
    EXPORTED void __tsan_##name(void* address);                                                    \
    void __tsan_##name(void* address)                                                              \
    {                                                                                              \
        note_access((uintptr_t)address, size, writes, SITE);                                       \
    }

#define ACCESSES(size)                                                                             \
    ACCESS(read##size, size, false)                                                                \
    ACCESS(write##size, size, true)                                                                \
    ACCESS(unaligned_read##size, size, false)                                                      \
    ACCESS(unaligned_write##size, size, true)                                                      \
    ACCESS(volatile_read##size, size, false)                                                       \
    ACCESS(volatile_write##size, size, true)                                                       \
    ACCESS(unaligned_volatile_read##size, size, false)                                             \
    ACCESS(unaligned_volatile_write##size, size, true)                                             \
    ACCESS(read_write##size, size, true)                                                           \
    ACCESS(unaligned_read_write##size, size, true)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

/* The pointer to an object's virtual functions, which constructors and destructors write. */
ACCESS(vptr_read, sizeof(void*), false)

EXPORTED void __tsan_vptr_update(void* address, void* value);
void __tsan_vptr_update(void* address, void* value)
{
    (void)value;
    note_access((uintptr_t)address, sizeof(void*), true, SITE);
}

EXPORTED void __tsan_read_range(void* address, size_t size);
void __tsan_read_range(void* address, size_t size)
{
    note_access((uintptr_t)address, size, false, SITE);
}

EXPORTED void __tsan_write_range(void* address, size_t size);
void __tsan_write_range(void* address, size_t size)
{
    note_access((uintptr_t)address, size, true, SITE);
}

EXPORTED void __tsan_init(void);
void __tsan_init(void) {}

EXPORTED void __tsan_func_entry(void* caller);
void __tsan_func_entry(void* caller)
{
    struct thread_state* const thread = &own;
    if (thread->depth < calls_max)
        thread->calls[thread->depth] = (uintptr_t)caller;
    ++thread->depth;
}

EXPORTED void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
    if (own.depth > 0) /* A fiber may have begun on another thread. */
        --own.depth;
}
