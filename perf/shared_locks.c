/* shared_locks: preloaded into any program, it counts acquisitions of locks that more than one
 * thread touches.
 *
 * Each acquisition of a pthread mutex or read-write lock is counted under the lock and its call
 * chain; the lock has a bit for each thread that touched it. A dump lists the chains of every lock
 * that at least two threads have touched, and /proc/self/maps, by which shared_locks.py names the
 * addresses.
 *
 * A signal (SIGRTMIN+5, or the number in SHARED_LOCKS_SIGNAL) dumps to the file named by
 * SHARED_LOCKS_FILE with ".1", ".2", ... added, and resets the counts: the first dump has the
 * start-up, the second the time between the two. The process's end dumps the rest.
 *
 * The hooks allocate nothing and take no lock: the tables are static and open-addressed, entries
 * are claimed by compare-and-swap, and _Unwind_Backtrace finds frames without a lock (glibc 2.35,
 * gcc 12). As a lock is initialised or destroyed its counts are dropped, or credited to its sites
 * if it was shared, since its memory will be another lock's. Unlocking is not hooked: it touches no
 * other cache line than locking.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#define EXPORTED __attribute__((visibility("default")))

enum
{
    frames_max = 8,
    frames_skipped = 2, /* note() and the hook */
    locks_max = 1 << 17,
    sites_max = 1 << 17,
    probes_max = 256,
};

/* A call chain that took one lock. */
struct site
{
    _Atomic uint64_t key; /* hash of lock and frames; 0 is free */
    _Atomic uintptr_t lock;
    void* frames[frames_max];
    _Atomic uint64_t count;     /* since the lock was initialised, or the last dump */
    _Atomic uint64_t contended; /* acquisitions that had to wait */
    _Atomic uint64_t credited;  /* acquisitions of shared locks that were at this address before */
    _Atomic uint32_t next;      /* the lock's next site: index + 1 */
};

struct lock
{
    _Atomic uintptr_t address;
    _Atomic uint64_t
        threads; /* a bit each; threads beyond 64 share bits, which only hides sharing */
    _Atomic uint32_t first_site; /* index + 1 */
};

static struct lock locks[locks_max];
static struct site sites[sites_max];
static _Atomic uint64_t dropped; /* acquisitions that found the tables full */
static _Atomic unsigned thread_count;
static _Atomic unsigned dump_count;
static char file_name[4096];

#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))
THREAD_LOCAL int inside;
THREAD_LOCAL unsigned thread_number; /* from 1 */

