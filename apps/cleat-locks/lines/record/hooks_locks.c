/* hooks_locks: the locks of libc, which is not compiled with -fsanitize=thread. Taking a lock and
 * giving it back write its memory. And the names of threads.
 */
#include "accesses.h"
#include "recording.h"
#include "threads.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

#define EXPORTED __attribute__((visibility("default")))

#define LOCK(function, type)                                                                       \
    EXPORTED int function(type* lock)                                                              \
    {                                                                                              \
        static int (*_Atomic next)(type*);                                                         \
        if (!next)                                                                                 \
            next = (int (*)(type*))dlsym(RTLD_NEXT, #function);                                    \
        note_access((uintptr_t)lock, 16, true, SITE);                                              \
        return next(lock);                                                                         \
    }

LOCK(pthread_mutex_lock, pthread_mutex_t)
LOCK(pthread_mutex_trylock, pthread_mutex_t)
LOCK(pthread_mutex_unlock, pthread_mutex_t)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
LOCK(pthread_rwlock_tryrdlock, pthread_rwlock_t)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
LOCK(pthread_rwlock_trywrlock, pthread_rwlock_t)
LOCK(pthread_rwlock_unlock, pthread_rwlock_t)
LOCK(pthread_cond_signal, pthread_cond_t)
LOCK(pthread_cond_broadcast, pthread_cond_t)
LOCK(sem_post, sem_t)
LOCK(sem_wait, sem_t)
LOCK(sem_trywait, sem_t)

/* A thread that has used memory already has a name in the record. */
EXPORTED int pthread_setname_np(pthread_t thread, char const* name)
{
    static int (*_Atomic next)(pthread_t, char const*);
    if (!next)
        next = (int (*)(pthread_t, char const*))dlsym(RTLD_NEXT, "pthread_setname_np");
    int const error = next(thread, name);
    if (error == 0 && recording && own.bit != 0 && pthread_equal(thread, pthread_self()))
        describe_thread(&own);
    return error;
}

#define SPIN_LOCK(function)                                                                        \
    EXPORTED int function(pthread_spinlock_t* lock)                                                \
    {                                                                                              \
        static int (*_Atomic next)(pthread_spinlock_t*);                                           \
        if (!next)                                                                                 \
            next = (int (*)(pthread_spinlock_t*))dlsym(RTLD_NEXT, #function);                      \
        note_access((uintptr_t)lock, sizeof(pthread_spinlock_t), true, SITE);                      \
        return next(lock);                                                                         \
    }

SPIN_LOCK(pthread_spin_lock)
SPIN_LOCK(pthread_spin_trylock)
SPIN_LOCK(pthread_spin_unlock)
