"""Handlers of an Origin that serve HTTP/2 (RFC 9113) frame by frame: sound by default, and wrong
where a test wants it. The terminator before it selects h2."""

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from origins import Handler, Upstream

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE = 3, 4
NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM = 0, 2, 7, 8, 11

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
ALPN = ("--alpn-protos", "h2")


def frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> bytes:
    head = len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
    return head + payload


def settings(values: dict[int, int]) -> bytes:
    payload = b"".join(k.to_bytes(2, "big") + v.to_bytes(4, "big") for k, v in values.items())
    return frame(SETTINGS, payload=payload)


def reset(stream: int, code: int) -> bytes:
    return frame(RST_STREAM, 0, stream, code.to_bytes(4, "big"))


def goaway(last: int, code: int) -> bytes:
    return frame(GOAWAY, payload=last.to_bytes(4, "big") + code.to_bytes(4, "big"))


def answer(stream: int, body: bytes = b"x", status: str = "200", whole: bool = True) -> bytes:
    """answer is a head, whose field is a literal (RFC 7541, section 6.2.2), and a body."""
    fields = b"\x08" + bytes([len(status)]) + status.encode()
    end = END_STREAM if whole else 0
    head = frame(HEADERS, END_HEADERS | (0 if body else end), stream, fields)
    parts = [body[i : i + 16384] for i in range(0, len(body), 16384)]
    return head + b"".join(
        frame(DATA, end if number == len(parts) - 1 else 0, stream, part)
        for number, part in enumerate(parts)
    )


@dataclass
class Seen:
    """Seen is what the clients of one server did."""

    requests: int = 0
    connections: int = 0
    open_max: int = 0
    body: int = 0
    resets: list[int] = field(default_factory=list)
    goaways: list[int] = field(default_factory=list)
    acks: int = 0
    pongs: list[bytes] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Http2:
    """Http2 is a server's end of one connection. `number` counts its requests."""

    def __init__(self, upstream: Upstream, seen: Seen) -> None:
        upstream.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.upstream = upstream
        self.seen = seen
        self.number = 0
        self.open: set[int] = set()
        self.lock = threading.Lock()

    def send(self, data: bytes) -> None:
        with self.lock:
            self.upstream.send(data)

    def answer(self, stream: int, *words: object) -> None:
        self.open.discard(stream)
        self.send(answer(stream, *words))

    def take(self) -> tuple[int, int, int, bytes] | None:
        head = b""
        while len(head) < 9:
            more = self.upstream.socket.recv(9 - len(head))
            if not more:
                return None
            head += more
        payload = self.upstream.receive_exactly(int.from_bytes(head[:3], "big"))
        return head[3], head[4], int.from_bytes(head[5:], "big"), payload


Act = Callable[[Http2, int], object]


def serves(
    act: Act = lambda client, stream: client.answer(stream),
    values: dict[int, int] | None = None,
    seen: Seen | None = None,
    first: bytes | None = None,
) -> Handler:
    """serves has `act` answer each request, given its stream, and ends where that gives False.
    `values` are its settings, `first` is in the place of their frame."""
    seen = seen or Seen()

    def request(client: Http2, stream: int) -> object:
        client.number += 1
        with seen.lock:
            seen.requests += 1
        return act(client, stream)

    def on_frame(client: Http2, kind: int, flags: int, stream: int, payload: bytes) -> object:
        if kind == HEADERS:
            client.open.add(stream)
            with seen.lock:
                seen.open_max = max(seen.open_max, len(client.open))
        if kind == DATA:
            seen.body += len(payload)
        if kind in (HEADERS, DATA) and flags & END_STREAM:
            return request(client, stream)
        if kind == SETTINGS and flags & ACK:
            seen.acks += 1
        elif kind == SETTINGS:
            client.send(frame(SETTINGS, ACK))
        elif kind == PING:
            seen.pongs.append(payload)
        elif kind == RST_STREAM:
            seen.resets.append(int.from_bytes(payload, "big"))
        elif kind == GOAWAY:
            seen.goaways.append(int.from_bytes(payload[4:8], "big"))
        return True

    def handle(upstream: Upstream) -> None:
        client = Http2(upstream, seen)
        with seen.lock:
            seen.connections += 1
        if upstream.socket.recv(1, 2) == b"":  # MSG_PEEK: a client that leaves at once.
            return
        assert upstream.receive_exactly(len(PREFACE)) == PREFACE
        client.send(settings(values or {}) if first is None else first)
        while got := client.take():
            if on_frame(client, *got) is False:
                return

    return handle


def slow(seconds: float) -> Act:
    """slow answers each request so much later, and takes others meanwhile."""

    def act(client: Http2, stream: int) -> None:
        threading.Timer(seconds, client.answer, [stream]).start()

    return act


def after(number: int, then: Act) -> Act:
    """after answers so many requests of each connection, and then does something else."""

    def act(client: Http2, stream: int) -> object:
        if client.number > number:
            return then(client, stream)
        client.answer(stream)
        return True

    return act
