/* Wrappers of waits that are not for a lock: conditions, semaphores, once.
 *
 * A wait for a condition releases its mutex and takes it again, inside libc: a timed hold ends
 * there, and as the wait ends there is another one. The wait for the mutex at the end is part of
 * the condition's time, and cannot be measured from here. So taking it again is no acquisition:
 * whether it was contended is unknown.
 */
#include "acquisitions.h"
#include "next.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

static void note_wait_outcome(
    struct attempt attempt, void* object, enum trace_kind kind, int result, uint64_t began)
{
    if (result == 0)
        note_waited(attempt, object, kind, began);
    else
        note_failed(attempt, object, kind, began);
}

static struct attempt begin_condition_attempt(pthread_cond_t* condition, void* caller)
{
    return begin_attempt(condition, trace_condition, trace_exclusive, caller);
}

/* note_condition_wait notes the result of a wait for a condition. */
static void note_condition_wait(
    struct attempt attempt, pthread_cond_t* condition, pthread_mutex_t* mutex, int result,
    void* caller, uint64_t began)
{
    note_wait_outcome(attempt, condition, trace_condition, result, began);
    /* Other results mean that it did not wait, or has no mutex. */
    if (result == 0 || result == ETIMEDOUT || result == EOWNERDEAD || result == thrd_timedout)
        note_reacquired(mutex, caller);
}

typedef int wait_function(pthread_cond_t*, pthread_mutex_t*);
typedef int timed_function(pthread_cond_t*, pthread_mutex_t*, struct timespec const*);

static int hook_wait(
    wait_function* next, pthread_cond_t* condition, pthread_mutex_t* mutex, void* caller)
{
    before_release(mutex);
    struct attempt const attempt = begin_condition_attempt(condition, caller);
    uint64_t const began = begin_wait(attempt, condition, trace_condition);
    int const result = next(condition, mutex);
    note_condition_wait(attempt, condition, mutex, result, caller, began);
    return result;
}

static int hook_timed_wait(
    timed_function* next, pthread_cond_t* condition, pthread_mutex_t* mutex,
    struct timespec const* until, void* caller)
{
    before_release(mutex);
    struct attempt const attempt = begin_condition_attempt(condition, caller);
    uint64_t const began = begin_wait(attempt, condition, trace_condition);
    int const result = next(condition, mutex, until);
    note_condition_wait(attempt, condition, mutex, result, caller, began);
    return result;
}

#define HOOK_WAIT(name, index)                                                                     \
    EXPORTED int name(pthread_cond_t* condition, pthread_mutex_t* mutex)                           \
    {                                                                                              \
        return hook_wait((wait_function*)next_function(index), condition, mutex, CALLER);          \
    }
#define HOOK_TIMEDWAIT(name, index)                                                                \
    EXPORTED int name(                                                                             \
        pthread_cond_t* condition, pthread_mutex_t* mutex, struct timespec const* until)           \
    {                                                                                              \
        return hook_timed_wait(                                                                    \
            (timed_function*)next_function(index), condition, mutex, until, CALLER);               \
    }

HOOK_WAIT(cleat_locks_cond_wait, next_index_new_cond_wait)
HOOK_TIMEDWAIT(cleat_locks_cond_timedwait, next_index_new_cond_timedwait)
__asm__(".symver cleat_locks_cond_wait, pthread_cond_wait@@" NEW_CONDITION);
__asm__(".symver cleat_locks_cond_timedwait, pthread_cond_timedwait@@" NEW_CONDITION);
#if defined(__x86_64__)
HOOK_WAIT(cleat_locks_old_cond_wait, next_index_old_cond_wait)
HOOK_TIMEDWAIT(cleat_locks_old_cond_timedwait, next_index_old_cond_timedwait)
__asm__(".symver cleat_locks_old_cond_wait, pthread_cond_wait@" OLD_CONDITION);
__asm__(".symver cleat_locks_old_cond_timedwait, pthread_cond_timedwait@" OLD_CONDITION);
#endif

EXPORTED int pthread_cond_clockwait(
    pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
    struct timespec const* until)
{
    NEXT(pthread_cond_clockwait);
    before_release(mutex);
    struct attempt const attempt = begin_condition_attempt(condition, CALLER);
    uint64_t const began = begin_wait(attempt, condition, trace_condition);
    int const result = next_pthread_cond_clockwait(condition, mutex, clock, until);
    note_condition_wait(attempt, condition, mutex, result, CALLER, began);
    return result;
}

