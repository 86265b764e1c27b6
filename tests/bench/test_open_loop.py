"""An open loop begins its transactions when they are due, whatever the server does, and counts what
that costs the user from then on."""

import os
import re
import signal
import statistics
import threading
import xml.etree.ElementTree as xml

from conftest import code_of
from deadlines import eventually
from http_handlers import at_request, http

import pytest


def is_as_late_as_the_machine(found: dict) -> bool:
    """is_as_late_as_the_machine: half of the transactions began no later than 2 ms behind what the
    machine allows, which `lag` knows of timers that do nothing else."""
    late = found["latency"]
    return late["slip"]["p50_ns"] < late["lag"]["p99_ns"] + 2e6


@pytest.mark.figures
def test_the_rate_asked_is_made(bench, server):
    """Exactly, however late the answers are on a busy machine."""
    target = server(http())
    found = bench.load("-r", 222, "-d", "2s", target.address)
    assert found["attempts"] == found["ok"] == 444
    assert found["rate_asked"] == 222
    assert found["measured_ns"] == 2e9
    assert found["rate"] == pytest.approx(222, rel=0.02)
    assert found["rate"] == (444 - found["drained_ok"]) / 2
    assert found["latency"]["slip"]["count"] == 444
    assert is_as_late_as_the_machine(found)


@pytest.mark.figures
def test_one_straggler_does_not_make_the_rate_less(bench, server):
    """Answers after the end are counted separately."""

    def be_mute(upstream):
        upstream.receive_to_end()
        return False

    target = server(at_request(100, be_mute))
    found = bench.load("-r", 100, "-d", "2s", "--answer-timeout", "4s", "--no-preflight",
                       "--server-pid", target.pid, target.address)
    assert (found["attempts"], found["failed"]) == (200, 1)
    assert found["failures"][0]["kind"] == "timeout"
    assert found["measured_ns"] == 2e9
    assert found["rate"] == pytest.approx(199 / 2, rel=0.02)
    assert found["drain_ns"] > 2e9, "the 100th was meant to begin after a second"
    assert 1 <= found["drained"] < 200
    assert re.search(r"drain +\d.* s, in which \d+ of 200 ended\n", found["text"])
    # Busy is what was busy while it was asked, and not as well in the drain, which is longer.
    in_time = 1 - found["drained"] / 200
    assert found["server"]["cores"] >= found["server"]["cpu_ns"] / 2e9 * 0.8 * in_time


@pytest.mark.figures
def test_an_answer_in_the_drain_is_no_secret(bench, server):
    """A server that queues answers everything, in the end."""
    found = bench.load("-r", 20, "-d", "1s", "--no-preflight", server(http(delay=1.5)).address)
    assert found["ok"] == found["drained"] == 20
    (remark,) = found["remarks"]
    assert "20 of 20 transactions ended after the time" in remark
    assert "did not keep up" in found["text"]


@pytest.mark.figures
def test_what_ends_behind_a_number_is_no_secret_either(bench, server):
    """Twenty at 50 a second are begun in 400 ms, whatever the duration could be."""
    found = bench.load("-r", 50, "-n", 20, "--no-preflight", server(http(delay=1)).address)
    assert found["measured_ns"] == 4e8
    assert found["ok"] == found["drained"] == 20
    assert "20 of 20 transactions ended after the time" in found["remarks"][0]


@pytest.mark.figures
def test_the_rate_asked_is_that_of_the_time_it_was_asked_for(bench, server):
    """Fifty are begun in the first part of a ramp, which is far below its mean."""
    found = bench.load("--phases", "10-1000/10s", "-n", 50, server(http()).address)
    begun = found["attempts"] / (found["measured_ns"] / 1e9)
    assert found["rate_asked"] == pytest.approx(begun, 0.05)
    many = bench.load("-r", 20, "-d", "1s", "--requests", 5, server(http()).address)
    assert many["rate_asked"] == 100, "transactions"
    assert many["rate"] == pytest.approx(100, rel=0.06)


def test_steps_and_ramps(bench, server):
    found = bench.load("--phases", "20/1s,20-80/1s,0/1s", server(http()).address)
    assert found["attempts"] == 20 + 50
    assert found["timeline"]["attempted"][:2] == [20, 50]


@pytest.mark.figures
def test_a_warm_up_takes_its_part_of_the_phases(bench, server):
    found = bench.load("--phases", "50/1s,150/1s", "--warm-up", "1s", server(http()).address)
    assert found["attempts"] == found["rate_asked"] == 150
    assert found["measured_ns"] == 1e9


