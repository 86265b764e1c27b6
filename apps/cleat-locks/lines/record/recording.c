#include "recording.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct lines_file* recording;

void write_lines_map(void)
{
    static atomic_flag being_written = ATOMIC_FLAG_INIT;
    struct lines_file* const file = recording;
    if (!file || atomic_flag_test_and_set(&being_written))
        return;
    int const maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    uint32_t size = 0;
    ssize_t got = 0;
    while (maps >= 0 && size < lines_maps_max &&
           (got = read(maps, file->maps + size, lines_maps_max - size)) > 0)
        size += (uint32_t)got;
    if (size > 0)
        file->header.maps_size = size;
    if (maps >= 0)
        close(maps);
    atomic_flag_clear(&being_written);
}

/* A child shares the file, and would count as the parent's threads. */
static void leave_in_child(void)
{
    struct lines_file* const file = recording;
    recording = NULL;
    if (file)
        __atomic_fetch_add(&file->header.other_processes, 1, __ATOMIC_RELAXED);
}

/* The first process that finds the file has it; a program that it executes does not. */
static bool claim(struct lines_file* file)
{
    uint32_t nobody = 0;
    uint32_t const own = (uint32_t)getpid();
    if (file->header.magic != LINES_MAGIC || file->header.version != lines_version)
        return false;
    if (__atomic_compare_exchange_n(
            &file->header.pid, &nobody, own, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return true;
    __atomic_fetch_add(&file->header.other_processes, 1, __ATOMIC_RELAXED);
    return false;
}

__attribute__((constructor(101))) static void begin_recording(void)
{
    char const* const name = secure_getenv("CLEAT_LINES_FILE");
    if (!name)
        return;
    int const descriptor = open(name, O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return;
    struct stat about;
    bool const is_whole =
        fstat(descriptor, &about) == 0 && about.st_size == (off_t)sizeof(struct lines_file);
    void* const mapped = !is_whole ? MAP_FAILED
                                   : mmap(
                                         NULL, sizeof(struct lines_file), PROT_READ | PROT_WRITE,
                                         MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (mapped == MAP_FAILED)
        return;
    if (!claim(mapped)) {
        munmap(mapped, sizeof(struct lines_file));
        return;
    }
    pthread_atfork(NULL, NULL, leave_in_child);
    recording = mapped;
    write_lines_map();
}

__attribute__((destructor(101))) static void end_recording(void)
{
    write_lines_map();
    if (recording)
        recording->header.ended = 1;
}
