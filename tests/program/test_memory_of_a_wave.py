"""Memory that a wave of connections has taken goes back to the kernel when they have gone."""

import socket
from contextlib import ExitStack
from typing import Callable

import pytest
from deadlines import SANITIZED, eventually
from program import Cleat, file_limit
from tls_client import TlsClient

pytestmark = pytest.mark.skipif(SANITIZED, reason="a sanitizer keeps memory of its own")

MIB = 1 << 20
KEPT = 6 * MIB  # 4 MiB at the heap's top, and pages with something that is in use.
PART = b"\x01\x00\x3f\x00\x03\x03" + bytes(15_000)  # Of a ClientHello of 16 KiB.
BEGUN = b"\x16\x03\x01" + len(PART).to_bytes(2, "big") + PART


def unfinished(port: int) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(BEGUN)
    return client


def established(port: int) -> socket.socket:
    client = TlsClient(port)
    assert client.exchange(b"x" * 20_000) == b"x" * 20_000
    return client.socket


@pytest.mark.parametrize(
    ("begin", "count", "least"), [(unfinished, 1_000, 15 * MIB), (established, 2_000, 8 * MIB)]
)
def test_it_comes_back(
    cleat: Callable[..., Cleat], begin: Callable[[int], socket.socket], count: int, least: int
) -> None:
    with file_limit(2 * count + 200):
        server = cleat("--workers", 1)
        established(server.port).close()  # For allocations that are made once.
        before = server.memory()
        with ExitStack() as held:
            for _ in range(count):
                held.enter_context(begin(server.port))
            eventually("the wave has its memory", lambda: server.memory() > before + least)
        eventually("its memory has come back", lambda: server.memory() < before + KEPT)
        established(server.port).close()