struct walk
{
    void** frames;
    int depth;
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context* context, void* argument)
{
    struct walk* walk = argument;
    int index = walk->depth++ - frames_skipped;
    if (index >= 0)
        walk->frames[index] = (void*)_Unwind_GetIP(context);
    return index + 1 >= frames_max ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static struct lock* find_lock(uintptr_t address, int make)
{
    uint64_t position = mix(1, address);
    for (int probe = 0; probe < probes_max; ++probe, ++position) {
        struct lock* found = &locks[position % locks_max];
        uintptr_t seen = atomic_load_explicit(&found->address, memory_order_acquire);
        if (seen == 0 && make)
            atomic_compare_exchange_strong(&found->address, &seen, address);
        if (seen == address || (seen == 0 && make))
            return found;
        if (seen == 0)
            return NULL;
    }
    return NULL;
}

static struct site* find_site(struct lock* lock, uintptr_t address, void* const* frames)
{
    uint64_t key = mix(2, address);
    for (int i = 0; i < frames_max; ++i)
        key = mix(key, (uintptr_t)frames[i]);
    key |= 1;
    uint64_t position = key >> 8;
    for (int probe = 0; probe < probes_max; ++probe, ++position) {
        struct site* found = &sites[position % sites_max];
        uint64_t seen = atomic_load_explicit(&found->key, memory_order_acquire);
        if (seen == key)
            return found;
        if (seen != 0)
            continue;
        if (atomic_compare_exchange_strong(&found->key, &seen, key)) {
            memcpy(found->frames, frames, sizeof found->frames);
            atomic_store(&found->lock, address);
            uint32_t first = atomic_load(&lock->first_site);
            do
                atomic_store(&found->next, first);
            while (!atomic_compare_exchange_weak(
                &lock->first_site, &first, (uint32_t)(found - sites) + 1));
            return found;
        }
        if (seen == key)
            return found;
    }
    return NULL;
}

static int shared(struct lock const* lock)
{
    uint64_t threads = atomic_load_explicit(&lock->threads, memory_order_relaxed);
    return (threads & (threads - 1)) != 0;
}

static __attribute__((noinline)) void note(void* address, int contended)
{
    if (inside)
        return;
    inside = 1;
    if (thread_number == 0)
        thread_number = atomic_fetch_add(&thread_count, 1) + 1;
    void* frames[frames_max] = {0};
    struct walk walk = {frames, 0};
    _Unwind_Backtrace(on_frame, &walk);
    struct lock* lock = find_lock((uintptr_t)address, 1);
    struct site* site = lock ? find_site(lock, (uintptr_t)address, frames) : NULL;
    if (site) {
        uint64_t bit = UINT64_C(1) << ((thread_number - 1) % 64);
        if (!(atomic_load_explicit(&lock->threads, memory_order_relaxed) & bit))
            atomic_fetch_or(&lock->threads, bit);
        atomic_fetch_add_explicit(&site->count, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&site->contended, (uint64_t)contended, memory_order_relaxed);
    } else
        atomic_fetch_add(&dropped, 1);
    inside = 0;
}

/* forget drops or credits the counts of a lock as it is initialised or destroyed; no other thread
 * may use it meanwhile. */
static void forget(void* address)
{
    struct lock* lock = find_lock((uintptr_t)address, 0);
    if (!lock)
        return;
    int keep = shared(lock);
    for (uint32_t next = atomic_load(&lock->first_site); next;) {
        struct site* site = &sites[next - 1];
        uint64_t count = atomic_exchange(&site->count, 0);
        if (keep)
            atomic_fetch_add(&site->credited, count);
        else
            atomic_store(&site->contended, 0);
        next = atomic_load(&site->next);
    }
    atomic_store(&lock->threads, 0);
}

static void copy_maps(int file)
{
    char block[4096];
    ssize_t got;
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (maps >= 0 && (got = read(maps, block, sizeof block)) > 0)
        if (write(file, block, (size_t)got) != got)
            break;
    if (maps >= 0)
        close(maps);
}

/* put_number appends to a line; snprintf is not safe in a signal handler. */
static char* put_number(char* text, uint64_t number, unsigned base, char end)
{
    char digits[24];
    int size = 0;
    do
        digits[size++] = "0123456789abcdef"[number % base];
    while ((number /= base) > 0);
    while (size > 0)
        *text++ = digits[--size];
    *text++ = end;
    return text;
}

/* dump writes "site LOCK COUNT CONTENDED FRAME..." lines, then the maps, and resets the counts. */
static void dump(void)
{
    char name[sizeof file_name + 24];
    size_t length = strlen(file_name);
    if (length == 0)
        return;
    memcpy(name, file_name, length);
    name[length] = '.';
    *put_number(name + length + 1, atomic_fetch_add(&dump_count, 1) + 1, 10, '\0') = '\0';
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        return;
    for (int i = 0; i < sites_max; ++i) {
        struct site* site = &sites[i];
        if (atomic_load(&site->key) == 0)
            continue;
        struct lock* lock = find_lock(atomic_load(&site->lock), 0);
        uint64_t count = atomic_exchange(&site->count, 0);
        uint64_t total = atomic_exchange(&site->credited, 0) + (lock && shared(lock) ? count : 0);
        uint64_t contended = atomic_exchange(&site->contended, 0);
        if (total == 0)
            continue;
        char line[64 + 17 * (frames_max + 3)] = "site ";
        char* end = put_number(line + 5, atomic_load(&site->lock), 16, ' ');
        end = put_number(end, total, 10, ' ');
        end = put_number(end, contended, 10, ' ');
        for (int f = 0; f < frames_max && site->frames[f]; ++f)
            end = put_number(end, (uintptr_t)site->frames[f], 16, ' ');
        end[-1] = '\n';
        if (write(file, line, (size_t)(end - line)) < 0)
            break;
    }
    for (int i = 0; i < locks_max; ++i)
        atomic_store(&locks[i].threads, 0);
    char line[64] = "dropped ";
    char* end = put_number(line + 8, atomic_exchange(&dropped, 0), 10, '\n');
    if (write(file, line, (size_t)(end - line)) > 0)
        copy_maps(file);
    /* By the last line the reader knows that the dump is complete. */
    if (write(file, "end\n", 4) == 4)
        close(file);
}

static void on_signal(int number)
{
    (void)number;
    int error = errno;
    int before = inside;
    inside = 1;
    dump();
    inside = before;
    errno = error;
}

__attribute__((constructor)) static void start(void)
{
    char const* name = getenv("SHARED_LOCKS_FILE");
    if (!name || strlen(name) >= sizeof file_name)
        return;
    strcpy(file_name, name);
    char const* number = getenv("SHARED_LOCKS_SIGNAL");
    struct sigaction action = {0};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(number ? atoi(number) : SIGRTMIN + 5, &action, NULL);
}

__attribute__((destructor)) static void finish(void)
{
    dump();
}

/* next_function finds libc's function of the name; it cannot fail for a program that calls it. */
static void* next_function(char const* name, _Atomic(void*)* known)
{
    void* found = atomic_load_explicit(known, memory_order_relaxed);
    if (!found) {
        int before = inside;
        inside = 1;
        found = dlsym(RTLD_NEXT, name);
        inside = before;
        atomic_store_explicit(known, found, memory_order_relaxed);
    }
    return found;
}

#define NEXT(name, type)                                                                           \
    static _Atomic(void*) known_##name;                                                            \
    int (*next_##name)(type*) = (int (*)(type*))next_function(#name, &known_##name)

/* It tries first, to learn whether the acquisition has to wait. */
#define HOOK_LOCK(name, try_name, type)                                                            \
    EXPORTED int name(type* lock)                                                                  \
    {                                                                                              \
        NEXT(try_name, type);                                                                      \
        int result = next_##try_name(lock);                                                        \
        note(lock, result == EBUSY);                                                               \
        if (result != EBUSY)                                                                       \
            return result;                                                                         \
        NEXT(name, type);                                                                          \
        return next_##name(lock);                                                                  \
    }

#define HOOK_TRY(name, type)                                                                       \
    EXPORTED int name(type* lock)                                                                  \
    {                                                                                              \
        NEXT(name, type);                                                                          \
        int result = next_##name(lock);                                                            \
        note(lock, result == EBUSY);                                                               \
        return result;                                                                             \
    }

#define HOOK_DESTROY(name, type)                                                                   \
    EXPORTED int name(type* lock)                                                                  \
    {                                                                                              \
        NEXT(name, type);                                                                          \
        forget(lock);                                                                              \
        return next_##name(lock);                                                                  \
    }

#define HOOK_INIT(name, type, attributes_type)                                                     \
    EXPORTED int name(type* lock, attributes_type const* attributes)                               \
    {                                                                                              \
        static _Atomic(void*) known;                                                               \
        int (*next)(type*, attributes_type const*) =                                               \
            (int (*)(type*, attributes_type const*))next_function(#name, &known);                  \
        forget(lock);                                                                              \
        return next(lock, attributes);                                                             \
    }

HOOK_LOCK(pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t)
HOOK_TRY(pthread_mutex_trylock, pthread_mutex_t)
HOOK_DESTROY(pthread_mutex_destroy, pthread_mutex_t)
HOOK_INIT(pthread_mutex_init, pthread_mutex_t, pthread_mutexattr_t)
HOOK_LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t)
HOOK_LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t)
HOOK_TRY(pthread_rwlock_tryrdlock, pthread_rwlock_t)
HOOK_TRY(pthread_rwlock_trywrlock, pthread_rwlock_t)
HOOK_DESTROY(pthread_rwlock_destroy, pthread_rwlock_t)
HOOK_INIT(pthread_rwlock_init, pthread_rwlock_t, pthread_rwlockattr_t)
