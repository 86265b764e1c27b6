"""Memory of the server per connection that is held."""

import json
import re
import subprocess
import sys

import pytest

from http2_server import ALPN, NO_ERROR, PING, Seen, frame, goaway, serves
from http_handlers import http, says


def test_the_slope(bench, server):
    target = server(http())
    ran = bench.run("idle", "--server-pid", target.pid, "--counts", "50,100,150", "--settle",
                    "100ms", "--json", "i.json", target.address)
    assert ran.returncode == 0, ran.stderr
    found = json.loads((bench.folder / "i.json").read_text())
    assert [each["connections"] for each in found["levels"]] == [0, 50, 100, 150]
    sizes = [each["pss_bytes"] for each in found["levels"]]
    assert sizes[-1] > sizes[0] > 0
    assert found["bytes_per_connection"] > 500
    assert "KiB for each idle connection" in ran.stdout


# Each level adds fewer connections than limits::crowd_min: on a machine on which
# more of them wait, cleat sheds some.


def test_memory_that_does_not_grow(bench, server):
    """A server keeps memory that it has needed before: the result says that nothing is known."""
    target = server(http())
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as idler:
        ran = bench.run("idle", "--server-pid", idler.pid, "--counts", "50,100", "--settle",
                        "100ms", "--json", "i.json", target.address)
        idler.stdin.close()
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "not known: memory did not grow; restart the server" in ran.stdout
    found = json.loads((bench.folder / "i.json").read_text())
    assert found["bytes_per_connection"] is None
    assert [level["flat"] for level in found["levels"]] == [False, True, True]


def test_memory_that_grew_at_one_level_only(bench, server):
    """One level has no slope: the message says how much grew at that level."""
    grows = """import sys
kept = []
print(flush=True)
for _ in sys.stdin:
    kept.append(bytearray(b'x' * 750_000))
    print(flush=True)
"""
    answers = http()
    connections: list = []
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", grows], stdin=pipe, stdout=pipe) as grower:
        grower.stdout.readline()  # What Python itself needs has grown.

        def handle(upstream):
            connections.append(upstream)
            if len(connections) == 75:
                grower.stdin.write(b"more\n")
                grower.stdin.flush()
                grower.stdout.readline()  # The connection waits until the memory has grown.
            answers(upstream)

        target = server(handle)
        ran = bench.run("idle", "--server-pid", grower.pid, "--counts", "50,100", "--settle",
                        "500ms", target.address)
        grower.stdin.close()
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "memory did not grow" not in ran.stdout
    assert re.search(r"memory grew at one level only, by 1\d\.\d\d KiB", ran.stdout), ran.stdout


def test_an_interrupted_one_tells_what_it_has(bench, server):
    target = server(http())
    counts = ",".join(str(count) for count in range(20, 2000, 20))
    child = bench.start("idle", "--server-pid", target.pid, "--counts", counts, "--settle", "100ms",
                        "--json", "i.json", "--html", "i.html", target.address)
    lines = [child.stdout.readline() for _ in range(2)]
    assert all("connections" in line for line in lines), lines
    out, _ = bench.interrupted(child)
    assert "PARTIAL" in out
    found = json.loads((bench.folder / "i.json").read_text())
    assert found["partial"]
    assert [level["connections"] for level in found["levels"]][:3] == [0, 20, 40]
    assert len(found["levels"]) < 100
    assert (bench.folder / "i.html").read_text().startswith("<!doctype html>")


def test_connections_that_carry_several_transactions(bench, server):
    """So many connections are held, however much each of them says before."""
    answers = http()
    connections: list = []

    def handle(upstream):
        connections.append(upstream)
        answers(upstream)

    target = server(handle)
    ran = bench.run("idle", "--server-pid", target.pid, "--counts", "30", "--requests", 3,
                    "--settle", "100ms", "--no-preflight", target.address)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(connections) == 30


def test_connections_by_http_2(bench, server):
    """Each has made a request, and answers a PING while it is held."""
    seen = Seen()

    def answer(client, stream):
        client.answer(stream)
        client.send(frame(PING, payload=b"are you?"))

    target = server(serves(answer, seen=seen), *ALPN)
    ran = bench.run("idle", "--http2", "--server-pid", target.pid, "--counts", "40,80,120",
                    "--settle", "300ms", "--no-preflight", "--json", "i.json", target.address)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads((bench.folder / "i.json").read_text())
    assert found["http2"] and found["bytes_per_connection"] > 500
    assert "KiB for each idle connection by HTTP/2" in ran.stdout
    assert seen.connections == seen.requests == seen.acks == len(seen.pongs) == 40 + 80 + 120


def test_requests_on_each_connection_by_http_2(bench, server):
    seen = Seen()
    target = server(serves(seen=seen), *ALPN)
    ran = bench.run("idle", "--http2", "--server-pid", target.pid, "--counts", "30", "--requests",
                    3, "--settle", "100ms", "--no-preflight", target.address)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (seen.connections, seen.requests) == (30, 90)


def test_a_server_without_http_2(bench, server):
    target = server(http())
    ran = bench.run("idle", "--http2", "--server-pid", target.pid, target.address)
    assert ran.returncode == 1
    assert "no HTTP/2: the server selected no protocol" in ran.stderr


def by_goaway(client, stream):
    client.answer(stream)
    client.send(goaway(stream, NO_ERROR))


@pytest.mark.parametrize(
    "handler, words, flags",
    [
        (says(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"), (), ()),
        (serves(by_goaway), ("--http2",), ALPN),
    ],
)
def test_a_server_that_keeps_no_connections(bench, server, handler, words, flags):
    """Its memory without them is not the memory for them."""
    target = server(handler, *flags)
    ran = bench.run("idle", *words, "--server-pid", target.pid, "--counts", "20,40", "--settle",
                    "300ms", "--no-preflight", target.address)
    assert ran.returncode == 1
    assert "the server ended 20 of 20 connections while they were idle" in ran.stderr


def test_whose_memory(bench):
    ran = bench.run("idle", "127.0.0.1:1")
    assert ran.returncode == 2 and "--server-pid" in ran.stderr
    ran = bench.run("idle", "--server-pid", 1, "--counts", "5,4", "127.0.0.1:1")
    assert ran.returncode == 2 and "go up" in ran.stderr
