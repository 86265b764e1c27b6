"""A TLS 1.2 server that goes no further than its first flight, byte by byte. So it can have what no
TLS library has today: the vulnerabilities and intolerances that `cleat-bench probe` looks for."""

import hashlib
import re
import socket
import subprocess
from dataclasses import dataclass, field
from typing import Callable

from certificates import Certificate
from probed import Server

ALERT, HANDSHAKE = 21, 22
CHANGE_CIPHER_SPEC, HEARTBEAT = 20, 24
UNEXPECTED_MESSAGE, BAD_RECORD_MAC, HANDSHAKE_FAILURE = 10, 20, 40


def sized(contents: bytes, size: int) -> bytes:
    return len(contents).to_bytes(size, "big") + contents


def record(kind: int, contents: bytes) -> bytes:
    return bytes([kind, 3, 3]) + sized(contents, 2)


def alert(description: int) -> bytes:
    return record(ALERT, bytes([2, description]))


class Closed(Exception):
    pass


def take(client: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        more = client.recv(count - len(got))
        if not more:
            raise Closed
        got += more
    return got


def take_record(client: socket.socket) -> tuple[int, bytes]:
    header = take(client, 5)
    return header[0], take(client, int.from_bytes(header[3:], "big"))


@dataclass
class Hello:
    """Hello is a ClientHello, taken apart."""

    message: bytes
    version: int = 0
    session_id: bytes = b""
    suites: list[int] = field(default_factory=list)
    compressions: bytes = b""
    extensions: dict[int, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rest = self.message[4:]

        def vector(size: int) -> bytes:
            nonlocal rest
            count = int.from_bytes(rest[:size], "big")
            taken, rest = rest[size : size + count], rest[size + count :]
            return taken

        self.version = int.from_bytes(rest[:2], "big")
        rest = rest[34:]
        self.session_id = vector(1)
        suites = vector(2)
        self.suites = [int.from_bytes(suites[i : i + 2], "big") for i in range(0, len(suites), 2)]
        self.compressions = vector(1)
        rest = vector(2) if rest else b""
        while rest:
            kind, rest = int.from_bytes(rest[:2], "big"), rest[2:]
            self.extensions[kind] = vector(2)


def take_hello(client: socket.socket) -> Hello:
    message = b""
    while len(message) < 4 or len(message) < 4 + int.from_bytes(message[1:4], "big"):
        kind, contents = take_record(client)
        if kind != HANDSHAKE:
            raise Closed
        message += contents
    return Hello(message)


def rsa_numbers(certificate: Certificate) -> tuple[int, int]:
    """rsa_numbers are the modulus and the private exponent of a certificate's key."""
    command = ["openssl", "pkey", "-in", str(certificate.key), "-noout", "-text"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = []
    for name in ("modulus", "privateExponent"):
        digits = re.search(rf"{name}:\n((?:\s+[0-9a-f:]+\n)+)", text)
        assert digits, text
        found.append(int(re.sub(r"[\s:]", "", digits[1]), 16))
    return found[0], found[1]


@dataclass
class Settings:
    """Settings is what the server does. The defaults are those of a sound one."""

    suites: list[int] = field(default_factory=lambda: [0x002F])  # AES128-SHA
    secure_renegotiation: bool = True
    compresses: bool = False
    version: int = 0x0303
    has_ssl_2: bool = False
    suites_max: int = 1 << 16  # It refuses a ClientHello with more.
    hello_max: int = 1 << 16
    knows_grease: bool = True
    bleeds: bool = False  # Heartbleed.
    takes_early_ccs: bool = False
    tells_padding: bool = False  # ROBOT.
    prime_bits: int = 2048
    reuses_key: bool = False


class RawServer(Server):
    """RawServer serves on a free port while its `with` lasts."""

    def __init__(self, certificate: Certificate, **settings: object) -> None:
        self.settings = Settings(**settings)
        command = ["openssl", "x509", "-in", str(certificate.cert), "-outform", "DER"]
        self.der = subprocess.run(command, capture_output=True, check=True).stdout
        self.modulus, self.private = rsa_numbers(certificate)
        self.connections = 0
        super().__init__(self.answer)

    def answer(self, client: socket.socket) -> None:
        self.connections += 1
        try:
            self.talk_tls(client)
        except (Closed, IndexError):
            pass

    def talk_tls(self, client: socket.socket) -> None:
        said = self.settings
        if client.recv(1, socket.MSG_PEEK)[0] & 0x80:  # SSL 2.0
            if said.has_ssl_2:
                client.sendall(b"\x80\x0b\x04\0\1\0\2" + b"\0" * 6)
                take(client, 1 << 16)
            return
        hello = take_hello(client)
        grease = any(each & 0x0F0F == 0x0A0A for each in hello.suites)
        chosen = [each for each in said.suites if each in hello.suites]
        version = min(hello.version, 0x0303)
        if (
            version != said.version or not chosen or len(hello.suites) > said.suites_max
            or len(hello.message) > said.hello_max or (grease and not said.knows_grease)
            or 0x5600 in hello.suites
        ):
            client.sendall(alert(HANDSHAKE_FAILURE))
            return
        client.sendall(self.flight(hello, chosen[0]))
        kind, contents = take_record(client)
        if kind == HEARTBEAT and said.bleeds:
            claimed = int.from_bytes(contents[1:3], "big")
            client.sendall(record(HEARTBEAT, b"\x02" + sized(b"m" * claimed, 2) + b"p" * 16))
        elif kind == CHANGE_CIPHER_SPEC:
            client.sendall(alert(BAD_RECORD_MAC if said.takes_early_ccs else UNEXPECTED_MESSAGE))
        elif kind == HANDSHAKE:
            right = self.padding_is_right(contents)
            wrong = UNEXPECTED_MESSAGE if said.tells_padding else BAD_RECORD_MAC
            take_record(client)
            take_record(client)
            client.sendall(alert(BAD_RECORD_MAC if right else wrong))

    def padding_is_right(self, message: bytes) -> bool:
        encrypted = int.from_bytes(message[6:], "big")
        size = (self.modulus.bit_length() + 7) // 8
        block = pow(encrypted, self.private, self.modulus).to_bytes(size, "big")
        zero_is_right = block.find(b"\0", 2) == size - 49
        return block[:2] == b"\0\2" and zero_is_right and block[-48:-46] == b"\3\3"

    def flight(self, hello: Hello, suite: int) -> bytes:
        extensions = b""
        if self.settings.secure_renegotiation and hello.extensions:
            extensions += b"\xff\x01" + sized(b"\0", 2)
        compression = 1 if self.settings.compresses and 1 in hello.compressions else 0
        body = self.settings.version.to_bytes(2, "big") + b"r" * 32 + b"\0"
        body += suite.to_bytes(2, "big") + bytes([compression])
        body += sized(extensions, 2) if extensions else b""
        messages = b"\2" + sized(body, 3) + b"\x0b" + sized(sized(sized(self.der, 3), 3), 3)
        if suite == 0x0033:  # DHE-RSA-AES128-SHA
            size = self.settings.prime_bits // 8
            fresh = b"" if self.settings.reuses_key else str(self.connections).encode()
            public = hashlib.shake_128(b"public" + fresh).digest(size)
            params = sized(b"\xff" * size, 2) + sized(b"\2", 2) + sized(public, 2)
            messages += b"\x0c" + sized(params + sized(b"signature", 2), 3)
        return record(HANDSHAKE, messages + b"\x0e\0\0\0")
