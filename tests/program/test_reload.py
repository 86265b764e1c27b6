"""SIGHUP: cleat reads its configuration and every file that it names again. New connections get the
new one, whole; connections that are there keep what they began with. Where anything is wrong the
log says what, and nothing has changed."""

import os
import signal
import socket
import tempfile
import threading
from pathlib import Path

import pytest

from deadlines import eventually
from program import open_files, open_folder, run
from reloads import reload, reload_is_refused, replace
from tls_client import TLS_1_2, TLS_1_3, VERSIONS, TlsClient, context, only, refused


def speaks(word):
    """The handler of an upstream that answers each request of one byte with its own word."""

    def handle(upstream):
        while upstream.socket.recv(1):
            upstream.send(word)

    return handle


def ask(client, size=5):
    client.send(b"?")
    return client.receive_exactly(size)


def shown(port, *tls, **options):
    with TlsClient(port, *tls, **options) as client:
        ask(client)
        return client.fingerprint


def visit(port, tls, session=None):
    """One connection; whether it was resumed, and the session to come back with."""
    with TlsClient(port, tls, session=session) as client:
        ask(client)  # With its answer TLS 1.3's ticket has come.
        return client.tls.session_reused, client.tls.session


def sockets(server):
    """The inodes of its listening sockets."""
    own = set(open_files(server.pid).values())
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {row[9] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own}


@pytest.fixture
def place():
    """The folder of the configuration and the certificate. Every user may enter it: pytest closes
    its own folders to others whenever it starts, also beside this test."""
    with open_folder() as folder:
        yield folder


@pytest.fixture
def pem(certs, place):
    """The file of cleat's certificate."""
    path = place / "site.pem"
    replace(path, certs.ecdsa.pem.read_text())
    return path


@pytest.fixture
def first(origin):
    return origin(speaks(b"first"))


@pytest.fixture
def other(origin):
    return origin(speaks(b"other"))


@pytest.fixture
def write(pem, first, place):
    """Writes the configuration: one frontend and one certificate, unless a test says otherwise."""

    def write(*lines, backend=None, frontends=("[127.0.0.1]:0",)):
        text = [f'backend = "{(backend or first).address}"', f'pem-file = "{pem}"']
        text += [f'frontend = "{each}"' for each in frontends]
        text += ["log-level = 2", "shutdown-timeout = 0", *lines]
        replace(place / "cleat.conf", "\n".join(text) + "\n")

    return write


@pytest.fixture
def serve(cleat, write, place):
    """Writes the configuration, and starts cleat with it."""

    def serve(*lines, flags=(), **options):
        write(*lines, **options)
        nothing = {"backend": "", "frontend": None, "log_level": None, "shutdown_timeout": None}
        return cleat("--config", place / "cleat.conf", *flags, pem=[], **nothing)

    return serve


@pytest.mark.parametrize("workers", [1, 2])
def test_new_clients_see_a_renewed_certificate_and_old_connections_go_on(
    serve, certs, pem, workers
):
    server = serve(f"workers = {workers}")
    before = sockets(server)
    assert len(before) == workers
    with TlsClient(server.port) as old:
        ask(old)
        replace(pem, certs.rsa.pem.read_text())
        line = reload(server)
        assert (line["certificates_changed"], line["keys"]) == ("1", "")
        # The kernel spreads connections by their ports: with one in two, 30 miss a worker less
        # than once in 2^28 runs.
        assert {shown(server.port) for _ in range(30)} == {certs.rsa.fingerprint}
        assert ask(old) == b"first"
    assert sockets(server) == before


def test_what_the_settings_say_holds_for_new_connections(serve, write, other):
    server = serve('alpn-protos = "http/1.1"')
    with TlsClient(server.port) as old:
        assert ask(old) == b"first"
        write('alpn-protos = "h2"', "tls-protos = TLSv1.2", backend=other)
        assert reload(server)["keys"] == "backend,tls-protos,alpn-protos"
        with TlsClient(server.port, context(alpn=["h2", "http/1.1"])) as new:
            assert ask(new) == b"other"
            assert new.tls.selected_alpn_protocol() == "h2"
            assert new.tls.version() == "TLSv1.2"
        assert ask(old) == b"first"


RSA_ONLY = ["--tls-protos", "TLSv1.2", "--ciphers", "ECDHE-RSA-AES128-GCM-SHA256"]
PLACES = ["--frontend", "[127.0.0.1]:0", "--backend", "[127.0.0.1]:9"]


