// The subject's modes with interrupted threads: by signal handlers that lock or jump, and by the
// kernel, which clears a restartable sequence.

#include "subject.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/rseq.h>
#include <sys/time.h>

namespace subject {
namespace {

sigjmp_buf jump_to;
volatile sig_atomic_t may_jump = 0;
std::atomic<unsigned> handled = 0;

void ring_every_ms(bool enabled)
{
    itimerval const every{{0, enabled ? 1000 : 0}, {0, enabled ? 1000 : 0}};
    ::setitimer(ITIMER_REAL, &every, nullptr);
}

// It computes until a handler jumps out of it.
[[noreturn]] void compute_for_ever()
{
    for (std::uint64_t volatile sum = 0;;)
        sum = sum + 1;
}

} // namespace

// A restartable sequence of another library. It never runs, so the kernel only clears it.
void sequences(unsigned times)
{
    static std::array<std::uint32_t, 3> const land{0, RSEQ_SIG, 0};
    static rseq_cs const own{
        0, 0, reinterpret_cast<std::uint64_t>(&land[0]), 4,
        reinterpret_cast<std::uint64_t>(&land[2])};
    bool const registered = __rseq_size != 0;
    unsigned kept = 0;
    unsigned replaced = 0;
    for (unsigned i = 0; registered && i < times; ++i) {
        auto* const pointer = reinterpret_cast<std::uint64_t volatile*>(
            static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset + 8);
        auto const mine = reinterpret_cast<std::uint64_t>(&own);
        *pointer = mine;
        touch_mutex(1);
        kept += *pointer == mine;
        *pointer = 0;
        touch_mutex(1);
        replaced += *pointer != 0 && *pointer != mine;
    }
    std::printf(
        "{\"registered\": %d, \"kept\": %u, \"replaced\": %u}\n", registered, kept, replaced);
}

void timeouts(unsigned times)
{
    struct sigaction action = {};
    action.sa_handler = [](int) {
        if (may_jump)
            ::siglongjmp(jump_to, 1);
    };
    ::sigaction(SIGALRM, &action, nullptr);
    static unsigned acquisitions = 0; // A jump does not change it.
    for (; acquisitions < times; ++acquisitions) {
        if (sigsetjmp(jump_to, 1) == 0) {
            may_jump = 1;
            ring_every_ms(true);
            compute_for_ever();
        }
        may_jump = 0;
        ring_every_ms(false);
        touch_mutex(1);
    }
    std::printf("{\"acquisitions\": %u}\n", acquisitions);
}

// A semaphore that never runs out: a jump between two calls blocks no thread.
void handlers(unsigned times, bool jump, bool apart)
{
    static sem_t full;
    static std::atomic<unsigned> acquisitions = 0;
    ::sem_init(&full, 0, SEM_VALUE_MAX);
    static std::array<char, 1 << 16> room;
    stack_t const stack{.ss_sp = room.data(), .ss_flags = 0, .ss_size = room.size()};
    if (apart)
        ::sigaltstack(&stack, nullptr);
    may_jump = jump;
    struct sigaction action = {};
    action.sa_handler = [](int) {
        ++handled;
        if (may_jump)
            ::siglongjmp(jump_to, 1);
        ++acquisitions;
        ::sem_trywait(&full);
    };
    action.sa_flags = apart ? SA_ONSTACK : 0;
    ::sigaction(SIGALRM, &action, nullptr);
    sigsetjmp(jump_to, 1);
    ring_every_ms(true);
    while (handled < times)
        for (int i = 0; i < 1000; ++i) {
            ++acquisitions;
            ::sem_trywait(&full);
        }
    ring_every_ms(false);
    std::printf("{\"acquisitions\": %u, \"handled\": %u}\n", acquisitions.load(), handled.load());
}

} // namespace subject
