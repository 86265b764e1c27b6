"""A web server behind cleat, as curl sees it: verified, with both versions of TLS, by HTTP/1.1 and
again and again on new connections."""

import subprocess

import pytest

from deadlines import DEADLINE
from origins import answer


@pytest.fixture
def curl(cleat, origin, certs):
    """Runs curl against cleat in front of a small web server."""
    port = cleat("--alpn-protos", "http/1.1", backend=origin(answer), pem=[certs.rsa]).port

    def run(*flags):
        command = ["curl", "-sS", "--noproxy", "*", "--ipv4", "--cacert", certs.rsa.cert]
        command += [*flags, f"https://localhost:{port}/"]
        words = list(map(str, command))
        return subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE)

    return run


@pytest.mark.parametrize("flags", [["--tlsv1.3"], ["--tls-max", "1.2"], ["--http1.1"]])
def test_a_page(curl, flags):
    ran = curl(*flags)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "hello from the origin\n", "")


def test_what_was_agreed(curl):
    ran = curl("-v")
    assert "SSL connection using TLSv1.3" in ran.stderr
    assert "SSL certificate verify ok" in ran.stderr
    assert "http/1.1" in ran.stderr


def test_again_and_again(curl):
    for _ in range(5):
        assert curl().stdout == "hello from the origin\n"


def test_a_certificate_that_curl_does_not_trust(curl, certs):
    ran = curl("--cacert", certs.ecdsa.cert)
    assert ran.returncode == 60  # CURLE_PEER_FAILED_VERIFICATION
