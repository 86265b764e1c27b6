"""Writes the corpora of all targets into a folder, one folder a target.

    python3 fuzz/corpus.py FOLDER

Those of text are files of fuzz/corpus; binary ones are made here.
"""

import shutil
import struct
import sys
from pathlib import Path

TEXTS = Path(__file__).resolve().parent / "corpus"

Corpus = dict[str, bytes]


def sized(length_size: int, content: bytes) -> bytes:
    return len(content).to_bytes(length_size, "big") + content


def extension(number: int, body: bytes) -> bytes:
    return struct.pack(">H", number) + sized(2, body)


def hello_body(name: bytes = b"www.example.org", protocols: tuple[bytes, ...] = (b"h2",)) -> bytes:
    """hello_body is a ClientHello like a browser's (RFC 8446, section 4.1.2)."""
    alpn = b"".join(sized(1, each) for each in protocols)
    extensions = b"".join(
        (
            extension(0x2A2A, b""),  # GREASE
            extension(0, sized(2, b"\0" + sized(2, name))),
            extension(16, sized(2, alpn)),
            extension(10, sized(2, struct.pack(">3H", 0x11EC, 29, 23))),
            extension(13, sized(2, struct.pack(">3H", 0x0403, 0x0804, 0x0401))),
            extension(43, sized(1, struct.pack(">3H", 0x3A3A, 0x0304, 0x0303))),
            extension(51, sized(2, struct.pack(">H", 29) + sized(2, bytes(32)))),
            extension(35, b""),
            extension(0xFF01, b"\0"),
        )
    )
    suites = struct.pack(">5H", 0x1A1A, 0x1301, 0x1302, 0xC02B, 0xC02F)
    head = b"\x03\x03" + bytes(32) + sized(1, bytes(32)) + sized(2, suites) + sized(1, b"\0")
    return head + sized(2, extensions)


def records(message: bytes, fragment: int = 16384) -> bytes:
    parts = [message[i : i + fragment] for i in range(0, len(message), fragment)]
    return b"".join(b"\x16\x03\x01" + sized(2, part) for part in parts)


def handshake(kind: int, body: bytes) -> bytes:
    return bytes([kind]) + sized(3, body)


def client_hello() -> Corpus:
    whole = handshake(1, hello_body())
    return {
        "one-record": b"\xff" + records(whole),
        "many-records": b"\x00" + records(whole, 7),
        "no-name": b"\x10" + records(handshake(1, hello_body(b"", ()))),
        "too-long": b"\xff" + records(b"\x01\x02\0\0"),
        "http": b"\x03GET / HTTP/1.1\r\n\r\n",
    }


def ja4() -> Corpus:
    return {
        "browser": hello_body(),
        "no-extensions": hello_body()[:84],
        "odd-protocol": hello_body(b"a", (b"\xff", b"h3")),
    }


def session_cache() -> Corpus:
    def text(value: bytes) -> bytes:
        return struct.pack("=I", len(value)) + value

    key = text(b"example.org") + struct.pack("=I", 443) + text(b"h2") + text(b"scope")
    magic = b"cleat sessions 1\n"
    return {"empty": magic, "no-session": magic + key + text(b"0\x82\x01\x02"), "cut": magic + key}


def session_ticket() -> Corpus:
    return {
        "unknown-key": b"\0" + bytes(160),
        "sealed": b"\1" + bytes(100),
        "true": b"\2",
        "patched": b"\2\0\x10\xff\0\x20\x00",
        "patched-for-1.3": b"\6\0\x08\x01",
        "unknown-key-for-1.3": b"\4" + bytes(160),
        "short": b"\0abc",
        "long": b"\1" + b"s" * 4000,
    }


def certificate_index() -> Corpus:
    def text(value: bytes) -> bytes:
        return struct.pack("=I", len(value)) + value

    stamp = bytes(32)
    made = text(b"/certs/a.pem\0") + stamp * 2 + bytes(32)
    made += struct.pack("=qiHB", 1_900_000_000, 7, 256, 0)
    made += struct.pack("=I", 2) + text(b"example.org") + text(b".example.net")
    return {"one": made, "two": made * 2, "cut": made[:40], "empty": b""}


