// A library that the subject opens at run time.

#include <pthread.h>

namespace {

pthread_mutex_t library_mutex = PTHREAD_MUTEX_INITIALIZER;

} // namespace

// A name that is no UTF-8: it is Latin-1's.
extern pthread_mutex_t second_mutex __asm__("mutex_of_caf\xe9");
pthread_mutex_t second_mutex = PTHREAD_MUTEX_INITIALIZER;

/// lock_in_library locks and unlocks a mutex of the library so often, and another one once.
extern "C" [[gnu::visibility("default")]] void lock_in_library(unsigned times)
{
    for (unsigned i = 0; i < times; ++i) {
        pthread_mutex_lock(&library_mutex);
        pthread_mutex_unlock(&library_mutex);
    }
    pthread_mutex_lock(&second_mutex);
    pthread_mutex_unlock(&second_mutex);
}