@pytest.mark.figures
def test_poisson_arrivals_are_those_of_the_seed(bench, server):
    target = server(http())
    words = ("-r", 100, "-d", "1s", "--arrivals", "poisson", "--seed", 3, target.address)
    first = bench.load(*words)["attempts"]
    assert 50 < first < 150
    assert bench.load(*words)["attempts"] == first


@pytest.mark.figures
def test_random_arrivals_that_come_late_are_no_fault_of_the_server(bench, server):
    """With this seed ten of twenty begin after the time in which twenty are expected. They are 200
    ms apart on average: no machine is so slow that two of them end behind the last."""
    words = ("-r", 5, "-n", 20, "--arrivals", "poisson", "--seed", 1, "--no-preflight")
    found = bench.load(*words, server(http()).address)
    assert found["ok"] == 20
    assert found["drained"] <= 1
    assert "did not keep up" not in found["text"]


@pytest.mark.figures
def test_a_known_delay_is_measured(bench, server):
    """The upstream says how long it really took, for a thread wakes up late on a busy machine. The
    shortest of 40 answers, half of them and their mean are measured to within 1 %, and none is
    measured shorter than it was. What lies between the two clocks are four turns of programs on a
    core, and what such a turn takes now, `lag` knows."""
    took = []
    found = bench.load("-r", 20, "-d", "2s", "--no-preflight",
                       server(http(delay=0.8, took=took)).address)
    first = found["latency"]["first_byte"]
    assert len(took) == first["count"] == 40
    shortest, median, mean = (
        f(took) * 1e9 for f in (min, statistics.median_high, statistics.mean)
    )
    # A bucket's highest value is 0.1 % above its lowest.
    turns = 4 * found["latency"]["lag"]["p99_ns"]
    assert shortest <= first["min_ns"] <= found["latency"]["response"]["min_ns"]
    assert first["min_ns"] <= shortest * 1.01 + turns
    assert first["p50_ns"] <= median * 1.01 + turns
    assert mean <= first["mean_ns"] <= mean * 1.01 + turns


@pytest.mark.figures
def test_a_server_that_stops_for_a_second_is_seen(bench, server):
    """A closed loop would ask nothing meanwhile, and hide it: coordinated omission."""
    target = server(http())
    rate = 200
    came_before = len(target.log(event="connection-closed"))
    child = bench.start("load", "-r", rate, "-d", "3s", "--workers", 1, "--json", "s.json",
                        "--no-preflight", target.address)
    eventually("it has begun",
               lambda: len(target.log(event="connection-closed")) > came_before + rate // 4)
    os.kill(target.pid, signal.SIGSTOP)
    resumed = threading.Timer(1.0, os.kill, (target.pid, signal.SIGCONT))
    resumed.start()
    assert child.communicate(timeout=60)
    resumed.join()
    found = bench.read(bench.folder / "s.json")
    assert child.returncode == code_of(found)
    assert found["attempts"] == found["ok"] == 3 * rate
    response = found["latency"]["response"]
    assert response["max_ns"] > 0.95e9
    assert response["p99_ns"] > 0.9e9
    # Those that came in the second waited half of it on average.
    assert response["p90_ns"] > 0.3e9
    assert is_as_late_as_the_machine(found)  # The generator itself was on time.


def test_what_a_worker_may_not_open_is_a_failure(bench, server):
    found = bench.load("-r", 100, "-d", "1s", "--in-flight", 1, "--no-preflight",
                       "--path", "/a", "--path", "/b", server(http(delay=0.5)).address)
    assert found["attempts"] == 100
    assert sum(each["attempts"] for each in found["paths"]) == 100
    assert {"stage": "start", "kind": "in-flight limit"}.items() <= found["failures"][0].items()
    assert found["client_limited"]
    assert "CLIENT-LIMITED" in found["text"]


@pytest.mark.parametrize("condition", ["p99 > 1h", "failed > 0%"])
def test_no_condition_judges_a_load_that_the_generator_limited(bench, server, condition):
    found = bench.load("-r", 100, "-d", "1s", "--in-flight", 1, "--no-preflight", "--fail-if",
                       condition, "--junit", "j.xml", server(http(delay=0.5)).address, code=4)
    said = "the generator was late: it was too busy for this rate"
    assert f"FAILED: {said}" in found["text"]
    (failure, *_) = xml.parse(bench.folder / "j.xml").getroot().iter("failure")
    assert failure.attrib["message"] == said
