"""workers: each is a thread, pinned to a core of its own where there are enough; auto is one for
each core that the program may use. Connections spread over all of them."""

import math
import os
from pathlib import Path

import pytest

from task_files import thread_names
from tls_client import TlsClient


def worker_threads(pid):
    return {
        name: os.sched_getaffinity(thread)
        for thread, name in thread_names(pid).items()
        if name.startswith("worker-")
    }


def test_one_by_default(cleat):
    assert set(worker_threads(cleat().pid)) == {"worker-0"}


def cpu_quota():
    """cpu_quota is how many cores the container may use in all."""
    try:
        allowed, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
    except OSError:
        return math.inf
    return math.inf if allowed == "max" else int(allowed) / int(period)


@pytest.mark.parametrize("count", [1, 2])
def test_auto_is_one_for_each_core(cleat, count):
    """The test lets cleat use this many cores."""
    cores = sorted(os.sched_getaffinity(0))[:count]
    if len(cores) < count or cpu_quota() < count:
        pytest.skip(f"this machine has less than {count} cores")
    server = cleat("--workers", "auto", preexec_fn=lambda: os.sched_setaffinity(0, cores))
    threads = worker_threads(server.pid)
    assert threads.keys() == {f"worker-{number}" for number in range(count)}
    assert sorted(map(list, threads.values())) == [[core] for core in cores]  # Each has its own.


def test_more_than_cores(cleat):
    count = len(os.sched_getaffinity(0)) + 2
    server = cleat("--workers", count)
    assert len(worker_threads(server.pid)) == count
    with TlsClient(server.port) as client:
        assert client.exchange(b"crowded") == b"crowded"


def test_all_of_them_serve(cleat):
    server = cleat("--workers", 2)
    for number in range(100):  # The kernel spreads them by their ports.
        with TlsClient(server.port) as client:
            client.exchange(b"x")
        server.wait_for_log(event="handshake-done", times=number + 1)
        if len({line["worker"] for line in server.log(event="handshake-done")}) == 2:
            return
    raise AssertionError("one of two workers got nothing of 100 connections")
