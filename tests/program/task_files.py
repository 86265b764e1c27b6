"""Facts of a process's threads, from /proc (proc_pid_task(5))."""

import contextlib
from pathlib import Path


def task_files(pid: int, name: str) -> dict[int, str]:
    """task_files has the text of this file for each thread. A thread may end while the folder is
    read; it is left out."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found[int(task.name)] = (task / name).read_text()
    return found


def thread_names(pid: int) -> dict[int, str]:
    """thread_names has the name of each thread."""
    return {thread: text.rstrip("\n") for thread, text in task_files(pid, "comm").items()}
