"""Authorities that cleat verifies clients by, and the certificates of clients."""

import ssl

import pytest

from certificates import Certificate, CertificateMaker
from tls_client import TLS_1_3, TlsClient, only


@pytest.fixture
def ca(certs: CertificateMaker) -> Certificate:
    return certs.authority("ca")


@pytest.fixture
def good(certs: CertificateMaker, ca: Certificate) -> Certificate:
    return certs.signed("good", ca, "/O=Example/CN=alice")


@pytest.fixture
def bad(certs: CertificateMaker) -> Certificate:
    """bad is a certificate of an authority that cleat does not trust."""
    return certs.signed("bad", certs.authority("another-ca"), "/CN=mallory")


def verifies(authority: Certificate, mode: str = "required") -> str:
    """verifies are the lines of a configuration that verify clients."""
    return f'client-verify = {mode} client-verify-ca = "{authority.cert}"'


def showing(certificate: Certificate, version: ssl.TLSVersion = TLS_1_3) -> ssl.SSLContext:
    """showing is the settings of a client that has this certificate."""
    return only(version, certificate=certificate.pem)


def let_in(port: int, tls: ssl.SSLContext | None = None, **more: object) -> TlsClient:
    """let_in talks to an upstream that echoes, and fails when cleat refuses the client. It gives
    the client, whose connection is closed."""
    with TlsClient(port, tls, **more) as client:
        assert client.exchange(b"it is me") == b"it is me"
        return client
