"""A side that breaks off is broken off on the other side too: an RST for an RST, so that nobody
takes half a stream for a whole one."""

import errno
import select
import signal

import pytest

from tls_client import VERSIONS, TlsClient, only

# Seconds in which nothing is taken: all on the way is full, or cleat has not had a turn.
STALL = 0.2


def fill(client):
    """fill sends until nothing is taken any more, and says how much that was."""
    sent, records = 0, b""
    client.socket.setblocking(False)
    while select.select([], [client.socket], [], STALL)[1]:
        if not records:
            sent += client.tls.write(b"z" * 16384)
            records = client.outgoing.read()
        records = records[client.socket.send(records) :]
    return sent


def wait_for_reset(upstream):
    """Reads on an upstream until its connection breaks; an end of file is a failure."""
    with pytest.raises(ConnectionResetError):
        while upstream.socket.recv(1 << 18):
            pass
        raise AssertionError("the upstream saw a clean end")


@VERSIONS
def test_a_clients_reset_reaches_the_upstream(proxied, version):
    server, upstreams = proxied
    client = TlsClient(server.port, only(version))
    upstream = upstreams.accept_from(client, b"in the middle of")
    client.reset()
    wait_for_reset(upstream)
    assert server.wait_for_log(event="connection-closed")["reason"] == "client-reset"


def test_a_clients_reset_in_the_middle_of_an_answer(proxied):
    server, upstreams = proxied
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
def test_an_upstreams_reset_in_the_middle_of_an_answer(proxied, version):
    server, upstreams = proxied
    with TlsClient(server.port, only(version)) as client:
        upstream = upstreams.accept_from(client, b"question")
        upstream.send(b"half an ans")
        assert client.receive_exactly(11) == b"half an ans"
        upstream.reset()
        client.wait_for_break()
    line = server.wait_for_log(event="connection-closed")
    assert (line["reason"], line["level"]) == ("upstream-reset", "warning")


def test_an_upstreams_reset_while_the_client_sends(proxied):
    server, upstreams = proxied
    with TlsClient(server.port) as client:
        upstream = upstreams.accept_from(client, b"x")
        upstream.reset()
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            while True:
                client.send(b"y" * (1 << 18))
    assert server.wait_for_log(event="connection-closed")["reason"] == "upstream-reset"


def test_an_answer_before_a_reset_is_not_taken_for_whole(proxied):
    """An upstream that answers early and closes with the request unread sends an RST behind the
    answer: the client may see the answer, but never a clean end."""
    server, upstreams = proxied
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


def test_a_broken_record_ends_the_connection(proxied):
    server, upstreams = proxied
    with TlsClient(server.port) as client:
        upstream = upstreams.accept_from(client, b"good")
        client.tls.write(b"bad")
        record = bytearray(client.outgoing.read())
        record[-1] ^= 1
        client.socket.sendall(record)
        wait_for_reset(upstream)
        with pytest.raises(OSError, match="(?i)bad.record.mac"):  # RFC 8446 section 5.2: alert 20.
            client.receive()
    line = server.wait_for_log(event="connection-closed")
    assert (line["reason"], line["up_bytes"]) == ("client-failed", "4")


# A side that cleat is not reading, since it has said all or the other side is full.


def test_a_client_that_resets_while_its_answer_is_awaited(proxied):
    server, upstreams = proxied
    client = TlsClient(server.port)
    client.send(b"a request")
    client.close_notify()
    upstream = upstreams.accept()
    assert upstream.receive_to_end() == b"a request"
    client.reset()
    # The upstream has been silent all the time.
    assert server.wait_for_log(event="connection-closed")["reason"] == "client-reset"


def test_an_upload_is_passed_on_as_far_as_it_came_before_the_reset(proxied):
    server, upstreams = proxied
    client = TlsClient(server.port)
    client.send(b"first")
    upstream = upstreams.accept()
    sent = fill(client)
    client.reset()
    got = 0
    with pytest.raises(ConnectionResetError):
        while more := upstream.socket.recv(1 << 18):
            got += len(more)
        raise AssertionError("the upstream saw a clean end")
    assert 5 < got <= sent + 5
    assert server.wait_for_log(event="connection-closed")["reason"] == "client-reset"


def test_an_upstream_that_resets_behind_a_client_that_does_not_read(cleat, origin):
    upstreams = origin()
    # After the reset, what is left for the client waits for so long. Before it, the deadline counts
    # from the last byte that moved, which was just now.
    server = cleat("--idle-timeout", 6, backend=upstreams)
    with TlsClient(server.port) as client:
        client.send(b"x")
        upstream = upstreams.accept()
        upstream.socket.setblocking(False)
        while select.select([], [upstream.socket], [], STALL)[1]:
            upstream.socket.send(b"y" * (1 << 18))
        upstream.reset()
        assert server.wait_for_log(event="connection-closed")["reason"] == "upstream-reset"
        client.wait_for_break()


# Connections that cleat ends itself.


def test_an_upload_that_we_cut_off_is_no_whole_one(proxied):
    server, upstreams = proxied
    with TlsClient(server.port) as client:
        upstream = upstreams.accept_from(client, b"half an upl")
        server.signal(signal.SIGINT)
        wait_for_reset(upstream)


def test_an_idle_upload_is_no_whole_one(cleat, origin):
    upstreams = origin()
    server = cleat("--idle-timeout", 1, backend=upstreams)
    with TlsClient(server.port) as client:
        upstream = upstreams.accept_from(client, b"half an upl")
        wait_for_reset(upstream)
    assert server.wait_for_log(event="connection-closed")["reason"] == "idle-timeout"