/* Semaphores: a wait is an acquisition; a post is not a release, for a semaphore has no holder. */

static struct attempt begin_semaphore_attempt(sem_t* semaphore, void* caller)
{
    return begin_attempt(semaphore, trace_semaphore, trace_exclusive, caller);
}

EXPORTED int sem_trywait(sem_t* semaphore)
{
    NEXT(sem_trywait);
    struct attempt const attempt = begin_semaphore_attempt(semaphore, CALLER);
    int const result = next_sem_trywait(semaphore);
    int const error = errno;
    if (result == 0)
        note_acquired(attempt, semaphore, trace_semaphore);
    else
        note_failed(attempt, semaphore, trace_semaphore, 0);
    errno = error;
    return result;
}

#define HOOK_SEMAPHORE(name, parameters, arguments)                                                \
    EXPORTED int name parameters                                                                   \
    {                                                                                              \
        NEXT(sem_trywait);                                                                         \
        pthread_testcancel(); /* As it is a cancellation point also where it does not wait. */     \
        struct attempt const attempt = begin_semaphore_attempt(semaphore, CALLER);                 \
        int const before = errno;                                                                  \
        if (next_sem_trywait(semaphore) == 0) {                                                    \
            note_acquired(attempt, semaphore, trace_semaphore);                                    \
            return 0;                                                                              \
        }                                                                                          \
        errno = before;                                                                            \
        NEXT(name);                                                                                \
        uint64_t const began = begin_wait(attempt, semaphore, trace_semaphore);                    \
        int const result = next_##name arguments;                                                  \
        int const error = errno;                                                                   \
        note_wait_outcome(attempt, semaphore, trace_semaphore, result, began);                     \
        errno = error;                                                                             \
        return result;                                                                             \
    }

HOOK_SEMAPHORE(sem_wait, (sem_t * semaphore), (semaphore))
HOOK_SEMAPHORE(sem_timedwait, (sem_t * semaphore, struct timespec const* until), (semaphore, until))
HOOK_SEMAPHORE(
    sem_clockwait, (sem_t * semaphore, clockid_t clock, struct timespec const* until),
    (semaphore, clock, until))

/* Once: noted where the routine has not run yet, which glibc keeps in the two low bits. */
enum
{
    once_at_work = 1,
    once_done = 2
};

static int once_state(void const* control)
{
    return __atomic_load_n((int const*)control, __ATOMIC_ACQUIRE) & 3;
}

typedef int once_function(pthread_once_t*, void (*)(void));

static int hook_once(
    once_function* next, pthread_once_t* control, void (*routine)(void), void* caller)
{
    bool const waits = once_state(control) == once_at_work;
    struct attempt const attempt = begin_attempt(control, trace_once, trace_exclusive, caller);
    uint64_t const began = waits ? begin_wait(attempt, control, trace_once) : 0;
    int const result = next(control, routine);
    if (began)
        note_wait_outcome(attempt, control, trace_once, result, began);
    else
        note_acquired(attempt, control, trace_once);
    return result;
}

EXPORTED int pthread_once(pthread_once_t* control, void (*routine)(void))
{
    NEXT(pthread_once);
    return once_state(control) == once_done
               ? next_pthread_once(control, routine)
               : hook_once(next_pthread_once, control, routine, CALLER);
}

/* C11's, which are the same inside. */

static int call_once_with(pthread_once_t* control, void (*routine)(void))
{
    NEXT(call_once);
    next_call_once((once_flag*)(void*)control, routine);
    return 0;
}

EXPORTED void call_once(once_flag* control, void (*routine)(void))
{
    if (once_state(control) == once_done)
        call_once_with((pthread_once_t*)(void*)control, routine);
    else
        hook_once(call_once_with, (pthread_once_t*)(void*)control, routine, CALLER);
}

EXPORTED int cnd_wait(cnd_t* condition, mtx_t* mutex)
{
    return hook_wait(
        (wait_function*)next_function(next_index_cnd_wait), (pthread_cond_t*)(void*)condition,
        (pthread_mutex_t*)(void*)mutex, CALLER);
}

EXPORTED int cnd_timedwait(
    cnd_t* restrict condition, mtx_t* restrict mutex, struct timespec const* restrict until)
{
    return hook_timed_wait(
        (timed_function*)next_function(next_index_cnd_timedwait), (pthread_cond_t*)(void*)condition,
        (pthread_mutex_t*)(void*)mutex, until, CALLER);
}
