"""A client of the admin server: HTTP over TCP or a UNIX socket, and the metrics as numbers."""

import http.client
import json
import socket
import sys
from pathlib import Path

import pytest

from deadlines import DEADLINE, eventually
from program import ROOT, Cleat, run
from tls_client import TlsClient

# Last: perf/ has modules of the same names as this folder.
sys.path.append(str(ROOT / "perf"))
from cleat_perf.metrics import Metrics  # noqa: E402


class Connection(http.client.HTTPConnection):
    """A connection to a port, or to the UNIX socket at a path."""

    def __init__(self, where: int | Path) -> None:
        super().__init__("127.0.0.1", where if isinstance(where, int) else 0, timeout=DEADLINE)
        self.where = where

    def connect(self) -> None:
        self.sock = connected(self.where)


def connected(where: int | Path) -> socket.socket:
    """connected is a plain socket, for clients that misbehave."""
    if isinstance(where, int):
        return socket.create_connection(("127.0.0.1", where), DEADLINE)
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(DEADLINE)
    made.connect(str(where))
    return made


class Answer:
    def __init__(self, got: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.text = got.status, got.headers, got.read().decode()

    @property
    def json(self) -> dict:
        assert self.headers["Content-Type"] == "application/json"
        return json.loads(self.text)


class Admin:
    """Admin asks the admin server of a running cleat."""

    def __init__(self, where: int | Path) -> None:
        self.where = where

    def ask(self, method: str, path: str, **headers: str) -> Answer:
        connection = Connection(self.where)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=named)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, **headers: str) -> Answer:
        return self.ask("POST", path, **headers)

    def metrics(self) -> Metrics:
        got = self.get("/metrics")
        assert got.status == 200
        return Metrics(got.text)


def admin_of(server: Cleat, times: int = 1) -> Admin:
    """admin_of waits until the server has said that many times where its admin server listens."""
    where = server.wait_for_log(times=times, event="admin-listening")["address"]
    if where.startswith("unix:"):
        return Admin(Path(where.removeprefix("unix:")))
    return Admin(int(where.rsplit(":", 1)[1]))


def eventually_counts(admin: Admin, name: str, number: float, **labels: str) -> Metrics:
    """eventually_counts waits until a metric has the number, and returns the scrape: a worker
    counts the end of a connection after its client has seen it."""

    def look() -> Metrics | None:
        seen = admin.metrics()
        return seen if seen.value(name, **labels) == number else None

    return eventually(f"{name}{labels} is {number}", look)


LOCAL = "[127.0.0.1]:0"


@pytest.fixture
def serve(cleat):
    """Starts cleat with an admin server at a free port, and returns both."""

    def start(*flags, where=LOCAL, **options):
        server = cleat("--admin", where, *flags, **options)
        return server, admin_of(server)

    return start


@pytest.fixture
def change(cleat, config, certs, tmp_path):
    """A cleat whose admin server a reload changes: change.write("..."), and change.reload()."""

    class Changed:
        def __init__(self):
            self.path = config("")
            self.write(f'admin = "{LOCAL}"')
            self.server = cleat(
                "--config", self.path, "--sandbox-write", tmp_path, pem=[], frontend=None,
                log_level=None,
            )
            self.admin = admin_of(self.server)

        def write(self, *lines):
            own = [f'pem-file = "{certs.ecdsa.pem}"', f'frontend = "{LOCAL}"', "log-level = 2"]
            self.path.write_text("\n".join([*own, *lines]) + "\n")

        def reload(self):
            return run("reload", self.server.pid)

    return Changed()


def visit(port, tls=None, session=None):
    """A connection from its handshake to a clean end; its session."""
    with TlsClient(port, tls, session=session) as client:
        assert client.exchange(b"hello") == b"hello"
        session = client.tls.session
        client.close_notify()
        client.receive_to_end()
        return session
