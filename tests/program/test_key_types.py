"""RSA and ECDSA certificates serve alone, and side by side for the same name: a client that can
verify ECDSA gets ECDSA, one that offers RSA alone gets RSA. In TLS 1.2 the cipher suites say which
it is, in TLS 1.3 the signature algorithms."""

import hashlib
import ssl

import pytest

from tls_client import TLS_1_2, TLS_1_3, TlsClient, only

RSA_SUITE = "ECDHE-RSA-AES128-GCM-SHA256"
ECDSA_SUITE = "ECDHE-ECDSA-AES128-GCM-SHA256"


@pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3], ids=["1.2", "1.3"])
@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
def test_each_kind_serves_alone(cleat, certs, kind, version):
    certificate = getattr(certs, kind)
    server = cleat(pem=[certificate])
    with TlsClient(server.port, only(version)) as client:
        assert client.exchange(b"alone") == b"alone"
        assert client.fingerprint == certificate.fingerprint


def shown_by_s_client(s_client, port, *flags):
    """The fingerprint of the certificate that openssl s_client was shown."""
    ran = s_client(port, *flags)
    begin = ran.stdout.find("-----BEGIN CERTIFICATE-----")
    assert begin >= 0, ran.stdout + ran.stderr
    end = ran.stdout.index("-----END CERTIFICATE-----") + len("-----END CERTIFICATE-----")
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(ran.stdout[begin:end])).hexdigest()


@pytest.mark.parametrize("first", ["rsa", "ecdsa"])
def test_side_by_side_the_client_decides(cleat, certs, s_client, first):
    pems = [certs.rsa, certs.ecdsa] if first == "rsa" else [certs.ecdsa, certs.rsa]
    port = cleat(pem=pems).port
    ecdsa, rsa = certs.ecdsa.fingerprint, certs.rsa.fingerprint

    # Clients that take both.
    for version in (TLS_1_2, TLS_1_3):
        with TlsClient(port, only(version)) as client:
            assert client.fingerprint == ecdsa

    # TLS 1.2: the suites decide.
    for suite, expected in ((RSA_SUITE, rsa), (ECDSA_SUITE, ecdsa)):
        with TlsClient(port, only(TLS_1_2, ciphers=suite)) as client:
            assert (client.fingerprint, client.cipher) == (expected, suite)

    # TLS 1.3, and 1.2 again: the signature algorithms decide.
    for version in ("-tls1_3", "-tls1_2"):
        only_rsa = "rsa_pss_rsae_sha256:rsa_pkcs1_sha256"
        assert shown_by_s_client(s_client, port, version, "-sigalgs", only_rsa) == rsa
        only_ecdsa = "ecdsa_secp256r1_sha256"
        assert shown_by_s_client(s_client, port, version, "-sigalgs", only_ecdsa) == ecdsa


def test_go_gets_what_it_offers(cleat, certs, go):
    port = cleat(pem=[certs.rsa, certs.ecdsa]).port
    shown = {
        suite: go.run("handshake", port, version="1.2", suites=suite)["fingerprint"]
        for suite in ("0xc02f", "0xc02b")
    }
    assert shown == {"0xc02f": certs.rsa.fingerprint, "0xc02b": certs.ecdsa.fingerprint}


def test_a_client_that_can_use_no_certificate_is_refused(cleat, certs, s_client):
    server = cleat(pem=[certs.ecdsa])
    ran = s_client(server.port, "-tls1_2", "-cipher", RSA_SUITE)
    assert "handshake failure" in ran.stderr
    assert server.wait_for_log(event="handshake-failed", reason="no-shared-cipher")
