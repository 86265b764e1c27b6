"""proxy-from: load balancers of a list send a PROXY header before TLS, and its client is then the
client: for the logs, for address lists, for client-hash, and in the PROXY header that cleat sends
on. Any other peer is refused."""

import json
import struct

import pytest

import proxy_header
from admin_client import admin_of, eventually_counts
from origins import echo
from program import complaints, run
from proxy_header import SIGNATURE, make_v2, parse_v2, receive_v1, receive_v2
from tls_client import TLS_1_3, TlsClient, only

SOURCE, DESTINATION = ("192.0.2.1", 1234), ("198.51.100.2", 443)
LOCAL = SIGNATURE + b"\x20\x00\x00\x00"


def tlv(kind: int, value: bytes) -> bytes:
    return struct.pack("!BH", kind, len(value)) + value


def crc32c(data: bytes) -> int:
    total = 0xFFFFFFFF
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = total >> 1 ^ (0x82F63B78 if total & 1 else 0)
    return total ^ 0xFFFFFFFF


def with_checksum(tlvs: bytes = b"") -> bytes:
    header = make_v2(SOURCE, DESTINATION, tlvs + tlv(3, bytes(4)))
    return header[:-4] + struct.pack("!I", crc32c(header))


@pytest.fixture
def serve(serve_lines, upstreams):
    return lambda *lines, **options: serve_lines(*lines, **{"backend": upstreams, **options})


def sent_on(upstreams, client):
    """The header of version 2 that cleat has sent to the upstream."""
    client.send(b"data")
    upstream = upstreams.accept()
    header = parse_v2(receive_v2(upstream))
    assert upstream.receive_exactly(4) == b"data"
    return header


@pytest.mark.parametrize(
    "inbound",
    [b"PROXY TCP4 192.0.2.1 198.51.100.2 1234 443\r\n", make_v2(SOURCE, DESTINATION)],
    ids=["v1", "v2"],
)
def test_the_upstream_learns_the_headers_client(serve, upstreams, inbound):
    server = serve('proxy-from = "127.0.0.1"', "write-proxy-v2 = on")
    with TlsClient(server.port, before_tls=inbound) as client:
        header = sent_on(upstreams, client)
    assert (header.source, header.destination) == (SOURCE, DESTINATION)
    assert header.tlvs[proxy_header.AUTHORITY] == b"localhost"
    assert header.ssl[proxy_header.SSL_VERSION]  # cleat's own TLS.


def test_version_1_is_written_from_version_2(serve, upstreams):
    server = serve('proxy-from = "127.0.0.0/8"', "write-proxy-v1 = on")
    with TlsClient(server.port, before_tls=make_v2(SOURCE, DESTINATION)) as client:
        client.send(b"data")
        line = receive_v1(upstreams.accept())
        assert line == b"PROXY TCP4 192.0.2.1 198.51.100.2 1234 443\r\n"


def test_a_header_cut_at_every_byte(serve, upstreams):
    server = serve('proxy-from = "127.0.0.1"', "write-proxy-v2 = on")
    inbound = with_checksum(tlv(5, b"id"))
    for cut in range(1, len(inbound)):
        with TlsClient(server.port, handshake=False, before_tls=inbound[:cut]) as client:
            client.socket.sendall(inbound[cut:])
            client.handshake()
            assert sent_on(upstreams, client).source == SOURCE


TLVS = tlv(1, b"h3") + tlv(2, b"balancer") + tlv(5, b"id-7") + tlv(0xEA, b"\x01vpce") + tlv(4, b"")


def test_inbound_tlvs_are_kept_and_those_of_tls_replaced(serve, upstreams):
    server = serve('proxy-from = "127.0.0.1"', "write-proxy-v2 = on", 'alpn-protos = "h2"')
    ssl = tlv(0x20, b"\x01\0\0\0\0" + tlv(0x21, b"TLSv1.0"))
    inbound = with_checksum(TLVS + ssl)
    tls = only(TLS_1_3, alpn=["h2"])
    with TlsClient(server.port, tls, before_tls=inbound) as client:
        header = sent_on(upstreams, client)
    assert header.tlvs[0x05] == b"id-7" and header.tlvs[0xEA] == b"\x01vpce"
    assert header.tlvs[proxy_header.ALPN] == b"h2"
    assert header.tlvs[proxy_header.AUTHORITY] == b"localhost"
    assert header.ssl[proxy_header.SSL_VERSION] == b"TLSv1.3"
    assert 0x03 not in header.tlvs and 0x04 not in header.tlvs


