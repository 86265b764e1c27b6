"""Early data: a request that comes with the ClientHello, and is asked again where the server
rejects it. The server counts too: it hears every request once."""

import json
import re
from pathlib import Path
from typing import Iterator

import pytest

import nginx_server
from deadlines import eventually
from early_server import TOO_EARLY, EarlyServer, library
from http_handlers import http
from tls_server import OpensslServer

with_library = pytest.mark.skipif(library() is None, reason="there is no libssl.so.3")
with_nginx = pytest.mark.skipif(nginx_server.PROGRAM is None, reason=nginx_server.MISSING)


def early(bench, address: str, *words: object, code: int = 0) -> dict:
    """early runs a load of 20 connections, of which up to 15 resume."""
    return bench.load("--early-data", "--reuse", 4, "-n", 20, "-c", 1, "--workers", 1,
                      "--no-preflight", *words, address, code=code)


def counts(found: dict) -> list[int]:
    shown = found["handshakes"]["early_data"]
    assert shown["offered"] == shown["accepted"] + shown["rejected"]
    return [shown["offered"], shown["accepted"], shown["rejected"]]


def heard_once(server: EarlyServer, connections: int = 20) -> None:
    """heard_once: each connection said the same request, and nothing else."""
    eventually("all connections end", lambda: len(server.heard) == connections)
    requests = {each.early + each.late for each in server.heard}
    assert len(requests) == 1
    assert requests.pop().count(b"HTTP/1.1") == 1


@with_library
def test_accepted(bench, certs):
    with EarlyServer(certs.ecdsa) as server:
        found = early(bench, server.address)
        heard_once(server)
    assert found["ok"] == 20
    assert counts(found) == [15, 15, 0]
    assert found["handshakes"]["resumed"] == 15
    assert sum(each.late == b"" for each in server.heard) == 15
    assert found["remarks"] == []
    assert re.search(r"early data +15 offered, 15 accepted \(100.00 %\), 0 rejected", found["text"])
    # The request left with the ClientHello, so its first byte waited for the handshake as well.
    assert found["latency"]["first_byte"]["max_ns"] >= found["latency"]["tls_resumed"]["min_ns"]


@with_library
def test_rejected_and_asked_again(bench, certs):
    """The tickets allow early data and the server rejects it. Each session resumes all the same."""
    with EarlyServer(certs.ecdsa, takes=False) as server:
        found = early(bench, server.address)
        heard_once(server)
    assert found["ok"] == 20
    assert counts(found) == [15, 0, 15]
    assert found["handshakes"]["resumed"] == 15
    assert all(each.early == b"" for each in server.heard)
    assert "rejected all early data" in found["remarks"][0]
    assert "ssl_early_data on" in found["text"]


@with_library
def test_rejected_with_the_session(bench, certs):
    """Other ticket keys: a full handshake, and the request once."""
    with EarlyServer(certs.ecdsa) as server:
        honest = server.serve

        def forgetful(client) -> None:
            server.forget_keys()
            honest(client)

        server.origin.handle = forgetful
        found = early(bench, server.address)
        heard_once(server)
    assert found["ok"] == found["handshakes"]["full"] == 20
    assert counts(found) == [19, 0, 19]


@with_library
def test_rejected_by_a_hello_retry_request(bench, certs):
    with EarlyServer(certs.ecdsa, groups="P-384") as server:
        found = early(bench, server.address, "--groups", "X25519:P-384")
        heard_once(server)
    assert found["ok"] == 20
    assert counts(found) == [15, 0, 15]


@with_library
@pytest.mark.parametrize("takes", [True, False])
def test_beyond_the_limit(bench, certs, takes):
    """Early data beyond the server's limit follows after the handshake."""
    with EarlyServer(certs.ecdsa, takes, size_max=100) as server:
        found = early(bench, server.address, "--method", "POST", "--body-size", "100K")
        heard_once(server)
    assert found["ok"] == 20
    assert counts(found) == ([15, 15, 0] if takes else [15, 0, 15])
    assert sum(len(each.early) == 100 for each in server.heard) == (15 if takes else 0)
    assert found["bytes"]["up"] == sum(len(each.early + each.late) for each in server.heard)


@with_library
def test_too_early_is_a_wrong_status(bench, certs):
    """RFC 8470: a server may answer 425 to what it does not want to hear early."""
    with EarlyServer(certs.ecdsa, answer_early=TOO_EARLY) as server:
        found = early(bench, server.address)
    assert found["failures"] == [{"stage": "answer", "kind": "wrong status 425", "count": 15}]
    assert counts(found) == [15, 15, 0]


@with_library
def test_many_at_once(bench, certs):
    with EarlyServer(certs.ecdsa) as server:
        found = bench.load("--early-data", "--resume-ratio", 1, "-n", 200, "-c", 8,
                           "--no-preflight", server.address)
        heard_once(server, 200)
    assert found["ok"] == 200
    accepted = counts(found)[1]
    assert accepted == found["handshakes"]["resumed"] > 100
    assert sum(each.early != b"" for each in server.heard) == accepted


@with_library
def test_merged(bench, certs):
    with EarlyServer(certs.ecdsa) as server:
        for number in (1, 2):
            early(bench, server.address)
            # As if they had run together, which the clock of a test does not promise.
            path = bench.folder / f"{number}.json"
            found = json.loads(path.read_text())
            found.update(started="2026-11-21T20:00:00.000000Z", measured_ns=10**9)
            path.write_text(json.dumps(found))
    ran = bench.run("merge", bench.folder / "1.json", bench.folder / "2.json", "--json",
                    bench.folder / "both.json")
    assert ran.returncode == 0, ran.stderr
    assert counts(bench.read(bench.folder / "both.json")) == [30, 30, 0]


def test_a_server_that_knows_no_early_data(bench, server):
    found = early(bench, server(http()).address)
    assert found["ok"] == 20
    assert found["handshakes"]["resumed"] == 15
    assert counts(found) == [0, 0, 0]
    assert "do not allow it" in found["remarks"][0]
    assert "NOTE: no early data was sent" in found["text"]


def test_a_server_without_tickets(bench, certs):
    with OpensslServer(certs.ecdsa, "-num_tickets", "0", "-no_ticket") as target:
        found = early(bench, target.address)
    assert found["ok"] == 20
    assert counts(found) == [0, 0, 0]
    assert "gave no session" in found["remarks"][0]


def test_nothing_of_it_unless_asked(bench, server):
    found = bench.load("-n", 4, "-c", 1, server(http()).address)
    assert "early_data" not in found["handshakes"]
    assert "early data" not in found["text"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "nginx"
    made.mkdir()
    yield made


@with_nginx
@pytest.mark.parametrize("setting, counted", [("on", [15, 15, 0]), ("off", [0, 0, 0])])
def test_nginx_with_its_early_data(bench, certs, folder, setting, counted):
    settings = (f"ssl_protocols TLSv1.3; ssl_early_data {setting}; "
                'location / { return 200 "hello"; }')
    with nginx_server.Nginx(folder, certs.ecdsa, settings, "$ssl_early_data") as target:
        found = early(bench, target.address)
        eventually("nginx logs all", lambda: len(target.requests()) == 20)
    assert found["ok"] == 20
    assert counts(found) == counted
