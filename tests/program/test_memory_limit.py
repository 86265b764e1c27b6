"""Out of memory, cleat says so, closes the connection that it has none for, serves those that it
has, and takes new ones when there is memory again."""

import os
import resource
import socket
import ssl
import time

import pytest
from deadlines import SANITIZED, eventually
from program import Cleat, capabilities, file_limit
from tls_client import TlsClient

# A sanitizer reserves terabytes of addresses.
pytestmark = pytest.mark.skipif(SANITIZED, reason="the limit is on address space")

MAIN_THREAD_TURNS_S = 2.5  # It looks after the workers every second.
ROOM = 2 << 20  # Of memory, beyond what it has when it serves: some hundred connections.
MANY = 2000
HELD = 16


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def is_out_of_memory(server: Cleat) -> bool:
    return any("Cannot allocate memory" in line for line in list(server.lines))


def scanner(port: int, server: Cleat) -> tuple[socket.socket, bool]:
    """scanner is a connection that does not come past its first bytes. True: one was refused, or
    ended in its handshake.

    It returns when cleat has taken the connection or refused it: connections that still wait in the
    kernel's queue would take the memory that the test watches."""
    before = descriptors(server.pid)
    made = socket.create_connection(("127.0.0.1", port), timeout=5)
    made.sendall(b"\x16\x03\x01")
    eventually(
        "it is taken or refused",
        lambda: descriptors(server.pid) > before or is_out_of_memory(server),
    )
    return made, is_out_of_memory(server)


def client(port: int, server: Cleat) -> tuple[socket.socket, bool]:
    """client is a connection that should be served, with its upstream. It gives True where it was
    not."""
    made = TlsClient(port, handshake=False)
    made.socket.settimeout(2)
    try:
        made.handshake()
        return made.socket, made.exchange(b"in") != b"in"
    except (OSError, EOFError, ssl.SSLError):
        return made.socket, True


def is_heard(client: TlsClient) -> bool:
    try:
        return client.exchange(b"still there") == b"still there"
    except (OSError, EOFError, ssl.SSLError):
        return False


def is_served(port: int) -> bool:
    try:
        with TlsClient(port) as late:
            return is_heard(late)
    except (OSError, EOFError, ssl.SSLError):
        return False


@pytest.fixture
def many_files():
    with file_limit(4 * MANY):
        yield


@pytest.mark.parametrize("comer", [scanner, client])
def test_it_lives_and_recovers(many_files, cleat, comer):
    # One arena: others reserve 64 MiB of addresses each, and then take from those.
    one_arena = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    server = cleat("--workers", 1, "--log-burst", 0, env=one_arena)
    comers: list[socket.socket] = []
    held = [TlsClient(server.port) for _ in range(HELD)]
    try:
        assert all(is_heard(each) for each in held)
        most = server.address_space() + ROOM
        resource.prlimit(server.pid, resource.RLIMIT_AS, (most, most))
        is_full = False
        while not is_full:
            assert len(comers) < MANY
            made, is_full = comer(server.port, server)
            comers.append(made)
        for line in server.log(event="accept-failed"):
            assert (line["level"], line["reason"]) == ("error", "Cannot allocate memory")
        # A record takes memory too: one that finds none ends its connection. AWS-LC and BoringSSL
        # need little. OpenSSL takes 34 KiB, which are found or not as the heap happens to lie.
        heard = sum(is_heard(each) for each in held)
        assert server.process.poll() is None
        time.sleep(MAIN_THREAD_TURNS_S)  # It has work of its own meanwhile, and no memory either.
        assert server.process.poll() is None
        assert heard >= HELD / 2 or capabilities()["TLS library"].startswith("OpenSSL")
        eventually(
            "the others have ended for want of memory",
            lambda: len(server.log(reason="out-of-resources")) >= HELD - heard,
        )
    finally:
        for each in comers:
            each.close()
        for client_there in held:
            client_there.socket.close()
    eventually("there is room again", lambda: is_served(server.port))
