"""A closed loop keeps so many connections busy, counts each transaction once, and says the same in
its text and its JSON."""

import re
import resource
import time

import pytest

from deadlines import eventually
from origins import Origin
from http_handlers import head_of_request, http, relay


def cpu_of(pid: int) -> int:
    """cpu_of a process is its CPU time in nanoseconds, by the kernel's clock of it."""
    return time.clock_gettime_ns(~pid << 3 | 2)  # MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED).


def cpu_of_ended_children() -> float:
    """cpu_of_ended_children is in nanoseconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e9


def test_every_transaction_is_counted(bench, server):
    target = server(http())
    found = bench.load("-c", 4, "-n", 40, f"https://{target.address}/some/path")
    assert found["attempts"] == found["ok"] == 40
    assert found["handshakes"]["full"] == 40 and found["handshakes"]["resumed"] == 0
    assert found["bytes"]["down"] > 40 * 1024
    for stage in ("tcp", "tls", "first_byte", "response"):
        times = found["latency"][stage]
        assert times["count"] == 40
        assert 0 < times["min_ns"] <= times["p50_ns"] <= times["p99_ns"] <= times["max_ns"]
    whole = found["latency"]["response"]["mean_ns"]
    parts = sum(found["latency"][stage]["mean_ns"] for stage in ("tcp", "tls", "first_byte"))
    assert parts <= whole * 1.02


def test_text_and_json_say_the_same(bench, server):
    found = bench.load("-c", 4, "-n", 40, server(http()).address)
    text = found["text"]
    assert re.search(rf"attempts +{found['attempts']}\n", text)
    assert f"{found['rate']:.1f}/s" in text
    assert f"({found['ok']} ok in" in text
    agreed = found["handshakes"]["agreed"][0]
    assert f"{agreed['version']} {agreed['cipher']} {agreed['group']}: 40" in text


def test_it_goes_on_for_its_duration(bench, server):
    found = bench.load("-c", 4, "-d", "3s", "--interval", "100ms", server(http()).address)
    assert 3.0 <= found["measured_ns"] / 1e9
    assert found["ok"] > 10
    assert len([n for n in found["timeline"]["ok"] if n]) >= 5


def test_a_connection_carries_several_requests(bench, server):
    found = bench.load("-c", 2, "-n", 40, "--requests", 10, server(http()).address)
    assert found["ok"] == 40
    assert found["connections"] == 4
    assert found["latency"]["tls"]["count"] == 4
    assert found["latency"]["first_byte"]["count"] == 40


def test_a_number_is_met_exactly(bench, server):
    """The last connection of each worker has what is left of the worker's part."""
    found = bench.load("-c", 2, "-n", 101, "--requests", 10, server(http()).address)
    assert found["attempts"] == found["ok"] == 101
    assert found["connections"] == 6 + 5


def test_the_preflight_is_one_request(bench, server):
    count = 0

    def handle(upstream):
        nonlocal count
        while head_of_request(upstream):
            count += 1
            upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")

    bench.load("-c", 1, "-n", 10, "--requests", 10, server(handle).address)
    assert count == 1 + 10


def test_the_warm_up_is_not_counted(bench, server):
    target = server(http())
    found = bench.load("-r", 50, "--warm-up", "1s", "-d", "1s", target.address)
    assert found["attempts"] == 50
    found = bench.load("-c", 2, "-n", 40, "--warm-up", "500ms", target.address)
    assert found["attempts"] == 40


@pytest.mark.figures
def test_the_warm_up_costs_nothing(bench, server):
    """CPU, of the generator and of the server, is that of what is counted: a tenth of all answers,
    and so about a tenth of all CPU. With the warm-up it would be nearly all of it. The bounds are
    apart by 2.5 either way: so much dearer than the mean of ten seconds is no second that a
    neighbour disturbs."""
    answered: list = []
    target = server(http(took=answered))
    server_before, generator_before = cpu_of(target.pid), cpu_of_ended_children()
    found = bench.load("-c", 1, "--workers", 1, "--warm-up", "9s", "-d", "1s", "--no-preflight",
                       "--server-pid", target.pid, target.address)
    server_whole = cpu_of(target.pid) - server_before
    generator_whole = cpu_of_ended_children() - generator_before
    share = found["ok"] / len(answered)
    assert share < 0.25
    assert share / 2.5 < found["server"]["cpu_ns"] / server_whole < share * 2.5
    assert share / 2.5 < found["cpu_ns"] / generator_whole < share * 2.5
    (busy,) = found["worker_cpu_ns"]
    assert busy < 1.05 * found["measured_ns"]


