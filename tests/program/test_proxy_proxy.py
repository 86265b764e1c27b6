"""proxy-proxy: a load balancer in front says who the client is, in a PROXY header before TLS. It is
passed on unchanged; what is no such header ends the connection, and the log says so."""

import socket

import pytest

from deadlines import DEADLINE
from proxy_header import SIGNATURE, make_v2
from tls_client import TlsClient

HEADERS = {
    "v1": b"PROXY TCP4 192.0.2.1 198.51.100.2 1234 443\r\n",
    "v1 over IPv6": b"PROXY TCP6 2001:db8::1 2001:db8::2 1234 443\r\n",
    "v1 unknown": b"PROXY UNKNOWN\r\n",
    "v2": make_v2(("192.0.2.1", 1234), ("198.51.100.2", 443)),
    "v2 with a TLV": make_v2(("192.0.2.1", 1), ("198.51.100.2", 2), b"\x05\x00\x03abc"),
    "v2 local": SIGNATURE + b"\x20\x00\x00\x00",
}
MALFORMED = {
    "TLS without a header": None,
    "v1 without an end": b"PROXY TCP4 " + b"1" * 200,
    "v1 with a wrong address": b"PROXY TCP4 192.0.2.999 198.51.100.2 1234 443\r\n",
    "v1 with a wrong port": b"PROXY TCP4 192.0.2.1 198.51.100.2 66000 443\r\n",
    "v1 with a wrong family": b"PROXY TCP5 192.0.2.1 198.51.100.2 1234 443\r\n",
    "v2 of another version": SIGNATURE + b"\x31\x11\x00\x0c" + bytes(12),
    "v2 that is too short": SIGNATURE + b"\x21\x11\x00\x04" + bytes(4),
    "v2 that is too long": SIGNATURE + b"\x21\x11\xff\xff" + bytes(8000),
    "HTTP": b"GET / HTTP/1.1\r\n\r\n",
}


@pytest.fixture
def server(cleat, upstreams):
    return cleat("--proxy-proxy", backend=upstreams)


@pytest.mark.parametrize("kind", HEADERS)
def test_it_is_passed_on(server, upstreams, kind):
    header = HEADERS[kind]
    with TlsClient(server.port, before_tls=header) as client:
        client.send(b"data")
        assert upstreams.accept().receive_exactly(len(header) + 4) == header + b"data"
    line = server.wait_for_log(event="handshake-done")
    sources = {"v1": "192.0.2.1:1234", "v1 over IPv6": "[2001:db8::1]:1234"}
    sources |= {"v2": "192.0.2.1:1234", "v2 with a TLV": "192.0.2.1:1"}
    assert line.get("source") == sources.get(kind), line


@pytest.mark.parametrize("kind", ["v1", "v2 with a TLV"])
def test_a_byte_at_a_time(server, upstreams, kind):
    header = HEADERS[kind]
    with TlsClient(server.port, handshake=False) as client:
        for byte in header + client.client_hello():
            client.socket.sendall(bytes([byte]))
        client.handshake()
        client.send(b"data")
        assert upstreams.accept().receive_exactly(len(header) + 4) == header + b"data"


@pytest.mark.parametrize("half", [b"PROXY TCP4 1.2", SIGNATURE + b"\x21"], ids=["v1", "v2"])
def test_half_a_header_and_a_reset(server, half):
    with TlsClient(server.port, handshake=False) as client:
        client.socket.sendall(half)
        client.reset()
    # At once, and not when the handshake's time is up: what a reset leaves can be read for ever.
    assert server.wait_for_log(event="proxy-header-failed")["reason"] == "bad-proxy-header"
    assert server.cpu_seconds() < 1


def test_header_and_hello_in_one_segment(server, upstreams):
    header = HEADERS["v2"]
    with TlsClient(server.port, handshake=False) as client:
        client.socket.sendall(header + client.client_hello())
        client.handshake()
        client.send(b"data")
        assert upstreams.accept().receive_exactly(len(header) + 4) == header + b"data"


@pytest.mark.parametrize("kind", MALFORMED)
def test_what_is_none_is_refused(server, upstreams, kind):
    with TlsClient(server.port, handshake=False) as client:
        try:
            client.socket.sendall(MALFORMED[kind] or client.client_hello())
            while client.socket.recv(4096):
                pass
        except (ConnectionResetError, BrokenPipeError):
            pass
    assert server.wait_for_log(event="proxy-header-failed")["reason"] == "bad-proxy-header"
    assert not upstreams.all


def test_a_header_that_is_cut_short(server):
    with socket.create_connection(("127.0.0.1", server.port), DEADLINE) as client:
        client.sendall(HEADERS["v1"][:10])
        client.shutdown(socket.SHUT_WR)
        try:
            assert client.recv(1) == b""
        except ConnectionResetError:
            pass
    assert server.wait_for_log(event="proxy-header-failed")


def test_a_header_that_does_not_come(cleat, upstreams):
    server = cleat("--proxy-proxy", "--ssl-handshake-timeout", 1, backend=upstreams)
    with TlsClient(server.port, handshake=False, before_tls=HEADERS["v1"][:10]) as client:
        try:
            assert client.socket.recv(1) == b""
        except ConnectionResetError:
            pass
    assert server.wait_for_log(event="proxy-header-failed", reason="handshake-timeout")
