"""Runs `cleat-bench probe` and reads its report; servers of known settings to run it against.

CLEAT_BENCH is the program. Certificates are those of the program tests."""

import contextlib
import os
import re
import socket
import ssl
import subprocess
import threading
from pathlib import Path
from typing import Callable, Iterator

from certificates import Certificate, CertificateMaker
from deadlines import DEADLINE

ROOT = Path(__file__).resolve().parents[2]


def bench() -> Path:
    """bench is the program under test."""
    if named := os.environ.get("CLEAT_BENCH"):
        return Path(named)
    return Path(os.environ.get("CLEAT_BIN", ROOT / "build" / "release" / "bin")) / "cleat-bench"


def probe(*arguments: object) -> str:
    """probe returns all that `cleat-bench probe` prints."""
    command = [str(bench()), "probe", *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    assert "Sanitizer" not in ran.stderr and "runtime error:" not in ran.stderr, ran.stderr
    return ran.stdout + ran.stderr


class Report:
    """Report is the report on one server, taken apart again."""

    def __init__(self, port: int, *more: object, host: str = "127.0.0.1") -> None:
        self.text = probe(f"{host}:{port}", *more)
        self.rows: dict[str, str] = {}
        self.suites: dict[str, list[str]] = {}
        label = ""
        for line in self.text.splitlines()[1:]:
            if found := re.fullmatch(r"  (.{17}) (.+)", line):
                label = found[1].strip() or label
                if found[1].strip():
                    # Two certificates have the same labels: the first one keeps them.
                    self.rows.setdefault(label, found[2])
                else:
                    self.suites.setdefault(label, []).append(found[2])

    def __getitem__(self, label: str) -> str:
        assert label in self.rows, self.text
        return self.rows[label]

    def said(self, kind: str) -> list[str]:
        return re.findall(rf"^  {kind}: (.*)$", self.text, re.M)

    @property
    def weak(self) -> list[str]:
        return self.said("weak")

    @property
    def good(self) -> list[str]:
        return self.said("good")


class Server:
    """Server takes connections on a free port, one after the other, and lets `talk` have them."""

    def __init__(self, talk: Callable[[socket.socket], None]) -> None:
        self.talk = talk
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self) -> None:
        while True:
            try:
                accepted, _ = self.listener.accept()
            except OSError:
                return
            accepted.settimeout(DEADLINE)
            with accepted, contextlib.suppress(OSError):
                self.talk(accepted)

    def __enter__(self) -> int:
        return self.port

    def __exit__(self, *_: object) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(DEADLINE)


def python_server(certs: CertificateMaker, first: bytes = b"", **settings: object) -> Server:
    """python_server is a TLS server on Python's ssl. With `first` it speaks before it listens."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certs.ecdsa.pem)
    for name, value in settings.items():
        setattr(tls, name, value)

    def talk(accepted: socket.socket) -> None:
        with tls.wrap_socket(accepted, server_side=True) as client:
            if first:
                client.sendall(first)
            while client.recv(1 << 16):
                if not first:
                    client.sendall(b"HTTP/1.0 204 No Content\r\n\r\n")

    return Server(talk)


@contextlib.contextmanager
def s_servers(certs: CertificateMaker) -> Iterator[Callable[..., int]]:
    """s_servers gives a function that starts `openssl s_server`, and returns its port."""
    running: list[subprocess.Popen[str]] = []

    def start(*flags: object, pem: Certificate | None = None, answers: bool = True) -> int:
        shown = pem or certs.ecdsa
        command = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", shown.cert, "-key"]
        command += [shown.key, *flags, *(["-www"] if answers else [])]
        made = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.PIPE,  # Its end would be the end of the server.
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        running.append(made)
        assert made.stdout
        seen = []
        for line in made.stdout:
            seen.append(line)
            if found := re.search(r"^ACCEPT .*:(\d+)$", line):
                # The test does not read the rest, and a full pipe would stop it.
                threading.Thread(target=made.stdout.read, daemon=True).start()
                return int(found[1])
        raise AssertionError("s_server has not started: " + "".join(seen))

    try:
        yield start
    finally:
        for each in running:
            each.kill()
            each.wait(timeout=DEADLINE)
