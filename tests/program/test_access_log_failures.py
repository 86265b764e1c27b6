"""A line of the access log for a handshake that failed says as much as is known: the certificate
that a refused client has shown, cleat's own where the client has seen it, version and suite, and
why."""

import contextlib
import os
import socket
import ssl

import pytest

from access_logs import access, serve  # noqa: F401: the fixtures
from admin_client import admin_of, eventually_counts
from certificates import EC
from client_bytes import say
from deadlines import DEADLINE
from tls_client import TLS_1_2, TLS_1_3, VERSIONS, TlsClient, only, refused

IS_OPENSSL = os.environ["CLEAT_TLS"].startswith("openssl")


@pytest.fixture
def strict(serve, certs):
    """A cleat that asks for a certificate of an authority, and its admin server."""
    ca = certs.authority("ca")
    server = serve(
        "--client-verify", "required", "--client-verify-ca", ca.cert, "--admin", "[127.0.0.1]:0"
    )
    return server, admin_of(server)


@VERSIONS
@pytest.mark.parametrize("fault", ["expired", "self-signed", "hostile"])
def test_a_client_certificate_that_is_refused_is_named(strict, access, certs, version, fault):
    server, admin = strict
    name = "late\x1b[31m" if fault == "hostile" else "late"
    authority = None if fault == "self-signed" else certs.authority("ca")
    shown = certs.expired(f"late-{fault}", f"/CN={name}", authority)
    refused(server.port, only(version, certificate=shown.pem))
    line = server.wait_for_log(event="handshake-failed", reason="bad-certificate")
    subject = line["subject"]
    assert subject == "CN=late" if fault != "hostile" else subject.startswith("CN=late")
    assert subject.isascii() and subject.isprintable()
    assert line["fingerprint"] == shown.fingerprint
    entry = access.wait_for(error="bad-certificate")
    assert (entry["client_subject"], entry["client_fingerprint"]) == (subject, shown.fingerprint)
    issuer = "CN=ca" if authority else subject
    assert (line["issuer"], line["serial"]) == (issuer, shown.serial)
    assert (entry["client_issuer"], entry["client_serial"]) == (issuer, shown.serial)
    if version == TLS_1_2 and IS_OPENSSL:  # It does not tell them before the end.
        assert "version" not in entry and "cipher" not in entry
    else:
        assert entry["version"] == ("TLSv1.2" if version == TLS_1_2 else "TLSv1.3")
        assert entry["cipher"]
    assert entry["certificate"] == str(certs.ecdsa.pem)
    eventually_counts(admin, "cleat_handshakes_failed_total", 1, reason="bad-certificate")
    (failure,) = admin.get("/status.json").json["failures"]
    assert (failure["reason"], failure["subject"]) == ("bad-certificate", subject)


def test_long_names_of_a_client_take_no_room_from_what_went_wrong(strict, access, certs):
    server, admin = strict
    long = "".join(f"/OU={letter * 64}" for letter in "abcdefghijklmnop")
    own = ["-x509", "-subj", f"/CN=long{long}", "-set_serial", "0x" + "5a" * 1000]
    shown = certs.make("long", EC, own)
    refused(server.port, only(TLS_1_3, certificate=shown.pem), name="www.example.org")
    line = server.wait_for_log(event="handshake-failed", reason="bad-certificate")
    entry = access.wait_for(error="bad-certificate")
    for each in (line, entry):
        assert each["sni"] == "www.example.org" and each["detail"]
        assert str(each["truncated"]).lower() == "true"
    assert line["subject"].endswith("CN=long") or line["subject"].startswith("OU=")
    assert (line["fingerprint"], entry["client_fingerprint"]) == (shown.fingerprint,) * 2
    assert {"duration_ms", "reason", "up_bytes"} <= entry.keys()


@pytest.mark.parametrize("number", ["0", "128", "-5"])
def test_a_serial_number_is_written_as_openssl_writes_it(strict, access, certs, number):
    server, admin = strict
    shown = certs.make("numbered", EC, ["-x509", "-subj", "/CN=numbered", "-set_serial", number])
    refused(server.port, only(TLS_1_3, certificate=shown.pem))
    assert access.wait_for(error="bad-certificate")["client_serial"] == shown.serial


