"""A closed loop keeps so many connections busy, counts each transaction once, and says the same in
its text and its JSON."""

import re

import pytest

from stories import http


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
    found = bench.load("-c", 4, "-d", "1s", "--interval", "100ms", server(http()).address)
    assert 1.0 <= found["measured_ns"] / 1e9 < 3
    assert found["ok"] > 10
    assert len([n for n in found["timeline"]["ok"] if n]) >= 5


def test_a_connection_carries_several_requests(bench, server):
    found = bench.load("-c", 2, "-n", 40, "--requests", 10, server(http()).address)
    assert found["ok"] == 40
    assert found["connections"] == 4
    assert found["latency"]["tls"]["count"] == 4
    assert found["latency"]["first_byte"]["count"] == 40


def test_the_warm_up_is_not_counted(bench, server):
    found = bench.load("-r", 50, "--warm-up", "1s", "-d", "1s", server(http()).address)
    assert found["attempts"] == 50


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
    def story(upstream):
        upstream.receive_exactly(4)
        upstream.send(b"pong" * 3)
        upstream.receive_to_end()

    words = ("--raw", "ping", "--expect-size", 12)
    found = bench.load("-n", 3, "-c", 1, *words, server(story).address)
    assert found["ok"] == 3
    assert found["bytes"] == {"up": 12, "down": 36}


def test_a_body_goes_up(bench, server):
    sizes = []

    def story(upstream):
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
        server(story).address,
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
    target = server(http())
    found = bench.load("-n", 20, "-c", 2, "--close", "reset", target.address)
    assert found["ok"] == 20


def test_the_servers_cpu_is_told(bench, server):
    target = server(http())
    found = bench.load("-n", 50, "-c", 2, "--server-pid", target.pid, target.address)
    assert found["server"]["pids"] == [target.pid]
    assert 50 * 20_000 < found["server"]["cpu_ns"] < 10 * found["measured_ns"]
