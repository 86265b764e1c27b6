/* Wrappers of the functions that lock. Each tries first, so that only a wait is timed.
 *
 * Where the try fails and the lock itself would not wait (an error-checking mutex that the caller
 * holds), the second call returns the error.
 */
#include "acquisitions.h"
#include "locks.h"
#include "next.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>

/* is_acquired says whether a result means that the caller has the lock now. */
static bool is_acquired(int result)
{
    return result == 0 || result == EOWNERDEAD;
}

/* note_outcome notes the outcome of an attempt that began to wait at `began`; 0: it did not wait.
 */
static int note_outcome(
    int result, struct attempt attempt, void* lock, enum trace_kind kind, uint64_t began)
{
    if (!is_acquired(result))
        note_failed(attempt, lock, kind, began);
    else if (began)
        note_waited(attempt, lock, kind, began);
    else
        note_acquired(attempt, lock, kind);
    return result;
}

#define HOOK_LOCK(name, try_name, type, kind, how)                                                 \
    EXPORTED int name(type* lock)                                                                  \
    {                                                                                              \
        NEXT(try_name);                                                                            \
        struct attempt const attempt = begin_attempt((void*)lock, kind, how, CALLER);              \
        int const tried = next_##try_name(lock);                                                   \
        if (is_acquired(tried)) {                                                                  \
            note_acquired(attempt, (void*)lock, kind);                                             \
            return tried;                                                                          \
        }                                                                                          \
        NEXT(name);                                                                                \
        uint64_t const began = begin_wait(attempt, (void*)lock, kind);                             \
        return note_outcome(next_##name(lock), attempt, (void*)lock, kind, began);                 \
    }

#define HOOK_TRY(name, type, kind, how)                                                            \
    EXPORTED int name(type* lock)                                                                  \
    {                                                                                              \
        NEXT(name);                                                                                \
        self.only_tries = true;                                                                    \
        struct attempt const attempt = begin_attempt((void*)lock, kind, how, CALLER);              \
        self.only_tries = false;                                                                   \
        return note_outcome(next_##name(lock), attempt, (void*)lock, kind, 0);                     \
    }

#define HOOK_TIMED(name, try_name, type, kind, how)                                                \
    EXPORTED int name(type* restrict lock, struct timespec const* restrict until)                  \
    {                                                                                              \
        NEXT(try_name);                                                                            \
        struct attempt const attempt = begin_attempt(lock, kind, how, CALLER);                     \
        int const tried = next_##try_name(lock);                                                   \
        if (is_acquired(tried)) {                                                                  \
            note_acquired(attempt, lock, kind);                                                    \
            return tried;                                                                          \
        }                                                                                          \
        NEXT(name);                                                                                \
        uint64_t const began = begin_wait(attempt, (void*)lock, kind);                             \
        return note_outcome(next_##name(lock, until), attempt, lock, kind, began);                 \
    }

/* An unknown clock is an error also where the lock is free: then there is no try. */
#define HOOK_CLOCK(name, try_name, type, kind, how)                                                \
    EXPORTED int name(type* lock, clockid_t clock, struct timespec const* until)                   \
    {                                                                                              \
        NEXT(try_name);                                                                            \
        struct attempt const attempt = begin_attempt(lock, kind, how, CALLER);                     \
        bool const known = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;                    \
        int const tried = known ? next_##try_name(lock) : EINVAL;                                  \
        if (is_acquired(tried)) {                                                                  \
            note_acquired(attempt, lock, kind);                                                    \
            return tried;                                                                          \
        }                                                                                          \
        NEXT(name);                                                                                \
        uint64_t const began = begin_wait(attempt, (void*)lock, kind);                             \
        return note_outcome(next_##name(lock, clock, until), attempt, lock, kind, began);          \
    }

#define HOOK_UNLOCK(name, type)                                                                    \
    EXPORTED int name(type* lock)                                                                  \
    {                                                                                              \
        NEXT(name);                                                                                \
        before_release((void*)lock);                                                               \
        return next_##name(lock);                                                                  \
    }

/* An init is noted after it, a destroy before it: no other thread may use the lock then. */
#define HOOK_INIT(name, type, attributes_type, kind)                                               \
    EXPORTED int name(type* lock, attributes_type attributes)                                      \
    {                                                                                              \
        NEXT(name);                                                                                \
        int const result = next_##name(lock, attributes);                                          \
        if (result == 0)                                                                           \
            lock_made((void*)lock, kind, CALLER);                                                  \
        return result;                                                                             \
    }

#define HOOK_DESTROY(name, type)                                                                   \
    EXPORTED int name(type* lock)                                                                  \
    {                                                                                              \
        NEXT(name);                                                                                \
        lock_destroyed((void*)lock);                                                               \
        return next_##name(lock);                                                                  \
    }

HOOK_LOCK(pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t, trace_mutex, trace_exclusive)
HOOK_TRY(pthread_mutex_trylock, pthread_mutex_t, trace_mutex, trace_exclusive)
HOOK_TIMED(
    pthread_mutex_timedlock, pthread_mutex_trylock, pthread_mutex_t, trace_mutex, trace_exclusive)
HOOK_CLOCK(
    pthread_mutex_clocklock, pthread_mutex_trylock, pthread_mutex_t, trace_mutex, trace_exclusive)
HOOK_UNLOCK(pthread_mutex_unlock, pthread_mutex_t)
HOOK_INIT(pthread_mutex_init, pthread_mutex_t, pthread_mutexattr_t const*, trace_mutex)
HOOK_DESTROY(pthread_mutex_destroy, pthread_mutex_t)

HOOK_LOCK(
    pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t, trace_rwlock, trace_shared)
HOOK_LOCK(
    pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t, trace_rwlock,
    trace_exclusive)
HOOK_TRY(pthread_rwlock_tryrdlock, pthread_rwlock_t, trace_rwlock, trace_shared)
HOOK_TRY(pthread_rwlock_trywrlock, pthread_rwlock_t, trace_rwlock, trace_exclusive)
HOOK_TIMED(
    pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t, trace_rwlock,
    trace_shared)
HOOK_TIMED(
    pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, pthread_rwlock_t, trace_rwlock,
    trace_exclusive)
HOOK_CLOCK(
    pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t, trace_rwlock,
    trace_shared)
HOOK_CLOCK(
    pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, pthread_rwlock_t, trace_rwlock,
    trace_exclusive)
HOOK_UNLOCK(pthread_rwlock_unlock, pthread_rwlock_t)
HOOK_INIT(pthread_rwlock_init, pthread_rwlock_t, pthread_rwlockattr_t const*, trace_rwlock)
HOOK_DESTROY(pthread_rwlock_destroy, pthread_rwlock_t)

HOOK_LOCK(
    pthread_spin_lock, pthread_spin_trylock, pthread_spinlock_t volatile, trace_spin,
    trace_exclusive)
HOOK_TRY(pthread_spin_trylock, pthread_spinlock_t volatile, trace_spin, trace_exclusive)
HOOK_UNLOCK(pthread_spin_unlock, pthread_spinlock_t volatile)
HOOK_INIT(pthread_spin_init, pthread_spinlock_t volatile, int, trace_spin)
HOOK_DESTROY(pthread_spin_destroy, pthread_spinlock_t volatile)

/* C11's mutexes. In glibc they are those of POSIX with another name, and success is 0 too. */
HOOK_LOCK(mtx_lock, mtx_trylock, mtx_t, trace_mutex, trace_exclusive)
HOOK_TRY(mtx_trylock, mtx_t, trace_mutex, trace_exclusive)
HOOK_TIMED(mtx_timedlock, mtx_trylock, mtx_t, trace_mutex, trace_exclusive)
HOOK_UNLOCK(mtx_unlock, mtx_t)
HOOK_INIT(mtx_init, mtx_t, int, trace_mutex)

EXPORTED void mtx_destroy(mtx_t* lock)
{
    NEXT(mtx_destroy);
    lock_destroyed(lock);
    next_mtx_destroy(lock);
}