@VERSIONS
def test_a_client_without_a_certificate_has_seen_cleats(strict, access, certs, version):
    server, _ = strict
    refused(server.port, only(version))
    entry = access.wait_for(error="no-client-certificate")
    assert entry["certificate"] == str(certs.ecdsa.pem)
    assert not any(each.startswith("client_") for each in entry)


def test_a_client_that_begins_with_an_alert_has_seen_no_certificate(serve, access):
    say(serve().port, b"\x15\3\1\0\2\2\x28")
    entry = access.wait_for(reason="handshake-failed")
    assert not entry.keys() & {"certificate", "version", "cipher"}


def test_a_refusal_by_the_client_is_answered_with_nothing(serve, access, certs):
    """A client that refuses a certificate of TLS 1.3 says so in plaintext (RFC 8446, section
    6.2)."""
    server = serve("--admin", "[127.0.0.1]:0")
    admin = admin_of(server)
    tls = only(TLS_1_3)
    tls.load_verify_locations(certs.rsa.pem)
    tls.verify_mode = ssl.CERT_REQUIRED
    with TlsClient(server.port, tls, handshake=False) as client:
        with pytest.raises(ssl.SSLCertVerificationError):
            client.handshake()
        client.push()
        client.socket.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            assert client.socket.recv(100) == b""
    seen = eventually_counts(admin, "cleat_handshakes_failed_total", 1, reason="peer-alert")
    assert seen.value("cleat_handshake_alerts_received_total", alert="unknown_ca") == 1
    assert seen.sum("cleat_handshake_alerts_sent_total") == 0
    assert access.wait_for(error="peer-alert")["certificate"] == str(certs.ecdsa.pem)


def with_sni(port, extension):
    """with_sni sends a ClientHello whose server_name has this content (RFC 6066, section 3)."""
    with TlsClient(port, name="x", handshake=False) as client:
        hello = client.client_hello()
        before = b"\0\0\0\6\0\4\0\0\1x"
        after = b"\0\0" + len(extension).to_bytes(2, "big") + extension
        offset = hello.index(before)
        changed = bytearray(hello[:offset] + after + hello[offset + len(before) :])
        more = len(after) - len(before)
        size_at = list_of_extensions(hello)
        for place, octets in ((3, 2), (6, 3), (size_at, 2)):
            size = int.from_bytes(changed[place : place + octets], "big") + more
            changed[place : place + octets] = size.to_bytes(octets, "big")
        client.socket.sendall(bytes(changed))
        client.socket.settimeout(DEADLINE)
        with contextlib.suppress(ConnectionResetError):
            while client.socket.recv(4096):
                pass


def list_of_extensions(hello):
    """Where the size of the extensions is, in a record with a ClientHello."""
    offset = 5 + 4 + 2 + 32
    offset += 1 + hello[offset]
    offset += 2 + int.from_bytes(hello[offset : offset + 2], "big")
    return offset + 1 + hello[offset]


def name_list(kind, name):
    entry = bytes([kind]) + len(name).to_bytes(2, "big") + name
    return len(entry).to_bytes(2, "big") + entry


@pytest.mark.parametrize(
    "extension",
    [
        pytest.param(name_list(0, b"a" * 300), id="long name"),
        pytest.param(name_list(0, b"a\0b"), id="NUL"),
        pytest.param(name_list(1, b"a"), id="name type 1"),
        pytest.param(b"\0\0", id="empty list"),
        # OpenSSL takes it for no name.
        *([] if IS_OPENSSL else [pytest.param(name_list(0, b""), id="empty name")]),
    ],
)
def test_a_malformed_name_is_the_clients_fault(serve, access, extension):
    server = serve()
    with_sni(server.port, extension)
    entry = access.wait_for(reason="handshake-failed")
    assert entry["error"] == "protocol-violation" and entry["detail"]
    line = server.wait_for_log(event="handshake-failed", reason="protocol-violation")
    assert line["detail"] == entry["detail"]


def test_a_bad_proxy_header_says_what_is_wrong_with_it(serve, access):
    server = serve("--proxy-proxy")
    say(server.port, b"PROXY TCP4 nonsense\r\n")
    entry = access.wait_for(reason="bad-proxy-header")
    assert entry["detail"] == "the line of version 1 has a wrong word, address or port"
    assert server.wait_for_log(event="proxy-header-failed")["detail"] == entry["detail"]
