"""Connections that are kept carry requests until the time is up: as fast as they are answered, or
at a rate, when the response counts from the intended start."""

import time

import pytest
from capsrv import Capacity
from http_handlers import at_request, head_of_request, http


@pytest.mark.figures
def test_the_duration_ends_connections_with_many_requests(bench, server):
    """The time ends the load, also where connections have requests left."""
    begun = time.monotonic()
    found = bench.load("-c", 2, "-d", "2s", "--requests", 1000000, server(http()).address)
    assert time.monotonic() - begun < 8
    assert found["failed"] == 0
    assert found["measured_ns"] == 2e9
    assert found["connections"] == 2
    assert found["ok"] > 100


@pytest.mark.figures
def test_the_duration_ends_an_open_loop_too(bench, server):
    begun = time.monotonic()
    found = bench.load("-r", 5, "-d", "2s", "--requests", 1000000, server(http()).address)
    assert time.monotonic() - begun < 8
    assert found["failed"] == 0
    assert found["connections"] == 10


@pytest.mark.figures
def test_kept_connections_in_a_closed_loop(bench, server):
    found = bench.load("-c", 3, "-d", "1s", "--keep", server(http()).address)
    assert found["failed"] == 0 and found["connections"] == 3
    assert found["handshakes"]["full"] == 3
    assert found["ok"] > 50
    assert ["closed loop", "3 kept connections"] in found["asked"]


def test_a_number_is_met_exactly(bench, server):
    found = bench.load("-c", 4, "-n", 101, "--keep", server(http()).address)
    assert found["attempts"] == found["ok"] == 101
    assert found["connections"] <= 4


def test_a_server_that_ends_a_connection_after_an_answer_is_no_failure(bench, server):
    """As nginx does after keepalive_requests: it says so with its answer."""

    def five(upstream):
        for number in range(5):
            if not head_of_request(upstream):
                return
            last = b"Connection: close\r\n" if number == 4 else b""
            upstream.send(b"HTTP/1.1 200 OK\r\n" + last + b"Content-Length: 1\r\n\r\nx")

    found = bench.load("-c", 1, "-n", 50, "--keep", "--no-preflight", server(five).address)
    assert found["ok"] == 50 and found["failed"] == 0
    assert found["connections"] == 10


@pytest.mark.figures
@pytest.mark.parametrize("arrivals", ["constant", "poisson"])
def test_kept_connections_at_a_rate(bench, server, arrivals):
    found = bench.load("-c", 5, "-r", 100, "-d", "2s", "--keep", "--arrivals", arrivals,
                       server(http()).address)
    assert found["connections"] == 5 and found["failed"] == 0
    assert found["rate_asked"] == pytest.approx(100, rel=0.001)
    if arrivals == "constant":
        assert found["attempts"] == 200
    else:
        assert 130 < found["attempts"] < 270
    assert found["kept_up"]


@pytest.mark.figures
def test_a_stall_is_seen_by_all_that_were_due_in_it(bench, server):
    """One answer takes a second: the requests that were due meanwhile on its connection waited for
    it, and their responses count from when they were due."""
    handle = at_request(50, lambda _: time.sleep(1))  # It is the stall.
    found = bench.load("-c", 1, "-r", 100, "-d", "3s", "--keep", "--no-preflight",
                       server(handle).address)
    assert found["attempts"] == found["ok"] == 300
    response = found["latency"]["response"]
    # A hundred were due in the stall, and waited half of it on average.
    assert response["max_ns"] > 0.95e9
    assert response["p90_ns"] > 0.6e9
    assert response["p50_ns"] < 0.4e9


@pytest.mark.figures
def test_kept_connections_that_cannot_keep_up_end_on_time(bench, server):
    """Four connections of 50 ms an answer make 80 a second: of 160 half are not sent in the time,
    and are failures."""
    begun = time.monotonic()
    found = bench.load("-c", 4, "-r", 160, "-d", "3s", "--keep",
                       server(Capacity(slots=4, hold=0.05)).address)
    assert time.monotonic() - begun < 9
    assert found["attempts"] == 480
    assert 60 < found["rate"] <= 82
    assert not found["kept_up"]
    assert found["text"].startswith("OVERLOADED")
    (failed,) = found["failures"]
    assert (failed["stage"], failed["kind"]) == ("start", "connection busy")
    assert failed["count"] > 180
    assert found["latency"]["response"]["p90_ns"] is None


@pytest.mark.parametrize(
    "words, said",
    [
        (["--keep", "--requests", "5"], "--requests"),
        (["--keep", "--phases", "5/1s"], "--rate"),
        (["--keep", "-r", "5", "-n", "5"], "--duration"),
        (["--keep", "-r", "5", "--reuse", "2"], "--reuse"),
        (["--keep", "-r", "1", "-c", "100", "-d", "1s"], "--connections"),
        (["--keep", "--raw", "x"], "--expect-size"),
    ],
)
def test_words_that_make_no_sense(bench, words, said):
    ran = bench.run("load", *words, "127.0.0.1")
    assert ran.returncode == 2
    assert said in ran.stderr
