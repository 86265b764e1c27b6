#include "memory/heap_trimmer.hpp"

#include <malloc.h>
#include <pthread.h>

namespace cleat::app {

heap_trimmer::~heap_trimmer()
{
    is_ending_ = true;
    request();
    thread_.join();
}

void heap_trimmer::look(trim_schedule::clock::time_point now, std::uint64_t freed) noexcept
{
    if (schedule_.is_time(now, freed))
        request();
}

// A semaphore of one must not be released twice.
void heap_trimmer::request() noexcept
{
    if (!is_requested_.exchange(true))
        requested_.release();
}

void heap_trimmer::run() noexcept
{
    ::pthread_setname_np(::pthread_self(), "memory");
    for (;;) {
        requested_.acquire();
        is_requested_ = false;
        if (is_ending_)
            return;
        static_cast<void>(::malloc_trim(0));
    }
}

} // namespace cleat::app
