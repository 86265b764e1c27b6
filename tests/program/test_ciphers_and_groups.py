"""ciphers, ciphersuites, prefer-server-ciphers and ecdh-curve are honoured; the default order of
groups begins with the post-quantum one where the TLS library has it."""

import re

import pytest

from tls_client import TLS_1_2, TLS_1_3, TlsClient, only, refused

AES128 = "ECDHE-ECDSA-AES128-GCM-SHA256"
AES256 = "ECDHE-ECDSA-AES256-GCM-SHA384"
CHACHA = "ECDHE-ECDSA-CHACHA20-POLY1305"


def agreed(port, tls):
    with TlsClient(port, tls) as client:
        client.exchange(b"x")
        return client.cipher


def test_ciphers_limits_tls_1_2(cleat):
    server = cleat("--ciphers", AES256)
    assert agreed(server.port, only(TLS_1_2)) == AES256
    refused(server.port, only(TLS_1_2, ciphers=AES128))
    line = server.wait_for_log(event="handshake-failed", reason="no-shared-cipher")
    assert line["offered_ciphers"].split(",")[0] == AES128
    assert "certificate" not in line


@pytest.mark.parametrize("ours, expected", [("off", CHACHA), ("on", AES256)])
def test_whose_order_counts(cleat, ours, expected):
    flags = ["--ciphers", f"{AES256}:{CHACHA}", f"--prefer-server-ciphers={ours}"]
    assert agreed(cleat(*flags).port, only(TLS_1_2, ciphers=f"{CHACHA}:{AES256}")) == expected


def test_by_default_tls_1_2_has_forward_secrecy_and_aead(cleat):
    port = cleat().port
    for weak in ("ECDHE-ECDSA-AES128-SHA", "AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256"):
        refused(port, only(TLS_1_2, ciphers=f"{weak}:@SECLEVEL=0"))


@pytest.mark.parametrize(
    "suite", ["TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"]
)
def test_ciphersuites_limits_tls_1_3(cleat, suite):
    assert agreed(cleat("--ciphersuites", suite).port, only(TLS_1_3)) == suite


def test_ciphersuites_left_out_are_refused(cleat, s_client):
    server = cleat("--ciphersuites", "TLS_AES_256_GCM_SHA384")
    ran = s_client(server.port, "-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256")
    assert "handshake failure" in ran.stderr
    assert server.wait_for_log(event="handshake-failed", reason="no-shared-cipher")


def group(s_client, port, groups, version="-tls1_3"):
    ran = s_client(port, version, "-groups", groups)
    # OpenSSL 3.5 says Peer.
    found = re.search(r"(?:Server|Peer) Temp Key: (.*)", ran.stdout)
    return found[1] if found else ran.stderr


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_ecdh_curve_limits_groups(cleat, certs, s_client, version):
    # With an ECDSA certificate TLS 1.2 would also need the group of its key.
    server = cleat("--ecdh-curve", "P-384:P-256", pem=[certs.rsa])
    assert "secp384r1" in group(s_client, server.port, "X25519:P-384", version)
    assert "prime256v1" in group(s_client, server.port, "X25519:P-256", version)
    assert "handshake failure" in group(s_client, server.port, "X25519", version)
    line = server.wait_for_log(event="handshake-failed")
    # In TLS 1.2 a group is part of the choice of a cipher suite.
    assert line["reason"] == ("no-shared-cipher" if version == "-tls1_2" else "no-shared-group")
    assert line["offered_groups"] == "X25519"
    assert ("offered_ciphers" in line) == (version == "-tls1_2")


@pytest.mark.parametrize("ours, expected", [("off", "prime256v1"), ("on", "secp384r1")])
def test_whose_order_of_groups_counts(cleat, s_client, ours, expected):
    server = cleat("--ecdh-curve", "P-384:P-256", f"--prefer-server-ciphers={ours}")
    assert expected in group(s_client, server.port, "P-256:P-384", "-tls1_2")


def test_a_client_that_guessed_another_group_is_asked_again(cleat, s_client):
    """The first group of the list has its key share in the ClientHello: a HelloRetryRequest."""
    server = cleat("--ecdh-curve", "P-256")
    assert "prime256v1" in group(s_client, server.port, "X25519:P-256")
    assert server.wait_for_log(event="handshake-done")["group"] in ("P-256", "secp256r1")


def test_the_default_groups(cleat, s_client):
    port = cleat().port
    assert "X25519" in group(s_client, port, "X25519")
    assert "prime256v1" in group(s_client, port, "P-256")
    assert "handshake failure" in group(s_client, port, "P-384")
