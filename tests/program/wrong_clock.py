"""A clock that is ahead, for one program, and one that jumps."""

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from deadlines import DEADLINE

# For all calls that tell the time of day.
CLOCK = r"""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec* now)
{
    int const done = (int)syscall(SYS_clock_gettime, clock, now);
    if (done == 0 && clock == CLOCK_REALTIME)
        now->tv_sec += AHEAD;
    return done;
}
int gettimeofday(struct timeval* restrict now, void* restrict zone)
{
    struct timespec exact;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &exact) != 0)
        return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}
time_t time(time_t* out)
{
    struct timespec exact;
    if (clock_gettime(CLOCK_REALTIME, &exact) != 0)
        return -1;
    if (out)
        *out = exact.tv_sec;
    return exact.tv_sec;
}
"""


def clock_ahead(folder, seconds):
    """clock_ahead is a wrapper for a program whose clock is ahead."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("there is no C compiler for a clock")
    source, library = folder / "clock.c", folder / "clock.so"
    source.write_text(CLOCK)
    command = [compiler, "-shared", "-fPIC", f"-DAHEAD={seconds}", "-o", library, source]
    subprocess.run(command, check=True, timeout=DEADLINE)
    return ("env", f"LD_PRELOAD={library}")


# The realtime clock is off by so many seconds as the file says.
JUMPING_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static volatile int64_t const* ahead;

__attribute__((constructor)) static void open_ahead(void)
{
    int const fd = open(getenv("CLOCK_AHEAD"), O_RDONLY | O_CLOEXEC);
    void* const seen = mmap(0, sizeof *ahead, PROT_READ, MAP_SHARED, fd, 0);
    if (seen != MAP_FAILED)
        ahead = seen;
}

int clock_gettime(clockid_t which, struct timespec* now)
{
    static int (*next)(clockid_t, struct timespec*);
    if (!next)
        next = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
    int const result = next(which, now);
    if (which == CLOCK_REALTIME && ahead)
        now->tv_sec += *ahead;
    return result;
}

time_t time(time_t* out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval* now, void* zone)
{
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}
"""


class Clock:
    """Clock is what a program with its environment takes for the time of day."""

    def __init__(self, folder: Path) -> None:
        source, self.library, self.file = (folder / each for each in ("c.c", "c.so", "ahead"))
        source.write_text(JUMPING_CLOCK)
        command = ["cc", "-shared", "-fPIC", "-o", self.library, source, "-ldl"]
        subprocess.run(command, check=True)
        self.jump(0)

    def jump(self, seconds: int) -> None:
        """jump sets how far the clock is ahead of the true one, in one write."""
        fd = os.open(self.file, os.O_WRONLY | os.O_CREAT, 0o644)
        os.pwrite(fd, struct.pack("=q", seconds), 0)
        os.close(fd)

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"LD_PRELOAD": str(self.library), "CLOCK_AHEAD": str(self.file)}


@pytest.fixture
def clock(tmp_path):
    return Clock(tmp_path)
