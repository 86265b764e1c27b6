"""Limits of the generator's machine: a load that met one does not describe the server."""

import contextlib
import os
import subprocess
import sys
from typing import Iterator

import pytest
from http_handlers import http


@contextlib.contextmanager
def on_a_crowded_core() -> Iterator[None]:
    """on_a_crowded_core: what is started meanwhile shares one core with eight endless loops. Other
    programs on the machine only make it wait longer."""
    mine = os.sched_getaffinity(0)
    others = []
    try:
        os.sched_setaffinity(0, {min(mine)})
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8)]
        yield
    finally:
        os.sched_setaffinity(0, mine)
        for each in others:
            each.kill()
            each.wait()


@pytest.mark.figures
def test_a_generator_without_a_core_says_so(bench, server):
    """A closed loop is never late, and a worker that waits is not busy."""
    target = server(http())
    with on_a_crowded_core():
        found = bench.load("-c", 8, "--workers", 1, "-d", "4s", target.address)
    (wall,), (busy,), (waited,) = (
        found[f"worker_{name}_ns"] for name in ("wall", "cpu", "waited")
    )
    assert waited > wall * 0.6 > busy
    # The three clocks are read one after the other: a thread may lose its core between them, for a
    # turn of all the others.
    assert waited + busy < wall * 1.1
    assert found["client_limited"]
    assert "had to wait for a core" in found["limits"][0]
    assert "cores of its own" in found["cures"][0]
    assert f"waited for a core {waited / wall * 100:.0f} %" in found["text"]
    # A timer of its own is late for the same reason.
    lag = found["latency"]["lag"]
    assert lag["count"] == 400
    assert lag["p90_ns"] > 1e6
    assert "event-loop lag" in found["text"]
