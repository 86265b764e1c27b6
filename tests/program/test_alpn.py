"""ALPN: the first protocol of alpn-protos that the client offers is agreed. A client that offers
none of them is refused; one that offers nothing, or meets a cleat without alpn-protos, is not."""

import ssl

import pytest

from tls_client import TLS_1_2, TLS_1_3, TlsClient, only, refused


@pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3], ids=["1.2", "1.3"])
@pytest.mark.parametrize(
    "offered, agreed",
    [
        (["http/1.1"], "http/1.1"),
        (["h2"], "h2"),
        (["http/1.1", "h2"], "h2"),  # Our order, not the client's.
        (["spdy/3", "http/1.1"], "http/1.1"),
        ([], None),
    ],
)
def test_our_first_that_the_client_has(cleat, version, offered, agreed):
    server = cleat("--alpn-protos", "h2,http/1.1")
    settings = {"alpn": offered} if offered else {}
    with TlsClient(server.port, only(version, **settings)) as client:
        assert client.exchange(b"hello") == b"hello"
        assert client.tls.selected_alpn_protocol() == agreed
    assert server.wait_for_log(event="handshake-done")["alpn"] == (agreed or "")


@pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3], ids=["1.2", "1.3"])
def test_nothing_in_common_is_refused(cleat, version):
    server = cleat("--alpn-protos", "h2,http/1.1")
    why = refused(server.port, only(version, alpn=["imap"]))
    # RFC 7301 section 3.2: alert 120, no_application_protocol. Not every OpenSSL under Python has
    # that name for it.
    assert isinstance(why, ssl.SSLError)
    assert "no application protocol" in str(why) or "unknown error" in str(why)
    assert server.wait_for_log(event="handshake-failed", reason="alpn-mismatch")


def test_without_alpn_protos_offers_are_ignored(cleat):
    with TlsClient(cleat().port, only(TLS_1_3, alpn=["h2"])) as client:
        assert client.exchange(b"hello") == b"hello"
        assert client.tls.selected_alpn_protocol() is None


def test_go_agrees(cleat, go):
    port = cleat("--alpn-protos", "h2,http/1.1").port
    assert go.run("handshake", port, alpn="http/1.1,h2")["alpn"] == "h2"
