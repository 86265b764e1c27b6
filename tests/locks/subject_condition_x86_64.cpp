// A condition of programs that were linked against a glibc before 2.3.2: its functions have the
// same names, in an older version.

#include "subject.hpp"

#include <atomic>
#include <cstdio>
#include <thread>

#include <pthread.h>
#include <time.h>

using namespace subject;

extern "C" {
int old_cond_wait(pthread_cond_t*, pthread_mutex_t*);
int old_cond_timedwait(pthread_cond_t*, pthread_mutex_t*, timespec const*);
int old_cond_signal(pthread_cond_t*);
}
__asm__(".symver old_cond_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver old_cond_timedwait, pthread_cond_timedwait@GLIBC_2.2.5");
__asm__(".symver old_cond_signal, pthread_cond_signal@GLIBC_2.2.5");

void subject::old_condition(unsigned times)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition{};
    unsigned filled = 0;
    std::uint64_t waits = 0;
    std::uint64_t wait_ns = 0;
    std::atomic<bool> waits_next = false;
    std::thread filler{[&] {
        waits_next.wait(false); // The other thread has the mutex, until it waits.
        for (unsigned i = 0; i < times; ++i) {
            ::pthread_mutex_lock(&mutex);
            pass(2'000'000);
            ++filled;
            old_cond_signal(&condition);
            ::pthread_mutex_unlock(&mutex);
        }
    }};
    ::pthread_mutex_lock(&mutex);
    waits_next = true;
    waits_next.notify_one();
    while (filled < times) {
        std::uint64_t const asked = now_ns();
        if (++waits % 2 == 0) {
            old_cond_wait(&condition, &mutex);
        } else {
            timespec const until = in_seconds(CLOCK_REALTIME, 60);
            old_cond_timedwait(&condition, &mutex, &until);
        }
        wait_ns += now_ns() - asked;
    }
    ::pthread_mutex_unlock(&mutex);
    filler.join();
    std::printf(
        "{\"waits\": %llu, \"wait_ns\": %llu}\n", static_cast<unsigned long long>(waits),
        static_cast<unsigned long long>(wait_ns));
}
