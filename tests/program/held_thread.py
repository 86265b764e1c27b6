"""A thread of another process that stands still for a time, as a debugger or a swap storm makes it;
the other threads go on."""

import ctypes
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from task_files import thread_names

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17  # Requests of ptrace(2).
TRACEME, TO_NEXT_CALL = 0, 24
ANY_THREAD = 0x40000000  # __WALL of waitpid(2).

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long] * 4


def ptrace(request: int, thread: int) -> None:
    if LIBC.ptrace(request, thread, 0, 0) == -1:
        raise OSError(ctypes.get_errno(), "ptrace")


def trace_me() -> None:
    """trace_me is for a child, before it executes a program: see stop_at_call."""
    ptrace(TRACEME, 0)


def stop_at_call(pid: int, pointed_to: bytes) -> None:
    """stop_at_call stops the first thread of a child where it has given such a text, which begins
    with these bytes, to a system call as its second argument. Then let_go lets it go on."""
    while True:
        _, status = os.waitpid(pid, ANY_THREAD)
        assert os.WIFSTOPPED(status), "it has ended before"
        call = Path(f"/proc/{pid}/syscall").read_text().split()
        if len(call) > 3 and text_at(pid, int(call[2], 16), len(pointed_to)) == pointed_to:
            return
        ptrace(TO_NEXT_CALL, pid)


def let_go(pid: int) -> None:
    ptrace(DETACH, pid)


def text_at(pid: int, place: int, size: int) -> bytes:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        try:
            return os.pread(memory.fileno(), size, place)
        except (OSError, OverflowError):  # It is no pointer.
            return b""


def thread_called(pid: int, name: str) -> int:
    """thread_called is the number of a process's thread, by its name."""
    return next(thread for thread, found in thread_names(pid).items() if found == name)


@contextmanager
def held(thread: int) -> Iterator[None]:
    """held stops the thread until its block ends."""
    ptrace(SEIZE, thread)
    ptrace(INTERRUPT, thread)
    os.waitpid(thread, ANY_THREAD)
    try:
        yield
    finally:
        ptrace(DETACH, thread)
