"""A client that asks to renegotiate, which TLS 1.2 has, is refused and cut off; the log says so.
Compression is never agreed to."""

import subprocess

from deadlines import DEADLINE
from tls_client import TLS_1_2, TlsClient, only

# The compression methods of RFC 3749.
NULL, DEFLATE = 0, 1


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
    assert line["error"] == "renegotiation"


def test_others_do_not_notice(cleat):
    server = cleat()
    with TlsClient(server.port, only(TLS_1_2)) as client:
        client.exchange(b"before")
        renegotiate(server.port)
        server.wait_for_log(event="connection-closed", reason="client-failed")
        assert client.exchange(b"after") == b"after"


def with_compression(hello):
    """with_compression offers DEFLATE in a ClientHello, before no compression. No TLS library of
    today does."""
    message = hello[9:]  # Behind the headers of its record and of itself.
    suites = 34 + 1 + message[34]  # Behind version, random and session.
    methods = suites + 2 + int.from_bytes(message[suites : suites + 2], "big")
    assert message[methods : methods + 2] == bytes([1, NULL])
    message = message[:methods] + bytes([2, DEFLATE, NULL]) + message[methods + 2 :]
    message = b"\x01" + len(message).to_bytes(3, "big") + message
    return hello[:3] + len(message).to_bytes(2, "big") + message


def agreed_compression(hello):
    """agreed_compression is the method in a record with a ServerHello."""
    assert (hello[0], hello[5]) == (22, 2)
    session = 9 + 34
    return hello[session + 1 + hello[session] + 2]  # Behind the session and the cipher suite.


def test_compression_is_off(cleat):
    with TlsClient(cleat().port, only(TLS_1_2), handshake=False) as client:
        client.socket.sendall(with_compression(client.client_hello()))
        assert agreed_compression(client.socket.recv(1 << 16)) == NULL