def test_nothing_is_said_of_a_run_that_ends_in_its_warm_up(bench, server):
    target = server(http())
    child = bench.start("load", "-q", "-r", 50, "--warm-up", "60s", "--json", "w.json",
                        "--no-preflight", target.address)
    eventually("some connections", lambda: len(target.log()) > 20)
    out, _ = bench.interrupted(child)
    found = bench.read(bench.folder / "w.json")
    assert found["partial"] and not found["client_limited"]
    assert found["attempts"] == found["measured_ns"] == found["cpu_ns"] == found["rate"] == 0
    assert "Nothing was measured" in out and " 0 % busy" in out


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_versions_suites_and_groups(bench, server, version):
    words = (
        ("--ciphers", "ECDHE-ECDSA-AES256-GCM-SHA384")
        if version == "1.2"
        else ("--ciphersuites", "TLS_AES_256_GCM_SHA384")
    )
    found = bench.load(
        "-n", 4, "-c", 1, "--tls", version, "--groups", "P-256", *words, server(http()).address
    )
    (agreed,) = found["handshakes"]["agreed"]
    assert agreed["version"] == f"TLSv{version}"
    assert "AES" in agreed["cipher"] and "256" in agreed["cipher"]
    assert agreed["group"].lower() in ("p-256", "secp256r1", "prime256v1")
    assert agreed["count"] == 4


def test_names_by_weight(bench, server, certs):
    target = server(http(), "--sni-nomatch-abort")
    found = bench.load(
        "-n", 400, "-c", 4, "--sni", "localhost=3", "--sni", "nobody.example=1",
        "--no-preflight", target.address, code=0,
    )
    (failed,) = found["failures"]
    assert failed["stage"] == "handshake"
    assert failed["kind"] == "alert unrecognized_name"
    # A quarter of 400, with a deviation of 8.7.
    assert 50 < failed["count"] < 150


def test_a_client_certificate(bench, server, certs):
    ca = certs.authority("bench-ca")
    mine = certs.signed("bench-client", ca, "/CN=bench")
    target = server(http(), "--client-verify", "required", "--client-verify-ca", ca.cert)
    found = bench.load("-n", 2, "-c", 1, "--cert", mine.cert, "--key", mine.key, target.address)
    assert found["ok"] == 2
    found = bench.load("-n", 2, "-c", 1, "--no-preflight", target.address, code=1)
    assert found["failed"] == 2


def test_raw_bytes_up_to_a_size(bench, server):
    def handle(upstream):
        upstream.receive_exactly(4)
        upstream.send(b"pong" * 3)
        upstream.receive_to_end()

    words = ("--raw", "ping", "--expect-size", 12)
    found = bench.load("-n", 3, "-c", 1, *words, server(handle).address)
    assert found["ok"] == 3
    assert found["bytes"] == {"up": 12, "down": 36}


def test_a_body_goes_up(bench, server):
    sizes = []

    def handle(upstream):
        head = b""
        while b"\r\n\r\n" not in head:
            head += upstream.socket.recv(1 << 16)
        head, _, body = head.partition(b"\r\n\r\n")
        while len(body) < 3 << 20:
            body += upstream.socket.recv(1 << 20)
        sizes.append(len(body))
        upstream.send(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        upstream.end()

    found = bench.load(
        "-n", 1, "-c", 1, "--no-preflight", "--method", "POST", "--body-size", "3M",
        server(handle).address,
    )
    assert found["ok"] == 1
    assert sizes == [3 << 20]


def test_sources_are_used_in_turn(bench, server):
    target = server(http())
    bench.load("-n", 8, "-c", 1, "--source", "127.0.0.2-127.0.0.4", "--no-preflight",
               "--workers", 1, target.address)
    seen = {line["peer"].rsplit(":", 1)[0] for line in target.log() if "peer" in line}
    assert {"127.0.0.2", "127.0.0.3", "127.0.0.4"} <= seen


def test_reset_leaves_no_port_waiting(bench, server):
    ends = []
    between = Origin(relay(server(http()).address, ends))
    try:
        address = between.address.replace("[127.0.0.1]", "127.0.0.1")
        for how in ("reset", "fin"):
            found = bench.load("-n", 20, "-c", 2, "--close", how, "--no-preflight", address)
            assert found["ok"] == 20
            eventually("all have left", lambda: len(ends) == 20)
            # A server that closes with unread bytes resets too.
            assert ends.count("RST") == 20 if how == "reset" else ends.count("FIN") > 10, ends
            ends.clear()
    finally:
        between.close()


def test_the_servers_cpu_is_told(bench, server):
    """CPU time is the kernel's count for the process, without the time before and after the
    load."""
    target = server(http())
    before = cpu_of(target.pid)
    found = bench.load("-n", 200, "-c", 2, "--server-pid", target.pid, "--no-preflight",
                       target.address)
    whole = cpu_of(target.pid) - before
    assert found["server"]["pids"] == [target.pid]
    assert 0.7 * whole < found["server"]["cpu_ns"] <= whole
    cores = found["server"]["cpu_ns"] / found["measured_ns"]
    assert found["server"]["cores"] == pytest.approx(cores, rel=0.2)
    assert f"{found['server']['cores']:.2f} cores busy" in found["text"]
