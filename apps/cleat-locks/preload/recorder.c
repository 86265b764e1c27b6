/* The trace of this process, and a block of it for each thread.
 *
 * The file grows by a block when a thread is met. It is never unmapped: a thread may take locks
 * until its very end, and the process until its own.
 */
#include "files.h"
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct trace_header* trace;
struct trace_slot* trace_slots;
struct trace_lock* trace_locks;
__thread struct self self;

static _Atomic int trace_file = -1;
static dev_t trace_device; /* By these it is known as ours. */
static ino_t trace_inode;
/* Names are made once: a stack may be as small as a signal handler's. */
static char trace_name[4096 + 64];
static pthread_key_t end_of_thread;
static bool has_key;
static struct trace_thread* _Atomic blocks[trace_threads_max];

enum
{
    page = 4096,
    high_file = 700
};

static size_t whole_pages(size_t size)
{
    return (size + page - 1) / page * page;
}

static size_t tables_size(void)
{
    return whole_pages(
        sizeof(struct trace_header) + sizeof(struct trace_slot[trace_slots_max]) +
        sizeof(struct trace_lock[trace_locks_max]));
}

/* is_own says whether a descriptor is still the trace's: a program may have closed all that it did
 * not open, and been given the number for a file of its own. */
static bool is_own(int file)
{
    struct stat about;
    return file >= 0 && fstat(file, &about) == 0 && about.st_dev == trace_device &&
           about.st_ino == trace_inode;
}

/* moved_away takes a descriptor out of the way of a program that knows the numbers of its own. */
static int moved_away(int file)
{
    struct rlimit limit;
    int wanted_least = high_file;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < high_file + 16)
        wanted_least = limit.rlim_cur > 32 ? (int)limit.rlim_cur - 16 : 3;
    int const high = fcntl(file, F_DUPFD_CLOEXEC, wanted_least);
    if (high < 0)
        return file;
    close_file(file);
    return high;
}

/* own_file gives the trace's descriptor, opened again where the program has taken it away. Several
 * threads may find that at a time. */
static int own_file(void)
{
    int known = trace_file;
    if (is_own(known))
        return known;
    int file = open_file(trace_name, O_RDWR);
    if (!is_own(file))
        return -1;
    file = moved_away(file);
    if (atomic_compare_exchange_strong(&trace_file, &known, file) || !is_own(known))
        return file;
    close_file(file);
    return known;
}

/* map_part maps a part of the file that it makes sure is there: a hole in a full disk would be a
 * SIGBUS in the middle of the program. */
static void* map_part(size_t at, size_t size)
{
    int const file = own_file();
    if (file < 0)
        return NULL;
    /* Growing past the limit of a file's size would be answered by a signal. */
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < at + size)
        return NULL;
    if (syscall(SYS_fallocate, file, 0, (off_t)at, (off_t)size) != 0) {
        if (errno != EOPNOTSUPP && errno != ENOSYS)
            return NULL;
        if (syscall(SYS_pwrite64, file, "", 1, (off_t)(at + size - 1)) != 1)
            return NULL;
    }
    void* mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)at);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* open_trace makes FOLDER/PID.trace, or PID.2.trace for the program after an exec, and so on. */
static bool open_trace(char const* folder)
{
    size_t const length = strlen(folder);
    if (length == 0 || length > 4000)
        return false;
    memcpy(trace_name, folder, length);
    trace_name[length] = '/';
    char* const number = put_number(trace_name + length + 1, (unsigned long)getpid());
    for (unsigned run = 1; run < 1000; ++run) {
        char* end = number;
        *end = '\0';
        if (run > 1) {
            *end++ = '.';
            end = put_number(end, run);
        }
        name_maps(trace_name, (size_t)(end - trace_name));
        strcpy(end, ".trace");
        trace_file = open_file(trace_name, O_RDWR | O_CREAT | O_EXCL);
        if (trace_file >= 0)
            break;
        if (errno != EEXIST)
            return false;
    }
    if (trace_file < 0)
        return false;
    struct stat about;
    if (fstat(trace_file, &about) != 0)
        return false;
    trace_device = about.st_dev;
    trace_inode = about.st_ino;
    trace_file = moved_away(trace_file);
    return true;
}

