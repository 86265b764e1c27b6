"""A client that speaks plaintext, for frontends with client = on."""

import socket

import origins
from deadlines import DEADLINE


class PlainClient(origins.Upstream):
    """PlainClient is one connection to a port. Leave it with `with`, and it is closed."""

    def __init__(self, port: int, source: str = "", receive_buffer: int = 0) -> None:
        made = socket.socket()
        made.settimeout(DEADLINE)
        if receive_buffer:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if source:
            made.bind((source, 0))
        made.connect(("127.0.0.1", port))
        super().__init__(made)

    def __enter__(self) -> "PlainClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def exchange(self, data: bytes) -> bytes:
        """exchange sends data to an upstream that echoes, and returns what comes back."""
        self.send(data)
        return self.receive_exactly(len(data))

    def wait_for_reset(self) -> bytes:
        """wait_for_reset is what comes before the connection is reset; it fails when the stream
        ends as if it were whole."""
        got = b""
        try:
            while more := self.socket.recv(1 << 18):
                got += more
        except ConnectionResetError:
            return got
        raise AssertionError(f"a cut stream ended as if it were whole, after {len(got)} bytes")

    def wait_for_close(self) -> bytes:
        """wait_for_close is what comes before the connection ends, in whatever way."""
        got = b""
        try:
            while more := self.socket.recv(1 << 18):
                got += more
        except ConnectionResetError:
            pass
        return got


def answer(port: int, **more: object) -> str:
    """answer is what the upstream says to a client that says nothing."""
    with PlainClient(port, **more) as client:
        return client.receive_to_end().decode()


def is_refused(port: int, said: bytes = b"", **more: object) -> bool:
    """is_refused: the connection is reset and brings no byte. The reset may come before this
    program has seen that the connection is open, or while it sends."""
    try:
        with PlainClient(port, **more) as client:
            client.send(said)
            return client.wait_for_reset() == b""
    except (ConnectionResetError, BrokenPipeError):
        return True
