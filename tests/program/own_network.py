"""A network of the test's own, and files of its own in /etc: what only root can have."""

import contextlib
import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Iterator

import pytest

from deadlines import DEADLINE

CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def own_network() -> Iterator[None]:
    """own_network puts this thread, and the threads and programs that it starts, into a network
    that has a loopback and nothing else."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("a network of one's own wants root")
    with open("/proc/thread-self/ns/net") as before:
        if LIBC.unshare(CLONE_NEWNET) != 0:
            pytest.skip("a network of one's own wants root")
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=DEADLINE)
            yield
        finally:
            assert LIBC.setns(before.fileno(), CLONE_NEWNET) == 0


def with_files(**files: Path) -> tuple[str, ...]:
    """with_files is a wrapper for a program that sees these in place of /etc/NAME: hosts and
    resolv.conf, which is written resolv_conf here."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("files of one's own in /etc want root")
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("files of one's own in /etc want root")
    binds = [
        f"mount --bind {path} /etc/{name.replace('_', '.')}" for name, path in files.items()
    ]
    script = " && ".join([*binds, 'exec "$0" "$@"'])
    return ("unshare", "--mount", "--propagation", "private", "sh", "-c", script)
