"""Out of file descriptors, cleat says so, waits without burning the processor, serves those that it
has, and takes new connections when there are descriptors again."""

import resource
import time

from deadlines import SANITIZED
from tls_client import TlsClient

LIMIT = 64


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))


def test_it_pauses_and_recovers(cleat):
    server = cleat(preexec_fn=few_files)
    open_ones = []
    try:
        # A connection takes two descriptors; what does not fit waits in the kernel's queue.
        while not server.log(event="accept-failed") and not server.log(event="connect-failed"):
            assert len(open_ones) < LIMIT
            client = TlsClient(server.port, handshake=False)
            open_ones.append(client)
            client.socket.settimeout(1)
            try:
                client.handshake()
                client.exchange(b"in")
            except OSError:
                continue
        first = open_ones[0]
        first.socket.settimeout(30)
        assert first.exchange(b"still served") == b"still served"

        # The next ones find no descriptor at all.
        waiting = [TlsClient(server.port, handshake=False) for _ in range(LIMIT)]
        for client in waiting:
            client.socket.sendall(client.client_hello())
        open_ones += waiting
        line = server.wait_for_log(event="accept-failed")
        assert (line["level"], line["reason"]) == ("error", "Too many open files")

        # It waits rather than spins.
        before, begun = server.cpu_seconds(), time.monotonic()
        server.wait_for_log(event="accept-failed", times=len(server.log(event="accept-failed")) + 3)
        spent, lasted = server.cpu_seconds() - before, time.monotonic() - begun
        assert SANITIZED or spent < 0.1 + lasted / 4
    finally:
        for client in open_ones:
            client.reset()
    with TlsClient(server.port) as client:
        assert client.exchange(b"there is room again") == b"there is room again"
