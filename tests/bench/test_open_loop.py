"""An open loop begins its transactions when they are due, whatever the server does, and counts what
that costs the user from then on."""

import os
import signal
import threading

from deadlines import SANITIZED
from stories import http

import pytest


def test_the_rate_asked_is_made(bench, server):
    found = bench.load("-r", 200, "-d", "2s", server(http()).address)
    assert found["attempts"] == found["ok"] == 400
    assert found["rate_asked"] == 200


def test_steps_and_ramps(bench, server):
    found = bench.load("--phases", "20/1s,20-80/1s,0/1s", server(http()).address)
    assert found["attempts"] == 20 + 50
    assert found["timeline"]["attempted"][:2] == [20, 50]


def test_poisson_arrivals_are_those_of_the_seed(bench, server):
    target = server(http())
    words = ("-r", 100, "-d", "1s", "--arrivals", "poisson", "--seed", 3, target.address)
    first = bench.load(*words)["attempts"]
    assert 50 < first < 150
    assert bench.load(*words)["attempts"] == first


@pytest.mark.skipif(SANITIZED, reason="a sanitizer makes the server itself late")
def test_a_known_delay_is_measured(bench, server):
    """The upstream says how long it really took, for a thread wakes up late on a busy machine. The
    shortest of 40 answers is measured to within 1 %, and none is measured shorter than it was."""
    took = []
    found = bench.load("-r", 20, "-d", "2s", "--no-preflight",
                       server(http(delay=0.2, took=took)).address)
    first = found["latency"]["first_byte"]
    assert len(took) == first["count"] == 40
    shortest = min(took) * 1e9
    assert shortest <= first["min_ns"] <= shortest * 1.01
    assert first["mean_ns"] >= sum(took) / len(took) * 1e9
    assert found["latency"]["response"]["min_ns"] >= first["min_ns"]


def test_a_server_that_stops_for_a_second_is_seen(bench, server):
    """A closed loop would ask nothing meanwhile, and hide it: coordinated omission."""
    target = server(http())
    child = bench.start("load", "-r", 200, "-d", "3s", "--workers", 1, "--json", "s.json",
                        "--no-preflight", target.address)
    resumed = threading.Timer(1.0, os.kill, (target.pid, signal.SIGCONT))
    begin = threading.Timer(0.8, lambda: (os.kill(target.pid, signal.SIGSTOP), resumed.start()))
    begin.start()
    assert child.communicate(timeout=60) and child.returncode == 0
    begin.join()
    resumed.join()
    found = bench.read(bench.folder / "s.json")
    assert found["attempts"] == found["ok"] == 600
    response = found["latency"]["response"]
    assert response["max_ns"] > 0.95e9
    assert response["p99_ns"] > 0.9e9
    # Those that came in the second waited half of it on average.
    assert response["p90_ns"] > 0.3e9
    # The generator itself was on time.
    assert found["latency"]["slip"]["p50_ns"] < 5e6


def test_what_a_worker_may_not_open_is_a_failure(bench, server):
    found = bench.load("-r", 100, "-d", "1s", "--in-flight", 1, "--no-preflight",
                       server(http(delay=0.5)).address)
    assert found["attempts"] == 100
    assert {"stage": "start", "kind": "no files"}.items() <= found["failures"][0].items()
    assert found["client_limited"]
    assert "CLIENT-LIMITED" in found["text"]
