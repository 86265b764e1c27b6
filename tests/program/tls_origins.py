"""Upstreams that speak TLS, and the certificates that they show."""

import hashlib
import queue
import socket
import ssl
from pathlib import Path
from typing import Callable

import pytest

import origins
from certificates import Certificate, CertificateMaker, openssl
from origins import Origin, Upstream
from tls_client import TlsClient


@pytest.fixture
def ca(certs: CertificateMaker) -> Certificate:
    """ca is the authority that cleat verifies upstreams by."""
    return certs.authority("upstream-authority")


@pytest.fixture
def good(certs: CertificateMaker, ca: Certificate) -> Certificate:
    """good is a certificate for localhost that the authority has signed."""
    return server_certificate(certs, ca)


def local(origin: Origin) -> str:
    """local is an origin's address by its name, which the certificates have."""
    return origin.address.replace("127.0.0.1", "localhost")


def server_certificate(
    certs: CertificateMaker,
    issuer: Certificate,
    names: str = "DNS:localhost,IP:127.0.0.1",
    days: int = 30,
    usage: str = "serverAuth",
) -> Certificate:
    """A certificate that an authority has signed. With days = -1 it has expired."""
    name = f"{issuer.cert.stem}-{names}-{days}-{usage}".replace(":", "_").replace(",", "_")
    if name in certs.made:
        return certs.made[name]
    key, cert, request = certs.requested(name, "/CN=server")
    extensions = certs.folder / f"{name}.extensions"
    extensions.write_text(f"subjectAltName={names}\nextendedKeyUsage={usage}\n")
    signer = ["-CA", issuer.cert, "-CAkey", issuer.key, "-CAcreateserial"]
    more = ["-days", days, "-extfile", extensions, "-out", cert]
    openssl("x509", "-req", "-in", request, *signer, *more)
    return certs.keep(name, cert, key)


FAULTS = {"expired": "certificate-expired", "unknown": "unknown-authority", "name": "wrong-name"}


def faulty(certs: CertificateMaker, ca: Certificate, fault: str) -> Certificate:
    """faulty is a certificate that does not verify, for one of the reasons in FAULTS."""
    if fault == "expired":
        return server_certificate(certs, ca, days=-1)
    if fault == "unknown":
        return server_certificate(certs, certs.authority("another-authority"))
    return server_certificate(certs, ca, names="DNS:other.example,IP:127.0.0.9")


def settings(certificate: Certificate, **more: object) -> ssl.SSLContext:
    """settings are a server's: alpn, clients (the file of authorities that it verifies clients by),
    and attributes of ssl.SSLContext."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate.pem)
    for name, value in more.items():
        if name == "alpn":
            made.set_alpn_protocols(value)
        elif name == "clients":
            made.load_verify_locations(value)
            made.verify_mode = ssl.CERT_REQUIRED
        else:
            setattr(made, name, value)
    return made


def only_server(
    certificate: Certificate, version: ssl.TLSVersion, **more: object
) -> ssl.SSLContext:
    """only_server is a server's settings for one version of TLS."""
    return settings(certificate, minimum_version=version, maximum_version=version, **more)


class TlsEnd(TlsClient):
    """TlsEnd is the server's end of one connection, with the calls of TlsClient."""

    def __init__(self, accepted: Upstream, tls: ssl.SSLContext) -> None:
        self.socket = accepted.socket
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.incoming = ssl.MemoryBIO()
        self.outgoing = ssl.MemoryBIO()
        self.name: str | None = None
        tls.sni_callback = self.on_name
        self.tls = tls.wrap_bio(self.incoming, self.outgoing, server_side=True)
        self.handshake()

    def on_name(self, _tls: object, name: str | None, _context: object) -> None:
        self.name = name


def over_tls(
    tls: ssl.SSLContext, handle: Callable[[TlsEnd], None], before: Callable | None = None
) -> Callable[[Upstream], None]:
    """over_tls is a handler of an Origin. `before` takes what comes before TLS."""

    def serve(accepted: Upstream) -> None:
        if before is not None:
            before(accepted)
        try:
            end = TlsEnd(accepted, tls)
        except ssl.SSLError:
            return  # The other side has refused us.
        handle(end)

    return serve


def echo(end: TlsEnd) -> None:
    """echo sends back what it receives, and ends when the client has ended."""
    while more := end.receive():
        end.send(more)
    end.close_notify()


def saying(name: str) -> Callable[[TlsEnd], None]:
    """saying is a handler that says its name, and ends."""

    def say(end: TlsEnd) -> None:
        end.send(name.encode())
        end.close_notify()

    return say


def digest(size: int) -> Callable[[TlsEnd], None]:
    """digest is a handler that takes everything, and sends its SHA-256 and so many bytes."""

    def handle(end: TlsEnd) -> None:
        seen = hashlib.sha256()
        while more := end.receive():
            seen.update(more)
        end.send(seen.hexdigest().encode())
        for piece in origins.pieces(size):
            end.send(piece)
        end.close_notify()

    return handle


LONG_ANSWER = b"long answer " * 100_000


def answer_at_the_end(end: TlsEnd) -> None:
    """answer_at_the_end takes a question to its close_notify, which is no bare FIN."""
    assert end.receive_to_end() == b"question"
    end.send(LONG_ANSWER)
    end.close_notify()


def cut(text: bytes) -> Callable[[TlsEnd], None]:
    """cut is a handler that ends its text without a close_notify."""

    def handle(end: TlsEnd) -> None:
        end.send(text)
        end.truncate()
        end.socket.recv(1 << 18)

    return handle


def speak_nonsense(end: TlsEnd) -> None:
    """speak_nonsense answers four bytes with a record that no key has made."""
    end.receive_exactly(4)
    end.socket.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))
    end.socket.recv(1 << 18)


def noting_the_end(
    ends: queue.Queue, first: Callable[[TlsEnd], None] | None = None
) -> Callable[[TlsEnd], None]:
    """noting_the_end is a handler that notes what the client has sent to its end, or how the client
    broke off. `first` is what it does before."""

    def listen(end: TlsEnd) -> None:
        if first is not None:
            first(end)
        try:
            ends.put(end.receive_to_end())
        except (ssl.SSLEOFError, ConnectionResetError) as broken:
            ends.put(broken)

    return listen


def block(*servers: str, ca: Path | None, lines: tuple = (), name: str = "app") -> str:
    """block is an upstream whose servers speak TLS."""
    shown = [each if each.startswith("{") else f'"{each}"' for each in servers]
    inner = [f'name = "{name}"', "tls = on", *(f"server = {each}" for each in shown), *lines]
    if ca is not None:
        inner.append(f'tls-ca = "{ca}"')
    return "upstream = {\n" + "\n".join(inner) + f'\n}}\nupstream = "{name}"\n'