static void describe(struct trace_header* header)
{
    memcpy(header->magic, TRACE_MAGIC, sizeof header->magic);
    header->header_size = sizeof(struct trace_header);
    header->slot_size = sizeof(struct trace_slot);
    header->lock_size = sizeof(struct trace_lock);
    header->thread_size = (uint32_t)whole_pages(sizeof(struct trace_thread));
    header->began_ns = now_ns();
    header->began_realtime_ns = read_clock(CLOCK_REALTIME);
    header->pid = getpid();
    header->parent = getppid();
    ssize_t const length = readlink("/proc/self/exe", header->program, sizeof header->program - 1);
    header->program[length > 0 ? length : 0] = '\0';
    int const from = open_file("/proc/self/cmdline", O_RDONLY);
    if (from >= 0) {
        ssize_t const got = read_file(from, header->arguments, sizeof header->arguments);
        header->arguments_size = got > 0 ? (uint32_t)got : 0;
        close_file(from);
    }
    /* The least of some: an interruption is no property of the clock. */
    header->clock_ns = UINT64_MAX;
    for (int i = 0; i < 64; ++i) {
        uint64_t const first = now_ns();
        uint64_t const took = now_ns() - first;
        if (took < header->clock_ns)
            header->clock_ns = took;
    }
}

/* What was asked for in the environment, which the program may clear before it forks. */
static struct
{
    char folder[4096];
    uint32_t cpu_hz;
} wanted;

static void read_environment(void)
{
    char const* folder = getenv("CLEAT_LOCKS_TRACE");
    if (folder && strlen(folder) < sizeof wanted.folder)
        strcpy(wanted.folder, folder);
    char const* hz = getenv("CLEAT_LOCKS_HZ");
    wanted.cpu_hz = hz ? (uint32_t)strtoul(hz, NULL, 10) : 0;
    if (getenv("CLEAT_LOCKS_EVERY_HOLD"))
        hold_part = 1;
}

static void begin_trace(void)
{
    if (!open_trace(wanted.folder))
        return;
    char* tables = map_part(0, tables_size());
    if (!tables) {
        unlink(trace_name); /* A full disk: better no trace than one that says nothing. */
        close_file(trace_file);
        trace_file = -1;
        return;
    }
    struct trace_header* header = (struct trace_header*)tables;
    describe(header);
    header->cpu_hz = wanted.cpu_hz;
    interruptions_prepare(header);
    trace_slots = (struct trace_slot*)(tables + sizeof(struct trace_header));
    trace_locks = (struct trace_lock*)(trace_slots + trace_slots_max);
    atomic_store_explicit(&header->ready, 1, memory_order_release);
    trace = header;
}

void name_thread(struct trace_thread* block)
{
    prctl(PR_GET_NAME, block->name);
}

/* clock_of is the clock of a thread's CPU time, as the kernel numbers them. */
static clockid_t clock_of(struct trace_thread const* block)
{
    return (clockid_t)(~(unsigned)block->tid << 3 | 6u);
}

/* leave_block adds up what its thread has done, and leaves it to the next one. */
static void leave_block(struct trace_thread* block)
{
    block->ended_lived_ns += block->seen_ns - block->began_ns;
    block->ended_cpu_ns += block->cpu_ns;
    block->cpu_ns = block->began_ns = 0;
    atomic_store_explicit(&block->state, trace_idle, memory_order_release);
}

/* bury notes the end of a thread, if it has ended, that could not say it: it locked something in
 * the last of its destructors. */
static void bury(struct trace_thread* block)
{
    struct timespec t;
    uint32_t running = trace_running;
    if (clock_gettime(clock_of(block), &t) != 0 &&
        atomic_compare_exchange_strong(&block->state, &running, trace_unused))
        leave_block(block);
}

static void each_running(void (*visit)(struct trace_thread*))
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
    size_t const size = whole_pages(sizeof(struct trace_thread));
    uint32_t const at = atomic_fetch_add(&trace->blocks, 1);
    if (at >= trace_threads_max)
        return NULL;
    struct trace_thread* block = map_part(tables_size() + at * size, size);
    if (block)
        atomic_store(&blocks[at], block);
    return block;
}

