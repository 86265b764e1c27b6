/* shared_locks.c: counts, in any program that it is preloaded into, the acquisitions of locks that
 * more than one thread touches.
 *
 * Each acquisition of a pthread mutex or read-write lock is counted under the lock and the call
 * chain that led there; the lock remembers which threads touched it. A dump lists the chains of
 * every lock that at least two threads have touched, and /proc/self/maps, so that locks/run.py can
 * name the addresses.
 *
 * A signal (SIGRTMIN+5, or the number in SHARED_LOCKS_SIGNAL) dumps to the file named by
 * SHARED_LOCKS_FILE with ".1", ".2", ... added, and starts counting anew: the first dump holds the
 * start-up, the second what happened in between. The process's end dumps the rest.
 *
 * The hooks allocate nothing and take no lock: the tables are static and open-addressed, entries
 * are claimed by compare-and-swap, and _Unwind_Backtrace finds frames without a lock (glibc 2.35,
 * gcc 12). A lock that is initialised or destroyed is forgotten, or credited if it was shared,
 * since its memory will be another lock's. Unlocking is not hooked: it touches what locking has
 * touched.
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
    _Atomic uint64_t contended; /* of these: had to wait */
    _Atomic uint64_t credited;  /* acquisitions of shared locks that were at this address before */
    _Atomic uint32_t next;      /* of the same lock; index + 1 */
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

static _Unwind_Reason_Code on_frame(struct _Unwind_Context* context, void* into)
{
    struct walk* walk = into;
    int at = walk->depth++ - frames_skipped;
    if (at >= 0)
        walk->frames[at] = (void*)_Unwind_GetIP(context);
    return at + 1 >= frames_max ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static struct lock* lock_at(uintptr_t address, int make)
{
    uint64_t at = mix(1, address);
    for (int probe = 0; probe < probes_max; ++probe, ++at) {
        struct lock* found = &locks[at % locks_max];
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

static struct site* site_of(struct lock* lock, uintptr_t address, void* const* frames)
{
    uint64_t key = mix(2, address);
    for (int i = 0; i < frames_max; ++i)
        key = mix(key, (uintptr_t)frames[i]);
    key |= 1;
    uint64_t at = key >> 8;
    for (int probe = 0; probe < probes_max; ++probe, ++at) {
        struct site* found = &sites[at % sites_max];
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
    struct lock* lock = lock_at((uintptr_t)address, 1);
    struct site* site = lock ? site_of(lock, (uintptr_t)address, frames) : NULL;
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

/* forget ends the life of a lock; only its owner may be near it now. */
static void forget(void* address)
{
    struct lock* lock = lock_at((uintptr_t)address, 0);
    if (!lock)
        return;
    int keep = shared(lock);
    for (uint32_t at = atomic_load(&lock->first_site); at; at = atomic_load(&sites[at - 1].next)) {
        uint64_t count = atomic_exchange(&sites[at - 1].count, 0);
        if (keep)
            atomic_fetch_add(&sites[at - 1].credited, count);
        else
            atomic_store(&sites[at - 1].contended, 0);
    }
    atomic_store(&lock->threads, 0);
}

static void copy_maps(int to)
{
    char block[4096];
    ssize_t got;
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (maps >= 0 && (got = read(maps, block, sizeof block)) > 0)
        if (write(to, block, (size_t)got) != got)
            break;
    if (maps >= 0)
        close(maps);
}

/* put_number appends to a line; snprintf is not safe in a signal handler. */
static char* put_number(char* at, uint64_t number, unsigned base, char end)
{
    char digits[24];
    int size = 0;
    do
        digits[size++] = "0123456789abcdef"[number % base];
    while ((number /= base) > 0);
    while (size > 0)
        *at++ = digits[--size];
    *at++ = end;
    return at;
}

/* dump writes "site LOCK COUNT CONTENDED FRAME..." lines, then the maps, and starts counting anew.
 */
static void dump(void)
{
    char name[sizeof file_name + 24];
    size_t length = strlen(file_name);
    if (length == 0)
        return;
    memcpy(name, file_name, length);
    name[length] = '.';
    *put_number(name + length + 1, atomic_fetch_add(&dump_count, 1) + 1, 10, '\0') = '\0';
    int to = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (to < 0)
        return;
    for (int i = 0; i < sites_max; ++i) {
        struct site* site = &sites[i];
        if (atomic_load(&site->key) == 0)
            continue;
        struct lock* lock = lock_at(atomic_load(&site->lock), 0);
        uint64_t count = atomic_exchange(&site->count, 0);
        uint64_t total = atomic_exchange(&site->credited, 0) + (lock && shared(lock) ? count : 0);
        uint64_t contended = atomic_exchange(&site->contended, 0);
        if (total == 0)
            continue;
        char line[64 + 17 * (frames_max + 3)] = "site ";
        char* at = put_number(line + 5, atomic_load(&site->lock), 16, ' ');
        at = put_number(at, total, 10, ' ');
        at = put_number(at, contended, 10, ' ');
        for (int f = 0; f < frames_max && site->frames[f]; ++f)
            at = put_number(at, (uintptr_t)site->frames[f], 16, ' ');
        at[-1] = '\n';
        if (write(to, line, (size_t)(at - line)) < 0)
            break;
    }
    for (int i = 0; i < locks_max; ++i)
        atomic_store(&locks[i].threads, 0);
    char line[64] = "dropped ";
    char* at = put_number(line + 8, atomic_exchange(&dropped, 0), 10, '\n');
    if (write(to, line, (size_t)(at - line)) > 0)
        copy_maps(to);
    /* The last line tells the reader that all of it is there. */
    if (write(to, "end\n", 4) == 4)
        close(to);
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

/* next_of finds libc's function of the name; it cannot fail for a program that calls it. */
static void* next_of(char const* name, _Atomic(void*)* known)
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
    int (*next_##name)(type*) = (int (*)(type*))next_of(#name, &known_##name)

/* Tries first, so that an acquisition that had to wait is told from one that had not. */
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

#define HOOK_INIT(name, type, attributes)                                                          \
    EXPORTED int name(type* lock, attributes const* with)                                          \
    {                                                                                              \
        static _Atomic(void*) known;                                                               \
        int (*next)(type*, attributes const*) =                                                    \
            (int (*)(type*, attributes const*))next_of(#name, &known);                             \
        forget(lock);                                                                              \
        return next(lock, with);                                                                   \
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
