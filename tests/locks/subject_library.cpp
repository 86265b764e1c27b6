// A library that the subject opens while it runs.

#include <pthread.h>

namespace {

pthread_mutex_t library_mutex = PTHREAD_MUTEX_INITIALIZER;

} // namespace

/// lock_in_library locks a mutex of the library's, and unlocks it, so often.
extern "C" [[gnu::visibility("default")]] void lock_in_library(unsigned times)
{
    for (unsigned i = 0; i < times; ++i) {
        pthread_mutex_lock(&library_mutex);
        pthread_mutex_unlock(&library_mutex);
    }
}
