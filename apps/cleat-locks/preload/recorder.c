/* A trace begins as the library is loaded, and again in the child of a fork. */
#include "clock.h"
#include "contention.h"
#include "holds.h"
#include "locks.h"
#include "maps.h"
#include "next.h"
#include "recorder.h"
#include "sampler.h"
#include "thread_blocks.h"
#include "thread_state.h"
#include "trace_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The options in the environment, which the program may clear before it forks. */
static struct
{
    char folder[4096];
    uint32_t cpu_hz;
    uint32_t line_ps;
} options;

static uint32_t number_of(char const* variable)
{
    char const* text = getenv(variable);
    return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static void read_environment(void)
{
    char const* folder = getenv("CLEAT_LOCKS_TRACE");
    if (folder && strlen(folder) < sizeof options.folder)
        strcpy(options.folder, folder);
    options.cpu_hz = number_of("CLEAT_LOCKS_HZ");
    options.line_ps = number_of("CLEAT_LOCKS_LINE_PS");
    if (getenv("CLEAT_LOCKS_EVERY_HOLD"))
        hold_interval = 1;
}

static void begin(void)
{
    begin_trace(options.folder, options.cpu_hz);
    if (!trace)
        return;
    trace->line_ps = options.line_ps;
    write_maps();
}

/* Other libraries' handlers may lock in the child before ours runs there, and until then the trace
 * is the parent's. */
static void before_fork(void)
{
    self.forking = true;
}

static void in_parent(void)
{
    self.forking = false;
}

/* After a fork the child gets a trace of its own, before it can write into its parent's. */
static void in_child(void)
{
    begin_work();
    leave_trace();
    forget_threads();
    forget_maps();
    forget_locks();
    forget_contentions();
    begin();
    end_work();
    register_thread();
}

__attribute__((constructor)) static void start(void)
{
    begin_work();
    read_environment();
    next_find_all();
    prepare_threads();
    begin();
    sampler_prepare();
    if (trace)
        pthread_atfork(before_fork, in_parent, in_child);
    end_work();
    register_thread();
}

/* process_ends notes the figures of the threads that still run, and the time. A child of vfork
 * shares its parent's memory, and its end is not the parent's. */
void process_ends(void)
{
    if (!trace || trace->pid != getpid())
        return;
    begin_work();
    int const error = errno;
    note_all_progress();
    atomic_store(&trace->ended_ns, now_ns());
    write_maps();
    /* Others would go on writing, and may not find room again on a disk that is full by then. */
    if (running_threads() <= 1)
        shrink_trace();
    errno = error;
    end_work();
}

/* For programs: begins (0) or ends (1) the part of the process's recording that counts. They
 * declare it weak, since it is there only where the recorder is. */
EXPORTED void cleat_locks_mark(int ends)
{
    if (!trace || at_work())
        return;
    begin_work();
    int const error = errno;
    note_all_progress();
    if (!ends)
        remove_copy(".end"); /* Of an earlier window. */
    copy_trace(ends ? ".end" : ".begin");
    errno = error;
    end_work();
}

__attribute__((destructor)) static void finish(void)
{
    process_ends();
}
