"""A connection that does not speak TLS ends, and the log names the reason: garbage is not-tls,
plain HTTP is http-request, a PROXY header that is not configured is proxy-header. The upstream gets
no connection. A client that sends nothing is no warning: health checks do it all day."""

import socket

import pytest

from client_bytes import GARBAGE, HTTP, NO_RECORDS, say
from deadlines import DEADLINE
from proxy_header import make_v2
from tls_client import TlsClient, refused


@pytest.mark.parametrize("request_line", HTTP, ids=lambda line: line.split()[0].decode())
def test_plain_http_is_recognised(proxied, request_line):
    server, upstreams = proxied
    say(server.port, request_line)
    assert server.wait_for_log(event="handshake-failed")["reason"] == "http-request"
    assert not upstreams.all


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_is_refused(proxied, what):
    server, upstreams = proxied
    said = say(server.port, GARBAGE[what])
    assert said == b"" or said[0] == 0x15  # Nothing, or an alert.
    expected = "peer-alert" if what == "an alert" else "protocol-violation"
    if what in NO_RECORDS:
        expected = "not-tls"
    assert server.wait_for_log(event="handshake-failed")["reason"] == expected
    assert not upstreams.all


@pytest.mark.parametrize(
    "header",
    [b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n", make_v2(("192.0.2.1", 1), ("192.0.2.2", 2))],
    ids=["v1", "v2"],
)
def test_a_proxy_header_that_nobody_asked_for_is_recognised(cleat, header):
    server = cleat()
    refused(server.port, before_tls=header)
    assert server.wait_for_log(event="handshake-failed")["reason"] == "proxy-header"


@pytest.mark.parametrize("proxy", [[], ["--proxy-proxy"]], ids=["plain", "proxy-proxy"])
def test_a_health_check_is_no_warning(cleat, origin, proxy):
    """The health check closes its connection. A reset could reach the kernel before cleat accepts,
    which would then never see the connection."""
    upstreams = origin()
    server = cleat(*proxy, backend=upstreams)
    socket.create_connection(("127.0.0.1", server.port), DEADLINE).close()
    line = server.wait_for_log(event="connection-closed")
    assert (line["level"], line["reason"]) == ("info", "client-silent")
    assert not server.log(event="handshake-failed")
    assert not server.log(event="proxy-header-failed")
    assert not upstreams.all


def test_an_end_inside_the_first_record(cleat):
    server = cleat()
    with socket.create_connection(("127.0.0.1", server.port), DEADLINE) as client:
        client.sendall(b"\x16")
        client.shutdown(socket.SHUT_WR)
        try:
            assert client.recv(1) == b""
        except ConnectionResetError:
            pass
    assert server.wait_for_log(event="handshake-failed", reason="truncated")


def test_it_goes_on_serving(cleat):
    server = cleat()
    for data in GARBAGE.values():
        say(server.port, data)
    with TlsClient(server.port) as client:
        assert client.exchange(b"still there") == b"still there"
