"""A clock that is ahead, for one program."""

import shutil
import subprocess

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
