"""Bytes that a client sends together with the end of its handshake are not lost, whether it is a
byte, more than one turn takes, or all of its bytes and its end. TLS 1.3 clients do that always; in
TLS 1.2 it takes a resumed session, whose last flight is the client's."""

import pytest

from tls_client import TLS_1_2, TLS_1_3, VERSIONS, TlsClient, only

# A turn is 64 KiB at first; 200 KB still fit the kernel's buffers while nobody reads.
SIZES = pytest.mark.parametrize("size", [1, 1000, 65536, 200_000])


def begin(server, version):
    """A client that sends the last flight of its handshake."""
    tls = only(version)
    session = None
    if version == TLS_1_2:
        with TlsClient(server.port, tls) as client:
            session = client.tls.session
            client.close_notify()
    return TlsClient(server.port, tls, session=session, handshake=False, receive_buffer=1 << 20)


@VERSIONS
@SIZES
def test_data_in_the_same_breath(cleat, version, size):
    server = cleat()
    with begin(server, version) as client:
        flight = client.finish_with(b"d" * size)
        with server.paused():
            client.socket.sendall(flight)
        assert client.receive_exactly(size) == b"d" * size
        assert client.exchange(b"and on") == b"and on"


@VERSIONS
@SIZES
def test_data_and_the_end_in_the_same_breath(proxied, version, size):
    server, upstreams = proxied
    if version == TLS_1_2:
        # The first of its two connections is not the one to look at.
        session_maker = begin(server, version)
        upstreams.accept().close()
        client = session_maker
    else:
        client = begin(server, version)
    with client:
        flight = client.finish_with(b"d" * size, close=True)
        with server.paused():
            client.socket.sendall(flight)
        upstream = upstreams.accept()
        assert upstream.receive_to_end() == b"d" * size
        upstream.send(b"thanks")
        upstream.close()
        assert client.receive_to_end() == b"thanks"
    line = server.wait_for_log(event="connection-closed", up_bytes=str(size))
    assert line["reason"] == "done"


@pytest.mark.parametrize("size", [1, 200_000])
def test_data_and_a_fin_in_the_same_breath(proxied, size):
    server, upstreams = proxied
    with begin(server, TLS_1_3) as client:
        flight = client.finish_with(b"d" * size)
        with server.paused():
            client.socket.sendall(flight)
            client.truncate()
        upstream = upstreams.accept()
        assert upstream.receive_to_end() == b"d" * size
        upstream.close()
    line = server.wait_for_log(event="connection-closed", up_bytes=str(size))
    assert line["reason"] == "client-truncated"
