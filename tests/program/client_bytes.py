"""Bytes that clients send first: names and ClientHellos that no TLS library sends, and what is no
TLS at all."""

import socket

from deadlines import DEADLINE
from tls_client import context


def hello_with_name(client, name):
    """The client's ClientHello with another SNI of the same length, which no library would send."""
    hello = client.client_hello()
    placeholder = b"x" * len(name)
    assert hello.count(placeholder) == 1
    return hello.replace(placeholder, name)


HOSTILE = [
    b"a\n2026-01-01T00:00:00.000Z level=info event=forged",
    b'a" event=forged reason="',
    b"a b=c",
    b"\x1b[2Jclear",
    b"\xff\xfe\x00\x01",
    b"back\\slash",
    b"tab\tand\rreturn",
    b"%s%n%x",
]


def long_alpn(size, more=0):
    """Settings that make a ClientHello of about that size, and with `more` by so many bytes longer
    than without."""
    names = ["h2"] + [f"{i:05}" + "x" * 245 for i in range(size // 251)]
    while more > 0:
        part = more if more <= 200 else 100  # A name, and the byte with its length.
        names.append("y" * (part - 1))
        more -= part
    return context(alpn=names)


HTTP = [
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /form HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx",
    b"HEAD / HTTP/1.0\r\n\r\n",
    b"PUT /x HTTP/1.1\r\n\r\n",
    b"DELETE /x HTTP/1.1\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\n\r\n",
    b"CONNECT example.org:443 HTTP/1.1\r\n\r\n",
]
GARBAGE = {
    "text": b"hello, is this the SSH server?\r\n",
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "zeros": bytes(100),
    "ones": b"\xff" * 100,
    "a record of data": b"\x17\x03\x03\x00\x05hello",
    "an alert": b"\x15\x03\x01\x00\x02\x02\x28",
    "a record that is too long": b"\x16\x03\x01\xff\xff" + bytes(70_000),
    "no ClientHello": b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",
    "an SSL 2 hello": b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + bytes(37),
    "an empty ClientHello": b"\x16\x03\x01\x00\x04\x01\x00\x00\x00",
}
# Their first bytes cannot begin a TLS record.
NO_RECORDS = ("text", "ssh", "zeros", "ones", "an SSL 2 hello")


def say(port, data):
    """Sends bytes and waits until cleat has hung up; what it answered."""
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as client:
        got = b""
        try:
            client.sendall(data)
            while more := client.recv(4096):
                got += more
        except (ConnectionResetError, BrokenPipeError):
            pass
        return got
