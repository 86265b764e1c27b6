"""A side that breaks off is broken off on the other side too: an RST for an RST, so that nobody
takes half a stream for a whole one."""

import errno

import pytest

from tls_client import TLS_1_2, TLS_1_3, TlsClient, only

VERSIONS = pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3], ids=["1.2", "1.3"])


def wait_for_reset(upstream):
    """Reads on an upstream until its connection breaks; an end of file is a failure."""
    with pytest.raises(ConnectionResetError):
        while upstream.socket.recv(1 << 18):
            pass
        raise AssertionError("the upstream saw a clean end")


@VERSIONS
def test_a_clients_reset_reaches_the_upstream(cleat, origin, version):
    upstreams = origin()
    server = cleat(backend=upstreams)
    client = TlsClient(server.port, only(version))
    client.send(b"in the middle of")
    upstream = upstreams.accept()
    assert upstream.receive_exactly(16)
    client.reset()
    wait_for_reset(upstream)
    assert server.wait_for_log(event="connection-closed")["reason"] == "client-reset"


def test_a_clients_reset_in_the_middle_of_an_answer(cleat, origin):
    upstreams = origin()
    server = cleat(backend=upstreams)
    client = TlsClient(server.port)
    upstream = upstreams.accept()
    upstream.send(b"x" * (1 << 20))
    client.receive()
    client.reset()
    with pytest.raises(OSError) as broken:
        while True:
            upstream.send(b"x" * (1 << 20))
    assert broken.value.errno in (errno.ECONNRESET, errno.EPIPE)
    assert server.wait_for_log(event="connection-closed")["reason"] == "client-reset"


@VERSIONS
def test_an_upstreams_reset_in_the_middle_of_an_answer(cleat, origin, version):
    upstreams = origin()
    server = cleat(backend=upstreams)
    with TlsClient(server.port, only(version)) as client:
        client.send(b"question")
        upstream = upstreams.accept()
        assert upstream.receive_exactly(8) == b"question"
        upstream.send(b"half an ans")
        assert client.receive_exactly(11) == b"half an ans"
        upstream.reset()
        client.wait_for_break()
    line = server.wait_for_log(event="connection-closed")
    assert (line["reason"], line["level"]) == ("upstream-reset", "warning")


def test_an_upstreams_reset_while_the_client_sends(cleat, origin):
    upstreams = origin()
    server = cleat(backend=upstreams)
    with TlsClient(server.port) as client:
        client.send(b"x")
        upstream = upstreams.accept()
        upstream.receive_exactly(1)
        upstream.reset()
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            while True:
                client.send(b"y" * (1 << 18))
    assert server.wait_for_log(event="connection-closed")["reason"] == "upstream-reset"


def test_an_answer_before_a_reset_is_not_taken_for_whole(cleat, origin):
    """An upstream that answers early and closes with the request unread sends an RST behind the
    answer: the client may see the answer, but never a clean end."""
    upstreams = origin()
    server = cleat(backend=upstreams)
    with TlsClient(server.port) as client:
        client.send(b"an upload that nobody reads")
        upstream = upstreams.accept()
        upstream.socket.recv(1)  # The rest is there, and unread.
        upstream.send(b"413 too large")
        upstream.close()
        client.wait_for_break()
    assert server.wait_for_log(event="connection-closed")["reason"] == "upstream-reset"


def test_a_reset_during_the_handshake(cleat):
    server = cleat()
    client = TlsClient(server.port, handshake=False)
    client.socket.sendall(client.client_hello())
    client.socket.recv(1)  # cleat is at it.
    client.reset()
    line = server.wait_for_log(event="handshake-failed")
    assert line["reason"] == "Connection reset by peer"


def test_a_broken_record_ends_the_connection(cleat, origin):
    upstreams = origin()
    server = cleat(backend=upstreams)
    with TlsClient(server.port) as client:
        client.send(b"good")
        upstream = upstreams.accept()
        assert upstream.receive_exactly(4) == b"good"
        client.tls.write(b"bad")
        record = bytearray(client.outgoing.read())
        record[-1] ^= 1
        client.socket.sendall(record)
        wait_for_reset(upstream)
        with pytest.raises(OSError, match="(?i)bad.record.mac"):  # RFC 8446 section 5.2: alert 20.
            client.receive()
    line = server.wait_for_log(event="connection-closed")
    assert (line["reason"], line["up_bytes"]) == ("client-failed", "4")
