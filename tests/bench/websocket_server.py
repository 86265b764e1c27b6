"""Handlers of an Origin that serve WebSockets (RFC 6455): sound by default, and wrong where a test
wants it."""

import base64
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from http_handlers import head_of_request
from origins import Handler, Upstream

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
FIN = 0x80
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def frame(kind: int, payload: bytes = b"", first: int = FIN) -> bytes:
    """frame is one of a server: not masked."""
    size = len(payload)
    if size < 126:
        head = bytes([first | kind, size])
    elif size < 1 << 16:
        head = bytes([first | kind, 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([first | kind, 127]) + size.to_bytes(8, "big")
    return head + payload


def close_frame(code: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, code.to_bytes(2, "big") + reason)


def accept_of(head: bytes) -> str:
    """accept_of is the Sec-WebSocket-Accept that answers a request."""
    key = header(head, "Sec-WebSocket-Key")
    return base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()


def header(head: bytes, name: str) -> str:
    for line in head.decode().split("\r\n")[1:]:
        if line.lower().startswith(f"{name.lower()}:"):
            return line.split(":", 1)[1].strip()
    raise AssertionError(f"there is no {name} in {head!r}")


@dataclass
class Seen:
    """Seen is what the clients of one server did."""

    keys: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    masks: list[bytes] = field(default_factory=list)
    messages: list[tuple[int, bytes]] = field(default_factory=list)
    pongs: list[bytes] = field(default_factory=list)
    closes: list[bytes] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Client:
    """Client is a client, seen by the server."""

    def __init__(self, upstream: Upstream, seen: Seen) -> None:
        self.upstream = upstream
        self.seen = seen

    def send(self, data: bytes) -> None:
        self.upstream.send(data)

    def take(self, size: int) -> bytes:
        """take waits for so many bytes. A client that leaves before is no failure of the server."""
        got = bytearray(size)  # A message of 60 MB is copied once.
        left = memoryview(got)
        while left:
            more = self.upstream.socket.recv_into(left)
            if not more:
                raise ConnectionResetError("the client has left")
            left = left[more:]
        return bytes(got)

    def accept(self, *fields: str) -> bool:
        """accept answers the opening; False: the client has left before."""
        head = head_of_request(self.upstream)
        if not head:
            return False
        with self.seen.lock:
            self.seen.keys.append(header(head, "Sec-WebSocket-Key"))
            self.seen.paths.append(head.split()[1].decode())
        assert header(head, "Upgrade") == "websocket" and header(head, "Connection") == "Upgrade"
        assert header(head, "Sec-WebSocket-Version") == "13"
        assert len(base64.b64decode(self.seen.keys[-1])) == 16
        self.answer(f"Sec-WebSocket-Accept: {accept_of(head)}", *fields)
        return True

    def answer(self, *fields: str) -> None:
        lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
        self.send("\r\n".join([*lines, *fields, "", ""]).encode())

    def frame(self) -> tuple[int, bytes]:
        """frame is the client's next one: whole, and masked."""
        first, size = self.take(2)
        assert first & 0x70 == 0 and first & FIN and size & 0x80
        size &= 0x7F
        if size >= 126:
            size = int.from_bytes(self.take(2 if size == 126 else 8), "big")
        mask = self.take(4)
        payload = self.take(size)
        key = (mask * (size // 4 + 1))[:size]
        plain = int.from_bytes(payload, "big") ^ int.from_bytes(key, "big")
        with self.seen.lock:
            self.seen.masks.append(mask)
        return first & 0x0F, plain.to_bytes(size, "big")

    def message(self) -> tuple[int, bytes] | None:
        """message is the client's next one; its pings and pongs are taken on the way. None: the
        client has closed, and was answered."""
        while True:
            kind, payload = self.frame()
            with self.seen.lock:
                if kind == PONG:
                    self.seen.pongs.append(payload)
                elif kind == CLOSE:
                    self.seen.closes.append(payload)
                else:
                    self.seen.messages.append((kind, payload))
            if kind == CLOSE:
                self.send(frame(CLOSE, payload))
                return None
            if kind in (TEXT, BINARY):
                return kind, payload


def serves(talk: Callable[[Client], object], seen: Seen | None = None) -> Handler:
    """serves runs `talk` on each client that has opened a WebSocket."""
    known = seen or Seen()

    def handle(upstream: Upstream) -> None:
        client = Client(upstream, known)
        if client.accept():
            talk(client)

    return handle


def echoes(change: Callable[[int, bytes], bytes] | None = None) -> Callable[[Client], None]:
    """echoes sends each message back; `change` gives other frames than the one of the echo."""

    def talk(client: Client) -> None:
        while got := client.message():
            client.send(change(*got) if change else frame(*got))

    return talk


def echo(seen: Seen | None = None, change: Callable[[int, bytes], bytes] | None = None) -> Handler:
    return serves(echoes(change), seen)