def test_inbound_tlvs_are_dropped_by_choice(serve, upstreams):
    lines = ['proxy-from = "127.0.0.1"', "write-proxy-v2 = on", "proxy-inbound-tlvs = drop"]
    server = serve(*lines)
    with TlsClient(server.port, before_tls=make_v2(SOURCE, DESTINATION, TLVS)) as client:
        header = sent_on(upstreams, client)
    assert header.tlvs.keys() == {proxy_header.AUTHORITY, proxy_header.SSL}


def test_a_checksum_is_written_by_choice(serve, upstreams):
    server = serve('proxy-from = "127.0.0.1"', "write-proxy-v2 = on", "proxy-checksum = on")
    with TlsClient(server.port, before_tls=with_checksum(TLVS)) as client:
        client.send(b"data")
        data = receive_v2(upstreams.accept())
    found = parse_v2(data).tlvs[3]
    assert struct.unpack("!I", found)[0] == crc32c(data.replace(tlv(3, found), tlv(3, bytes(4))))


def refused(server, sent):
    """Whether a client that sends this gets no answer of TLS."""
    with TlsClient(server.port, handshake=False) as client:
        try:
            client.socket.sendall(sent + client.client_hello())
            return client.socket.recv(1) == b""
        except (ConnectionResetError, BrokenPipeError):
            return True


@pytest.mark.parametrize(
    "sent, reason, detail",
    [
        (with_checksum()[:-1] + b"\0", "proxy-checksum", "CRC32C is not the checksum"),
        (make_v2(SOURCE, DESTINATION, b"\x05\x00\x09x"), "bad-proxy-header", "UNIQUE_ID"),
        (SIGNATURE + b"\x21\x11\x10\x00", "bad-proxy-header", "longer than 4096 bytes"),
        (b"", "bad-proxy-header", "the first bytes are no PROXY header"),
    ],
    ids=["checksum", "cut TLV", "oversize", "none"],
)
def test_a_wrong_header_is_named(serve, sent, reason, detail):
    server = serve('proxy-from = "127.0.0.1"')
    assert refused(server, sent)
    line = server.wait_for_log(event="proxy-header-failed")
    assert line["reason"] == reason and detail in line["detail"]


def test_another_peer_is_refused_before_its_header_is_read(serve):
    server = serve('proxy-from = "127.0.0.2, ::1"', 'admin = "[127.0.0.1]:0"')
    assert refused(server, make_v2(SOURCE, DESTINATION))
    line = server.wait_for_log(event="connection-refused")
    assert line["reason"] == "untrusted-proxy" and "source" not in line
    counted = eventually_counts(
        admin_of(server), "cleat_connections_refused_total", 1, reason="untrusted-proxy"
    )
    assert counted.sum("cleat_handshakes_failed_total") == 0


def test_proxy_proxy_believes_the_list_only(serve, upstreams):
    inbound = make_v2(SOURCE, DESTINATION, TLVS)
    with TlsClient(
        serve('proxy-from = "127.0.0.1"', "proxy-proxy = on").port, before_tls=inbound
    ) as client:
        client.send(b"data")
        assert upstreams.accept().receive_exactly(len(inbound) + 4) == inbound + b"data"
    server = serve('proxy-from = "192.0.2.0/24"', "proxy-proxy = on")
    assert refused(server, inbound)
    assert server.wait_for_log(event="connection-refused")["reason"] == "untrusted-proxy"


UNIX = SIGNATURE + b"\x21\x31\x00\xd8" + b"/a".ljust(108, b"\0") + b"/b".ljust(108, b"\0")


@pytest.mark.parametrize(
    "inbound",
    [LOCAL, SIGNATURE + b"\x21\x00\x00\x00", b"PROXY UNKNOWN\r\n"],
    ids=["LOCAL", "UNSPEC", "UNKNOWN"],
)
def test_without_addresses_the_connections_own_hold(serve, upstreams, inbound):
    server = serve('proxy-from = "127.0.0.1"', "write-proxy-v2 = on")
    with TlsClient(server.port, before_tls=inbound) as client:
        header = sent_on(upstreams, client)
        assert header.source == client.socket.getsockname()
        assert header.destination == client.socket.getpeername()


def test_a_client_at_a_unix_socket(serve, upstreams):
    server = serve('proxy-from = "127.0.0.1"', "write-proxy-v2 = on", "log-level = 2")
    with TlsClient(server.port, before_tls=UNIX) as client:
        client.send(b"data")
        data = receive_v2(upstreams.accept())
        assert data[12:14] == b"\x21\x31" and data[16:232] == UNIX[16:]
    assert server.wait_for_log(event="handshake-done")["source"] == "unix:/a"