def test_a_certificate_that_can_serve_nobody_is_refused(cleat, certs, pem):
    replace(pem, certs.rsa.pem.read_text())
    server = cleat(*RSA_ONLY, pem, pem=[])
    replace(pem, certs.ecdsa.pem.read_text())
    [problem] = reload_is_refused(server)
    assert f"{pem}: no client can be served" in problem
    assert "ECDSA P-256 key" in problem and "add a suite for ECDSA to ciphers" in problem
    with TlsClient(server.port, only(TLS_1_2)) as client:
        assert client.fingerprint == certs.rsa.fingerprint
    for command in ("-t", "check"):
        ran = run(command, *RSA_ONLY, *PLACES, pem)
        assert ran.returncode == 1
        assert "no client can be served" in ran.stderr

    # Beside one that can be used it is a warning.
    beside = pem.with_name("beside.pem")
    replace(beside, certs.rsa.pem.read_text())
    ran = run("-t", *RSA_ONLY, *PLACES, pem, beside)
    assert ran.returncode == 0
    assert "warning" in ran.stderr and "no TLSv1.2 handshake is possible" in ran.stderr


def test_a_handshake_under_way_ends_with_the_certificate_that_it_began_with(serve, certs, pem):
    server = serve()
    with TlsClient(server.port, handshake=False) as client:
        client.socket.sendall(client.client_hello())
        client.pull()  # cleat has answered.
        replace(pem, certs.rsa.pem.read_text())
        reload(server)
        client.handshake()
        assert ask(client) == b"first"
        assert client.fingerprint == certs.ecdsa.fingerprint


def test_a_configuration_is_freed_with_its_last_connection(serve, write, tmp_path):
    """A configuration with a log of its own has its file open."""
    folder = tmp_path / "logs"
    folder.mkdir()
    server = serve(flags=("--sandbox-write", folder))

    def logs():
        files = open_files(server.pid).values()
        return sorted(Path(file).name for file in files if file.startswith(f"{folder}/"))

    def log_to(name, logs_then):
        write(f'log-filename = "{folder}/{name}"')
        server.signal(signal.SIGHUP)
        log = folder / name
        eventually("it is in use", lambda: log.exists() and "=reloaded" in log.read_text())
        eventually(f"the logs are {logs_then}", lambda: logs() == logs_then)

    log_to("one", ["one"])
    with TlsClient(server.port) as old:
        ask(old)
        for name in ("two", "three", "two-more", "zero"):
            log_to(name, ["one", name])
        assert ask(old) == b"first"
    eventually("the last one is freed", lambda: logs() == ["zero"])


def test_a_frontend_comes_and_another_goes_with_the_connections_that_waited(serve, write):
    server = serve(frontends=("[127.0.0.1]:0", "[127.0.0.2]:0"))
    stays, goes = server.ports
    kept = {inode for inode in sockets(server)}
    with server.paused():
        waiting = [TlsClient(goes, host="127.0.0.2", handshake=False) for _ in range(20)]
        for client in waiting:
            client.socket.sendall(client.client_hello())
        write(frontends=("[127.0.0.1]:0", "[127.0.0.3]:0"))
        server.signal(signal.SIGHUP)
    line = server.wait_for_log(event="reloaded")
    assert (line["frontends_added"], line["frontends_removed"]) == ("1", "1")
    for client in waiting:
        with client:
            client.handshake()
            assert ask(client) == b"first"
    assert refused(goes, host="127.0.0.2")
    comes = server.ports[2]
    for port, host in ((stays, "127.0.0.1"), (comes, "127.0.0.3")):
        with TlsClient(port, host=host) as client:
            assert ask(client) == b"first"
    assert len(kept & sockets(server)) == 1


@VERSIONS
def test_sessions_resume_after_a_reload(serve, certs, pem, version):
    server = serve()
    tls = only(version)
    _, session = visit(server.port, tls)
    replace(pem, certs.named("renewed", "DNS:localhost").pem.read_text())
    assert reload(server)["certificates_changed"] == "1"
    assert visit(server.port, tls, session)[0]


