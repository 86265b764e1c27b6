"""Connections that stay open, and one request after the other on them."""

import socket
import ssl


def connect(port: int, name: str, timeout_s: float = 30) -> ssl.SSLSocket:
    """connect makes a connection of TLS to loopback; the certificate is not verified."""
    # Without authorities: to load them takes 50 ms.
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    settings.check_hostname = False
    settings.verify_mode = ssl.CERT_NONE
    raw = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return settings.wrap_socket(raw, server_hostname=name)


def ask(client: ssl.SSLSocket) -> None:
    """ask gets one byte from perf-origin. Raises OSError where the connection was cut."""
    client.sendall(b"GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = b""
    while not answer.endswith(b"\r\n\r\nx"):
        piece = client.recv(4096)
        if not piece:
            raise ConnectionError("the connection was cut")
        answer += piece


def lives(client: ssl.SSLSocket) -> bool:
    try:
        ask(client)
    except OSError:
        return False
    return True
