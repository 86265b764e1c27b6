"""The examples do what their first lines promise, refuse what they do not know, and end when they
are told to."""

import contextlib
import http.client
import signal
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import program
from certificates import Certificate
from deadlines import DEADLINE
from tls_client import TlsClient, context

FOLDER = program.binary().parent
NAMES = ["asio_echo", "cleat_echo", "certificate_per_name", "demo_origin", "echo", "http_beast"]
NAMES += ["https_client", "websocket_beast"]

pytestmark = pytest.mark.skipif(
    not any((FOLDER / name).exists() for name in NAMES),
    reason="this build has no examples (CLEAT_BUILD_EXAMPLES)",
)


def run(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """run runs an example to its own end."""
    command = [str(FOLDER / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)


@pytest.fixture
def example():
    """Starts an example and gives its port. At the end of the test it is ended, and must end
    well."""
    with contextlib.ExitStack() as at_end:

        def start(name: str, *arguments: object) -> int:
            _, port = at_end.enter_context(launched(name, *arguments))
            return port

        yield start


@contextlib.contextmanager
def launched(name: str, *arguments: object) -> "Iterator[tuple[subprocess.Popen[str], int]]":
    """launched starts an example, gives the process and its port, and ends it."""
    running = subprocess.Popen(
        [FOLDER / name, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stdout
        word, _, port = running.stdout.readline().strip().partition(" ")
        assert word == "ready"
        yield running, int(port)
    finally:
        end(running)


def end(running: "subprocess.Popen[str]") -> None:
    running.terminate()
    try:
        _, said = running.communicate(timeout=DEADLINE)
    except subprocess.TimeoutExpired:
        running.kill()
        running.communicate()
        raise
    assert (running.returncode, said) == (0, "")


@pytest.mark.parametrize("name", ["asio_echo", "cleat_echo", "echo"])
def test_an_echo(example, certs, name):
    port = example(name, "--cert", certs.ecdsa.pem)
    data = bytes(range(256)) * 1024
    with TlsClient(port) as first, TlsClient(port) as second:
        assert first.fingerprint == certs.ecdsa.fingerprint
        assert second.exchange(b"two at a time") == b"two at a time"
        assert first.exchange(data) == data
        first.close_notify()
        assert first.receive_to_end() == b""


def test_the_port_is_the_one_that_was_asked_for(example, certs):
    port = example("cleat_echo", "--cert", certs.ecdsa.pem)
    ran = run("asio_echo", "--cert", certs.ecdsa.pem, "--port", port)
    assert ran.returncode == 1 and "in use" in ran.stderr


def test_http(example, certs):
    port = example("http_beast", "--cert", certs.ecdsa.pem)
    tls = context(alpn=["http/1.1"])
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=DEADLINE, context=tls)
    with contextlib.closing(connection):
        for method, path, body in (("GET", "/first", None), ("POST", "/second", b"x" * 10_000)):
            connection.request(method, path, body)
            kept = connection.sock
            answer = connection.getresponse()
            assert answer.status == 200 and answer.version == 11
            assert answer.read().decode().startswith(f"{method} {path}\nworker ")
            assert connection.sock is kept  # Kept alive: the next one goes the same way.
        connection.request("GET", "/last", headers={"Connection": "close"})
        assert connection.getresponse().read()
        assert connection.sock is None


def test_a_websocket(example, certs):
    port = example("websocket_beast", "--cert", certs.ecdsa.pem)
    with TlsClient(port) as client:
        client.send(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.receive()
        assert head.startswith(b"HTTP/1.1 101 ")
        mask = bytes(4)
        client.send(b"\x81\x85" + mask + b"hello")
        assert client.receive_exactly(7) == b"\x81\x05hello"
        client.send(b"\x88\x82" + mask + b"\x03\xe8")
        assert client.receive_exactly(4) == b"\x88\x02\x03\xe8"
        assert client.receive_to_end() == b""  # close_notify follows.


def test_what_is_no_websocket_is_refused(example, certs):
    port = example("websocket_beast", "--cert", certs.ecdsa.pem)
    with TlsClient(port) as client:
        client.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.receive_to_end().startswith(b"HTTP/1.1 426 Upgrade Required\r\n")


def test_a_client_resumes_its_sessions(example, cleat, certs, tmp_path):
    server = cleat(backend=f"[127.0.0.1]:{example('demo_origin')}", pem=[certs.ecdsa])
    flags = ["--port", server.port, "--authorities", certs.ecdsa.cert]
    sessions = tmp_path / "sessions"
    for resumed in ("", ", resumed"):
        ran = run("https_client", "--host", "localhost", *flags, "--sessions", sessions)
        assert (ran.returncode, ran.stderr) == (0, "")
        answers = ran.stdout.splitlines()
        assert [line.startswith("200 TLSv1.3, ") for line in answers] == [True, True]
        assert answers[0].endswith(f" bytes{resumed}") and answers[1].endswith(" bytes, resumed")
    assert sessions.stat().st_mode & 0o777 == 0o600

    sessions.write_text("no sessions")
    ran = run("https_client", "--host", "localhost", *flags, "--sessions", sessions)
    assert ran.returncode == 0 and ran.stderr.startswith(f"{sessions}: Bad message: ")


def test_a_client_says_why_a_server_is_refused(cleat, certs):
    server = cleat(pem=[certs.ecdsa])
    other = certs.named("other", "DNS:localhost")
    named = ["--host", "127.0.0.1", "--port", server.port]
    ran = run("https_client", *named, "--authorities", other.cert)
    assert ran.returncode == 1 and "no trusted authority has signed the server's" in ran.stderr
    server = cleat(pem=[other])
    ran = run("https_client", "--host", "127.0.0.1", "--port", server.port,
              "--authorities", other.cert)  # fmt: skip
    assert ran.returncode == 1 and "the server's certificate is for another name" in ran.stderr


def test_a_certificate_for_each_name(example, certs):
    a, b = certs.named("a.test", "DNS:a.test"), certs.named("b.test", "DNS:b.test")
    port = example("certificate_per_name", "--cert", a.pem, "--cert", b.pem)
    for name, shown in (("a.test", a), ("b.test", b), ("c.test", b)):
        with TlsClient(port, name=name) as client:
            host, number = client.socket.getsockname()
            said = client.receive_to_end().decode()
            assert client.fingerprint == shown.fingerprint
        greeting = f"Hello {host}:{number}. You asked for '{name}', and we speak TLSv1."
        assert said.startswith(greeting)


def test_certificates_are_read_again_on_a_signal(certs, tmp_path):
    old, new = certs.named("old.test", "DNS:a.test"), certs.named("new.test", "DNS:a.test")
    file = tmp_path / "site.pem"
    file.write_bytes(old.pem.read_bytes())
    with launched("certificate_per_name", "--cert", file) as (running, port):
        shows(port, old)

        file.write_bytes(new.pem.read_bytes())
        running.send_signal(signal.SIGHUP)
        assert running.stdout.readline() == "reloaded\n"
        shows(port, new)

        file.write_text("not a certificate")
        running.send_signal(signal.SIGHUP)
        assert running.stderr.readline().startswith(f"not reloaded: {file}: ")
        shows(port, new)

        file.write_bytes(old.pem.read_bytes())
        running.send_signal(signal.SIGHUP)
        assert running.stdout.readline() == "reloaded\n"
        shows(port, old)


def test_a_folder_of_certificates(certs, tmp_path):
    """Each certificate is read when a client first asks for it; a reload reads what has changed."""
    names = [f"{letter}.test" for letter in "abcdef"]
    first = {name: certs.named(f"first {name}", f"DNS:{name}") for name in names}
    second = {name: certs.named(f"second {name}", f"DNS:{name}") for name in ("b.test", "g.test")}
    for name, made in first.items():
        file = tmp_path / "sites" / name[0] / f"{name}.pem"
        file.parent.mkdir(parents=True)
        file.write_bytes(made.pem.read_bytes())
    default = certs.ecdsa
    flags = ["--folder", tmp_path / "sites", "--cert", default.pem]
    with launched("certificate_per_name", *flags) as (running, port):
        for name in names[:5]:
            shows(port, first[name], name)
        shows(port, default, "unknown.test")

        # It has been loaded by no worker, and its file is not what it was.
        changed = tmp_path / "sites" / "f" / "f.test.pem"
        changed.write_bytes(second["g.test"].pem.read_bytes())
        with pytest.raises(ssl.SSLError, match="INTERNAL_ERROR"):
            TlsClient(port, name="f.test")
        assert running.stderr.readline().startswith(f"{changed}: the file has changed since ")

        (tmp_path / "sites" / "b" / "b.test.pem").write_bytes(second["b.test"].pem.read_bytes())
        running.send_signal(signal.SIGHUP)
        assert running.stdout.readline() == "reloaded\n"
        shows(port, second["b.test"], "b.test")
        shows(port, first["c.test"], "c.test")
        shows(port, second["g.test"], "g.test")
        shows(port, default, "f.test")

        changed.write_text("not a certificate")
        running.send_signal(signal.SIGHUP)
        assert running.stderr.readline().startswith(f"not reloaded: {changed}: ")
        shows(port, second["b.test"], "b.test")


def shows(port: int, expected: Certificate, name: str = "a.test") -> None:
    with TlsClient(port, name=name) as client:
        assert client.fingerprint == expected.fingerprint
        assert f"You asked for '{name}'" in client.receive_to_end().decode()


@pytest.mark.parametrize("flags", [[], ["--write-proxy-v1"], ["--write-proxy-v2"]], ids=str)
def test_the_demo_origin_behind_cleat(example, cleat, flags):
    upstream = f"[127.0.0.1]:{example('demo_origin')}"
    server = cleat(*flags, backend=upstream)
    with TlsClient(server.port) as client:
        client.send(b"GET /a/path HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        port = client.socket.getsockname()[1]
        said = client.receive_to_end().decode()
    assert said.startswith("HTTP/1.1 200 OK\r\n") and "GET /a/path HTTP/1.1" in said
    if "--write-proxy-v1" in flags:
        assert f"\nPROXY TCP4 127.0.0.1 127.0.0.1 {port} {server.port}\n" in said
    elif flags:
        assert f"\nPROXY v2, TCP over IPv4 from 127.0.0.1:{port}, " in said
    else:
        assert "It came without a PROXY header." in said


def test_the_demo_origin_gives_bytes(example, cleat):
    server = cleat(backend=f"[127.0.0.1]:{example('demo_origin', '--listen', '127.0.0.1:0')}")
    with TlsClient(server.port) as client:
        client.send(b"GET /bytes/300000 HTTP/1.1\r\nConnection: close\r\n\r\n")
        head, _, body = client.receive_to_end().partition(b"\r\n\r\n")
    assert b"Content-Length: 300000" in head and len(body) == 300_000


@pytest.mark.parametrize("name", NAMES)
def test_help_names_the_flags_of_the_first_lines(name):
    ran = run(name, "--help")
    assert (ran.returncode, ran.stderr) == (0, "")
    source = (Path(program.ROOT) / "examples" / f"{name}.cpp").read_text()
    promised = [line.split(maxsplit=2)[2] for line in source.splitlines() if line[:7] == "//     "]
    assert ran.stdout == f"usage: {FOLDER / name} {promised[0]}\n"


PORT = "a port is a number from 0 to 65535, not '{}'"


@pytest.mark.parametrize(
    "name, flags, said",
    [
        ("cleat_echo", ["--cert", "PEM", "--prot", "1"], "there is no --prot"),
        ("cleat_echo", ["--cert", "PEM", "--po", "1"], "there is no --po"),
        ("cleat_echo", ["PEM"], "there is no PEM"),
        ("cleat_echo", ["--cert"], "--cert wants a value"),
        ("cleat_echo", [], "--cert is missing"),
        ("asio_echo", ["--cert", "PEM", "--port", "abc"], "--port: " + PORT.format("abc")),
        ("asio_echo", ["--cert", "PEM", "--port", "80x"], "--port: " + PORT.format("80x")),
        ("asio_echo", ["--cert", "PEM", "--port", "65536"], "--port: " + PORT.format("65536")),
        ("demo_origin", ["--listen", "127.0.0.1:"], "--listen: " + PORT.format("")),
        ("demo_origin", ["--listen", "here:1"], "--listen: here:1 begins with no address"),
        ("demo_origin", ["--cert", "PEM"], "there is no --cert"),
        ("echo", ["--cert", "PEM", "--listen", "127.0.0.1:99999"], "99999"),
    ],
)
def test_a_command_line_that_is_wrong(certs, name, flags, said):
    ran = run(name, *(certs.ecdsa.pem if flag == "PEM" else flag for flag in flags))
    said = said.replace("PEM", str(certs.ecdsa.pem))
    assert (ran.returncode, ran.stdout) == (2, "")
    first, usage = ran.stderr.splitlines()
    assert first.startswith(f"{FOLDER / name}: ") and said in first
    assert usage.startswith(f"usage: {FOLDER / name} ")


@pytest.mark.parametrize("name", ["echo", "cleat_echo", "asio_echo"])
def test_a_certificate_that_is_not_there(tmp_path, name):
    ran = run(name, "--cert", tmp_path / "missing.pem")
    assert ran.returncode == 1 and ran.stderr.startswith(f"{FOLDER / name}: ")
