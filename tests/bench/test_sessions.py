"""Resumption as it was asked for, verified on every handshake."""

import pytest

from http_handlers import http

from tls_server import OpensslServer


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_four_connections_a_session(bench, server, version):
    found = bench.load("--tls", version, "--reuse", 4, "-n", 80, "-c", 1, "--workers", 1,
                       server(http()).address)
    assert found["ok"] == 80
    assert found["handshakes"]["resumed"] == 60
    assert found["latency"]["tls_resumed"]["count"] == 60
    assert found["latency"]["tls"]["count"] == 20


def test_a_part_of_the_connections(bench, server):
    found = bench.load("--resume-ratio", 0.75, "-n", 400, "-c", 4, server(http()).address)
    # 300 with a deviation of 8.7, less what came before the first tickets.
    assert 240 < found["handshakes"]["resumed"] < 345


def test_none_unless_asked(bench, server):
    found = bench.load("-n", 20, "-c", 1, server(http()).address)
    assert found["handshakes"]["resumed"] == found["handshakes"]["offered"] == 0


def test_session_ids(bench, certs):
    with OpensslServer(certs.ecdsa, "-tls1_2", "-no_ticket") as target:
        found = bench.load("--tls", "1.2", "--session-ids", "--reuse", 5, "-n", 20, "-c", 1,
                           "--workers", 1, target.address)
    assert found["handshakes"]["resumed"] == 16


def test_what_the_server_refuses_is_told(bench, server, certs):
    """A server that gives sessions and takes none back: what was offered was not achieved."""
    with OpensslServer(certs.ecdsa, "-tls1_2", "-no_ticket", "-no_cache") as target:
        found = bench.load("--tls", "1.2", "--session-ids", "--reuse", 2, "-n", 10, "-c", 1,
                           "--workers", 1, target.address)
    assert found["handshakes"]["resumed"] == 0
    assert found["handshakes"]["full"] == 10
    (remark,) = found["remarks"]
    assert remark.startswith("0.0 % of the connections resumed a session, and 50.0 % were to")
    assert "gave no session" in remark
    assert f"NOTE: {remark}" in found["text"]


def test_what_the_server_does_not_give_is_told(bench, certs):
    with OpensslServer(certs.ecdsa, "-tls1_3", "-num_tickets", "0") as target:
        found = bench.load("--reuse", 4, "-n", 20, "-c", 1, "--workers", 1, target.address)
    (remark,) = found["remarks"]
    assert "75.0 % were to (0 sessions were offered)" in remark and "gave no session" in remark
