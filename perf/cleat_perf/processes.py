"""Processes: starting and ending them, and what the kernel has accounted to them."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from pathlib import Path


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def with_children(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            found += [int(word) for word in children.read_text().split()]
    return found


def cpu_ns(pid: int) -> int:
    """Time on a core of all threads of a process and its children, by the scheduler's own clock."""
    total = 0
    for each in with_children(pid):
        for task in Path(f"/proc/{each}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    return total


def pss_kib(pid: int) -> int:
    total = 0
    for each in with_children(pid):
        for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total


def anonymous_bytes(pid: int) -> int:
    """Memory of a process that is no file's: its heap and its stacks, as far as they are in use."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the kernel does not tell RssAnon")


class Process:
    """A child on given cores; it and its descendants are what is accounted. Leave it with `with`,
    and it is ended."""

    def __init__(
        self, command: list[str], cores: set[int], log: Path, env: dict | None = None, **options
    ):
        self.command = command
        self.log = log
        with log.open("wb") as output:
            options = {"stdin": subprocess.DEVNULL, "stdout": output} | options
            self.child = subprocess.Popen(
                command,
                stderr=output,
                start_new_session=True,
                env=None if env is None else {**os.environ, **env},
                preexec_fn=lambda: os.sched_setaffinity(0, cores),
                **options,
            )

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def cpu_ns(self) -> int:
        return cpu_ns(self.child.pid)

    def pss_kib(self) -> int:
        return pss_kib(self.child.pid)

    def ready_port(self, deadline_s: float = 10) -> int:
        """The port of the line "ready ADDRESS:PORT" that our own programs print."""
        until = time.monotonic() + deadline_s
        while time.monotonic() < until and self.child.poll() is None:
            for line in self.log.read_text(errors="replace").splitlines():
                if line.startswith("ready "):
                    return int(line.rsplit(":", 1)[1])
            time.sleep(0.02)
        self.stop()
        raise RuntimeError(
            f"{self.command[0]} did not get ready:\n{self.log.read_text(errors='replace')}"
        )

    def wait_for(self, port: int, deadline_s: float = 10) -> bool:
        until = time.monotonic() + deadline_s
        while time.monotonic() < until and self.child.poll() is None:
            if answers(port):
                return True
            time.sleep(0.05)
        return False

    def stop(self, deadline_s: float = 5) -> None:
        """Ends the child, and whatever of its session is left after the deadline."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(deadline_s)
        except subprocess.TimeoutExpired:
            pass
        finally:  # Also where Ctrl-C has broken off the wait.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, signal.SIGKILL)  # its own session: no other processes
            self.child.wait()
