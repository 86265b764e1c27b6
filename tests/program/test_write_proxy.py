"""write-proxy-v1 and write-proxy-v2: the upstream learns the client's address before its first
byte. Version 2 also has what TLS negotiated: read here byte for byte by a parser of the tests."""

import hashlib

import pytest

import proxy_header
from client_authorities import ca, good, showing  # noqa: F401: the fixtures
from proxy_header import parse_v2, receive_v1, receive_v2
from tls_client import TLS_1_3, VERSIONS, TlsClient, only


def addresses(client):
    return client.socket.getsockname()[:2], client.socket.getpeername()[:2]


def header_of(upstreams, client, data=b"data"):
    """The header of version 2 that comes before data."""
    client.send(data)
    upstream = upstreams.accept()
    header = parse_v2(receive_v2(upstream))
    assert upstream.receive_exactly(len(data)) == data
    return header


def test_v1(cleat, upstreams):
    server = cleat("--write-proxy-v1", backend=upstreams)
    with TlsClient(server.port) as client:
        client.send(b"data")
        upstream = upstreams.accept()
        (source, source_port), (destination, destination_port) = addresses(client)
        line = f"PROXY TCP4 {source} {destination} {source_port} {destination_port}\r\n"
        assert receive_v1(upstream) == line.encode()
        assert upstream.receive_exactly(4) == b"data"


def test_v1_over_ipv6(cleat, upstreams, ipv6):
    server = cleat("--write-proxy-v1", backend=upstreams, frontend="[::1]:0")
    with TlsClient(server.port, host="::1") as client:
        (_, source_port), _ = addresses(client)
        line = f"PROXY TCP6 ::1 ::1 {source_port} {server.port}\r\n"
        assert receive_v1(upstreams.accept()) == line.encode()


def test_v2_addresses(cleat, upstreams):
    server = cleat("--write-proxy-v2", backend=upstreams)
    with TlsClient(server.port) as client:
        header = header_of(upstreams, client)
        assert (header.source, header.destination) == addresses(client)
        assert header.command == 1  # PROXY, not LOCAL.


def test_write_proxy_is_v2(cleat, upstreams):
    with TlsClient(cleat("--write-proxy", backend=upstreams).port) as client:
        assert header_of(upstreams, client).source == client.socket.getsockname()


def test_v2_over_ipv6(cleat, upstreams, ipv6):
    server = cleat("--write-proxy-v2", backend=upstreams, frontend="[::1]:0")
    with TlsClient(server.port, host="::1") as client:
        header = header_of(upstreams, client)
        assert (header.source, header.destination) == addresses(client)


def session_of(upstreams, client):
    """The client's session, whose ticket comes with the upstream's first byte at the latest."""
    upstreams.all[-1].send(b"x")
    client.receive_exactly(1)
    return client.tls.session


@VERSIONS
def test_v2_tells_what_tls_agreed(cleat, upstreams, can, version):
    server = cleat("--write-proxy-v2", "--alpn-protos", "h2,http/1.1", backend=upstreams)
    tls = only(version, alpn=["http/1.1"])
    with TlsClient(server.port, tls, name="site.example") as client:
        header = header_of(upstreams, client)
        assert header.tlvs[proxy_header.ALPN] == b"http/1.1"
        assert header.tlvs[proxy_header.AUTHORITY] == b"site.example"
        assert header.client == proxy_header.CLIENT_SSL
        assert header.verify != 0  # Nothing was verified.
        assert header.ssl[proxy_header.SSL_VERSION].decode() == client.tls.version()
        assert header.ssl[proxy_header.SSL_CIPHER].decode() == client.cipher
        # Which one it is depends on the client's OpenSSL; the log knows it from the same place.
        group = server.wait_for_log(event="handshake-done")["group"]
        assert header.ssl[proxy_header.SSL_GROUP].decode() == group != ""
        assert header.ssl[proxy_header.SSL_SIG_SCHEME] == b"ecdsa_secp256r1_sha256"
        assert proxy_header.SSL_CN not in header.ssl


@VERSIONS
def test_v2_tells_no_scheme_of_a_resumed_handshake(cleat, upstreams, version):
    server = cleat("--write-proxy-v2", backend=upstreams)
    tls = only(version)
    with TlsClient(server.port, tls) as client:
        first = header_of(upstreams, client)
        assert proxy_header.SSL_SIG_SCHEME in first.ssl
        assert first.tlvs[proxy_header.AUTHORITY] == b"localhost"
        session = session_of(upstreams, client)
    with TlsClient(server.port, tls, session=session) as client:
        assert client.tls.session_reused
        again = header_of(upstreams, client)
        assert proxy_header.SSL_SIG_SCHEME not in again.ssl
        assert again.tlvs[proxy_header.AUTHORITY] == b"localhost"


