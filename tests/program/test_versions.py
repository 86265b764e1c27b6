"""TLS 1.2 and TLS 1.3 are spoken, the newer one where both sides can; what tls-protos leaves out is
refused, and the log says why."""

import ssl

import pytest

from tls_client import TLS_1_2, TLS_1_3, TlsClient, only, refused

PROTOS = {"TLSv1.2": TLS_1_2, "TLSv1.3": TLS_1_3}


@pytest.mark.parametrize("version", PROTOS)
def test_each_version_carries_data(cleat, version):
    server = cleat()
    with TlsClient(server.port, only(PROTOS[version])) as client:
        assert client.exchange(b"over " + version.encode()) == b"over " + version.encode()
        assert client.tls.version() == version
    assert server.wait_for_log(event="handshake-done")["version"] == version


def test_the_newer_version_wins(cleat):
    with TlsClient(cleat().port) as client:
        assert client.tls.version() == "TLSv1.3"


@pytest.mark.parametrize("allowed, other", [("TLSv1.2", TLS_1_3), ("TLSv1.3", TLS_1_2)])
def test_a_version_that_is_left_out_is_refused(cleat, allowed, other):
    server = cleat("--tls-protos", allowed)
    assert "protocol version" in str(refused(server.port, only(other))).lower()
    line = server.wait_for_log(event="handshake-failed", reason="no-shared-version")
    assert line["offered_versions"] == ("TLSv1.3" if other == TLS_1_3 else "up to TLSv1.2")
    with TlsClient(server.port, only(PROTOS[allowed])) as client:
        assert client.exchange(b"allowed") == b"allowed"


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_versions_older_than_1_2_are_refused(cleat):
    server = cleat()
    # Python's own ciphers for TLS 1.1 need the lowest level of security.
    old = only(ssl.TLSVersion.TLSv1_1, ciphers="DEFAULT:@SECLEVEL=0")
    assert "protocol version" in str(refused(server.port, old)).lower()
    line = server.wait_for_log(event="handshake-failed", reason="no-shared-version")
    assert line["offered_versions"] == "up to TLSv1.1"


def test_go_agrees(cleat, go):
    server = cleat()
    assert go.run("handshake", server.port, version="1.2")["version"] == "TLSv1.2"
    assert go.run("handshake", server.port, version="1.3")["version"] == "TLSv1.3"
