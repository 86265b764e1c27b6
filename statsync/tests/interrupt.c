/* interrupt: a library that a test loads into statsync before all others. It counts the calls that
   change files below the folder INTERRUPT_BELOW, and at number INTERRUPT_AT ends the process as
   kill -9 does, or (INTERRUPT_HOW=full) lets this and all later writes fail as on a full disk. At
   the end of the process the number of calls is written to INTERRUPT_COUNT. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long count;

static int is_below(char const* path)
{
    char const* folder = getenv("INTERRUPT_BELOW");
    return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_file_below(int descriptor)
{
    char link[64];
    char path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, sizeof path - 1);
    path[size < 0 ? 0 : size] = 0;
    return is_below(path);
}

/* fails counts a call, and says whether it fails. */
static int fails(int is_write)
{
    char const* place = getenv("INTERRUPT_AT");
    char const* how = getenv("INTERRUPT_HOW");
    ++count;
    if (place == NULL || count < atol(place)) {
        return 0;
    }
    if (how == NULL) {
        kill(getpid(), SIGKILL);
    }
    errno = ENOSPC;
    return is_write;
}

__attribute__((destructor)) static void report(void)
{
    char const* name = getenv("INTERRUPT_COUNT");
    FILE* file = name == NULL ? NULL : fopen(name, "w");
    if (file != NULL) {
        fprintf(file, "%ld", count);
        fclose(file);
    }
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, void const* data, size_t size)
{
    return is_file_below(file) && fails(1) ? -1 : REAL(write)(file, data, size);
}

ssize_t pwrite64(int file, void const* data, size_t size, off64_t place)
{
    return is_file_below(file) && fails(1) ? -1 : REAL(pwrite64)(file, data, size, place);
}

ssize_t pwrite(int file, void const* data, size_t size, off_t place)
{
    return is_file_below(file) && fails(1) ? -1 : REAL(pwrite)(file, data, size, place);
}

int ftruncate64(int file, off64_t size)
{
    return is_file_below(file) && fails(0) ? -1 : REAL(ftruncate64)(file, size);
}

int fsync(int file)
{
    return is_file_below(file) && fails(0) ? -1 : REAL(fsync)(file);
}

int fdatasync(int file)
{
    return is_file_below(file) && fails(0) ? -1 : REAL(fdatasync)(file);
}

int rename(char const* from, char const* to)
{
    return is_below(to) && fails(0) ? -1 : REAL(rename)(from, to);
}

int unlink(char const* path)
{
    return is_below(path) && fails(0) ? -1 : REAL(unlink)(path);
}
