"""write-ip: before the client's first byte come one byte of address family and the address, as stud
and hitch send them."""

import socket

import pytest

from tls_client import TlsClient


def test_ipv4(cleat, origin):
    upstreams = origin()
    with TlsClient(cleat("--write-ip", backend=upstreams).port) as client:
        client.send(b"data")
        assert upstreams.accept().receive_exactly(9) == b"\x02\x7f\x00\x00\x01data"


def test_ipv6(cleat, origin):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no ::1")
    upstreams = origin()
    server = cleat("--write-ip", backend=upstreams, frontend="[::1]:0")
    with TlsClient(server.port, host="::1") as client:
        client.send(b"data")
        assert upstreams.accept().receive_exactly(21) == b"\x0a" + bytes(15) + b"\x01data"


def test_it_comes_before_the_client_says_anything(cleat, origin):
    upstreams = origin()
    with TlsClient(cleat("--write-ip", backend=upstreams).port):
        assert upstreams.accept().receive_exactly(5) == b"\x02\x7f\x00\x00\x01"