def handshake_line() -> Corpus:
    line, share, credit = b"\0", b"\1", b"\2"
    return {
        "joins": line + b"\2\5" + bytes([0, 1, 1, 0, 1, 0, 0, 2]),
        "leaves": line + b"\0\2" + bytes([0, 1, 1, 3, 7, 0, 1, 11]),
        "full": line + b"\7\x40" + bytes([0] * 64 + [1] * 9),
        "empty": line,
        "cheap-and-dear": share + (b"\0\x30\1" * 20),
        "alone": share + b"\0\x30\0\1\x30\1" * 6,
        "long": share + b"\xff\xff\xff" * 9,
        "taken": credit + b"\0\x0f" * 60,
        "renewed": credit + b"\0\x0f\xff\xff" * 9,
    }


def proxy_header() -> Corpus:
    signature = b"\r\n\r\n\0\r\nQUIT\n"

    def second(command: int, family: int, body: bytes) -> bytes:
        return signature + bytes([0x20 | command, family]) + sized(2, body)

    ipv4 = bytes([192, 0, 2, 1, 192, 0, 2, 2]) + struct.pack(">2H", 50000, 443)
    ipv6 = bytes(32) + struct.pack(">2H", 50000, 443)
    tlvs = b"\x01" + sized(2, b"h2") + b"\x02" + sized(2, b"example.org")
    tlvs += b"\x05" + sized(2, b"id")
    ssl = b"\x20" + sized(2, b"\x01" + bytes(4) + b"\x21" + sized(2, b"TLSv1.3"))
    return {
        "v1-tcp4": b"PROXY TCP4 192.0.2.1 192.0.2.2 50000 443\r\n\x16\x03",
        "v1-tcp6": b"PROXY TCP6 2001:db8::1 ::1 1 65535\r\n",
        "v1-unknown": b"PROXY UNKNOWN anything at all\r\n",
        "v1-long": b"PROXY TCP6 " + b"f" * 110,
        "v2-local": second(0, 0, b""),
        "v2-tcp4": second(1, 0x11, ipv4),
        "v2-tcp6": second(1, 0x21, ipv6 + tlvs),
        "v2-unix": second(1, 0x31, b"/run/a".ljust(108, b"\0") * 2),
        "v2-tlvs": second(1, 0x11, ipv4 + tlvs + ssl),
        "v2-checksum": second(1, 0x11, ipv4 + b"\x03" + sized(2, bytes(4))),
        "v2-cut": second(1, 0x11, ipv4 + tlvs)[:-3],
        "tls": b"\x16\x03\x01\x02\x00",
    }


def ratchet_file() -> Corpus:
    def state(epoch: int, digits: str = "0f" * 32, seconds: int = 900) -> bytes:
        return f"ratchet {seconds} {epoch} {digits}\n".encode()

    epoch = struct.pack(">H", 1_000)
    return {
        "one": epoch + state(990),
        "later": epoch + state(1_010),
        "two": epoch + b"# The first seals.\n" + state(990) + b"\n\t" + state(996, "1e" * 32),
        "repeated": epoch + state(990) + state(990),
        "other-epoch": epoch + state(990, seconds=60),
        "secret": epoch + b"00" * 32 + b"\n",
        "no-end": epoch + state(0)[:-1],
        "far": epoch + state(9_223_372_036_854_775_807) + b"ratchet 900 -1 00\n",
        "empty": epoch,
    }


def relay() -> Corpus:
    """Each byte is an event, by its number in relay.cpp, and 14 for the other side."""
    moved, full, ended, flushed, passed, timeout = 0, 1, 2, 4, 5, 12
    other = 14
    return {
        "request": bytes([10, 0, moved, moved + other, ended, passed, ended + other]),
        "slow-reader": bytes([0, 0, full + other, flushed + other] * 4),
        "lingering": bytes([10, 0, ended + other, passed + other, timeout, timeout, timeout]),
        "broken": bytes([10, 1, full, 9, 9 + other, timeout]),
        "cut": bytes([10, 0, 3, passed, moved + other, 10]),
        "refused-upload": bytes([10, 0, moved, 8, moved, moved + other, ended + other]),
        "stopped": bytes([0, 1, full + other, 13]),
    }


