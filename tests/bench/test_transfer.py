"""Messages of one size, down, up and both ways: the bytes add up."""

import json
import re

from deadlines import eventually
from origins import echo
from http_handlers import head_of_request, http


def test_down(bench, server):
    target = server(http(body=b"x" * 100_000))
    ran = bench.run("transfer", "-t", 1, "-c", 2, "-m", 5, "-s", 100000, "--json", "t.json",
                    "--server-pid", target.pid, target.address)
    assert ran.returncode == 0, ran.stderr
    assert "10 messages of 100 KB down" in ran.stdout
    assert re.search(r"CPU of the server: \d+\.\d+ s per GB", ran.stdout)
    found = bench.read(bench.folder / "t.json")
    assert found["ok"] == 10
    assert 1_000_000 <= found["bytes"]["down"] <= 1_010_000
    # The JSON has the figures of the text.
    moved = found["transfer"]
    assert moved["direction"] == "down" and moved["message_bytes"] == 100_000
    assert f": {moved['bytes_per_s'] / 1e6:.1f} MB/s" in ran.stdout
    for whose in ("generator", "server"):
        figure = f"{moved[f'{whose}_cpu_ns_per_gb'] / 1e9:.3f}"
        assert f"CPU of the {whose}: {figure} s per GB" in ran.stdout


def test_the_preflight_takes_no_whole_message(bench, server):
    """The head says whether it is the size that was asked for."""
    whole = []
    body = b"x" * (32 << 20)  # More than all buffers on its way.

    def handle(upstream):
        while head_of_request(upstream):
            upstream.send(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode())
            upstream.send(body)
            whole.append(True)

    target = server(handle)
    ran = bench.run("transfer", "-c", 1, "-m", 2, "-s", "32M", target.address)
    assert ran.returncode == 0, ran.stderr
    assert len(whole) == 2
    ran = bench.run("transfer", "-c", 1, "-m", 2, "-s", "33M", target.address)
    assert ran.returncode == 1 and "short answer" in ran.stderr


def test_up(bench, server):
    def handle(upstream):
        while True:
            head = b""
            while b"\r\n\r\n" not in head:
                more = upstream.socket.recv(1 << 18)
                if not more:
                    return
                head += more
            head, _, body = head.partition(b"\r\n\r\n")
            assert b"Content-Length: 1048576" in head
            upstream.receive_exactly((1 << 20) - len(body))
            upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    ran = bench.run("transfer", "-c", 2, "-m", 3, "-s", "1M", "--direction", "up", "--json",
                    "t.json", "--no-preflight", server(handle).address)
    assert ran.returncode == 0, ran.stderr
    found = bench.read(bench.folder / "t.json")
    assert found["ok"] == 6
    assert found["bytes"]["up"] > 6 << 20


def test_both_ways_at_once_more_than_any_buffer_holds(bench, server):
    """64 MiB of echo: who wrote it all before reading would wait for ever."""
    ran = bench.run("transfer", "-c", 1, "-m", 1, "-s", "64M", "--direction", "both", "--json",
                    "t.json", "--no-preflight", server(echo).address)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = bench.read(bench.folder / "t.json")
    assert found["bytes"] == {"up": 64 << 20, "down": 64 << 20}


def test_an_interrupted_one_tells_what_it_has(bench, server):
    answered: list = []
    target = server(http(body=b"x" * 1024, delay=0.02, took=answered))
    child = bench.start("transfer", "-c", 2, "-m", 100_000, "-s", 1024, "--json", "t.json",
                        target.address)
    eventually("some messages", lambda: len(answered) > 10)
    out, _ = bench.interrupted(child)
    assert out.startswith("PARTIAL")
    found = bench.read(bench.folder / "t.json")
    assert found["partial"] and "bytes_per_s" in found["transfer"]


def test_the_cures_are_of_options_that_it_has(bench, server):
    target = server(http(body=b"x" * 10))
    ran = bench.run("transfer", "-s", "1K", target.address)
    assert ran.returncode == 1
    assert "--path" in ran.stderr and "--expect-size" not in ran.stderr
    target = server(http(status="404 Not Found"))
    ran = bench.run("transfer", "-s", "1K", target.address)
    assert ran.returncode == 1
    assert "--path" in ran.stderr and "--expect-status" not in ran.stderr


def test_a_path_with_a_weight_is_refused(bench):
    ran = bench.run("transfer", "--path", "/a 3", "127.0.0.1:1")
    assert ran.returncode == 2
    assert "--path '/a 3': a space" in ran.stderr


def test_workers_are_its_threads(bench, server):
    target = server(http(body=b"x" * 1024))
    ran = bench.run("transfer", "--workers", 2, "-c", 2, "-m", 2, "-s", "1K", "--json", "t.json",
                    target.address)
    assert ran.returncode == 0, ran.stderr
    assert len(json.loads((bench.folder / "t.json").read_text())["worker_cpu_ns"]) == 2


def test_in_the_order_of_the_old_benchmark(bench, server):
    target = server(http(body=b"x" * 1024))
    ran = bench.run("transfer", 2, 4, 5, "1K", "--target", target.address)
    assert ran.returncode == 0, ran.stderr
    assert "20 messages of 1.02 KB down" in ran.stdout
    ran = bench.run("transfer", 2, 4, 5, "1K", target.address)
    assert ran.returncode == 0, ran.stderr


def test_bad_words(bench):
    for words, part in (
        (["8", "4", "250", "10M"], "target"),
        (["8", "4", "127.0.0.1:1"], "THREADS CONNECTIONS MESSAGES SIZE"),
        (["-s", "much", "127.0.0.1:1"], "--size"),
        (["8", "x", "250", "10M", "127.0.0.1:1"], "x"),
    ):
        ran = bench.run("transfer", *words)
        assert ran.returncode == 2 and part in ran.stderr, ran.stderr


def test_uploads_that_a_server_resets_end(bench, server):
    """Where a send finds the reset first, no event may come for what is left to read, and the read
    finds an end."""

    def handle(upstream):
        upstream.receive_exactly(300_000)
        upstream.reset()

    found = bench.load("-c", 4, "-n", 200, "-d", "10m", "--no-preflight", "--method", "POST",
                       "--path", "/", "--body-size", "30M", server(handle).address, code=1)
    assert found["failed"] == 200
    assert {each["kind"] for each in found["failures"]} == {"reset"}
