"""A client offers and sends what its options say: each option is seen by a server that
looks, byte by byte where a library would not tell."""

import ssl
import struct

import pytest

from origins import Origin
from http_handlers import head_of_request, http, over_tls, target_of
from tls_server import OpensslServer

SERVER_NAME, SIGNATURE_ALGORITHMS, ALPN = 0, 13, 16

# RFC 8446, section 4.2.3.
ECDSA_SHA384, PSS_SHA256 = 0x0503, 0x0804


def extensions_of(hello: bytes) -> dict[int, bytes]:
    """extensions_of a ClientHello, by number (RFC 8446, section 4.1.2)."""
    offset = 4 + 2 + 32  # The message's head, a version and the random bytes.
    offset += 1 + hello[offset]  # The session's ID,
    offset += 2 + struct.unpack_from(">H", hello, offset)[0]  # suites,
    offset += 1 + hello[offset] + 2  # compression, and how much of the rest there is.
    found = {}
    while offset < len(hello):
        number, size = struct.unpack_from(">HH", hello, offset)
        found[number] = hello[offset + 4 : offset + 4 + size]
        offset += 4 + size
    return found


def hello_of(bench, *words: object) -> dict[int, bytes]:
    """hello_of a load with these words: the extensions of its ClientHello, which nobody answers."""
    seen = []

    def handle(upstream):
        head = upstream.receive_exactly(5)
        seen.append(upstream.receive_exactly(struct.unpack_from(">H", head, 3)[0]))

    listening = Origin(handle)
    try:
        words = ("-n", 1, "-c", 1, "--no-preflight", *words, target_of(listening))
        bench.load(*words, code=1)
    finally:
        listening.close()
    (hello,) = seen
    return extensions_of(hello)


def server_side(certificate, protocols: list[str] | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.cert, certificate.key)
    if protocols:
        context.set_alpn_protocols(protocols)
    return context


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_signature_algorithms_are_offered_in_their_order(bench, version):
    found = hello_of(
        bench, "--tls", version, "--signature-algorithms", "ECDSA+SHA384:RSA-PSS+SHA256"
    )
    size, *schemes = struct.unpack(">HHH", found[SIGNATURE_ALGORITHMS])
    assert (size, schemes) == (4, [ECDSA_SHA384, PSS_SHA256])


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_a_server_that_cannot_sign_as_it_was_asked_to(bench, certs, version):
    """The server has an RSA key: a client that accepts only ECDSA has no handshake with it."""
    with OpensslServer(certs.rsa) as target:
        words = ("-n", 2, "-c", 1, "--no-preflight", "--tls", version, "--signature-algorithms")
        found = bench.load(*words, "ECDSA+SHA256", target.address, code=1)
        (failed,) = found["failures"]
        assert (failed["stage"], failed["kind"], failed["count"]) == (
            "handshake", "alert handshake_failure", 2
        )
        assert bench.load(*words, "ECDSA+SHA256:RSA-PSS+SHA256", target.address)["ok"] == 2


def test_a_signature_algorithm_that_there_is_not(bench):
    ran = bench.run("load", "-q", "--signature-algorithms", "ECDSA+SHA256:NOPE", "127.0.0.1:1")
    assert ran.returncode == 2
    assert "signature algorithms: " in ran.stderr and "NOPE" in ran.stderr
    assert "ECDSA+SHA256:RSA-PSS+SHA256" in ran.stderr


def test_protocols_are_offered_in_their_order(bench):
    found = hello_of(bench, "--alpn", "http/1.0,http/1.1")
    assert found[ALPN] == b"\x00\x12\x08http/1.0\x08http/1.1"
    assert ALPN not in hello_of(bench)


def test_a_server_agrees_to_what_was_offered(bench, certs):
    agreed = []

    def handle(upstream):
        agreed.append(upstream.socket.selected_alpn_protocol())
        http(body=b"x")(upstream)

    target = Origin(over_tls(server_side(certs.ecdsa, ["http/1.1", "h2"]), handle))
    try:
        words = ("-n", 1, "--no-preflight", "-c", 1)
        bench.load(*words, "--alpn", "http/1.0,http/1.1", target_of(target))
        bench.load(*words, target_of(target))
    finally:
        target.close()
    assert agreed == ["http/1.1", None]


@pytest.mark.parametrize(
    "sent", [b"PING\r\n", bytes(range(256)) * 1200], ids=["a line", "300 KiB of every byte"]
)
def test_a_file_is_sent_as_it_is(bench, certs, sent):
    (bench.folder / "sent").write_bytes(sent)
    seen = []

    def handle(upstream):
        for _ in range(2):
            seen.append(upstream.receive_exactly(len(sent)))
            upstream.send(b"\x00ok")
        assert upstream.receive_to_end() == b""

    target = Origin(over_tls(server_side(certs.ecdsa), handle))
    try:
        found = bench.load("-n", 4, "-c", 1, "--no-preflight", "--raw-file", "sent", "--requests",
                           2, "--expect-size", 3, target_of(target))
    finally:
        target.close()
    assert found["ok"] == 4
    assert seen == [sent] * 4
    assert found["bytes"] == {"up": 4 * len(sent), "down": 12}


def test_a_file_that_is_not_there_is_an_error_before_the_run(bench):
    ran = bench.run("load", "--raw-file", bench.folder / "none", "127.0.0.1:1")
    assert ran.returncode == 2
    assert f"{bench.folder}/none" in ran.stderr and "No such file" in ran.stderr


def test_a_server_that_speaks_no_protocol_that_is_offered(bench, server):
    target = server(http(), "--alpn-protos", "h2, http/1.1")
    words = ("-c", 1, "-n", 2, "--no-preflight", "--alpn", "acme/9")
    (failed,) = bench.load(*words, target.address, code=1)["failures"]
    assert (failed["stage"], failed["kind"]) == ("handshake", "alert no_application_protocol")


def test_a_name_is_asked_for_and_an_address_is_not(bench):
    asked = hello_of(bench, "--sni", "a.example")[SERVER_NAME]
    assert asked == b"\x00\x0c\x00\x00\x09a.example"
    assert SERVER_NAME not in hello_of(bench)


@pytest.mark.parametrize(
    "name, part",
    [
        ("192.0.2.1", "RFC 6066"),
        ("192.0.2.1=3", "RFC 6066"),
        ("::1", "RFC 6066"),
        ("[::1]", "RFC 6066"),
        ("a.example.", "dot"),
        ("a b.example", "letters"),
        ("münchen.de", "xn--"),
        ("a" * 300, "253"),
    ],
)
def test_what_sni_cannot_say_is_told_before_the_run(bench, name, part):
    """With some of these names a library would silently send no SNI, and with the others it would
    fail in the handshake."""
    ran = bench.run("load", "-q", "--sni", "good.example", "--sni", name, "127.0.0.1:1")
    assert ran.returncode == 2
    assert "--sni" in ran.stderr and part in ran.stderr, ran.stderr


def test_a_request_says_whom_it_asks(bench, certs):
    """With the port, and in the name's own letters (RFC 9110, section 7.2)."""
    heads = []

    def handle(upstream):
        heads.append(head_of_request(upstream).split(b"\r\n"))
        upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")

    target = Origin(over_tls(server_side(certs.ecdsa), handle))
    try:
        for words in ((), ("--sni", "a.example")):
            bench.load("-n", 1, "-c", 1, "--no-preflight", *words, target_of(target))
    finally:
        target.close()
    port = target_of(target).rsplit(":", 1)[1].encode()
    first, second = heads
    assert b"Host: 127.0.0.1:" + port in first
    assert b"Host: a.example:" + port in second