@VERSIONS
@pytest.mark.parametrize("change", ["authority", "verify"])
def test_a_session_does_not_outlive_what_let_it_in(
    serve, write, certs, tmp_path, version, change
):
    authority = tmp_path / "ca.pem"
    trusted = certs.authority("ca")
    authority.write_text(trusted.cert.read_text())
    verify = f'client-verify-ca = "{authority}"'
    server = serve("client-verify = required", verify)
    tls = only(version, certificate=certs.signed("good", trusted, "/CN=alice").pem)
    _, session = visit(server.port, tls)
    assert visit(server.port, tls, session)[0]
    if change == "authority":
        authority.write_text(certs.authority("another-ca").cert.read_text())
        reload(server)
        assert refused(server.port, tls, session=session)
    else:
        write("client-verify = optional", verify)
        reload(server)
        assert not visit(server.port, tls, session)[0]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", "No such file"),
        ("empty", "no certificate"),
        ("truncated", "cut short"),
        ("folder", "is a directory"),
        ("fifo", "a FIFO"),
        ("dead link", "No such file"),
        ("unlike pair", "does not belong"),
        ("large", "larger than"),
    ],
)
def test_a_certificate_that_cannot_be_used_changes_nothing(
    serve, certs, pem, tmp_path, name, said
):
    server = serve()
    text = certs.ecdsa.pem.read_text()
    pem.unlink()
    if name == "folder":
        pem.mkdir()
    elif name == "fifo":
        os.mkfifo(pem)
    elif name == "dead link":
        pem.symlink_to(tmp_path / "nothing")
    elif name != "missing":
        pem.write_text(
            {
                "empty": "",
                "truncated": text[: len(text) * 3 // 4],
                "unlike pair": certs.ecdsa.key.read_text() + certs.rsa.cert.read_text(),
                "large": text + "\n" * (50 << 20),
            }[name]
        )
    problems = reload_is_refused(server)
    assert any(str(pem) in each and said in each for each in problems), problems
    assert shown(server.port) == certs.ecdsa.fingerprint
    assert not server.log(event="reloaded")


def test_a_mistake_in_the_file_names_its_line_and_changes_nothing(serve, write, other):
    server = serve()
    write("workres = 2", "idle-timeout = soon", backend=other)
    first_mistake, second_mistake = reload_is_refused(server)
    assert "cleat.conf:6:1: error: workres" in first_mistake and "workers" in first_mistake
    assert "cleat.conf:7:16: error: idle-timeout" in second_mistake
    with TlsClient(server.port) as client:
        assert ask(client) == b"first"
    write(backend=other)
    reload(server)
    with TlsClient(server.port) as client:
        assert ask(client) == b"other"


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("workers = 2", "workers"),
        ('user = "nobody"', "user"),
        ('group = "daemon"', "group"),
        ("daemon = on", "daemon"),
        ('pidfile = "/tmp/cleat.pid"', "pidfile"),
    ],
)
def test_a_key_that_only_a_start_can_change_is_refused_and_says_so(serve, write, line, key):
    server = serve()
    write(line, "ssl-handshake-timeout = 3")
    problems = [each for each in reload_is_refused(server) if "error: " in each]
    assert len(problems) == 1
    assert f"error: {key}: " in problems[0] and "by a restart only" in problems[0]
    assert "cleat.conf:6:" in problems[0]


def test_a_buffer_cannot_go_back_to_the_kernel_but_may_change(serve, write):
    server = serve("recv-bufsize = 65536")
    write("recv-bufsize = 32768")
    assert reload(server)["keys"] == "recv-bufsize"
    write()
    (problem,) = reload_is_refused(server)
    # The line that is gone has its place where it was.
    expected = "cleat.conf:6:16: error: recv-bufsize: recv-bufsize 32768 can be removed by a "
    assert expected in problem
    assert problem.endswith("Restart cleat, or write recv-bufsize = 32768 again.")


def test_an_address_that_is_taken_is_refused(serve, write):
    server = serve()
    with socket.create_server(("127.0.0.4", 0)) as taken:
        port = taken.getsockname()[1]
        write(frontends=("[127.0.0.1]:0", f"[127.0.0.4]:{port}"))
        (problem,) = reload_is_refused(server)
    assert f"cannot listen on 127.0.0.4:{port}" in problem and "cleat.conf:4:" in problem
    assert shown(server.port)
    assert len(server.ports) == 1


