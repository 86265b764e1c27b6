"""A server resets the connection while the client still sends: the send finds that first, and the
read after it finds an end. The failure is the reset all the same, as where the read finds it."""

import os
import signal
from pathlib import Path
from typing import Callable

import pytest

import tls_origins
from deadlines import DEADLINE, eventually
from http2_server import INITIAL_WINDOW_SIZE, PREFACE, WINDOW_UPDATE, frame, settings
from origins import Origin
from tls_origins import TlsEnd
from websocket_server import accept_of

# More than the sockets of both ends hold, so that the client is never done.
SIZE = "30M"
SEEN = 300_000


def take_upload(end: TlsEnd) -> None:
    """take_upload reads some of the request, and no more of it."""
    left = SEEN
    while left > 0:
        left -= len(end.socket.recv(1 << 16))


def http_1(end: TlsEnd) -> None:
    take_upload(end)


def http_2(end: TlsEnd) -> None:
    """http_2 opens the windows, which would make the client wait for the server."""
    assert end.receive_exactly(len(PREFACE)) == PREFACE
    grows = ((1 << 30) - 1).to_bytes(4, "big")
    end.send(settings({INITIAL_WINDOW_SIZE: 1 << 30}) + frame(WINDOW_UPDATE, payload=grows))
    take_upload(end)


def websocket(end: TlsEnd) -> None:
    head = b""
    while b"\r\n\r\n" not in head:
        head += end.receive()
    end.send(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept_of(head).encode() + b"\r\n\r\n"
    )
    take_upload(end)


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def resets(end: TlsEnd) -> None:
    end.reset()


def ends_and_resets(end: TlsEnd) -> None:
    end.truncate()
    end.reset()


UPLOAD = ("--method", "POST", "--body-size", SIZE)
USES = {
    "http/1.1": (http_1, UPLOAD),
    "http/2": (http_2, ("--http2", *UPLOAD)),
    "websocket": (websocket, ("--websocket", "--messages", 1, "--message-size", SIZE)),
}
TRUNCATED = {"http/1.1": "truncated", "http/2": "truncated",
             "websocket": "closed without a Close frame"}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("breaks", [resets, ends_and_resets])
def test_what_ended_the_connection_first_is_the_failure(bench, certs, use, breaks):
    """The client sleeps meanwhile, so that all has happened when it sends on. Tickets would have it
    read first."""
    begin, words = USES[use]
    clients: list[int] = []

    def handle(end: TlsEnd) -> None:
        begin(end)
        (pid,) = clients
        os.kill(pid, signal.SIGSTOP)
        try:
            eventually("the client sleeps", lambda: state_of(pid) == "T")
            breaks(end)
        finally:
            os.kill(pid, signal.SIGCONT)

    made = tls_origins.settings(certs.ecdsa, alpn=["h2", "http/1.1"], num_tickets=0)
    origin = Origin(tls_origins.over_tls(made, started(handle, clients)))
    try:
        child = bench.start("load", "-q", "-c", 1, "-n", 1, "--workers", 1, "--no-preflight",
                            *words, "--json", "found.json", f"127.0.0.1:{origin.port}")
        clients.append(child.pid)
        out, err = child.communicate(timeout=DEADLINE)
    finally:
        origin.close()
    assert child.returncode == 1, out + err
    (failed,) = bench.read(bench.folder / "found.json", out)["failures"]
    kind = "reset" if breaks is resets else TRUNCATED[use]
    assert (failed["stage"], failed["kind"]) == ("answer", kind)


def started(handle: Callable[[TlsEnd], None], clients: list[int]) -> Callable[[TlsEnd], None]:
    """started waits until the test knows the client's process."""

    def wait(end: TlsEnd) -> None:
        eventually("the client is known", lambda: clients)
        handle(end)

    return wait
