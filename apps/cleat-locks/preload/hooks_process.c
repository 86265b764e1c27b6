/* Wrappers of the functions that change the process: its threads and its signals. */
#include "next.h"
#include "recorder.h"
#include "sampler.h"
#include "thread_blocks.h"
#include "thread_state.h"
#include "trace_file.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The routine and argument of a new thread, from its creator to itself. */
struct thread_start
{
    _Atomic bool used;
    void* (*routine)(void*);
    void* argument;
};

static struct thread_start thread_starts[256];

static void* run_thread(void* argument_of_start)
{
    struct thread_start* start = argument_of_start;
    void* (*const routine)(void*) = start->routine;
    void* const argument = start->argument;
    atomic_store_explicit(&start->used, false, memory_order_release);
    if (trace && !self.block)
        register_thread();
    return routine(argument);
}

EXPORTED int pthread_create(
    pthread_t* thread, pthread_attr_t const* attributes, void* (*routine)(void*), void* argument)
{
    NEXT(pthread_create);
    if (trace && !at_work())
        for (size_t i = 0; i < sizeof thread_starts / sizeof *thread_starts; ++i) {
            struct thread_start* start = &thread_starts[i];
            bool free = false;
            if (!atomic_compare_exchange_strong(&start->used, &free, true))
                continue;
            start->routine = routine;
            start->argument = argument;
            int const result = next_pthread_create(thread, attributes, run_thread, start);
            if (result != 0)
                atomic_store(&start->used, false);
            return result;
        }
    /* More than 256 at once: this thread is registered when it takes its first lock. */
    return next_pthread_create(thread, attributes, routine, argument);
}

/* A thread may name itself after it was registered. */
EXPORTED int pthread_setname_np(pthread_t thread, char const* name)
{
    NEXT(pthread_setname_np);
    int const result = next_pthread_setname_np(thread, name);
    if (result == 0 && trace && self.block && pthread_equal(thread, pthread_self()))
        name_thread(self.block);
    return result;
}

/* A program that blocks all signals keeps the sampler's unblocked. */
static sigset_t const* without_sampler_signal(int how, sigset_t const* set, sigset_t* copy)
{
    if (!set || sampler_signal == 0 || how == SIG_UNBLOCK || !sigismember(set, sampler_signal))
        return set;
    *copy = *set;
    sigdelset(copy, sampler_signal);
    return copy;
}

EXPORTED int pthread_sigmask(int how, sigset_t const* set, sigset_t* old)
{
    NEXT(pthread_sigmask);
    sigset_t copy;
    return next_pthread_sigmask(how, without_sampler_signal(how, set, &copy), old);
}

EXPORTED int sigprocmask(int how, sigset_t const* set, sigset_t* old)
{
    NEXT(sigprocmask);
    sigset_t copy;
    return next_sigprocmask(how, without_sampler_signal(how, set, &copy), old);
}

/* The program cannot change the action of the sampler's signal: a program that sets all signals
 * back to their defaults would be ended by the next sample. It reads back the action that it set.
 */
static struct sigaction program_action;

EXPORTED int sigaction(int number, struct sigaction const* action, struct sigaction* old)
{
    NEXT(sigaction);
    if (sampler_signal == 0 || number != sampler_signal)
        return next_sigaction(number, action, old);
    struct sigaction const before = program_action;
    if (action)
        program_action = *action;
    if (old)
        *old = before;
    return 0;
}

EXPORTED sighandler_t signal(int number, sighandler_t handler)
{
    NEXT(signal);
    if (sampler_signal == 0 || number != sampler_signal)
        return next_signal(number, handler);
    sighandler_t const before = program_action.sa_handler;
    memset(&program_action, 0, sizeof program_action);
    program_action.sa_handler = handler;
    return before;
}

/* _exit runs no exit handlers, so the end is noted here. _Exit is the same function in libc. */
EXPORTED __attribute__((noreturn)) void _exit(int code)
{
    NEXT(_exit);
    process_ends();
    next__exit(code);
    __builtin_unreachable();
}

EXPORTED __attribute__((noreturn)) void _Exit(int code)
{
    _exit(code);
}
