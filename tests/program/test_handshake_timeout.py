"""A client has ssl-handshake-timeout to finish its handshake, whether it says nothing, something or
nearly all of it. The log has handshake-timeout, and one that made it has all the time it wants."""

import socket
import time

import pytest

from deadlines import DEADLINE
from tls_client import TlsClient


def wait_for_end(client):
    try:
        while client.recv(4096):
            pass
    except ConnectionResetError:
        pass


@pytest.fixture
def hurried(cleat):
    return cleat("--ssl-handshake-timeout", 1)


def test_a_client_that_says_nothing(hurried):
    """The kernel may keep such a client to itself for a while before cleat sees it."""
    with socket.create_connection(("127.0.0.1", hurried.port), DEADLINE) as client:
        wait_for_end(client)
    line = hurried.wait_for_log(event="handshake-failed", reason="handshake-timeout")
    assert line["level"] == "info"  # A port scanner: nothing that the operator could mend.


def test_a_client_that_says_half_a_hello(hurried):
    with TlsClient(hurried.port, handshake=False) as client:
        hello = client.client_hello()
        begun = time.monotonic()
        client.socket.sendall(hello[: len(hello) // 2])
        wait_for_end(client.socket)
        assert time.monotonic() - begun > 0.9  # Not before its time.
    line = hurried.wait_for_log(event="handshake-failed", reason="handshake-timeout")
    assert line["level"] == "warning"


def test_a_client_that_says_no_last_word(hurried):
    with TlsClient(hurried.port, handshake=False) as client:
        client.socket.sendall(client.client_hello())
        wait_for_end(client.socket)
    assert hurried.wait_for_log(event="handshake-failed", reason="handshake-timeout")


def test_dribbling_does_not_help(hurried):
    """The deadline is one for the whole handshake, not for each byte."""
    with TlsClient(hurried.port, handshake=False) as client:
        client.socket.settimeout(0.1)
        try:
            for byte in client.client_hello():
                client.socket.sendall(bytes([byte]))
                try:
                    if not client.socket.recv(1):
                        break
                except TimeoutError:
                    pass  # This is the pause between two bytes.
            else:
                pytest.fail("it was let send the whole hello")
        except (ConnectionResetError, BrokenPipeError):
            pass
    assert hurried.wait_for_log(event="handshake-failed", reason="handshake-timeout")


def test_after_the_handshake_it_does_not_count(cleat):
    hurried = cleat("--ssl-handshake-timeout", 4)
    with TlsClient(hurried.port) as client:
        with TlsClient(hurried.port, handshake=False) as other:
            other.socket.sendall(b"\x16")
            hurried.wait_for_log(event="handshake-failed", reason="handshake-timeout")
        assert client.exchange(b"no hurry") == b"no hurry"
