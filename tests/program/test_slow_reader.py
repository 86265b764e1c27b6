"""A side that stops reading costs bounded memory: the other side is stopped, after what the
kernel's buffers and one turn of cleat hold, and nothing is lost when reading goes on."""

import hashlib
import select
import threading

import pytest

from deadlines import DEADLINE, SANITIZED
from origins import expected_digest, pieces
from tls_client import TlsClient

SIZE = 64 << 20
# The kernel lets a socket's buffers grow to some MiB: four of them, and cleat's own in between.
HELD_MAX = 40 << 20
# limits::unsent_max is a turn of 1 MiB and a record.
UNSENT_MAX = (1 << 20) + (17 << 10)
STALL = 0.5  # A sender that could not send for so long is stopped.


def send_until_stopped(sock, send):
    """Sends pieces of the stream until the socket takes no more; the number of bytes sent."""
    sent = 0
    for piece in pieces(SIZE):
        unsent = memoryview(piece)
        while unsent:
            if not select.select([], [sock], [], STALL)[1]:
                return sent
            taken = send(unsent)
            unsent = unsent[taken:]
            sent += taken
    raise AssertionError(f"all of {SIZE} bytes were taken though nobody reads")


def send_rest(upstream, sent):
    """Sends the stream from where it was stopped, and ends."""
    for piece in pieces(SIZE):
        if sent >= len(piece):
            sent -= len(piece)
            continue
        upstream.send(piece[sent:])
        sent = 0
    upstream.end()


def test_a_client_that_stops_reading(proxied):
    server, upstreams = proxied
    with TlsClient(server.port, receive_buffer=1 << 16) as client:
        upstream = upstreams.accept()
        before = server.memory()
        upstream.socket.setblocking(False)
        sent = send_until_stopped(upstream.socket, upstream.socket.send)
        assert sent < HELD_MAX
        if not SANITIZED:
            assert server.memory() - before < UNSENT_MAX + (2 << 20)

        # It reads again.
        upstream.socket.settimeout(DEADLINE)
        rest = threading.Thread(target=send_rest, args=(upstream, sent), daemon=True)
        rest.start()
        seen = hashlib.sha256()
        while more := client.receive():
            seen.update(more)
        rest.join(DEADLINE)
        assert seen.hexdigest() == expected_digest(SIZE)


def test_an_upstream_that_stops_reading(proxied):
    server, upstreams = proxied
    with TlsClient(server.port) as client:
        upstream = upstreams.accept()
        before = server.memory()
        sent, unsent = 0, memoryview(b"")
        client.socket.setblocking(False)
        for piece in pieces(SIZE):
            for offset in range(0, len(piece), 16384):
                client.tls.write(piece[offset : offset + 16384])
            unsent = memoryview(client.outgoing.read())
            while unsent and select.select([], [client.socket], [], STALL)[1]:
                unsent = unsent[client.socket.send(unsent) :]
            sent += len(piece)
            if unsent:
                break
        assert unsent and sent < HELD_MAX
        if not SANITIZED:
            assert server.memory() - before < UNSENT_MAX + (2 << 20)

        client.socket.settimeout(DEADLINE)

        def finish():
            client.socket.sendall(unsent)
            client.close_notify()

        rest = threading.Thread(target=finish, daemon=True)
        rest.start()
        got = upstream.receive_to_end()
        rest.join(DEADLINE)
        whole = b"".join(pieces(SIZE))[:sent]
        assert hashlib.sha256(got).digest() == hashlib.sha256(whole).digest()


@pytest.mark.skipif(SANITIZED, reason="a sanitizer keeps memory of its own")
def test_many_that_stop_reading_cost_no_more_than_the_limit_each(proxied):
    count = 6
    server, upstreams = proxied
    clients = []
    try:
        for _ in range(count):
            clients.append(TlsClient(server.port, receive_buffer=1 << 16))
            upstream = upstreams.accept()
            upstream.socket.setblocking(False)
            if len(clients) == 1:
                before = server.memory()
            send_until_stopped(upstream.socket, upstream.socket.send)
        assert server.memory() - before < count * UNSENT_MAX + (2 << 20)
    finally:
        for client in clients:
            client.reset()


def test_others_are_served_meanwhile(proxied):
    server, upstreams = proxied
    with TlsClient(server.port, receive_buffer=1 << 16):
        upstream = upstreams.accept()
        upstream.socket.setblocking(False)
        send_until_stopped(upstream.socket, upstream.socket.send)
        with TlsClient(server.port) as other:
            other.send(b"what about me?")
            assert upstreams.accept().receive_exactly(14) == b"what about me?"
