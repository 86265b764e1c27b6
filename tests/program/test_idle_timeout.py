"""With idle-timeout a connection on which nothing moves is ended; one that moves is not, and
without it none is."""

import time

from tls_client import TlsClient


def test_an_idle_connection_is_ended(cleat):
    server = cleat("--idle-timeout", 1)
    with TlsClient(server.port) as client:
        begun = time.monotonic()
        client.exchange(b"the last word")
        client.wait_for_break()
        assert time.monotonic() - begun >= 1
    assert server.wait_for_log(event="connection-closed")["reason"] == "idle-timeout"


def test_a_connection_that_moves_is_not(cleat):
    server = cleat("--idle-timeout", 3)
    with TlsClient(server.port) as lively, TlsClient(server.port) as idle:
        idle.exchange(b"once")
        idle.socket.settimeout(0.2)
        while not server.log(event="connection-closed"):
            lively.exchange(b"again")
            try:
                if not idle.socket.recv(1):
                    break
            except TimeoutError:
                pass  # This is the pause of the lively one.
            except ConnectionResetError:
                break
        assert lively.exchange(b"still here") == b"still here"
