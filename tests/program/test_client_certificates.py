"""Client certificates: none are asked for by default; optional takes a good one or none; required
takes a good one. A bad one is refused in every case, and the log says why."""

import ssl

import pytest

from tls_client import TLS_1_3, VERSIONS, TlsClient, only, refused


@pytest.fixture
def ca(certs):
    return certs.authority("ca")


@pytest.fixture
def good(certs, ca):
    return certs.signed("good", ca, "/O=Example/CN=alice").pem


@pytest.fixture
def bad(certs):
    return certs.signed("bad", certs.authority("another-ca"), "/CN=mallory").pem


@pytest.fixture
def expired(certs, ca):
    return certs.expired("past", "/CN=yesterday", by=ca).pem


@pytest.fixture
def serve(cleat, ca):
    return lambda mode: cleat("--client-verify", mode, "--client-verify-ca", ca.cert)


def let_in(port, tls):
    with TlsClient(port, tls) as client:
        assert client.exchange(b"it is me") == b"it is me"


@VERSIONS
@pytest.mark.parametrize("mode", ["optional", "required"])
def test_a_good_one_is_let_in(serve, good, version, mode):
    let_in(serve(mode).port, only(version, certificate=good))


@VERSIONS
def test_optional_lets_a_client_without_one_in(serve, version):
    let_in(serve("optional").port, only(version))


@VERSIONS
def test_required_refuses_a_client_without_one(serve, version):
    server = serve("required")
    why = refused(server.port, only(version))
    assert isinstance(why, (ssl.SSLError, ConnectionResetError))
    if version == TLS_1_3:  # RFC 8446 section 4.4.2.4: alert 116, certificate_required.
        assert "CERTIFICATE_REQUIRED" in (getattr(why, "reason", "") or "")
    assert server.wait_for_log(event="handshake-failed", reason="no-client-certificate")


@VERSIONS
@pytest.mark.parametrize("mode", ["optional", "required"])
def test_a_strangers_is_refused(serve, bad, version, mode):
    server = serve(mode)
    why = refused(server.port, only(version, certificate=bad))
    assert "UNKNOWN_CA" in (getattr(why, "reason", "") or "")
    told = server.wait_for_log(event="handshake-failed", reason="bad-certificate")
    assert "issuer" in told["detail"] or "self-signed" in told["detail"]


@VERSIONS
def test_an_expired_one_is_refused(serve, expired, version):
    server = serve("required")
    why = refused(server.port, only(version, certificate=expired))
    assert "CERTIFICATE_EXPIRED" in (getattr(why, "reason", "") or "")
    told = server.wait_for_log(event="handshake-failed", reason="bad-certificate")
    assert told["detail"] == "certificate has expired"


def test_none_does_not_ask(cleat, bad):
    let_in(cleat().port, only(TLS_1_3, certificate=bad))


def test_a_frontend_has_its_own_rule(cleat, config, certs, ca, good):
    server = cleat(
        "--config",
        config(f"""
        pem-file = "{certs.ecdsa.pem}"
        frontend = {{ host = "127.0.0.1"
                      port = 0
                      client-verify = required
                      client-verify-ca = "{ca.cert}" }}
        frontend = "[127.0.0.1]:0"
    """),
        pem=[],
        frontend=None,
    )
    closed, public = server.ports
    refused(closed, only(TLS_1_3))
    let_in(closed, only(TLS_1_3, certificate=good))
    let_in(public, only(TLS_1_3))