def test_v2_tells_a_post_quantum_group(cleat, upstreams, can, post_quantum):
    import threading

    if can["post-quantum group"] != "yes":
        pytest.skip(f"{can['TLS library']} has no post-quantum group")
    server = cleat("--write-proxy-v2", backend=upstreams)
    received = {}

    def tell():
        upstream = upstreams.accept()
        received["group"] = parse_v2(receive_v2(upstream)).ssl[proxy_header.SSL_GROUP]
        upstream.send(upstream.receive_exactly(4))
        upstream.receive_to_end()
        upstream.close()

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    post_quantum(server.port)
    thread.join(30)
    assert received["group"] == b"X25519MLKEM768"


def test_v2_without_sni_and_alpn(cleat, upstreams):
    server = cleat("--write-proxy-v2", backend=upstreams)
    with TlsClient(server.port, name=None) as client:
        header = header_of(upstreams, client)
        assert proxy_header.ALPN not in header.tlvs
        assert proxy_header.AUTHORITY not in header.tlvs


def test_v2_less_is_told_on_request(cleat, upstreams):
    flags = ["--write-proxy-v2", "--proxy-tlv=off", "--proxy-authority=off", "--alpn-protos", "h2"]
    server = cleat(*flags, backend=upstreams)
    with TlsClient(server.port, only(TLS_1_3, alpn=["h2"])) as client:
        assert header_of(upstreams, client).tlvs == {proxy_header.ALPN: b"h2"}


@VERSIONS
def test_v2_tells_of_a_client_certificate(cleat, upstreams, ca, good, version):
    flags = ["--write-proxy-v2", "--client-verify", "optional", "--client-verify-ca", ca.cert]
    server = cleat(*flags, backend=upstreams)

    tls = showing(good, version)
    with TlsClient(server.port, tls) as client:
        header = header_of(upstreams, client)
        shown = proxy_header.CLIENT_CERT_CONN | proxy_header.CLIENT_CERT_SESS
        assert header.client == proxy_header.CLIENT_SSL | shown
        assert header.verify == 0
        assert header.ssl[proxy_header.SSL_CN] == b"alice"
        session = session_of(upstreams, client)

    # A session that is resumed has the certificate, though the connection has not seen it.
    with TlsClient(server.port, tls, session=session) as client:
        assert client.tls.session_reused
        header = header_of(upstreams, client)
        assert header.client == proxy_header.CLIENT_SSL | proxy_header.CLIENT_CERT_SESS
        assert (header.verify, header.ssl[proxy_header.SSL_CN]) == (0, b"alice")

    with TlsClient(server.port, only(version)) as client:
        header = header_of(upstreams, client)
        assert header.client == proxy_header.CLIENT_SSL
        assert header.verify != 0 and proxy_header.SSL_CN not in header.ssl


@VERSIONS
def test_v2_takes_the_certificate_along(cleat, upstreams, ca, good, version):
    flags = ["--write-proxy-v2", "--proxy-client-cert", "--client-verify", "optional"]
    server = cleat(*flags, "--client-verify-ca", ca.cert, backend=upstreams)
    pem = good.cert.read_bytes()
    pem = pem[pem.index(b"-----BEGIN") :].replace(b" CERTIFICATE", b" TRUSTED CERTIFICATE")

    tls = showing(good, version)
    with TlsClient(server.port, tls) as client:
        assert header_of(upstreams, client).tlvs[proxy_header.CLIENT_CERT] == pem
        session = session_of(upstreams, client)
    with TlsClient(server.port, tls, session=session) as client:
        assert client.tls.session_reused
        assert header_of(upstreams, client).tlvs[proxy_header.CLIENT_CERT] == pem
    with TlsClient(server.port, only(version)) as client:
        assert proxy_header.CLIENT_CERT not in header_of(upstreams, client).tlvs


def test_a_long_stream_behind_a_header(cleat, upstreams):
    server = cleat("--write-proxy-v2", backend=upstreams)
    with TlsClient(server.port) as client:
        client.send(b"y" * 500_000)
        client.close_notify()
        upstream = upstreams.accept()
        receive_v2(upstream)
        got = upstream.receive_to_end()
        assert hashlib.sha256(got).digest() == hashlib.sha256(b"y" * 500_000).digest()
