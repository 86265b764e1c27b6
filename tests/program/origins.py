"""Upstreams for the tests: what stands behind cleat. Each listens on a free port, or at a path."""

import hashlib
import queue
import socket
import struct
import threading
from pathlib import Path
from typing import Any, Callable

from deadlines import DEADLINE

Handler = Callable[["Upstream"], None]


class Upstream:
    """Upstream is the plaintext end of one connection."""

    def __init__(self, accepted: socket.socket) -> None:
        self.socket = accepted
        self.socket.settimeout(DEADLINE)

    def receive_exactly(self, size: int) -> bytes:
        """receive_exactly waits for so many bytes; it fails when the stream ends before."""
        got = b""
        while len(got) < size:
            more = self.socket.recv(size - len(got))
            assert more, f"the stream ended after {len(got)} of {size} bytes: {got!r}"
            got += more
        return got

    def receive_to_end(self) -> bytes:
        """receive_to_end reads until the other side has ended its stream cleanly."""
        got = []
        while more := self.socket.recv(1 << 18):
            got.append(more)
        return b"".join(got)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def end(self) -> None:
        """end says that nothing more comes, and goes on listening."""
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """reset breaks the connection: the other side gets an RST."""
        reset(self.socket)

    def close(self) -> None:
        self.socket.close()


def reset(connection: socket.socket) -> None:
    """reset closes a TCP connection with an RST in place of a FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Origin:
    """Origin listens. With a handler, each connection runs it on a thread of its own; without one,
    the test takes connections with accept() and speaks for the upstream itself."""

    def __init__(
        self,
        handle: Handler | None,
        path: Path | None = None,
        options: tuple = (),
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        family = socket.AF_UNIX if path else family
        self.listener = socket.socket(family)
        for level, name, value in options:
            self.listener.setsockopt(level, name, value)
        self.listener.bind(str(path) if path else (host, port))
        self.listener.listen(1024)
        self.port = 0 if path else self.listener.getsockname()[1]
        # As cleat's --backend takes it.
        self.address = str(path) if path else f"[{host}]:{self.port}"
        self.handle = handle
        self.accepted: queue.Queue[Upstream] = queue.Queue()
        self.all: list[Upstream] = []
        self.failures: list[BaseException] = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            try:
                accepted, _ = self.listener.accept()
            except OSError:
                return  # Closed: the test is over.
            upstream = Upstream(accepted)
            self.all.append(upstream)
            if self.handle is None:
                self.accepted.put(upstream)
            else:
                threading.Thread(target=self.live, args=(upstream,), daemon=True).start()

    def live(self, upstream: Upstream) -> None:
        assert self.handle
        try:
            self.handle(upstream)
        except OSError:
            pass  # A connection that breaks is the other side's to explain.
        except BaseException as failure:  # The test's thread raises it again.
            self.failures.append(failure)
        finally:
            upstream.close()

    def accept(self) -> Upstream:
        """accept waits for the next connection."""
        try:
            return self.accepted.get(timeout=DEADLINE)
        except queue.Empty:
            raise AssertionError("cleat did not connect to its upstream") from None

    def accept_from(self, client: Any, text: bytes) -> Upstream:
        """accept_from is the next connection, to which the client's text has come."""
        client.send(text)
        upstream = self.accept()
        assert upstream.receive_exactly(len(text)) == text
        return upstream

    def close(self) -> None:
        try:
            self.listener.shutdown(socket.SHUT_RDWR)  # Wakes the thread that waits in accept.
        except OSError:
            pass
        self.listener.close()
        for upstream in self.all:
            try:
                upstream.socket.shutdown(socket.SHUT_RDWR)  # Wakes its thread.
            except OSError:
                pass
            upstream.close()
        assert not self.failures, self.failures


# Handlers.


def echo(upstream: Upstream) -> None:
    """echo sends back what it receives, and ends when the client has ended."""
    while more := upstream.socket.recv(1 << 18):
        upstream.send(more)
    upstream.end()


def answer(upstream: Upstream) -> None:
    """answer speaks enough HTTP for curl: one request, one answer, and it closes."""
    request = b""
    while b"\r\n\r\n" not in request:
        more = upstream.socket.recv(1 << 16)
        if not more:
            return
        request += more
    body = b"hello from the origin\n"
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    upstream.send(head.encode() + body)


def digest(upstream: Upstream) -> None:
    """digest takes everything, and answers with its SHA-256."""
    seen = hashlib.sha256()
    while more := upstream.socket.recv(1 << 18):
        seen.update(more)
    upstream.send(seen.hexdigest().encode())


def source(size: int) -> Handler:
    """source sends so many bytes, of which `expected_digest` knows the SHA-256, and ends."""

    def handle(upstream: Upstream) -> None:
        for piece in pieces(size):
            upstream.send(piece)
        upstream.end()
        upstream.receive_to_end()

    return handle


# Bytes that repeat at a distance that is no multiple of a record's, so that a record that is lost,
# doubled or swapped with its neighbour changes the digest.
PATTERN = hashlib.shake_256(b"cleat").digest(257 * 1021)


def pieces(size: int):
    """pieces yields the bytes of a stream of that size."""
    while size > 0:
        yield PATTERN[:size]
        size -= len(PATTERN)


def expected_digest(size: int) -> str:
    """expected_digest is the SHA-256 of all pieces of a stream of that size."""
    whole = hashlib.sha256()
    for piece in pieces(size):
        whole.update(piece)
    return whole.hexdigest()
