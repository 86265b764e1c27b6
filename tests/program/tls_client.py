"""A TLS client that can misbehave: Python's TLS between two buffers, and a socket that the test
holds in its own hands. It can cut its records anywhere, end without a word, and break off."""

import os
import socket
import ssl
from typing import Iterable

import pytest

import origins
from deadlines import DEADLINE


def context(**settings: object) -> ssl.SSLContext:
    """context makes a client's settings: attributes of ssl.SSLContext, and alpn, ciphers,
    certificate (a file). It trusts everyone: tests compare certificates by their fingerprint."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    for name, value in settings.items():
        if name == "alpn":
            made.set_alpn_protocols(value)
        elif name == "ciphers":
            made.set_ciphers(value)
        elif name == "certificate":
            made.load_cert_chain(value)
        else:
            setattr(made, name, value)
    return made


def only(version: ssl.TLSVersion, **settings: object) -> ssl.SSLContext:
    """only makes settings for one version of TLS."""
    made = context(**settings)
    made.minimum_version = version
    made.maximum_version = version
    return made


TLS_1_2 = ssl.TLSVersion.TLSv1_2
TLS_1_3 = ssl.TLSVersion.TLSv1_3
VERSIONS = pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3], ids=["1.2", "1.3"])


class TlsClient:
    """TlsClient is one connection to cleat. Leave it with `with`, and it is closed."""

    def __init__(
        self,
        port: int,
        tls: ssl.SSLContext | None = None,
        name: str | None = "localhost",
        host: str = "127.0.0.1",
        session: ssl.SSLSession | None = None,
        receive_buffer: int = 0,
        handshake: bool = True,
        before_tls: bytes = b"",
        source: str = "",
    ) -> None:
        self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.socket.settimeout(DEADLINE)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.incoming = ssl.MemoryBIO()
        self.outgoing = ssl.MemoryBIO()
        self.tls = (tls or context()).wrap_bio(
            self.incoming, self.outgoing, server_hostname=name, session=session
        )
        if before_tls:
            self.socket.sendall(before_tls)
        if handshake:
            try:
                self.handshake()
            except BaseException:
                self.socket.close()
                raise

    def __enter__(self) -> "TlsClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    # The handshake, whole and in pieces.

    def client_hello(self) -> bytes:
        """client_hello makes the first flight and leaves it to the caller to send."""
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            pass
        return self.outgoing.read()

    def handshake(self) -> None:
        """handshake brings the handshake to its end. ssl.SSLError when cleat refuses."""
        while True:
            try:
                self.tls.do_handshake()
                return self.push()
            except ssl.SSLWantReadError:
                self.push()
                self.pull()
            except ssl.SSLError:
                self.push()  # The alert.
                raise

    def finish_with(self, data: bytes, close: bool = False) -> bytes:
        """finish_with goes through the handshake and returns its last flight, unsent, with data
        behind it in the same run of bytes, and close_notify if wanted."""
        while True:
            try:
                self.tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                self.push()
                self.pull()
        self.tls.write(data)
        if close:
            try:
                self.tls.unwrap()
            except ssl.SSLWantReadError:
                pass
        return self.outgoing.read()

    def push(self) -> None:
        """push sends what TLS wants to send."""
        if self.outgoing.pending:
            self.socket.sendall(self.outgoing.read())

    def pull(self) -> None:
        """pull waits for bytes, or the end, and gives them to TLS."""
        if more := self.socket.recv(1 << 18):
            self.incoming.write(more)
        else:
            self.incoming.write_eof()

    # Data.

    def send(self, data: bytes) -> None:
        """send encrypts and sends everything."""
        view = memoryview(data)
        while view:
            view = view[self.tls.write(view[: 1 << 18]) :]
            self.push()

    def receive(self, size: int = 1 << 18) -> bytes:
        """receive waits for some bytes. Empty after the peer's close_notify; ssl.SSLEOFError when
        its stream ended without one, ConnectionResetError when it was broken."""
        while True:
            try:
                got = self.tls.read(size)
            except ssl.SSLWantReadError:
                self.pull()
                continue
            except ssl.SSLZeroReturnError:
                return b""
            # Python 3.11.2, which is Debian 12's, takes FIN for close_notify, and both are empty.
            # Behind a close_notify nobody reads on, so FIN has not been seen then.
            if not got and self.incoming.eof:
                raise ssl.SSLEOFError("FIN without close_notify")
            return got

    def receive_exactly(self, size: int) -> bytes:
        """receive_exactly waits for so many bytes; it fails when the stream ends before."""
        got = b""
        while len(got) < size:
            more = self.receive(size - len(got))
            assert more, f"the stream ended after {len(got)} of {size} bytes"
            got += more
        return got

    def receive_to_end(self) -> bytes:
        """receive_to_end reads until the peer's close_notify, and fails on any other end."""
        return b"".join(iter(self.receive, b""))

    def exchange(self, data: bytes) -> bytes:
        """exchange sends data to an upstream that echoes, and returns what comes back."""
        self.send(data)
        return self.receive_exactly(len(data))

    # Ends.

    def close_notify(self) -> None:
        """close_notify says that nothing more comes, and goes on listening. Bytes that cleat has
        sent already must have been read before."""
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        self.push()

    def truncate(self) -> None:
        """truncate ends the TCP stream without close_notify."""
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """reset breaks the connection with an RST."""
        origins.reset(self.socket)

    def wait_for_break(self) -> None:
        """wait_for_break reads until the connection breaks, and fails when it ends cleanly."""
        try:
            while self.receive():
                pass
        except (ConnectionResetError, ssl.SSLEOFError, ssl.SSLSyscallError):
            return
        raise AssertionError("a broken stream ended as if it were whole")

    def wait_for_refusal(self) -> None:
        """wait_for_refusal expects the end of a client for whom there is no upstream: the alert
        internal_error. OpenSSL sends none: there a FIN without close_notify. Never a reset."""
        if os.environ["CLEAT_TLS"].startswith("openssl"):
            with pytest.raises(ssl.SSLEOFError):
                self.receive()
        else:
            with pytest.raises(ssl.SSLError, match="(?i)alert.internal.error"):
                self.receive()

    # The negotiated parameters.

    @property
    def fingerprint(self) -> str:
        """fingerprint is that of the certificate that cleat has shown."""
        import hashlib

        return hashlib.sha256(self.tls.getpeercert(True) or b"").hexdigest()

    @property
    def cipher(self) -> str:
        agreed = self.tls.cipher()
        assert agreed
        return agreed[0]