def test_the_log_moves_to_another_file(serve, write, tmp_path):
    log = tmp_path / "cleat.log"
    server = serve(flags=("--sandbox-write", tmp_path))
    write(f'log-filename = "{log}"')
    server.signal(signal.SIGHUP)
    eventually("the log has moved", lambda: log.exists() and "event=reloaded" in log.read_text())
    assert shown(server.port)
    eventually("the new log has a connection", lambda: "handshake-done" in log.read_text())
    assert not server.log(event="handshake-done")


def test_requests_during_a_reload_become_one_more(serve, write, other):
    server = serve()
    with server.paused():
        for _ in range(50):
            server.signal(signal.SIGHUP)
    server.wait_for_log(event="reloaded")
    write(backend=other)
    reload(server)
    with TlsClient(server.port) as client:
        assert ask(client) == b"other"


def test_sigterm_during_a_reload_ends_cleat(serve):
    server = serve()
    with server.paused():
        server.signal(signal.SIGHUP)
        server.signal(signal.SIGTERM)
    assert server.wait() == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_key_that_only_root_may_read_is_named_with_its_cure(serve, certs, pem):
    pem.chmod(0o600)
    server = serve('user = "nobody"')
    problems = reload_is_refused(server)
    assert any("Permission denied" in each for each in problems)
    # The configuration is below /tmp: root's rights are not for what anybody may have written.
    assert any("every user may write to the folder /tmp (move" in each for each in problems)
    pem.chmod(0o644)
    reload(server)
    assert shown(server.port) == certs.ecdsa.fingerprint


def test_a_store_changes_as_a_whole(cleat, certs, tmp_path, first):
    folder = tmp_path / "pems"
    folder.mkdir()
    for name in ("one", "two", "three"):
        site = certs.named(name, f"DNS:{name}.example")
        (folder / f"{name}.pem").write_text(site.pem.read_text())
    many = ["--pem-dir", folder, "--certificate-cache", 1, "--workers", 1]
    server = cleat(*many, pem=[], backend=first)
    with TlsClient(server.port, name="two.example") as old:
        ask(old)
        (folder / "two.pem").write_text(certs.rsa.pem.read_text())
        four = certs.named("four", "DNS:four.example")
        (folder / "four.pem").write_text(four.pem.read_text())
        (folder / "three.pem").unlink()
        line = reload(server)
        counts = [line[f"certificates_{what}"] for what in ("added", "removed", "changed")]
        assert counts == ["1", "1", "1"]
        assert shown(server.port, name="four.example") == four.fingerprint
        assert shown(server.port, name="localhost") == certs.rsa.fingerprint
        assert shown(server.port, name="one.example") == certs.made["one"].fingerprint
        assert ask(old) == b"first"


def test_nobody_is_cut_or_refused_while_cleat_reloads(serve, certs, pem):
    """Handshakes, resumptions and open connections beside forty reloads, of which each tenth is
    refused."""
    server = serve("workers = 2")
    tls = only(TLS_1_3)
    _, session = visit(server.port, tls)
    failures, served, over = [], [0, 0], threading.Event()

    def connect(number):
        known = session if number == 0 else None
        while not over.is_set():
            try:
                resumed, _ = visit(server.port, tls, known)
                served[number] += 1
                if known and not resumed:
                    failures.append("not resumed")
            except (OSError, AssertionError) as failure:
                failures.append(failure)

    threads = [threading.Thread(target=connect, args=(number,)) for number in (0, 1)]
    with TlsClient(server.port) as old:
        for each in threads:
            each.start()
        try:
            for number in range(1, 41):
                if number % 10 == 0:
                    replace(pem, "nothing")
                    reload_is_refused(server)
                else:
                    new = certs.rsa if number % 2 else certs.ecdsa
                    replace(pem, new.pem.read_text())
                    reload(server)
                assert ask(old) == b"first"
        finally:
            over.set()
            for each in threads:
                each.join()
    assert not failures, failures[:3]
    assert all(count > 0 for count in served)


def test_a_configuration_from_standard_input_cannot_be_read_again(cleat, pem, first):
    text = f'backend = "{first.address}"\npem-file = "{pem}"\nfrontend = "[127.0.0.1]:0"\n'
    with tempfile.TemporaryFile("w+") as file:
        file.write(text)
        file.seek(0)
        nothing = {"backend": "", "frontend": None, "pem": []}
        server = cleat("--config", "-", stdin=file, **nothing)
    (problem,) = reload_is_refused(server)
    assert "came from standard input" in problem
    assert shown(server.port)
