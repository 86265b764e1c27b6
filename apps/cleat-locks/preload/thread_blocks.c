#include "blocks.h"
#include "clock.h"
#include "files.h"
#include "holds.h"
#include "sampler.h"
#include "thread_blocks.h"
#include "thread_state.h"
#include "trace_file.h"
#include "tries.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_key_t end_of_thread;
static bool has_key;

/* cpu_clock is the clock of a thread's CPU time, as the kernel numbers them. */
static clockid_t cpu_clock(struct trace_thread const* block)
{
    return (clockid_t)(~(unsigned)block->tid << 3 | 6u);
}

/* release_block adds its thread's times to those that have ended, and leaves it to the next one. */
static void release_block(struct trace_thread* block)
{
    block->ended_lived_ns += block->seen_ns - block->began_ns;
    block->ended_cpu_ns += block->cpu_ns;
    block->cpu_ns = block->began_ns = 0;
    atomic_store_explicit(&block->state, trace_idle, memory_order_release);
}

/* retire_if_ended notes the end of a thread. A thread that takes a lock in its last destructor is
 * registered again, and no destructor of the recorder runs after that one. */
static void retire_if_ended(struct trace_thread* block)
{
    struct timespec t;
    uint32_t running = trace_running;
    if (clock_gettime(cpu_clock(block), &t) != 0 &&
        atomic_compare_exchange_strong(&block->state, &running, trace_unused))
        release_block(block);
}

static void for_each_running(void (*visit)(struct trace_thread*))
{
    uint32_t const count = atomic_load(&trace->blocks);
    for (uint32_t i = 0; i < count && i < trace_threads_max; ++i) {
        struct trace_thread* block = atomic_load(&blocks[i]);
        if (block && atomic_load(&block->state) == trace_running)
            visit(block);
    }
}

/* idle_block takes over the block of a thread that has ended, if there is one. */
static struct trace_thread* idle_block(void)
{
    uint32_t const count = atomic_load(&trace->blocks);
    for (uint32_t i = 0; i < count && i < trace_threads_max; ++i) {
        struct trace_thread* block = atomic_load(&blocks[i]);
        uint32_t idle = trace_idle;
        if (block && atomic_load_explicit(&block->state, memory_order_relaxed) == trace_idle &&
            atomic_compare_exchange_strong(&block->state, &idle, trace_running))
            return block;
    }
    return NULL;
}

static struct trace_thread* new_block(void)
{
    uint32_t const number = atomic_fetch_add(&trace->blocks, 1);
    if (number >= trace_threads_max)
        return NULL;
    struct trace_thread* block = map_block(number);
    if (block) {
        block->number = number;
        atomic_store(&blocks[number], block);
    }
    return block;
}

struct trace_thread* register_thread(void)
{
    if (at_work() || self.refused || !trace)
        return NULL;
    begin_work();
    int const error = errno;
    struct trace_thread* block = idle_block();
    if (!block && atomic_load(&trace->blocks) % 16 == 15) {
        for_each_running(retire_if_ended);
        block = idle_block();
    }
    if (!block)
        block = new_block();
    if (block) {
        if (self.number == 0) {
            self.number = atomic_fetch_add(&trace->threads, 1) + 1;
            ++block->threads;
            /* CPU time before this is the recorder's, or another program's before an exec. */
            self.ended_cpu_ns = own_cpu_ns();
        }
        block->tid = (int32_t)syscall(SYS_gettid);
        block->cpu_ns = 0;
        block->cpu_base_ns = self.ended_cpu_ns;
        block->wait_site = 0; /* The block's last thread may have been cancelled in a wait. */
        block->began_ns = block->seen_ns = now_ns();
        name_thread(block);
        atomic_store_explicit(&block->state, trace_running, memory_order_release);
        note_thread(block);
        self.block = block;
        self.random = self.number * 2654435761u;
        self.acquisitions_until_hold = random_hold_interval();
        if (has_key)
            pthread_setspecific(end_of_thread, block);
    } else {
        self.refused = true;
        atomic_fetch_add(&trace->threads_lost, 1);
    }
    errno = error;
    end_work();
    if (block)
        sampler_begin();
    return block;
}

/* unregister_thread is called as the thread's keys are destroyed. A lock after that registers the
 * thread again, and then the destructor runs again. */
static void unregister_thread(void)
{
    struct trace_thread* block = self.block;
    if (!block)
        return;
    begin_work();
    sampler_end();
    note_progress(block);
    self.ended_cpu_ns += block->cpu_ns;
    tries_given_up();
    forget_holds();
    self.known_count = 0;
    self.block = NULL;
    release_block(block);
    end_work();
}

static void on_end_of_thread(void* block)
{
    (void)block;
    unregister_thread();
}

void prepare_threads(void)
{
    has_key = pthread_key_create(&end_of_thread, on_end_of_thread) == 0;
}

void forget_threads(void)
{
    for (int i = 0; i < trace_threads_max; ++i)
        atomic_store_explicit(&blocks[i], NULL, memory_order_relaxed);
    self = (struct thread_state){.busy = 1, .busy_from = self.busy_from};
}

/* read_name asks the kernel for another thread's name, which may have changed since it was
 * registered. */
static void read_name(struct trace_thread* block)
{
    char file[64] = "/proc/self/task/";
    char* const end = put_number(file + strlen(file), (unsigned long)block->tid);
    strcpy(end, "/comm");
    int const comm = open_file(file, O_RDONLY);
    char name[sizeof block->name + 1];
    ssize_t const got = comm >= 0 ? read_file(comm, name, sizeof block->name) : 0;
    if (got > 1) {
        name[got - 1] = '\0'; /* Where the line ends. */
        memcpy(block->name, name, (size_t)got);
    }
    if (comm >= 0)
        close_file(comm);
}

/* note_thread_progress puts another thread's name and CPU time into its block, also where that
 * thread is idle for good. */
static void note_thread_progress(struct trace_thread* block)
{
    struct timespec t;
    if (clock_gettime(cpu_clock(block), &t) != 0) {
        retire_if_ended(block);
        return;
    }
    uint64_t const shown = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    block->cpu_ns = shown - block->cpu_base_ns;
    block->seen_ns = now_ns();
    read_name(block);
}

void note_all_progress(void)
{
    for_each_running(note_thread_progress);
}

unsigned running_threads(void)
{
    uint32_t const count = atomic_load(&trace->blocks);
    unsigned running = 0;
    for (uint32_t i = 0; i < count && i < trace_threads_max; ++i) {
        struct trace_thread* block = atomic_load(&blocks[i]);
        running += block && atomic_load(&block->state) == trace_running;
    }
    return running;
}
