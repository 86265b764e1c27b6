// A library that the subject opens at run time.

#include <pthread.h>

namespace {

pthread_mutex_t library_mutex = PTHREAD_MUTEX_INITIALIZER;

} // namespace

/// lock_in_library locks and unlocks a mutex of the library so often.
extern "C" [[gnu::visibility("default")]] void lock_in_library(unsigned times)
{
    for (unsigned i = 0; i < times; ++i) {
        pthread_mutex_lock(&library_mutex);
        pthread_mutex_unlock(&library_mutex);
    }
}
