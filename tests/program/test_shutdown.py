"""SIGTERM: after drain-delay new connections are refused, those that are there finish, and the
program ends with code 0 and their count in the log; what is not finished after shutdown-timeout is
cut. Another SIGTERM begins the next of these steps, and SIGINT ends it now."""

import signal
import socket
import time

import pytest

from deadlines import eventually
from tls_client import TlsClient


def refuses(port):
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_lets_connections_finish(cleat, workers):
    server = cleat("--workers", workers, shutdown_timeout=60)
    with TlsClient(server.port) as one, TlsClient(server.port) as two:
        one.exchange(b"before")
        two.exchange(b"before")
        server.signal(signal.SIGTERM)
        server.wait_for_log(event="draining")
        eventually("new connections are refused", lambda: refuses(server.port))
        assert one.exchange(b"and after") == b"and after"
        one.close_notify()
        assert one.receive() == b""
        server.wait_for_log(event="connection-closed")
        assert two.exchange(b"the last") == b"the last"
        two.close_notify()
        assert two.receive() == b""
    assert server.wait() == 0
    line = server.wait_for_log(event="ended")
    # An attempt that came just before the refusals was a connection too.
    attempts = len(server.log(event="connection-closed", reason="client-silent"))
    assert (line["connections_finished"], line["connections_cut"]) == (str(2 + attempts), "0")


def test_without_connections_it_ends_at_once(cleat):
    server = cleat(shutdown_timeout=3600)
    server.signal(signal.SIGTERM)
    assert server.wait() == 0
    assert server.log(event="ended")


def test_with_drain_delay_it_goes_on_accepting_until_the_next_sigterm(cleat):
    server = cleat("--drain-delay", 86400, shutdown_timeout=3600)
    server.signal(signal.SIGTERM)
    assert server.wait_for_log(event="drain-announced")["delay_s"] == "86400"
    with TlsClient(server.port) as client:
        assert client.exchange(b"not too late") == b"not too late"
        assert not server.log(event="draining")
        server.signal(signal.SIGTERM)
        server.wait_for_log(event="draining")
        eventually("new connections are refused", lambda: refuses(server.port))
        assert client.exchange(b"and after") == b"and after"
        client.close_notify()
        assert client.receive() == b""
    assert server.wait() == 0


def test_a_stray_sigusr2_ends_nothing(cleat):
    """The signal's default is the end of the process, and with it of all connections."""
    server = cleat(shutdown_timeout=60)
    with TlsClient(server.port) as client:
        assert client.exchange(b"before") == b"before"
        server.signal(signal.SIGUSR2)
        assert "SIGHUP" in server.wait_for_log(event="signal-ignored", signal="SIGUSR2")["cure"]
        assert client.exchange(b"and after") == b"and after"
        client.close_notify()
        assert client.receive() == b""
    server.signal(signal.SIGTERM)
    assert server.wait() == 0


def test_drain_delay_ends_by_itself(cleat):
    server = cleat("--drain-delay", 1, shutdown_timeout=3600)
    began = time.monotonic()
    server.signal(signal.SIGTERM)
    assert server.wait() == 0
    assert time.monotonic() - began >= 1
    assert server.log(event="draining")


def test_the_handshake_under_way_may_finish(cleat):
    server = cleat(shutdown_timeout=60)
    with TlsClient(server.port, handshake=False) as client:
        client.socket.sendall(client.client_hello())
        client.pull()  # cleat has answered.
        server.signal(signal.SIGTERM)
        server.wait_for_log(event="draining")
        client.handshake()
        assert client.exchange(b"in time") == b"in time"
        client.close_notify()
        assert client.receive() == b""
    assert server.wait() == 0


@pytest.mark.parametrize("timeout", [0, 1])
def test_shutdown_timeout_cuts_what_does_not_finish(cleat, timeout):
    server = cleat(shutdown_timeout=timeout)
    with TlsClient(server.port) as client:
        client.exchange(b"before")
        server.signal(signal.SIGTERM)
        client.wait_for_break()
    assert server.wait() == 0
    assert server.log(event="ending", reason="shutdown-timeout")
    line = server.wait_for_log(event="ended")
    assert (line["connections_finished"], line["connections_cut"]) == ("0", "1")
    assert server.wait_for_log(event="connection-closed")["reason"] == "stopped"


@pytest.mark.parametrize(
    "signals",
    [[signal.SIGINT], [signal.SIGTERM, signal.SIGINT], [signal.SIGTERM, signal.SIGTERM]],
    ids=["sigint", "sigint while draining", "a second sigterm"],
)
def test_it_ends_now(cleat, signals):
    server = cleat(shutdown_timeout=3600)
    with TlsClient(server.port) as client:
        client.exchange(b"before")
        for number in signals[:-1]:
            server.signal(number)
            server.wait_for_log(event="draining")
        server.signal(signals[-1])
        client.wait_for_break()
    assert server.wait() == 0
    assert server.log(event="ending", reason=signals[-1].name)


def test_what_happened_before_is_counted_too(cleat):
    server = cleat()
    for _ in range(3):
        with TlsClient(server.port) as client:
            client.exchange(b"x")
            client.close_notify()
            client.receive()
    server.wait_for_log(event="connection-closed", times=3)
    server.signal(signal.SIGTERM)
    assert server.wait() == 0
    assert server.wait_for_log(event="ended")["connections_finished"] == "3"
