"""Upstreams that speak HTTP as cleat-bench's tests want it."""

import select
import socket
import ssl
import threading
import time
from typing import Callable

from origins import Handler, Origin, Upstream


def head_of_request(upstream: Upstream) -> bytes:
    """head_of_request reads one request's head; empty when the client has ended."""
    request = b""
    while b"\r\n\r\n" not in request:
        more = upstream.socket.recv(1 << 16)
        if not more:
            return b""
        request += more
    return request


def http(
    body: bytes = b"x" * 1024, status: str = "200 OK", delay: float = 0.0, took: list | None = None
) -> Handler:
    """http answers each request on the connection, after so many seconds; `took` learns how long
    it really was."""
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode()

    def handle(upstream: Upstream) -> None:
        while head_of_request(upstream):
            begin = time.monotonic()
            if delay:
                time.sleep(delay)  # It is what is to be measured.
            if took is not None:
                took.append(time.monotonic() - begin)
            upstream.send(head + body)

    return handle


def at_request(number: int, act: Callable[[Upstream], object]) -> Handler:
    """at_request answers each request; with the one of this number, of all connections, it first
    does something, and ends where that gives False."""
    turn = threading.Lock()
    count = 0

    def handle(upstream: Upstream) -> None:
        nonlocal count
        while head_of_request(upstream):
            with turn:
                count += 1
                is_the_one = count == number
            if is_the_one and act(upstream) is False:
                return
            upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")

    return handle


def over_tls(context: ssl.SSLContext, handle: Handler) -> Handler:
    """over_tls runs a handler over TLS without a terminator: an Origin with it is a
    target, at target_of(it)."""

    def wrapped(upstream: Upstream) -> None:
        upstream.socket = context.wrap_socket(upstream.socket, server_side=True)
        handle(upstream)

    return wrapped


def target_of(listening: Origin) -> str:
    """target_of an Origin is how cleat-bench is pointed at it."""
    return f"127.0.0.1:{listening.address.rsplit(':', 1)[1]}"


def says(text: bytes) -> Handler:
    """says answers the first request with these bytes, and ends."""

    def handle(upstream: Upstream) -> None:
        head_of_request(upstream)
        upstream.send(text)
        upstream.end()
        upstream.receive_to_end()

    return handle


def drips(upstream: Upstream) -> None:
    """drips answers for ever: one byte every 100 ms, so that it is never idle."""
    head_of_request(upstream)
    upstream.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        upstream.send(b"x")
        time.sleep(0.1)  # It is what a drip is.


def relay(target: str, ends: list[str], sizes: list[int] | None = None) -> Handler:
    """relay passes bytes on to HOST:PORT and back; `ends` learns how each client left: FIN or
    RST, and `sizes` how many bytes came back at a time."""

    def handle(client: Upstream) -> None:
        host, port = target.rsplit(":", 1)
        with socket.create_connection((host, int(port))) as server:
            both = [client.socket, server]
            try:
                while True:
                    # On one thread: the kernel reports a reset to one call only.
                    readable, _, _ = select.select(both, [], [])
                    if client.socket in readable:
                        more = client.socket.recv(1 << 16)
                        if not more:
                            ends.append("FIN")
                            return
                        server.sendall(more)
                    elif more := server.recv(1 << 16):
                        if sizes is not None:
                            sizes.append(len(more))
                        client.send(more)
                    else:
                        both.remove(server)
            except (ConnectionResetError, BrokenPipeError):
                ends.append("RST")

    return handle


def silent(upstream: Upstream) -> None:
    """silent takes the request and says nothing."""
    upstream.receive_to_end()


def resets(upstream: Upstream) -> None:
    """resets breaks off in the middle of its answer."""
    head_of_request(upstream)
    upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc")
    upstream.reset()
