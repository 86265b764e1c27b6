#include "clock.h"
#include "files.h"
#include "interruptions.h"
#include "maps.h"
#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct trace_header* trace;
struct trace_slot* trace_slots;
struct trace_lock* trace_locks;

static _Atomic int trace_file = -1;
static dev_t trace_device; /* These two tell whether a descriptor is the trace's. */
static ino_t trace_inode;
/* Names are made once: a stack may be as small as a signal handler's. */
static char trace_name[4096 + 64];

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

/* is_trace says whether a descriptor is still the trace's: a program may have closed descriptors
 * that it did not open, and have opened a file of its own with the same number. */
static bool is_trace(int file)
{
    struct stat about;
    return file >= 0 && fstat(file, &about) == 0 && about.st_dev == trace_device &&
           about.st_ino == trace_inode;
}

/* move_high gives a descriptor a high number: a program may expect certain low ones for its own. */
static int move_high(int file)
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

/* trace_descriptor gives the trace's descriptor, and opens it again where the program has closed
 * it. Several threads may do so at a time. */
static int trace_descriptor(void)
{
    int known = trace_file;
    if (is_trace(known))
        return known;
    int file = open_file(trace_name, O_RDWR);
    if (!is_trace(file))
        return -1;
    file = move_high(file);
    if (atomic_compare_exchange_strong(&trace_file, &known, file) || !is_trace(known))
        return file;
    close_file(file);
    return known;
}

/* map_part allocates a part of the file and maps it: a hole on a full disk would be a SIGBUS in the
 * middle of the program. */
static void* map_part(size_t offset, size_t size)
{
    int const file = trace_descriptor();
    if (file < 0)
        return NULL;
    /* Growing past the limit of a file's size would raise SIGXFSZ. */
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < offset + size)
        return NULL;
    if (syscall(SYS_fallocate, file, 0, (off_t)offset, (off_t)size) != 0) {
        if (errno != EOPNOTSUPP && errno != ENOSYS)
            return NULL;
        if (syscall(SYS_pwrite64, file, "", 1, (off_t)(offset + size - 1)) != 1)
            return NULL;
    }
    void* mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);
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
    trace_file = move_high(trace_file);
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
    int const cmdline = open_file("/proc/self/cmdline", O_RDONLY);
    if (cmdline >= 0) {
        ssize_t const got = read_file(cmdline, header->arguments, sizeof header->arguments);
        header->arguments_size = got > 0 ? (uint32_t)got : 0;
        close_file(cmdline);
    }
    /* The shortest of 64, which no interruption is part of. */
    header->clock_ns = UINT64_MAX;
    for (int i = 0; i < 64; ++i) {
        uint64_t const first = now_ns();
        uint64_t const took = now_ns() - first;
        if (took < header->clock_ns)
            header->clock_ns = took;
    }
}

void begin_trace(char const* folder, uint32_t cpu_hz)
{
    if (!open_trace(folder))
        return;
    char* tables = map_part(0, tables_size());
    if (!tables) {
        unlink(trace_name); /* A full disk: better no trace than an empty one. */
        close_file(trace_file);
        trace_file = -1;
        return;
    }
    struct trace_header* header = (struct trace_header*)tables;
    describe(header);
    header->cpu_hz = cpu_hz;
    interruptions_prepare(header);
    trace_slots = (struct trace_slot*)(tables + sizeof(struct trace_header));
    trace_locks = (struct trace_lock*)(trace_slots + trace_slots_max);
    atomic_store_explicit(&header->ready, 1, memory_order_release);
    trace = header;
}

void leave_trace(void)
{
    trace = NULL;
    if (is_trace(trace_file))
        close_file(trace_file);
    trace_file = -1;
}

void shrink_trace(void)
{
    int const file = trace_descriptor();
    off_t const end = file < 0 ? 0 : (off_t)syscall(SYS_lseek, file, 0, SEEK_END);
    for (off_t hole = 0; hole < end;) {
        off_t data = (off_t)syscall(SYS_lseek, file, hole, SEEK_DATA);
        if (data < 0)
            data = end; /* ENXIO: there is no more. */
        if (data > hole)
            syscall(
                SYS_fallocate, file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, hole, data - hole);
        hole = data < end ? (off_t)syscall(SYS_lseek, file, data, SEEK_HOLE) : end;
        if (hole <= data)
            return;
    }
}

/* name_copy names a copy of the trace, whose extension is not longer. */
static void name_copy(char* name, char const* extension)
{
    strcpy(name, trace_name);
    strcpy(strrchr(name, '.'), extension);
}

void remove_copy(char const* extension)
{
    char name[sizeof trace_name];
    name_copy(name, extension);
    unlink(name);
}

void copy_trace(char const* extension)
{
    char name[sizeof trace_name];
    name_copy(name, extension);
    int const from = trace_descriptor();
    uint64_t const now = now_ns(); /* Before the sampler of waits sees the copy. */
    int const to = from < 0 ? -1 : open_file(name, O_RDWR | O_CREAT | O_TRUNC);
    if (to < 0)
        return;
    off_t const end = (off_t)syscall(SYS_lseek, from, 0, SEEK_END);
    syscall(SYS_ftruncate, to, end);
    off_t data = (off_t)syscall(SYS_lseek, from, 0, SEEK_DATA);
    while (data >= 0 && data < end) {
        off_t const hole = (off_t)syscall(SYS_lseek, from, data, SEEK_HOLE);
        int64_t read_at = data;
        int64_t write_at = data;
        while (read_at < hole && syscall(
                                     SYS_copy_file_range, from, &read_at, to, &write_at,
                                     (size_t)(hole - read_at), 0) > 0)
            ;
        data = (off_t)syscall(SYS_lseek, from, hole, SEEK_DATA);
    }
    /* The process ends here, for a reader of the copy. */
    syscall(SYS_pwrite64, to, &now, sizeof now, (off_t)offsetof(struct trace_header, gone_ns));
    close_file(to);
}

struct trace_thread* map_block(uint32_t number)
{
    size_t const size = whole_pages(sizeof(struct trace_thread));
    return map_part(tables_size() + number * size, size);
}
