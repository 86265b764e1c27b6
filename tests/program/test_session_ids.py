"""A client of TLS 1.2 that takes no tickets resumes its session by the session's ID, whichever
worker it meets: libcurl and Bouncy Castle are such clients. The worker that has the session is
asked by the others. A session that is gone means a full handshake, not an error."""

import re
import ssl
import subprocess

import pytest

from admin_client import admin_of, eventually_counts
from deadlines import DEADLINE
from origins import answer
from reloads import reload, reload_with
from sessions import resume_at_both_workers, visit
from tls_client import TLS_1_2, TlsClient, only

USED, REFUSED = "cleat_session_ids_used_total", "cleat_session_ids_refused_total"
LOCAL = ("--admin", "[127.0.0.1]:0")


def without_tickets(**settings):
    tls = only(TLS_1_2, **settings)
    tls.options |= ssl.OP_NO_TICKET
    return tls


def test_every_worker_resumes_the_sessions_of_every_other(cleat):
    server = cleat("--workers", 2, *LOCAL)
    tls = without_tickets()
    _, session = visit(server.port, tls)
    assert not session.has_ticket
    visits = resume_at_both_workers(server, tls, session)
    metrics = eventually_counts(admin_of(server), USED, visits)
    assert metrics.sum(REFUSED) == 0
    assert metrics.sum("cleat_tickets_used_total") == 0


def test_sessions_of_many_clients_at_once(cleat):
    """Questions and answers of several handshakes cross."""
    server = cleat("--workers", 2)
    tls = without_tickets()
    sessions = [visit(server.port, tls)[1] for _ in range(20)]
    clients = [
        TlsClient(server.port, tls, session=session, handshake=False) for session in sessions * 3
    ]
    for client in clients:
        client.socket.sendall(client.client_hello())
    for client in clients:
        client.handshake()
        assert client.tls.session_reused
        client.socket.close()


def test_openssl_resumes_by_id(cleat, origin, s_client):
    ran = s_client(
        cleat("--workers", 2, backend=origin(answer)).port, "-tls1_2", "-no_ticket", "-reconnect"
    )
    assert len(re.findall(r"^New, TLSv1.2", ran.stdout, re.M)) == 1
    assert len(re.findall(r"^Reused, TLSv1.2", ran.stdout, re.M)) == 5


def test_curl_resumes_by_id(cleat, origin, certs):
    server = cleat("--workers", 2, *LOCAL, backend=origin(answer), pem=[certs.rsa])
    url = f"https://localhost:{server.port}/"
    curl = ["curl", "-sS", "--noproxy", "*", "--ipv4", "--cacert", certs.rsa.cert]
    ran = subprocess.run(
        [*map(str, curl), "--tls-max", "1.2", "-H", "Connection: close", *[url] * 4],
        capture_output=True, text=True, timeout=DEADLINE,
    )  # fmt: skip
    assert ran.stdout == "hello from the origin\n" * 4, ran.stderr
    eventually_counts(admin_of(server), USED, 3)


def test_a_ticket_goes_before_an_id_and_counts_apart(cleat):
    server = cleat(*LOCAL)
    tls = only(TLS_1_2)
    _, session = visit(server.port, tls)
    assert session.has_ticket
    assert visit(server.port, tls, session)[0]
    metrics = eventually_counts(admin_of(server), "cleat_tickets_used_total", 1, secret="1")
    assert metrics.sum(USED) == 0 and metrics.sum(REFUSED) == 0


def test_a_reload_keeps_sessions_and_a_restart_does_not(cleat):
    tls = without_tickets()
    server = cleat("--workers", 2, *LOCAL)
    _, session = visit(server.port, tls)
    reload(server)
    for _ in range(8):
        assert visit(server.port, tls, session)[0]
    server.end()
    other = cleat("--workers", 2, *LOCAL)
    assert not visit(other.port, tls, session)[0]
    eventually_counts(admin_of(other), REFUSED, 1, reason="unknown")


def test_the_oldest_session_gives_way(cleat):
    server = cleat("--workers", 1, "--session-cache", 2)
    tls = without_tickets()
    sessions = [visit(server.port, tls)[1] for _ in range(3)]
    resumed = [visit(server.port, tls, each)[0] for each in reversed(sessions)]
    assert resumed == [True, True, False]


def test_a_reload_turns_session_ids_off_and_on(cleat, config, certs):
    keys = f'frontend = "[127.0.0.1]:0"\npem-file = "{certs.ecdsa.pem}"\n'
    path = config(keys + "session-cache = 9\n")
    server = cleat("--config", path, "--workers", 2, pem=[], frontend=None)
    server.config = path
    tls = without_tickets()
    _, session = visit(server.port, tls)
    assert visit(server.port, tls, session)[0]
    reload_with(server, "session-cache = 9", "session-cache = 0")
    for _ in range(8):
        resumed, made = visit(server.port, tls, session)
        assert not resumed
        assert not made.id  # No ID is given that would resume nothing.
    reload_with(server, "session-cache = 0", "session-cache = 9")
    _, session = visit(server.port, tls)
    assert visit(server.port, tls, session)[0]


def test_without_tickets_everyone_resumes_by_id(cleat):
    server = cleat("--workers", 2, "--tickets", 0)
    tls = only(TLS_1_2)
    _, session = visit(server.port, tls)
    assert not session.has_ticket
    for _ in range(8):
        assert visit(server.port, tls, session)[0]


def test_a_forged_id_is_a_full_handshake(cleat):
    """IDs of a worker that has no such session, of one that is not there, and of other sizes."""
    server = cleat("--workers", 2, *LOCAL)
    tls = without_tickets()
    for forged in (b"\0\0" + b"x" * 30, b"\0\1" + b"x" * 30, b"\xff\xff" + b"x" * 30, b"x" * 31):
        for _ in range(4):
            with TlsClient(server.port, tls, handshake=False) as client:
                hello = client.client_hello()
                # The headers of record and message, version, random: then the ID, which is empty.
                offset = 5 + 4 + 2 + 32
                assert hello[offset] == 0
                body = hello[9:offset] + bytes([len(forged)]) + forged + hello[offset + 1 :]
                message = b"\1" + len(body).to_bytes(3, "big") + body
                client.socket.sendall(b"\x16\3\1" + len(message).to_bytes(2, "big") + message)
                # ServerHello, with an ID of the server's own, which is not the forged one.
                reply = client.socket.recv(1 << 16)
                assert reply[0] == 0x16 and reply[5] == 2
                assert forged not in reply
