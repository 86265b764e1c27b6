"""A client that asks to renegotiate, which TLS 1.2 has, is refused and cut off; the log says so.
Compression is off, too."""

import subprocess

from deadlines import DEADLINE
from tls_client import TLS_1_2, TlsClient, only

# OpenSSL says no with a warning, and s_client does not go on without; AWS-LC ends it by itself.
HOW = ("renegotiation", "peer-alert")


def renegotiate(port):
    """Has openssl s_client ask for it, which it does on an R, and waits until it is cut off."""
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_2"]
    client = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert client.stdin and client.stdout
    with client:
        client.stdin.write("R\n")
        client.stdin.flush()  # And it stays open: at its end s_client would leave by itself.
        client.wait(DEADLINE)
        return client.stdout.read()


def test_it_is_refused(cleat):
    server = cleat()
    said = renegotiate(server.port)
    assert "RENEGOTIATING" in said
    line = server.wait_for_log(event="connection-closed")
    assert line["reason"] == "client-failed"
    assert line["error"] in HOW, line


def test_others_do_not_notice(cleat):
    server = cleat()
    with TlsClient(server.port, only(TLS_1_2)) as client:
        client.exchange(b"before")
        renegotiate(server.port)
        server.wait_for_log(event="connection-closed", reason="client-failed")
        assert client.exchange(b"after") == b"after"


def test_compression_is_off(cleat, s_client):
    ran = s_client(cleat().port, "-tls1_2", "-comp")
    assert "Compression: NONE" in ran.stdout
