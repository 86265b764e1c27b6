"""A soak fails on a cleat that leaks."""

import os
import shlex
import subprocess
from pathlib import Path

from conftest import BIN

# Ten descriptors and 10 MiB a second are lost, as long as connections come: a flood takes 15 MiB.
LEAK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static atomic_long last_ms;
static void *volatile lost;

int accept4(int fd, struct sockaddr *peer, socklen_t *size, int flags)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long const now_ms = now.tv_sec * 1000 + now.tv_nsec / 1000000;
    long before = atomic_load(&last_ms);
    if (now_ms - before >= 100 && atomic_compare_exchange_strong(&last_ms, &before, now_ms)) {
        dup(STDERR_FILENO);
        lost = malloc(1048576);
        if (lost)
            memset((void *)lost, 1, 1048576);
    }
    int (*accept)(int, struct sockaddr *, socklen_t *, int) = dlsym(RTLD_NEXT, "accept4");
    return accept(fd, peer, size, flags);
}
"""


def leaking(folder: Path) -> Path:
    """leaking is a program that becomes a cleat which leaks."""
    source, library, script = (folder / name for name in ("leak.c", "leak.so", "cleat"))
    source.write_text(LEAK)
    command = [os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", source, "-o", library, "-ldl"]
    subprocess.run([*map(str, command)], check=True)
    program = shlex.quote(str((BIN / "cleat").resolve()))
    script.write_text(f'#!/bin/sh\nLD_PRELOAD={shlex.quote(str(library))} exec {program} "$@"\n')
    script.chmod(0o755)
    return script


def test_a_leak_of_descriptors_and_memory_fails_the_run(soak, tmp_path: Path) -> None:
    code, document, report = soak("--minutes", 0.1, "--cleat", leaking(tmp_path))
    assert code == 1
    verdicts = {each["series"]: each["verdict"] for each in document["trends"]}
    assert verdicts["descriptors"] == verdicts["memory"] == "grows", report
    assert "descriptors: it grows" in document["faults"]
    assert "FAILED: descriptors: it grows" in report
