"""Out of file descriptors, cleat says so, waits without burning the processor, serves those that it
has, and takes new connections when there are descriptors again."""

import resource
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from admin_client import LOCAL, admin_of
from deadlines import DEADLINE, SANITIZED
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
            # The first is served. A later one that is not may find no descriptor, which the log has
            # by then or after the next one.
            client.socket.settimeout(1 if open_ones[1:] else DEADLINE)
            try:
                client.handshake()
                client.exchange(b"in")
            except OSError:
                continue
        first = open_ones[0]
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


def test_unfinished_handshakes_give_way(serve_lines):
    """Clients that send a ClientHello and nothing more take all descriptors, and go on taking them.
    The oldest end first, so an honest client is served, long before ssl-handshake-timeout."""
    server = serve_lines(f'admin = "{LOCAL}"', preexec_fn=few_files)
    admin = admin_of(server)
    with TlsClient(server.port) as honest:
        honest.exchange(b"before")
        silent = []
        try:
            for _ in range(3 * LIMIT):
                client = TlsClient(server.port, handshake=False)
                silent.append(client)
                client.socket.sendall(client.client_hello())
            with TlsClient(server.port) as late:
                assert late.exchange(b"served") == b"served"
            assert honest.exchange(b"after") == b"after"
        finally:
            for client in silent:
                client.reset()
    line = server.wait_for_log(event="handshake-failed", reason="handshake-evicted")
    assert line["level"] == "warning"
    seen = admin.metrics()
    evicted = seen.value("cleat_handshakes_failed_total", reason="handshake-evicted")
    assert evicted >= 2 * LIMIT
    assert seen.value("cleat_connections_closed_total", reason="handshake-evicted") == evicted
    assert not server.log(event="connect-failed")


@pytest.mark.skipif(SANITIZED, reason="a sanitizer and strace disturb each other")
@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_a_kernel_that_cannot_watch_the_socket_is_asked_again(cleat, tmp_path):
    server = cleat("--workers", 1)
    # Out of descriptors it lets go of the listening socket, and wants it watched again later.
    in_use = len(list(Path(f"/proc/{server.pid}/fd").iterdir()))
    had = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (in_use, had[1]))
    # More than the descriptors that a start may close after that look.
    waiting = [TlsClient(server.port, handshake=False) for _ in range(8)]
    server.wait_for_log(event="accept-failed", reason="Too many open files")
    calls = tmp_path / "calls"
    refusing = subprocess.Popen(
        ["strace", "-f", "-o", str(calls), "-e", "trace=epoll_ctl", "-e",
         "inject=epoll_ctl:error=ENOSPC", "-p", str(server.pid)],
        stderr=subprocess.DEVNULL,
    )
    try:
        server.wait_for_log(event="accept-failed", reason="No space left on device")
    finally:
        refusing.terminate()
        refusing.wait(DEADLINE)
    assert "EPOLL_CTL_ADD" in calls.read_text()
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, had)
    for client in waiting:
        with client:
            client.handshake()
            assert client.exchange(b"asked again") == b"asked again"