def records(stream: bytes) -> Iterable[tuple[bytes, bytes]]:
    """records takes a stream of whole TLS records apart into headers and fragments."""
    while stream:
        size = 5 + int.from_bytes(stream[3:5], "big")
        yield stream[:5], stream[5:size]
        stream = stream[size:]


def fragmented(stream: bytes, size: int) -> bytes:
    """fragmented cuts every record of a stream into records of at most so many bytes: TLS allows
    that for handshake messages, and the transcript does not change by it."""
    out = b""
    for head, fragment in records(stream):
        for offset in range(0, len(fragment), size):
            piece = fragment[offset : offset + size]
            out += head[:3] + len(piece).to_bytes(2, "big") + piece
    return out


def shown(port: int, name: str = "localhost", tls: ssl.SSLContext | None = None) -> str:
    """shown is the fingerprint of the certificate that cleat shows for a name. Its upstream
    echoes."""
    with TlsClient(port, tls, name=name) as client:
        assert client.exchange(b"whoever") == b"whoever"
        return client.fingerprint


def refused(port: int, tls: ssl.SSLContext | None = None, **more: object) -> ssl.SSLError | OSError:
    """refused tries to talk to an echoing upstream, fails when that works, and returns the error.
    In TLS 1.3 a client hears of its refusal only after its own side of the handshake."""
    try:
        with TlsClient(port, tls, **more) as client:
            client.exchange(b"let me in")
    except (ssl.SSLError, OSError) as error:
        return error
    raise AssertionError("cleat let a client in that it had to refuse")
