"""Faults of the machine and of clients that no other file tests: the clock jumps, the process is
stopped and goes on, signals come in any order, a client is gone at each step of its handshake.
docs/reliability.md has all faults with their tests."""

import itertools
import signal
from pathlib import Path

import pytest

from admin_client import eventually_counts, serve  # noqa: F401: the fixture
from deadlines import SANITIZED, eventually
from tls_client import TLS_1_3, VERSIONS, TlsClient, only
from wrong_clock import clock  # noqa: F401: the fixture

HOUR = 3600


def resume(server, session, tls):
    with TlsClient(server.port, tls, session=session) as client:
        assert client.exchange(b"again") == b"again"
        return client.tls.session_reused


@pytest.mark.skipif(SANITIZED, reason="the clock is preloaded")
@pytest.mark.parametrize("jump", [HOUR, 400 * 24 * HOUR, -HOUR, -400 * 24 * HOUR])
def test_the_clock_jumps(cleat, clock, jump):
    """Timeouts count on another clock: nobody is cut off. A ticket that is too old, or from the
    future, is a full handshake."""
    server = cleat("--idle-timeout", 60, "--reload-on-change", env=clock.environment)
    tls = only(TLS_1_3)
    with TlsClient(server.port, tls) as established:
        assert established.exchange(b"before") == b"before"
        session = established.tls.session
        with TlsClient(server.port, tls, handshake=False) as under_way:
            under_way.socket.sendall(under_way.client_hello())
            clock.jump(jump)
            under_way.handshake()
            assert under_way.exchange(b"under way") == b"under way"
        assert established.exchange(b"after") == b"after"
        assert resume(server, session, tls) is (abs(jump) == HOUR)
        clock.jump(0)  # And back.
        assert established.exchange(b"once more") == b"once more"
        assert resume(server, session, tls)
    assert not server.log(event="handshake-failed")
    server.signal(signal.SIGTERM)
    assert server.wait() == 0


def test_the_process_is_stopped_and_goes_on(cleat):
    """Clients that come meanwhile wait in the kernel's queue."""
    server = cleat("--workers", 2)
    with TlsClient(server.port) as before:
        assert before.exchange(b"before") == b"before"
        server.signal(signal.SIGSTOP)
        status = Path(f"/proc/{server.pid}/status")
        eventually("it is stopped", lambda: "State:\tT" in status.read_text())
        with TlsClient(server.port, handshake=False) as meanwhile:
            meanwhile.socket.sendall(meanwhile.client_hello())
            before.send(b"meanwhile")
            server.signal(signal.SIGCONT)
            meanwhile.handshake()
            assert meanwhile.exchange(b"after") == b"after"
        assert before.receive(len(b"meanwhile")) == b"meanwhile"


def test_signals_come_in_any_order(cleat):
    """Those that mean something, those that are ignored, and those that stop and continue."""
    server = cleat("--workers", 2, shutdown_timeout=60)
    numbers = [signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE, signal.SIGCHLD, signal.SIGSTOP]
    with TlsClient(server.port) as client:
        for order in itertools.permutations(numbers):
            for number in order:
                server.signal(number)
                if number == signal.SIGSTOP:
                    server.signal(signal.SIGCONT)
            assert client.exchange(b"between") == b"between"
        server.wait_for_log(event="reloaded")
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            server.signal(number)
        server.wait_for_log(event="draining")
        assert client.exchange(b"draining") == b"draining"
        client.close_notify()
        assert client.receive() == b""
    assert server.wait() == 0


def half_a_hello(client):
    client.socket.sendall(client.client_hello()[:100])


def whole_hello(client):
    client.socket.sendall(client.client_hello())


def answered_hello(client):
    whole_hello(client)
    client.pull()


def half_of_the_last_flight(client):
    last = client.finish_with(b"")
    client.socket.sendall(last[: len(last) // 2])


def whole_handshake(client):
    client.handshake()


# A client that has sent nothing may not be accepted at all (test_not_tls.py).
STEPS = [
    half_a_hello,
    whole_hello,
    answered_hello,
    half_of_the_last_flight,
    whole_handshake,
]


def descriptors(server):
    return len(list(Path(f"/proc/{server.pid}/fd").iterdir()))


@VERSIONS
@pytest.mark.parametrize("leave", ["fin", "reset"])
def test_a_client_is_gone_at_each_step_of_its_handshake(serve, version, leave):
    server, admin = serve("--workers", 1)
    with TlsClient(server.port, only(version)) as client:
        assert client.exchange(b"warm") == b"warm"
    eventually_counts(admin, "cleat_connections_open", 0)
    before = descriptors(server)
    for number, step in enumerate(STEPS):
        client = TlsClient(server.port, only(version), handshake=False)
        step(client)
        client.reset() if leave == "reset" else client.socket.close()
        counted = eventually_counts(admin, "cleat_connections_total", number + 2)
        counted = eventually_counts(admin, "cleat_connections_open", 0)
        assert counted.sum("cleat_connections_closed_total") == number + 2  # Each has a reason.
    eventually("every descriptor is given back", lambda: descriptors(server) <= before)
    with TlsClient(server.port, only(version)) as client:
        assert client.exchange(b"served") == b"served"