def routes() -> Corpus:
    head = b"\x01\x00\xc0\x00\x02\x01" + sized(1, b"www.example.org") + sized(1, b"h2")
    head += sized(1, sized(1, b"h2") + sized(1, b"http/1.1"))
    text = (TEXTS / "configuration" / "routes.conf").read_bytes()
    return {"by-name": head + text, "no-client": b"\0" + bytes(10) + text}


def service_records() -> Corpus:
    def name(text: str) -> bytes:
        return b"".join(sized(1, part.encode()) for part in text.split(".")) + b"\0"

    def message(answers: list[bytes]) -> bytes:
        counts = struct.pack(">6H", 7, 0x8180, 1, len(answers), 0, 0)
        return counts + name("_a._tcp.example.org") + struct.pack(">2H", 33, 1) + b"".join(answers)

    def answer(kind: int, body: bytes) -> bytes:
        return b"\xc0\x0c" + struct.pack(">2HI", kind, 1, 60) + sized(2, body)

    first = answer(33, struct.pack(">3H", 10, 5, 443) + name("a.example.org"))
    second = answer(33, struct.pack(">3H", 0, 0, 80) + b"\xc0\x13")
    alias = answer(5, name("b.example.org"))
    return {
        "two": message([first, second]),
        "alias": message([alias, first]),
        "none": message([answer(33, struct.pack(">3H", 0, 0, 0) + b"\0")]),
        "loop": message([answer(33, struct.pack(">3H", 0, 0, 80) + b"\xc0\x44")]),
        "cut": message([first])[:-4],
    }


def address_list() -> Corpus:
    text = (TEXTS / "address_list" / "list.txt").read_bytes()
    return {"mapped": bytes(10) + b"\xff\xff\xc0\x00\x02\x05" + text, "plain": bytes(16) + text}


def server_flight() -> Corpus:
    hello = b"\x03\x03" + bytes(32) + sized(1, b"") + b"\xc0\x2f\0"
    old = handshake(2, hello) + handshake(11, sized(3, sized(3, b"0\x03\x02\x01\x01")))
    exchange = handshake(12, b"\x03\0\x1d" + sized(1, bytes(32)))
    extensions = extension(43, b"\x03\x04") + extension(51, b"\0\x1d" + sized(2, bytes(32)))
    new = handshake(2, hello[:-3] + b"\x13\x01\0" + sized(2, extensions))
    return {
        "tls-1.2": b"\xff" + records(old + exchange + handshake(14, b"")),
        "tls-1.3": b"\x03" + records(new) + b"\x14\x03\x03\0\1\1",
        "alert": b"\x01\x15\x03\x03\0\2\2\x28",
    }


def http_answer() -> Corpus:
    return {
        "length": b"\xffHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nneedle",
        "chunks": b"\x01HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"6;x\r\nneedle\r\n0\r\n\r\n",
        "to-end": b"\x07HTTP/1.0 200 OK\r\n\r\nall of it",
        "interim": b"\x20HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    }


def trace() -> Corpus:
    def patch(part: int, place: int, value: bytes) -> bytes:
        return bytes([part]) + struct.pack(">H", place) + sized(1, value)

    return {
        "sound": b"",
        "more-blocks": patch(0, 96, b"\xff\xff\0\0"),
        "other-lock": patch(1, 16, b"\x63"),
        "deep-stack": patch(5, 8, b"\xff\xff"),
        "order": patch(4, 0, b"\x01\0\0\0\xff\xff\0\0"),
        "cut": b"\xff\x80\x00",
    }


BINARY = (
    address_list,
    certificate_index,
    client_hello,
    handshake_line,
    http_answer,
    ja4,
    proxy_header,
    ratchet_file,
    relay,
    routes,
    server_flight,
    service_records,
    session_cache,
    session_ticket,
    trace,
)


def write(folder: Path) -> None:
    shutil.copytree(TEXTS, folder, dirs_exist_ok=True)
    for corpus in BINARY:
        below = folder / corpus.__name__
        below.mkdir(parents=True, exist_ok=True)
        for name, content in corpus().items():
            (below / name).write_bytes(content)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
