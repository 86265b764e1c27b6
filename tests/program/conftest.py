"""Fixtures of the program tests: certificates, upstreams, and cleat between them and the test."""

import itertools
import os
import socket
import subprocess
from pathlib import Path
from typing import Callable, Iterator

import pytest

import bench_client
import program
from acme_authority import Authority
from certificates import Certificate, CertificateMaker
from deadlines import DEADLINE
from go_client import GoClient
from origins import Origin, Handler, echo
from program import Cleat


@pytest.fixture(scope="session", autouse=True)
def _there_is_a_program() -> None:
    if not program.binary().exists():
        pytest.exit(f"there is no {program.binary()}: run `make build`, or set CLEAT_BINARY", 1)


@pytest.fixture(scope="session")
def certs(tmp_path_factory: pytest.TempPathFactory) -> CertificateMaker:
    """certs makes certificates; they live as long as the run."""
    return CertificateMaker(tmp_path_factory.mktemp("certs"))


@pytest.fixture
def sites(certs: CertificateMaker) -> list[Certificate]:
    """sites are a certificate for some names, the one for a wildcard, and the default."""
    return [
        certs.named("exact", "DNS:www.example.org,DNS:deep.sub.example.org"),
        certs.named("wildcard", "DNS:*.example.org,DNS:example.org"),
        certs.named("default", "DNS:default.example"),
    ]


@pytest.fixture
def origin() -> Iterator[Callable[..., Origin]]:
    """origin starts upstreams: origin(echo) runs a handler; origin() leaves it to the test."""
    made: list[Origin] = []

    def make(handle: Handler | None = None, **options: object) -> Origin:
        made.append(Origin(handle, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def upstreams(origin: Callable[..., Origin]) -> Origin:
    """upstreams is an upstream for which the test speaks."""
    return origin()


@pytest.fixture
def nobody() -> Iterator[str]:
    """nobody is an address at which no server listens while the test lasts."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"[127.0.0.1]:{held.getsockname()[1]}"


@pytest.fixture
def cleat(origin: Callable[..., Origin], certs: CertificateMaker) -> Iterator[Callable[..., Cleat]]:
    """cleat starts the program and waits until it serves:

        cleat("--alpn-protos", "h2", backend=upstream, pem=[certs.rsa])

    Without more words it listens on a free port, shows an ECDSA certificate for localhost, and its
    upstream echoes. At the end of the test it is ended, and must end well."""
    running: list[Cleat] = []

    def start(
        *flags: object,
        backend: Origin | str | None = None,
        frontend: str | None = "[127.0.0.1]:0",
        pem: list[Certificate] | None = None,
        log_level: int | None = 2,
        shutdown_timeout: int | None = 0,
        wait: bool = True,
        **options: object,
    ) -> Cleat:
        backend = backend if backend is not None else origin(echo)
        address = backend.address if isinstance(backend, Origin) else backend
        command: list[object] = ["-b", address] if address else []
        command += ["-f", frontend] if frontend else []
        command += ["--log-level", log_level] if log_level is not None else []
        # A test that leaves a connection open does not want to wait for it.
        command += ["--shutdown-timeout", shutdown_timeout] if shutdown_timeout is not None else []
        files = [certs.ecdsa] if pem is None else pem
        made = Cleat(*command, *flags, *(each.pem for each in files), **options)
        running.append(made)
        return made.wait_until_started() if wait else made

    yield start
    failures = []
    for each in running:
        try:
            each.end()
        except (AssertionError, subprocess.TimeoutExpired) as failure:
            failures.append(failure)
    assert not failures, failures


@pytest.fixture
def serve(cleat, certs, config):
    """Starts cleat, with one worker, which counts all connections."""

    def serve(text, *flags):
        path = config(text + f'\npem-file = "{certs.ecdsa.pem}"\n')
        frontend = {} if "frontend" in text else {"frontend": "[127.0.0.1]:0"}
        nothing = {"frontend": None, **frontend}
        server = cleat("--config", path, "--workers", 1, *flags, pem=[], backend="", **nothing)
        server.config = path
        return server

    return serve


@pytest.fixture
def serve_lines(cleat, certs, config):
    """Starts cleat, with one worker, and a configuration file of these lines."""

    def serve(*lines, workers=1, **options):
        path = config("\n".join([*lines, f'pem-file = "{certs.ecdsa.pem}"']) + "\n")
        has_frontend = any(line.startswith("frontend") for line in lines)
        frontend = {"frontend": None} if has_frontend else {}
        server = cleat("--config", path, "--workers", workers, pem=[], **frontend, **options)
        server.config = path
        return server

    return serve


@pytest.fixture
def proxied(
    cleat: Callable[..., Cleat], upstreams: Origin
) -> tuple[Cleat, Origin]:
    """proxied is a cleat, and the upstream behind it for which the test speaks."""
    return cleat(backend=upstreams), upstreams


@pytest.fixture
def ipv6() -> None:
    """ipv6 skips a test where there is none."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no ::1")


@pytest.fixture(scope="session")
def go(tmp_path_factory: pytest.TempPathFactory) -> GoClient:
    """go is a client on Go's crypto/tls, built once."""
    return GoClient.build(tmp_path_factory.mktemp("go"))


@pytest.fixture
def post_quantum(go: GoClient) -> Callable[[int], None]:
    """post_quantum makes a handshake of TLS 1.3 that offers X25519MLKEM768, and then X25519, and
    says "ping", which must be echoed: by Go, or by cleat-bench where Go is older than 1.24."""

    def handshake(port: int) -> None:
        try:
            go.run("handshake", port, groups="4588,29", version="1.3")
        except AssertionError as failure:
            if "unsupported" not in str(failure):  # What Go says of a group that it lacks.
                raise
            bench_client.handshakes(port, "X25519MLKEM768:X25519")

    return handshake


@pytest.fixture(scope="session")
def can() -> dict[str, str]:
    """can is what the program's TLS library can do."""
    return program.capabilities()


@pytest.fixture
def authority(certs: CertificateMaker, tmp_path: Path) -> Iterator[Authority]:
    authority = Authority(certs.rsa, tmp_path)
    yield authority
    authority.end()


@pytest.fixture
def config(tmp_path: Path) -> Callable[[str], Path]:
    """config writes a configuration file."""
    numbers = itertools.count(1)

    def write(text: str) -> Path:
        path = tmp_path / f"cleat-{next(numbers)}.conf"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def s_client() -> Callable[..., subprocess.CompletedProcess[str]]:
    """s_client runs `openssl s_client` against a port: it says `said`, and then ends."""

    def run(port: int, *flags: object, said: str = "") -> subprocess.CompletedProcess[str]:
        command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", *map(str, flags)]
        if "-servername" not in flags and "-noservername" not in flags:
            command += ["-servername", "localhost"]
        return subprocess.run(
            command, input=said, capture_output=True, text=True, timeout=DEADLINE, errors="replace"
        )

    return run


@pytest.fixture
def no_look_for_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """LeakSanitizer traces its own process, which the sandbox and a change of user forbid."""
    if os.environ.get("CLEAT_SANITIZE"):
        options = os.environ.get("ASAN_OPTIONS", "")
        monkeypatch.setenv("ASAN_OPTIONS", f"{options}:detect_leaks=0".lstrip(":"))
