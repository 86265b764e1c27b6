"""Reads PROXY headers (proxy-protocol.txt, sections 2.1 and 2.2) with none of the program's code,
and makes those that a load balancer would send."""

import ipaddress
import struct
from dataclasses import dataclass, field

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
ALPN, AUTHORITY, SSL = 0x01, 0x02, 0x20
SSL_VERSION, SSL_CN, SSL_CIPHER = 0x21, 0x22, 0x23
SSL_GROUP, SSL_SIG_SCHEME = 0x26, 0x27
CLIENT_CERT = 0xE0  # hitch's.
CLIENT_SSL, CLIENT_CERT_CONN, CLIENT_CERT_SESS = 0x01, 0x02, 0x04


@dataclass
class Header:
    """Header is a header of version 2, taken apart."""

    command: int
    source: tuple[str, int]
    destination: tuple[str, int]
    tlvs: dict[int, bytes]
    client: int = 0  # The bits of the SSL TLV, and its result of verifying.
    verify: int = 0
    ssl: dict[int, bytes] = field(default_factory=dict)


def receive_v1(upstream) -> bytes:
    """receive_v1 takes a header of version 1 off an upstream's connection, and no byte more."""
    line = b""
    while not line.endswith(b"\r\n"):
        line += upstream.receive_exactly(1)
        assert len(line) <= 107, line
    return line


def receive_v2(upstream) -> bytes:
    """receive_v2 takes a header of version 2 off an upstream's connection, and no byte more."""
    head = upstream.receive_exactly(16)
    assert head.startswith(SIGNATURE), head
    return head + upstream.receive_exactly(struct.unpack("!H", head[14:])[0])


def parse_v2(data: bytes) -> Header:
    """parse_v2 takes a whole header apart; every byte of it must be accounted for."""
    version_command, family, size = struct.unpack("!BBH", data[12:16])
    assert version_command >> 4 == 2 and len(data) == 16 + size
    width = {0x11: 4, 0x21: 16}[family]  # TCP over IPv4, TCP over IPv6.
    addresses = data[16 : 16 + 2 * width + 4]
    source, destination = addresses[:width], addresses[width : 2 * width]
    ports = struct.unpack("!HH", addresses[2 * width :])
    made = Header(
        version_command & 15,
        (str(ipaddress.ip_address(source)), ports[0]),
        (str(ipaddress.ip_address(destination)), ports[1]),
        parse_tlvs(data[16 + 2 * width + 4 :]),
    )
    if SSL in made.tlvs:
        made.client, made.verify = struct.unpack("!BI", made.tlvs[SSL][:5])
        made.ssl = parse_tlvs(made.tlvs[SSL][5:])
    return made


def parse_tlvs(data: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    while data:
        kind, size = struct.unpack("!BH", data[:3])
        assert len(data) >= 3 + size and kind not in found
        found[kind] = data[3 : 3 + size]
        data = data[3 + size :]
    return found


def make_v2(source: tuple[str, int], destination: tuple[str, int], tlvs: bytes = b"") -> bytes:
    """make_v2 makes a header for TCP, over IPv6 where the addresses are of that family."""
    family = 0x21 if ":" in source[0] else 0x11
    addresses = b"".join(ipaddress.ip_address(host).packed for host, _ in (source, destination))
    body = addresses + struct.pack("!HH", source[1], destination[1]) + tlvs
    return SIGNATURE + struct.pack("!BBH", 0x21, family, len(body)) + body
