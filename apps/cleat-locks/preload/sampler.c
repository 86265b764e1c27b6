/* CPU samples: each thread has a timer of its own CPU time, whose signal it gets itself.
 *
 * A thread that waits uses no CPU and is never woken. The kernel checks such timers on its own
 * tick, so the period is that of the option, or a tick where that is longer.
 */
#include "maps.h"
#include "next.h"
#include "sampler.h"
#include "stacks.h"
#include "thread_state.h"
#include "trace_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

int sampler_signal;

static void on_sample(int number, siginfo_t* info, void* context)
{
    (void)number;
    struct trace_thread* block = self.block;
    if (!block || !trace)
        return;
    /* One signal stands for all expirations before its delivery. */
    uint64_t const samples = 1 + (info->si_code == SI_TIMER ? (uint64_t)info->si_overrun : 0);
    block->samples += samples;
    if (at_work()) {
        block->samples_own += samples;
        return;
    }
    begin_work();
    int const error = errno;
    sample_stack(block, context, samples);
    note_progress(block);
    refresh_maps(block->seen_ns);
    errno = error;
    end_work();
}

void sampler_prepare(void)
{
    if (!trace || trace->cpu_hz == 0)
        return;
    char const* number = getenv("CLEAT_LOCKS_SIGNAL");
    int const wanted = number ? atoi(number) : SIGRTMAX - 3;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_sample;
    action.sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK;
    /* A handler of the program may jump out of the code that it interrupts. */
    sigfillset(&action.sa_mask);
    NEXT(sigaction);
    if (next_sigaction(wanted, &action, NULL) == 0)
        sampler_signal = wanted;
    else
        trace->cpu_hz = 0;
}

void sampler_begin(void)
{
    if (!trace || trace->cpu_hz == 0 || sampler_signal == 0)
        return;
    int const error = errno;
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = sampler_signal;
    event.sigev_notify_thread_id = (int)syscall(SYS_gettid);
    /* The system call, since glibc's wrapper allocates. */
    int timer = 0;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0) {
        self.timer = (timer_t)(intptr_t)timer;
        self.timer_runs = true;
        long const period = 1000000000l / (long)trace->cpu_hz;
        struct itimerspec const every = {
            {period / 1000000000l, period % 1000000000l},
            {period / 1000000000l, period % 1000000000l}};
        syscall(SYS_timer_settime, timer, 0, &every, NULL);
        /* A new thread has the signal mask of its creator. */
        sigset_t own;
        sigemptyset(&own);
        sigaddset(&own, sampler_signal);
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &own, NULL, 8);
    }
    errno = error;
}

void sampler_end(void)
{
    if (!self.timer_runs)
        return;
    self.timer_runs = false;
    syscall(SYS_timer_delete, (int)(intptr_t)self.timer);
}
