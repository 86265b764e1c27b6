/* hooks_memory: functions of libc that touch memory which the program gives them, and the
 * allocator, so that the report can say where a line's memory was allocated. libc itself is not
 * compiled with -fsanitize=thread.
 */
#include "accesses.h"
#include "copies.h"
#include "line_table.h"
#include "recording.h"
#include "threads.h"

#include <dlfcn.h>
#include <errno.h>

#define EXPORTED __attribute__((visibility("default")))

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);

/* glibc keeps a block's size before it, with this bit where the block is a mapping of its own: the
 * kernel has just made its pages. */
static bool is_mapping(void const* block)
{
    return (((size_t const*)block)[-1] & 2) != 0;
}

static void* noted(void* block, size_t size, uintptr_t site)
{
    struct thread_state* const thread = &own;
    if (thread->allocates != 0)
        site = thread->allocates;
    thread->allocates = 0;
    if (!recording || !block || thread->is_recording)
        return block;
    thread->is_recording = true;
    uint32_t const stack = current_stack(thread, site);
    note_block((uintptr_t)block, size, stack, is_mapping(block));
    thread->is_recording = false;
    return block;
}

EXPORTED void* malloc(size_t size)
{
    return noted(__libc_malloc(size), size, SITE);
}

EXPORTED void* calloc(size_t count, size_t size)
{
    return noted(__libc_calloc(count, size), count * size, SITE);
}

EXPORTED void* realloc(void* block, size_t size)
{
    void* const grown = __libc_realloc(block, size);
    if (grown && grown != block)
        return noted(grown, size, SITE);
    own.allocates = 0;
    return grown; /* Its pages are the same. */
}

EXPORTED void free(void* block)
{
    __libc_free(block); /* That of the same allocator, whichever library comes first. */
}

EXPORTED void* memalign(size_t alignment, size_t size)
{
    return noted(__libc_memalign(alignment, size), size, SITE);
}

EXPORTED void* aligned_alloc(size_t alignment, size_t size)
{
    return noted(__libc_memalign(alignment, size), size, SITE);
}

EXPORTED int posix_memalign(void** block, size_t alignment, size_t size)
{
    if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
        return EINVAL;
    void* const made = noted(__libc_memalign(alignment, size), size, SITE);
    if (!made)
        return ENOMEM;
    *block = made;
    return 0;
}

/* operator new calls malloc, and is libstdc++'s, which is not compiled for the recorder: its caller
 * is the function that allocates. malloc forgets it, also where operator new throws. */
#define OPERATOR_NEW(name, parameters, ...)                                                        \
    EXPORTED void* name parameters;                                                                \
    void* name parameters                                                                          \
    {                                                                                              \
        static void*(*_Atomic next)parameters;                                                     \
        if (!next)                                                                                 \
            next = (void*(*)parameters)dlsym(RTLD_NEXT, #name);                                    \
        if (own.allocates == 0) /* One of them calls another. */                                   \
            own.allocates = SITE;                                                                  \
        return next(__VA_ARGS__);                                                                  \
    }

OPERATOR_NEW(_Znwm, (size_t size), size)
OPERATOR_NEW(_Znam, (size_t size), size)
OPERATOR_NEW(_ZnwmRKSt9nothrow_t, (size_t size, void const* nothrow), size, nothrow)
OPERATOR_NEW(_ZnamRKSt9nothrow_t, (size_t size, void const* nothrow), size, nothrow)
OPERATOR_NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), size, alignment)
OPERATOR_NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), size, alignment)
OPERATOR_NEW(
    _ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, void const* nothrow), size,
    alignment, nothrow)
OPERATOR_NEW(
    _ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, void const* nothrow), size,
    alignment, nothrow)

EXPORTED void* memcpy(void* restrict to, void const* restrict from, size_t size)
{
    note_access((uintptr_t)from, size, false, SITE);
    note_access((uintptr_t)to, size, true, SITE);
    copy_forward(to, from, size);
    return to;
}

EXPORTED void* memmove(void* to, void const* from, size_t size)
{
    note_access((uintptr_t)from, size, false, SITE);
    note_access((uintptr_t)to, size, true, SITE);
    if ((uintptr_t)to - (uintptr_t)from >= size)
        copy_forward(to, from, size);
    else
        copy_backward(to, from, size);
    return to;
}

EXPORTED void* memset(void* to, int value, size_t size)
{
    note_access((uintptr_t)to, size, true, SITE);
    fill_memory(to, (char)value, size);
    return to;
}

/* The same with a check of the size (_FORTIFY_SOURCE), which libc's own would do. */
static void check_size(size_t size, size_t room)
{
    if (size > room)
        __builtin_trap();
}

EXPORTED void* __memcpy_chk(void* restrict to, void const* restrict from, size_t size, size_t room);
void* __memcpy_chk(void* restrict to, void const* restrict from, size_t size, size_t room)
{
    check_size(size, room);
    note_access((uintptr_t)from, size, false, SITE);
    note_access((uintptr_t)to, size, true, SITE);
    copy_forward(to, from, size);
    return to;
}

EXPORTED void* __memmove_chk(void* to, void const* from, size_t size, size_t room);
void* __memmove_chk(void* to, void const* from, size_t size, size_t room)
{
    check_size(size, room);
    return memmove(to, from, size);
}

EXPORTED void* __memset_chk(void* to, int value, size_t size, size_t room);
void* __memset_chk(void* to, int value, size_t size, size_t room)
{
    check_size(size, room);
    return memset(to, value, size);
}

/* The names that clang calls in place of these three. */
EXPORTED void* __tsan_memcpy(void* to, void const* from, size_t size)
    __attribute__((alias("memcpy")));
EXPORTED void* __tsan_memmove(void* to, void const* from, size_t size)
    __attribute__((alias("memmove")));
EXPORTED void* __tsan_memset(void* to, int value, size_t size) __attribute__((alias("memset")));

EXPORTED int memcmp(void const* one, void const* other, size_t size)
{
    note_access((uintptr_t)one, size, false, SITE);
    note_access((uintptr_t)other, size, false, SITE);
    unsigned char const* const left = one;
    unsigned char const* const right = other;
    for (size_t i = 0; i < size; ++i)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}
