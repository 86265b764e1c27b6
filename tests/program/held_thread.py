"""A thread of another process that stands still for a time, as a debugger or a swap storm makes it;
the other threads go on."""

import ctypes
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17  # Requests of ptrace(2).
ANY_THREAD = 0x40000000  # __WALL of waitpid(2).

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long] * 4


def ptrace(request: int, thread: int) -> None:
    if LIBC.ptrace(request, thread, 0, 0) == -1:
        raise OSError(ctypes.get_errno(), "ptrace")


def thread_called(pid: int, name: str) -> int:
    """thread_called is the number of a process's thread, by its name."""
    return next(
        int(each.name)
        for each in Path(f"/proc/{pid}/task").iterdir()
        if (each / "comm").read_text().strip() == name
    )


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