def test_lists_are_asked_about_the_headers_client(serve):
    server = serve(
        'proxy-from = "127.0.0.1"', 'allow-from = "192.0.2.0/24"', 'deny-from = "192.0.2.9"'
    )
    with TlsClient(server.port, before_tls=make_v2(SOURCE, DESTINATION)):
        pass
    with TlsClient(server.port, before_tls=LOCAL):  # The balancer's health check.
        pass
    assert refused(server, make_v2(("192.0.2.9", 1), DESTINATION))
    line = server.wait_for_log(event="connection-refused", reason="address-denied")
    assert line["source"] == "192.0.2.9:1" and line["peer"].startswith("127.0.0.1:")
    assert refused(server, make_v2(("198.51.100.7", 1), DESTINATION))
    server.wait_for_log(event="connection-refused", reason="address-not-allowed")
    assert refused(server, UNIX)
    server.wait_for_log(times=2, event="connection-refused", reason="address-not-allowed")


def test_the_access_log_has_the_client_the_id_and_the_tlvs(serve, tmp_path):
    log = tmp_path / "access.log"
    server = serve(
        'proxy-from = "127.0.0.1"', f'access-log = "{log}"', "access-log-format = json"
    )
    with TlsClient(server.port, before_tls=make_v2(SOURCE, DESTINATION, TLVS)):
        pass
    server.end()
    (line,) = [json.loads(each) for each in log.read_text().splitlines()]
    assert line["source"] == "192.0.2.1:1234" and line["peer"].startswith("127.0.0.1:")
    assert line["unique_id"] == "id-7"
    assert line["proxy_tlvs"] == "ALPN,AUTHORITY,UNIQUE_ID,AWS,NOOP"


def test_client_hash_takes_the_headers_client(serve, origin):
    names = {}
    for name in ("a", "b"):
        names[origin(lambda one, name=name: (one.send(name.encode()), echo(one))).address] = name
    servers = " ".join(f'server = "{each}"' for each in names)
    server = serve(
        f'upstream = {{ name = "app" {servers} balance = client-hash }}',
        'upstream = "app"',
        'proxy-from = "127.0.0.1"',
        backend="",
    )
    chosen = {}
    for _ in range(2):
        for last in range(16):
            inbound = make_v2((f"192.0.2.{last}", 1), DESTINATION)
            with TlsClient(server.port, before_tls=inbound) as client:
                assert chosen.setdefault(last, client.receive(1)) == chosen[last]
    assert len(set(chosen.values())) == 2


def test_one_frontend_behind_a_balancer_and_one_without(serve, upstreams):
    server = serve(
        'frontend = "[127.0.0.1]:0"',
        'frontend = { host = "127.0.0.1" port = "0" proxy-from = "127.0.0.1" }',
        "write-proxy-v2 = on",
    )
    plain, behind = server.ports
    with TlsClient(plain) as client:
        assert sent_on(upstreams, client).source == client.socket.getsockname()
    with TlsClient(behind, before_tls=make_v2(SOURCE, DESTINATION)) as client:
        assert sent_on(upstreams, client).source == SOURCE


@pytest.mark.parametrize(
    "lines, said",
    [
        ('proxy-proxy = on\nallow-from = "::1"', "allow-from: proxy-proxy takes a PROXY header"),
        ("proxy-checksum = on", "proxy-checksum: this is a part of the header of write-proxy-v2"),
        ("proxy-inbound-tlvs = drop", "proxy-inbound-tlvs: there are no TLVs to drop"),
        ("proxy-inbound-tlvs = mix", 'proxy-inbound-tlvs: "mix" is nothing to do with TLVs'),
        ('proxy-from = "10.0.0.1/8"', "Write 10.0.0.0/8 for the network"),
    ],
)
def test_settings_without_effect_are_errors(config, certs, lines, said):
    path = config(f'{lines}\npem-file = "{certs.ecdsa.pem}"\n')
    assert said in complaints("--config", path, "--frontend", "[127.0.0.1]:0")


def test_explain_says_who_is_let_in(config, certs):
    path = config(
        'proxy-from = "10.0.0.0/8, ::1"\nwrite-proxy-v2 = on\ndeny-from = "192.0.2.0/24"\n'
        f'frontend = "[127.0.0.1]:443"\npem-file = "{certs.ecdsa.pem}"\n'
    )
    asked = ["explain", "--config", path, "--sni", "localhost"]
    said = run(*asked, "--from", "192.0.2.1").stdout
    assert "no: the client's address is denied (address-denied)" in said
    assert "expected from the 2 prefixes of proxy-from; it names the client" in said
    (one,) = json.loads(run(*asked, "--from", "192.0.3.1", "--json").stdout)["frontends"]
    assert one["admission"] == "allowed" and one["proxy_header"] is True
    (one,) = json.loads(run(*asked, "--from", "192.0.2.1", "--json").stdout)["frontends"]
    assert one["admission"] == "address-denied"
    (one,) = json.loads(run(*asked, "--json").stdout)["frontends"]
    assert one["admission"] is None
