"""keepalive, recv-bufsize, send-bufsize and backlog reach the kernel: the program's own sockets are
borrowed from it and asked."""

import ctypes
import os
import signal
import socket
import struct

import pytest

from program import open_files
from tls_client import TlsClient

PIDFD_GETFD = 438  # The same number on every architecture.


def sockets_of(pid):
    """Copies of the program's TCP sockets."""
    library = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(pid)
    made = []
    try:
        for number, file in open_files(pid).items():
            if not file.startswith("socket:"):
                continue
            copy = library.syscall(PIDFD_GETFD, process, number, 0)
            if copy < 0:
                pytest.skip(f"the kernel lends no descriptors: {os.strerror(ctypes.get_errno())}")
            made.append(socket.socket(fileno=copy))
    finally:
        os.close(process)
    return made


def with_client(server, look):
    """The result of look for the program's socket of a connection."""
    with TlsClient(server.port) as client:
        client.exchange(b"x")
        ours = client.socket.getsockname()
        for each in sockets_of(server.pid):
            with each:
                try:
                    if each.getpeername() == ours:
                        return look(each)
                except OSError:
                    continue  # A listening socket.
    raise AssertionError("the program has no socket of this connection")


def listening(server):
    for each in sockets_of(server.pid):
        if each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return each
    raise AssertionError("the program does not listen")


def test_keepalive(cleat):
    def look(its):
        assert its.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        return its.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)

    assert with_client(cleat("--keepalive", 77), look) == 77
    assert with_client(cleat(), look) == 3600


@pytest.mark.parametrize(
    "flag, option", [("--recv-bufsize", socket.SO_RCVBUF), ("--send-bufsize", socket.SO_SNDBUF)]
)
def test_buffers(cleat, flag, option):
    size = with_client(cleat(flag, 40_000), lambda its: its.getsockopt(socket.SOL_SOCKET, option))
    assert size == 80_000  # socket(7): the kernel doubles it.


def test_backlog(cleat):
    with listening(cleat("--backlog", 123)) as its:
        info = its.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        # tcp(7): of a listening socket, tcpi_sacked is the length of its queue.
        assert struct.unpack_from("=I", info, 28)[0] == 123


def test_the_client_never_waits_for_nagle(cleat):
    assert with_client(cleat(), lambda its: its.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


def test_a_broken_pipe_is_no_end(cleat):
    """SIGPIPE would end the program."""
    server = cleat()
    server.signal(signal.SIGPIPE)
    with TlsClient(server.port) as client:
        assert client.exchange(b"still there") == b"still there"