struct trace_thread* meet_thread(void)
{
    if (at_work() || self.refused || !trace)
        return NULL;
    begin_work();
    int const error = errno;
    struct trace_thread* block = idle_block();
    if (!block && atomic_load(&trace->blocks) % 16 == 15) {
        each_running(bury);
        block = idle_block();
    }
    if (!block)
        block = new_block();
    if (block) {
        if (self.number == 0) {
            self.number = atomic_fetch_add(&trace->threads, 1) + 1;
            ++block->threads;
            /* What came before is the recorder's, or another program's before an exec. */
            self.ended_cpu_ns = own_cpu_ns();
        }
        block->tid = (int32_t)syscall(SYS_gettid);
        block->cpu_ns = 0;
        block->cpu_base_ns = self.ended_cpu_ns;
        block->waits_at = 0; /* Who had it before may have been cancelled in a wait. */
        block->began_ns = block->seen_ns = now_ns();
        name_thread(block);
        atomic_store_explicit(&block->state, trace_running, memory_order_release);
        self.block = block;
        self.random = self.number * 2654435761u;
        self.until_hold = next_hold();
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

/* A handler that interrupts the recorder may never come back: it jumps to where the program said
 * (siglongjmp). Then the recorder's frame is gone, and sooner or later the stack ends above where
 * it was. A handler that is still at work stands below it, or on the stack that signals have to
 * themselves. */
bool left_behind(uintptr_t stack)
{
    stack_t apart;
    if (sigaltstack(NULL, &apart) != 0)
        return false;
    bool const is_apart = (apart.ss_flags & SS_ONSTACK) != 0;
    bool const was_apart = self.busy_from - (uintptr_t)apart.ss_sp < apart.ss_size;
    bool const gone = is_apart == was_apart ? stack >= self.busy_from : was_apart;
    if (gone)
        self.busy = 0;
    return gone;
}

/* see puts down how far the calling thread has come. */
static void see(struct trace_thread* block)
{
    block->cpu_ns = own_cpu_ns() - self.ended_cpu_ns;
    block->seen_ns = now_ns();
    name_thread(block);
}

/* Called as the thread's keys are destroyed. What it locks after that makes it met again, and that
 * makes the destructor run again. */
static void thread_ended(void)
{
    struct trace_thread* block = self.block;
    if (!block)
        return;
    begin_work();
    sampler_end();
    see(block);
    self.ended_cpu_ns += block->cpu_ns;
    self.block = NULL;
    self.holds = 0;
    for (int i = 0; i < holds_max; ++i)
        self.hold[i].lock = 0;
    leave_block(block);
    end_work();
}

static void on_end_of_thread(void* block)
{
    (void)block;
    thread_ended();
}

/* Other libraries' handlers may lock in the child before ours runs there, and the trace is the
 * parent's until then. */
static void before_fork(void)
{
    self.forks = true;
}

static void in_parent(void)
{
    self.forks = false;
}

/* After a fork the child has a trace of its own: what it shares with its parent's is taken away
 * before it can write there. */
static void in_child(void)
{
    begin_work();
    trace = NULL;
    if (is_own(trace_file))
        close_file(trace_file);
    trace_file = -1;
    for (int i = 0; i < trace_threads_max; ++i)
        atomic_store_explicit(&blocks[i], NULL, memory_order_relaxed);
    forget_maps();
    self = (struct self){.busy = 1, .busy_from = self.busy_from};
    forget_locks();
    begin_trace();
    if (trace)
        write_maps();
    end_work();
    meet_thread();
}

__attribute__((constructor)) static void start(void)
{
    begin_work();
    read_environment();
    next_find_all();
    has_key = pthread_key_create(&end_of_thread, on_end_of_thread) == 0;
    begin_trace();
    sampler_prepare();
    if (trace) {
        pthread_atfork(before_fork, in_parent, in_child);
        write_maps();
    }
    end_work();
    meet_thread();
}

/* read_name asks the kernel for another thread's name: it may have taken it after it was met. */
static void read_name(struct trace_thread* block)
{
    char file[64] = "/proc/self/task/";
    char* const end = put_number(file + strlen(file), (unsigned long)block->tid);
    strcpy(end, "/comm");
    int const from = open_file(file, O_RDONLY);
    char name[sizeof block->name + 1];
    ssize_t const got = from >= 0 ? read_file(from, name, sizeof block->name) : 0;
    if (got > 1) {
        name[got - 1] = '\0'; /* Where the line ends. */
        memcpy(block->name, name, (size_t)got);
    }
    if (from >= 0)
        close_file(from);
}

/* see_other puts down how far another thread has come, also one that is idle for good. */
static void see_other(struct trace_thread* block)
{
    struct timespec t;
    if (clock_gettime(clock_of(block), &t) != 0) {
        bury(block);
        return;
    }
    uint64_t const shown = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    block->cpu_ns = shown - block->cpu_base_ns;
    block->seen_ns = now_ns();
    read_name(block);
}

/* What threads have used so far is their last word, unless they say another. A child of vfork works
 * in its parent's memory, and its end is not the parent's. */
void process_ends(void)
{
    if (!trace || trace->pid != getpid())
        return;
    begin_work();
    int const error = errno;
    each_running(see_other);
    atomic_store(&trace->ended_ns, now_ns());
    write_maps();
    errno = error;
    end_work();
}

__attribute__((destructor)) static void finish(void)
{
    process_ends();
}
