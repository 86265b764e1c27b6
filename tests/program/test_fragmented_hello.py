"""A ClientHello arrives as the network likes: a byte at a time, in many records, in many segments,
longer than a segment or a record. It is understood all the same, SNI and ALPN included."""

import socket
import ssl

import pytest

from client_bytes import long_alpn
from tls_client import VERSIONS, TlsClient, fragmented, only


def finish(client):
    client.handshake()
    assert client.exchange(b"understood") == b"understood"


@VERSIONS
def test_a_byte_at_a_time(cleat, version):
    server = cleat("--alpn-protos", "h2")
    tls = only(version, alpn=["h2"])
    with TlsClient(server.port, tls, name="byte.example", handshake=False) as client:
        for byte in client.client_hello():
            client.socket.sendall(bytes([byte]))
        finish(client)
    line = server.wait_for_log(event="handshake-done")
    assert (line["sni"], line["alpn"]) == ("byte.example", "h2")


@VERSIONS
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_many_records(cleat, version, size):
    server = cleat()
    with TlsClient(server.port, only(version), handshake=False) as client:
        client.socket.sendall(fragmented(client.client_hello(), size))
        finish(client)


@VERSIONS
def test_many_records_a_byte_at_a_time(cleat, version):
    with TlsClient(cleat().port, only(version), handshake=False) as client:
        for byte in fragmented(client.client_hello(), 50):
            client.socket.sendall(bytes([byte]))
        finish(client)


@pytest.mark.parametrize("size", [2_000, 8_000, 15_000])
def test_many_segments(cleat, size):
    """Each part is a segment of its own, as a post-quantum key share makes it."""
    server = cleat("--alpn-protos", "h2")
    with TlsClient(server.port, long_alpn(size), handshake=False) as client:
        hello = client.client_hello()
        assert len(hello) > size
        for offset in range(0, len(hello), 1400):
            client.socket.sendall(hello[offset : offset + 1400])
        finish(client)
    assert server.wait_for_log(event="handshake-done", alpn="h2")


def message_size(hello):
    """message_size is the length that a ClientHello has, without the header of its message."""
    return int.from_bytes(hello[6:9], "big")


def hello_of(port, size):
    """hello_of is a client whose ClientHello has this size, and its bytes."""
    shorter = long_alpn(size - 1000)
    with TlsClient(port, shorter, handshake=False) as measured:
        missing = size - message_size(measured.client_hello())
    client = TlsClient(port, long_alpn(size - 1000, missing), handshake=False)
    hello = client.client_hello()
    assert message_size(hello) == size
    return client, hello


# limits::terminated_hello_max.
LONGEST = 16 * 1024


def test_the_longest_hello(cleat):
    """TLS allows 16 KiB in a record, and longer messages in several. Every library takes this one,
    which no browser sends."""
    server = cleat("--alpn-protos", "h2")
    client, hello = hello_of(server.port, LONGEST)
    with client:
        client.socket.sendall(hello)
        finish(client)


def test_a_hello_that_is_a_byte_too_long(cleat):
    server = cleat("--alpn-protos", "h2")
    client, hello = hello_of(server.port, LONGEST + 1)
    with client:
        client.socket.sendall(hello)
        with pytest.raises(ssl.SSLError, match="ILLEGAL_PARAMETER"):
            client.handshake()
    line = server.wait_for_log(event="handshake-failed")
    assert line["reason"] == "hello-too-long"
    assert line["detail"] == "the ClientHello is longer than 16 KiB"


def test_a_hello_that_never_ends_is_bounded(cleat):
    """A message that claims 16 MiB is refused long before they have come."""
    server = cleat()
    before = server.memory()
    with socket.create_connection(("127.0.0.1", server.port), 30) as client:
        record = b"\x16\x03\x01\x40\x00"
        with pytest.raises(OSError):
            client.sendall(record + b"\x01\xff\xff\xff" + bytes(0x4000 - 4))
            for _ in range(1000):
                client.sendall(record + bytes(0x4000))
    server.wait_for_log(event="handshake-failed")
    assert server.memory() - before < 8 << 20


@VERSIONS
def test_every_flight_in_small_records(cleat, version):
    """Not the first flight alone: also the client's last one, as far as it is in clear text."""
    with TlsClient(cleat().port, only(version), handshake=False) as client:
        client.socket.sendall(fragmented(client.client_hello(), 7))
        client.pull()
        last = client.client_hello()
        for offset in range(0, len(last), 3):
            client.socket.sendall(last[offset : offset + 3])
        finish(client)
