"""The rate goes up until the server breaks, and where that is, is known."""

import json
import threading
import time

import pytest
from deadlines import eventually
from http_handlers import head_of_request, http


def one_at_a_time(seconds: float):
    """one_at_a_time is an upstream that can do 1 / seconds answers in a second, and no more."""
    turn = threading.Lock()

    def handle(upstream):
        while head_of_request(upstream):
            with turn:
                time.sleep(seconds)  # Its capacity is what is to be found.
            upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")

    return handle


def busy_or(seconds: float):
    """busy_or answers after so long, and refuses requests that come meanwhile at once."""
    turn = threading.Lock()

    def handle(upstream):
        while head_of_request(upstream):
            if not turn.acquire(blocking=False):
                upstream.send(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
                continue
            time.sleep(seconds)  # Its capacity is what is to be found.
            turn.release()
            upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")

    return handle


def named(found: dict) -> set[float]:
    """named are the rates that the result calls good."""
    rates = {each["rate"] for each in found["highest"]} | {found.get("knee")}
    return {rate for rate in rates if rate is not None}


def broken(found: dict) -> dict:
    """broken is the step that broke the server, which is the last one."""
    assert [step["broken"] for step in found["steps"]][-1], found["steps"]
    assert not any(step["broken"] for step in found["steps"][:-1])
    return found["steps"][-1]


@pytest.mark.figures
def test_the_step_that_broke_the_server_is_no_highest_rate(bench, server):
    """No transaction fails, but the answers come long after the step: they are that step's, and
    it meets no criterion."""
    target = server(one_at_a_time(0.02))
    ran = bench.run("staircase", "-q", "--from", 20, "--to", 200, "--step", 90, "--hold", "2s",
                    "--json", "s.json", target.address)
    assert ran.returncode == 0, ran.stderr
    found = bench.read(bench.folder / "s.json")
    last = broken(found)
    assert named(found) < {step["rate"] for step in found["steps"]} - {last["rate"]} | {0}
    for step in found["steps"]:
        assert step["attempted"] == step["ok"] + step["failed"], "it was judged before it ended"
    # 50 answers a second at best: the k-th comes at k/50 s, and was meant to begin at k/110 s.
    assert last["rate"] == 110
    assert last["response_mean_ns"] > 0.5e9
    assert last["done"] < last["ok"]
    assert "broken" in ran.stdout


def test_a_step_that_fails_meets_no_criterion(bench, server):
    target = server(busy_or(0.05))
    ran = bench.run("staircase", "-q", "--from", 2, "--to", 202, "--step", 100, "--hold", "2s",
                    "--no-preflight", "--json", "s.json", target.address)
    assert ran.returncode == 0, ran.stderr
    found = bench.read(bench.folder / "s.json")
    last = broken(found)
    assert last["failed"] > 0.05 * last["attempted"]
    assert last["rate"] not in named(found)
    # The text has everything that a load's has.
    assert "answer     wrong status 503" in ran.stdout
    for said in ("handshakes ", "p99", "TLS handshake, full", "response"):
        assert said in ran.stdout, ran.stdout


def test_what_was_cut_off_breaks_nothing(bench, server):
    answered: list = []
    target = server(http(took=answered))
    child = bench.start("staircase", "-q", "--from", 20, "--to", 40, "--step", 20, "--hold", "60s",
                        "--json", "s.json", "--html", "s.html", target.address)
    eventually("some transactions", lambda: len(answered) > 10)
    out, _ = bench.interrupted(child)
    assert out.startswith("PARTIAL")
    found = bench.read(bench.folder / "s.json")
    assert found["partial"]
    assert not any(step["broken"] for step in found["steps"])
    assert (bench.folder / "s.html").exists()


@pytest.mark.figures
def test_the_capacity_is_found(bench, server):
    target = server(one_at_a_time(0.02))
    ran = bench.run("staircase", "-q", "--from", 10, "--to", 1000, "--step", 15, "--hold", "1s",
                    "--json", "s.json", "--html", "s.html", target.address)
    assert ran.returncode == 0, ran.stderr
    found = json.loads((bench.folder / "s.json").read_text())
    highest = {each["criterion"]: each["rate"] for each in found["highest"]}
    # 50 answers a second at best: the step of 70/s cannot be met, and a queue grows.
    assert 10 <= (highest["mean response below 100 ms"] or 0) <= 55
    assert found["steps"][-1]["rate"] <= 250, "it went on though the server was broken"
    assert found["steps"][0]["ok"] >= 9
    assert found["failed"] == 0, "what was under way when it broke was cut off"
    assert "highest rate with mean response below 100 ms" in ran.stdout
    assert (bench.folder / "s.html").read_text().startswith("<!doctype html>")


@pytest.mark.figures
def test_a_server_that_does_not_break(bench, server):
    """A step breaks where 30 % of its answers are missing at its end: for that the machine would
    have to stand still for more than half a second."""
    target = server(one_at_a_time(0))
    ran = bench.run("staircase", "-q", "--from", 10, "--to", 20, "--step", 10, "--hold", "2s",
                    target.address)
    assert ran.returncode == 0, ran.stderr
    assert "did not break" in ran.stdout


@pytest.mark.figures
def test_a_server_that_takes_long_is_not_broken(bench, server):
    """Transactions of a step's last 800 ms end in the next one: more than 30 % of its answers."""
    ran = bench.run("staircase", "-q", "--from", 20, "--to", 40, "--step", 20, "--hold", "2200ms",
                    "--json", "s.json", server(http(delay=0.8)).address)
    assert ran.returncode == 0, ran.stderr
    assert "did not break" in ran.stdout
    first, second = bench.read(bench.folder / "s.json")["steps"]
    assert first["attempted"] == 44
    assert first["done"] <= 20 * 1.4 < 0.7 * 44
    assert second["rate"] == 40


def test_several_requests_on_a_connection_are_no_step(bench):
    ran = bench.run("staircase", "--requests", 3, "localhost:1")
    assert ran.returncode == 2 and "--requests: has no effect here" in ran.stderr
