"""Each side may end while the other goes on. A client that has sent close_notify still reads its
answer; an upstream that has ended is still sent to. Both ends together are a clean end."""

import hashlib

from origins import digest
from tls_client import TLS_1_2, VERSIONS, TlsClient, only


@VERSIONS
def test_a_client_ends_and_still_reads_its_answer(proxied, version):
    server, upstreams = proxied
    with TlsClient(server.port, only(version)) as client:
        client.send(b"question")
        client.close_notify()
        upstream = upstreams.accept()
        assert upstream.receive_to_end() == b"question"  # The upstream hears the end first.
        upstream.send(b"long answer " * 100_000)
        upstream.close()
        assert client.receive_to_end() == b"long answer " * 100_000
    line = server.wait_for_log(event="connection-closed")
    assert (line["reason"], line["up_bytes"], line["down_bytes"]) == ("done", "8", "1200000")


@VERSIONS
def test_an_upstream_that_answers_at_the_end(cleat, origin, version):
    with TlsClient(cleat(backend=origin(digest)).port, only(version)) as client:
        client.send(b"x" * 3_000_000)
        client.close_notify()
        assert client.receive_to_end().decode() == hashlib.sha256(b"x" * 3_000_000).hexdigest()


# RFC 5246 section 7.2.1 has a client answer a close_notify with its own at once; TLS 1.3 (RFC 8446
# section 6.1) lets it go on. cleat does not cut either off.
@VERSIONS
def test_an_upstream_ends_and_is_still_sent_to(proxied, version):
    server, upstreams = proxied
    with TlsClient(server.port, only(version)) as client:
        upstream = upstreams.accept_from(client, b"first")
        upstream.send(b"goodbye")
        upstream.end()
        assert client.receive_to_end() == b"goodbye"
        client.send(b"second")
        assert upstream.receive_exactly(6) == b"second"
        client.send(b"third")
        client.close_notify()
        assert upstream.receive_to_end() == b"third"
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"


def test_an_upstream_that_says_nothing_and_ends(proxied):
    server, upstreams = proxied
    with TlsClient(server.port) as client:
        upstreams.accept().close()
        assert client.receive_to_end() == b""
        client.close_notify()
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"


def test_a_client_that_says_nothing_and_ends(proxied):
    server, upstreams = proxied
    with TlsClient(server.port, only(TLS_1_2)) as client:
        client.close_notify()
        assert upstreams.accept().receive_to_end() == b""
    upstreams.all[0].close()
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"


def test_an_upstream_that_speaks_first(proxied):
    """SMTP, IMAP and SSH servers greet before they hear anything."""
    server, upstreams = proxied
    with TlsClient(server.port) as client:
        upstream = upstreams.accept()
        upstream.send(b"220 ready\r\n")
        assert client.receive_exactly(11) == b"220 ready\r\n"
        client.send(b"QUIT\r\n")
        assert upstream.receive_exactly(6) == b"QUIT\r\n"
