/* next: the functions that this library wraps, as the next library in the search order has them. */
#ifndef CLEAT_LOCKS_NEXT_H
#define CLEAT_LOCKS_NEXT_H

#include "compiler.h"

#include <stdatomic.h>
#include <stddef.h>

/* x86-64 has two versions of conditions, and 2.2.5 keeps a pointer in the object. A program calls
 * the version that it was linked against, so each wrapper calls the same version. */
#if defined(__x86_64__)
#define NEW_CONDITION "GLIBC_2.3.2"
#define OLD_CONDITION "GLIBC_2.2.5"
#else
#define NEW_CONDITION "GLIBC_2.17"
#define OLD_CONDITION NEW_CONDITION
#endif

/* For each: its identifier here, its name, and its version where there are several. */
#define NEXT_FUNCTIONS(X)                                                                          \
    X(pthread_mutex_lock, "pthread_mutex_lock", 0)                                                 \
    X(pthread_mutex_trylock, "pthread_mutex_trylock", 0)                                           \
    X(pthread_mutex_timedlock, "pthread_mutex_timedlock", 0)                                       \
    X(pthread_mutex_clocklock, "pthread_mutex_clocklock", 0)                                       \
    X(pthread_mutex_unlock, "pthread_mutex_unlock", 0)                                             \
    X(pthread_mutex_init, "pthread_mutex_init", 0)                                                 \
    X(pthread_mutex_destroy, "pthread_mutex_destroy", 0)                                           \
    X(mtx_lock, "mtx_lock", 0)                                                                     \
    X(mtx_trylock, "mtx_trylock", 0)                                                               \
    X(mtx_timedlock, "mtx_timedlock", 0)                                                           \
    X(mtx_unlock, "mtx_unlock", 0)                                                                 \
    X(mtx_init, "mtx_init", 0)                                                                     \
    X(mtx_destroy, "mtx_destroy", 0)                                                               \
    X(pthread_rwlock_rdlock, "pthread_rwlock_rdlock", 0)                                           \
    X(pthread_rwlock_wrlock, "pthread_rwlock_wrlock", 0)                                           \
    X(pthread_rwlock_tryrdlock, "pthread_rwlock_tryrdlock", 0)                                     \
    X(pthread_rwlock_trywrlock, "pthread_rwlock_trywrlock", 0)                                     \
    X(pthread_rwlock_timedrdlock, "pthread_rwlock_timedrdlock", 0)                                 \
    X(pthread_rwlock_timedwrlock, "pthread_rwlock_timedwrlock", 0)                                 \
    X(pthread_rwlock_clockrdlock, "pthread_rwlock_clockrdlock", 0)                                 \
    X(pthread_rwlock_clockwrlock, "pthread_rwlock_clockwrlock", 0)                                 \
    X(pthread_rwlock_unlock, "pthread_rwlock_unlock", 0)                                           \
    X(pthread_rwlock_init, "pthread_rwlock_init", 0)                                               \
    X(pthread_rwlock_destroy, "pthread_rwlock_destroy", 0)                                         \
    X(pthread_spin_lock, "pthread_spin_lock", 0)                                                   \
    X(pthread_spin_trylock, "pthread_spin_trylock", 0)                                             \
    X(pthread_spin_unlock, "pthread_spin_unlock", 0)                                               \
    X(pthread_spin_init, "pthread_spin_init", 0)                                                   \
    X(pthread_spin_destroy, "pthread_spin_destroy", 0)                                             \
    X(new_cond_wait, "pthread_cond_wait", NEW_CONDITION)                                           \
    X(new_cond_timedwait, "pthread_cond_timedwait", NEW_CONDITION)                                 \
    X(old_cond_wait, "pthread_cond_wait", OLD_CONDITION)                                           \
    X(old_cond_timedwait, "pthread_cond_timedwait", OLD_CONDITION)                                 \
    X(pthread_cond_clockwait, "pthread_cond_clockwait", 0)                                         \
    X(cnd_wait, "cnd_wait", 0)                                                                     \
    X(cnd_timedwait, "cnd_timedwait", 0)                                                           \
    X(sem_wait, "sem_wait", 0)                                                                     \
    X(sem_trywait, "sem_trywait", 0)                                                               \
    X(sem_timedwait, "sem_timedwait", 0)                                                           \
    X(sem_clockwait, "sem_clockwait", 0)                                                           \
    X(pthread_once, "pthread_once", 0)                                                             \
    X(call_once, "call_once", 0)                                                                   \
    X(pthread_create, "pthread_create", 0)                                                         \
    X(pthread_setname_np, "pthread_setname_np", 0)                                                 \
    X(pthread_sigmask, "pthread_sigmask", 0)                                                       \
    X(sigprocmask, "sigprocmask", 0)                                                               \
    X(sigaction, "sigaction", 0)                                                                   \
    X(signal, "signal", 0)                                                                         \
    X(syscall, "syscall", 0)                                                                       \
    X(_exit, "_exit", 0)

#define NEXT_ENUMERATOR(word, name, version) next_index_##word,
enum next_index
{
    NEXT_FUNCTIONS(NEXT_ENUMERATOR) next_count
};

/* next_find_all looks all of them up; it is called before all other functions here. */
void next_find_all(void);

extern _Atomic(void*) next_known[next_count];

/* next_find looks a function up, and keeps its address. */
void* next_find(enum next_index index);

/* next_function gives a function's address. It is known once this library has started; a library
 * that starts earlier may call before that. */
static inline void* next_function(enum next_index index)
{
    void* known = atomic_load_explicit(&next_known[index], memory_order_relaxed);
    return UNLIKELY(!known) ? next_find(index) : known;
}

/* NEXT declares next_NAME, a pointer to that function. */
#define NEXT(name)                                                                                 \
    __typeof__(name)* const next_##name = (__typeof__(name)*)next_function(next_index_##name)

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

#endif
