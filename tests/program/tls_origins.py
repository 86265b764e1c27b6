"""Upstreams that speak TLS, and the certificates that they show."""

import socket
import ssl
from pathlib import Path
from typing import Callable

from certificates import EC, Certificate, CertificateMaker, openssl
from origins import Upstream
from tls_client import TlsClient


def server_certificate(
    certs: CertificateMaker,
    by: Certificate,
    names: str = "DNS:localhost,IP:127.0.0.1",
    days: int = 30,
    usage: str = "serverAuth",
) -> Certificate:
    """A certificate that an authority has signed. With days = -1 it has expired."""
    name = f"{by.cert.stem}-{names}-{days}-{usage}".replace(":", "_").replace(",", "_")
    if name in certs.made:
        return certs.made[name]
    key, cert, request = certs.requested(name, "/CN=server")
    extensions = certs.folder / f"{name}.extensions"
    extensions.write_text(f"subjectAltName={names}\nextendedKeyUsage={usage}\n")
    signer = ["-CA", by.cert, "-CAkey", by.key, "-CAcreateserial"]
    more = ["-days", days, "-extfile", extensions, "-out", cert]
    openssl("x509", "-req", "-in", request, *signer, *more)
    return certs.keep(name, cert, key)


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


def block(*servers: str, ca: Path | None, lines: tuple = (), name: str = "app") -> str:
    """block is an upstream whose servers speak TLS."""
    shown = [each if each.startswith("{") else f'"{each}"' for each in servers]
    inner = [f'name = "{name}"', "tls = on", *(f"server = {each}" for each in shown), *lines]
    if ca is not None:
        inner.append(f'tls-ca = "{ca}"')
    return "upstream = {\n" + "\n".join(inner) + f'\n}}\nupstream = "{name}"\n'
