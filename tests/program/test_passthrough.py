"""Passthrough: a route's clients get the TLS of its upstream, byte for byte, and all others that of
cleat, by the same port. The ClientHello may come in any pieces; one that is none, that is too long
or that never ends is a failed handshake as anywhere."""

import hashlib
import json
import socket
import ssl
import subprocess
import time

import pytest

from access_logs import AccessLog
from admin_client import admin_of
from client_authorities import ca, verifies  # noqa: F401: a fixture
from client_bytes import GARBAGE, HTTP, NO_RECORDS, long_alpn, say
from deadlines import DEADLINE, SANITIZED
from origins import answer, echo, expected_digest, pieces
from program import complaints, run
from proxy_header import AUTHORITY, SIGNATURE, make_v2, parse_v2, receive_v1, receive_v2
from reloads import reload_with
from tls_client import TLS_1_2, VERSIONS, TlsClient, context, fragmented, only, refused, shown
from upstream_blocks import frontend, route, sni, upstream

PASS = "passthrough = on"
PASSED = "passed.example"


def speaking_tls(certificate, handle=echo, alpn=()):
    """A handler that speaks TLS with this certificate, and runs another one inside."""
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    settings.load_cert_chain(certificate.pem)
    settings.set_alpn_protocols(list(alpn))

    def serve(upstream):
        try:
            upstream.socket = settings.wrap_socket(upstream.socket, server_side=True)
        except ssl.SSLError:
            return
        handle(upstream)

    return serve


@pytest.fixture
def beside(serve, origin):
    """Starts cleat in front of an upstream of passthrough, and of a backend that echoes plaintext
    for all other names."""

    def start(passed, *flags, conditions=(sni(PASSED),), text=""):
        blocks = upstream(passed.address) + f'backend = "{origin(echo).address}"\n'
        routes = frontend(route("app", *conditions, PASS))
        return serve(text + blocks + routes, *flags)

    return start


@pytest.fixture
def server(beside, origin, certs):
    """A cleat whose upstream of passthrough has an RSA certificate, and cleat an ECDSA one."""
    return beside(origin(speaking_tls(certs.rsa)))


@pytest.fixture
def raw(beside, origin):
    """cleat, and an upstream of passthrough for which the test speaks, below TLS."""

    def start(*flags, **more):
        passed = origin()
        return beside(passed, *flags, **more), passed

    return start


def begin(server, passed, name=PASSED):
    """A client whose ClientHello has reached the upstream, and the upstream's connection."""
    client = TlsClient(server.port, name=name, handshake=False)
    hello = client.client_hello()
    client.socket.sendall(hello)
    connection = passed.accept()
    assert connection.receive_exactly(len(hello)) == hello
    return client, connection


@VERSIONS
def test_each_client_gets_its_server(server, certs, version):
    tls = only(version)
    assert shown(server.port, PASSED, tls) == certs.rsa.fingerprint
    assert shown(server.port, "other.example", tls) == certs.ecdsa.fingerprint
    with TlsClient(server.port, tls, name=None) as client:
        assert client.exchange(b"without a name") == b"without a name"
        assert client.fingerprint == certs.ecdsa.fingerprint


def test_by_protocol(beside, origin, certs):
    """tls-alpn-01 (RFC 8737): whatever the name, and beside the protocols that cleat has."""
    challenge = origin(speaking_tls(certs.rsa, alpn=["acme-tls/1"]))
    server = beside(challenge, conditions=['alpn = "acme-tls/1"'], text="alpn-protos = h2\n")
    with TlsClient(server.port, context(alpn=["acme-tls/1"]), name="any.example") as client:
        assert client.tls.selected_alpn_protocol() == "acme-tls/1"
        assert client.fingerprint == certs.rsa.fingerprint
    for offered in (["h2"], ["h2", "http/1.1"], None):
        tls = context(alpn=offered) if offered else context()
        assert shown(server.port, "any.example", tls) == certs.ecdsa.fingerprint


def test_every_client(beside, origin, certs):
    server = beside(origin(speaking_tls(certs.rsa)), conditions=[])
    assert shown(server.port, "any.example") == certs.rsa.fingerprint


def test_the_first_route_counts_also_between_both_kinds(serve, origin, certs):
    passed, ended = origin(speaking_tls(certs.rsa)), origin(echo)
    blocks = upstream(passed.address, name="passed") + upstream(ended.address, name="ended")
    routes = [
        route("ended", sni("a.example"), 'alpn = "h2"'),
        route("passed", sni("*.example"), PASS),
        route("ended", 'client-address = "127.0.0.1"'),
    ]
    server = serve("alpn-protos = h2\n" + blocks + frontend(*routes))
    h2 = context(alpn=["h2"])
    assert shown(server.port, "a.example", h2) == certs.ecdsa.fingerprint
    assert shown(server.port, "a.example") == certs.rsa.fingerprint
    assert shown(server.port, "b.example", h2) == certs.rsa.fingerprint
    assert shown(server.port, "localhost") == certs.ecdsa.fingerprint


# The ClientHello in pieces.


@pytest.mark.parametrize("name", [PASSED, "other.example"])
@pytest.mark.parametrize("size", [0, 1, 2, 5, 100], ids=lambda size: f"records of {size or 'all'}")
def test_a_byte_at_a_time(server, size, name):
    with TlsClient(server.port, name=name, handshake=False) as client:
        hello = client.client_hello()
        for byte in fragmented(hello, size) if size else hello:
            client.socket.sendall(bytes([byte]))
        client.handshake()
        assert client.exchange(b"understood") == b"understood"


@VERSIONS
@pytest.mark.parametrize("name", [PASSED, "other.example"])
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_many_records(server, version, size, name):
    with TlsClient(server.port, only(version), name=name, handshake=False) as client:
        client.socket.sendall(fragmented(client.client_hello(), size))
        client.handshake()
        assert client.exchange(b"understood") == b"understood"


@pytest.mark.parametrize("name", [PASSED, "other.example"])
@pytest.mark.parametrize("size", [2_000, 15_000])
def test_many_segments(server, size, name):
    with TlsClient(server.port, long_alpn(size), name=name, handshake=False) as client:
        hello = client.client_hello()
        for offset in range(0, len(hello), 1400):
            client.socket.sendall(hello[offset : offset + 1400])
        client.handshake()
        assert client.exchange(b"understood") == b"understood"


def test_longer_than_a_record(server):
    """cleat sets no limit of its own here: the upstream's TLS library does. OpenSSL takes a
    ClientHello in two records and more."""
    with TlsClient(server.port, long_alpn(40_000), name=PASSED, handshake=False) as client:
        client.socket.sendall(client.client_hello())
        client.handshake()
        assert client.exchange(b"understood") == b"understood"


def test_a_post_quantum_hello(server, post_quantum, can):
    """The ClientHello comes in several segments. Routes without passthrough serve such clients as
    well."""
    if can["post-quantum group"] != "yes":
        pytest.skip(f"{can['TLS library']} has no post-quantum group")
    post_quantum(server.port)
    assert server.wait_for_log(event="handshake-done")["group"] == "X25519MLKEM768"


# The bytes that the upstream gets.


def test_the_hello_is_handed_on_whole_with_all_behind_it(raw):
    server, passed = raw()
    with TlsClient(server.port, name=PASSED, handshake=False) as client:
        sent = fragmented(client.client_hello(), 33) + b"\x14\x03\x03\x00\x01\x01" + bytes(300)
        client.socket.sendall(sent)
        client.truncate()
        assert passed.accept().receive_to_end() == sent


@pytest.mark.parametrize("version", ["write-proxy-v1", "write-proxy-v2", "write-ip"])
def test_the_announcement_comes_first(raw, version):
    server, passed = raw(text=f"{version} = on\n")
    with TlsClient(server.port, name=PASSED, handshake=False) as client:
        hello = client.client_hello()
        client.socket.sendall(hello)
        connection = passed.accept()
        port = client.socket.getsockname()[1]
        if version == "write-proxy-v1":
            wanted = f"PROXY TCP4 127.0.0.1 127.0.0.1 {port} {server.port}\r\n".encode()
            assert receive_v1(connection) == wanted
        elif version == "write-proxy-v2":
            header = parse_v2(receive_v2(connection))
            assert header.source == ("127.0.0.1", port)
            assert header.tlvs == {AUTHORITY: PASSED.encode()}
        else:
            assert connection.receive_exactly(5) == b"\x02\x7f\x00\x00\x01"
        assert connection.receive_exactly(len(hello)) == hello


def test_a_proxy_header_is_passed_on_before_it(raw):
    server, passed = raw(text="proxy-proxy = on\n")
    header = make_v2(("192.0.2.1", 1234), ("198.51.100.2", 443))
    with TlsClient(server.port, name=PASSED, handshake=False) as client:
        hello = client.client_hello()
        client.socket.sendall(header + hello)
        got = passed.accept().receive_exactly(len(header) + len(hello))
        assert got == header + hello and got.startswith(SIGNATURE)
    assert server.wait_for_log(event="passthrough-begins")["source"] == "192.0.2.1:1234"


# No ClientHello.


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_is_refused_as_without_routes(server, what):
    say(server.port, GARBAGE[what])
    expected = "peer-alert" if what == "an alert" else "protocol-violation"
    if what in NO_RECORDS:
        expected = "not-tls"
    assert server.wait_for_log(event="handshake-failed")["reason"] == expected


def test_plain_http_is_recognised(server):
    say(server.port, HTTP[0])
    assert server.wait_for_log(event="handshake-failed")["reason"] == "http-request"


def test_a_hello_that_is_too_long(server):
    record = b"\x16\x03\x01\x40\x00"
    say(server.port, record + b"\x01\xff\xff\xff" + bytes(0x4000 - 4))
    assert server.wait_for_log(event="handshake-failed")["reason"] == "hello-too-long"
    # A message that would fit, but not in records of one byte.
    say(server.port, fragmented(record + b"\x01\x00\x3f\xfc" + bytes(0x4000 - 4), 1))
    failed = server.wait_for_log(times=2, event="handshake-failed")
    assert failed["reason"] == "hello-too-long"


@pytest.mark.parametrize("part", [0, 1, 3, 5, 9, 100])
def test_a_hello_that_never_ends_has_the_deadline_of_the_handshake(beside, origin, part):
    passed = origin()
    server = beside(passed, "--ssl-handshake-timeout", 1)
    with TlsClient(server.port, name=PASSED, handshake=False) as client:
        begun = time.monotonic()
        client.socket.sendall(client.client_hello()[:part])
        try:
            assert client.socket.recv(1) == b""
        except ConnectionResetError:
            pass
        assert time.monotonic() - begun > 0.9
    assert server.wait_for_log(event="handshake-failed")["reason"] == "handshake-timeout"
    assert not passed.all


def test_dribbling_does_not_help(beside, origin):
    server = beside(origin(), "--ssl-handshake-timeout", 1)
    with TlsClient(server.port, name=PASSED, handshake=False) as client:
        client.socket.settimeout(0.1)
        ended = False
        for byte in client.client_hello():
            try:
                client.socket.sendall(bytes([byte]))
                ended = client.socket.recv(1) == b""
            except TimeoutError:
                continue  # This is the pause between two bytes.
            except OSError:
                ended = True
            break
        assert ended
    assert server.wait_for_log(event="handshake-failed")["reason"] == "handshake-timeout"


def test_ends_before_a_hello(server):
    socket.create_connection(("127.0.0.1", server.port), DEADLINE).close()
    assert server.wait_for_log(event="connection-closed")["reason"] == "client-silent"
    with socket.create_connection(("127.0.0.1", server.port), DEADLINE) as client:
        client.sendall(b"\x16\x03\x01")
        client.shutdown(socket.SHUT_WR)
        assert server.wait_for_log(event="handshake-failed")["reason"] == "truncated"


# The relay.


def test_the_client_ends_first(raw):
    server, passed = raw()
    client, connection = begin(server, passed)
    client.truncate()
    assert connection.receive_to_end() == b""
    connection.send(b"the answer")
    connection.close()
    got = b"".join(iter(lambda: client.socket.recv(100), b""))
    assert got == b"the answer"
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"


def test_the_upstream_ends_first(raw):
    server, passed = raw()
    client, connection = begin(server, passed)
    connection.send(b"the answer")
    connection.end()
    assert b"".join(iter(lambda: client.socket.recv(100), b"")) == b"the answer"
    for piece in (b"one", b"two"):  # It is still heard.
        client.socket.sendall(piece)
        assert connection.receive_exactly(3) == piece
    client.socket.close()
    assert connection.receive_to_end() == b""
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"


def test_a_client_that_resets(raw):
    server, passed = raw()
    client, connection = begin(server, passed)
    client.reset()
    with pytest.raises(ConnectionResetError):
        connection.receive_to_end()
    assert server.wait_for_log(event="connection-closed")["reason"] == "client-reset"


def test_an_upstream_that_resets(raw):
    server, passed = raw()
    client, connection = begin(server, passed)
    connection.reset()
    with pytest.raises(ConnectionResetError):
        client.socket.recv(1)
    assert server.wait_for_log(event="connection-closed")["reason"] == "upstream-reset"


def test_the_idle_timeout(raw):
    server, passed = raw("--idle-timeout", 1)
    client, connection = begin(server, passed)
    try:
        assert client.socket.recv(1) == b""
    except ConnectionResetError:
        pass
    assert server.wait_for_log(event="connection-closed")["reason"] == "idle-timeout"


SECCOMP = pytest.param("sandbox = seccomp\n", id="seccomp", marks=pytest.mark.skipif(
    SANITIZED, reason="a sanitizer makes other system calls"))  # fmt: skip


@pytest.mark.parametrize("text", [pytest.param("", id="default"), SECCOMP])
def test_much_both_ways(beside, origin, certs, text):
    size = 20 << 20

    def mirror(connection):
        seen = hashlib.sha256()
        left = size
        while left:
            more = connection.socket.recv(1 << 18)
            assert more
            seen.update(more)
            left -= len(more)
        connection.send(seen.hexdigest().encode())
        for piece in pieces(size):
            connection.send(piece)
        connection.socket.unwrap()

    server = beside(origin(speaking_tls(certs.rsa, mirror)), text=text)
    with TlsClient(server.port, name=PASSED) as client:
        for piece in pieces(size):
            client.send(piece)
        assert client.receive_exactly(64).decode() == expected_digest(size)
        seen = hashlib.sha256(client.receive_to_end())
    assert seen.hexdigest() == expected_digest(size)
    closed = server.wait_for_log(event="connection-closed")
    assert int(closed["up_bytes"]) > size and int(closed["down_bytes"]) > size


def test_a_slow_reader_costs_little_memory(raw):
    server, passed = raw()
    client, connection = begin(server, passed)
    before = server.memory()
    connection.socket.setblocking(False)
    sent = 0
    try:
        while sent < 64 << 20:
            sent += connection.socket.send(bytes(1 << 16))
            time.sleep(0)  # Let cleat's worker fill its buffers.
    except BlockingIOError:
        pass
    assert server.memory() - before < 8 << 20
    connection.socket.settimeout(DEADLINE)
    connection.end()
    left = sent
    while left:
        left -= len(client.socket.recv(1 << 18))
    assert client.socket.recv(1) == b""


# The log, metrics and mistakes.


def test_the_log_and_the_access_log(beside, origin, certs, tmp_path):
    log = AccessLog(tmp_path / "access.log")
    flags = ["--access-log", log.path, "--access-log-format", "json"]
    server = beside(origin(speaking_tls(certs.rsa)), *flags)
    for name in (PASSED, "other.example"):
        with TlsClient(server.port, name=name) as client:
            assert client.exchange(b"twelve bytes") == b"twelve bytes"
    begun = server.wait_for_log(event="passthrough-begins")
    closed = server.wait_for_log(times=2, event="connection-closed")
    assert begun["sni"] == PASSED and begun["passthrough"] == "true"
    assert len(server.log(event="connection-closed", passthrough="true")) == 1, closed
    assert len(server.log(event="handshake-done")) == 1
    entry = log.wait_for(passthrough=True)
    assert entry["sni"] == PASSED and entry["ja4"].startswith("t13d")
    assert entry["up_bytes"] > 300 and entry["down_bytes"] > 1000
    assert {"connect_ms", "first_byte_ms", "upstream"} <= entry.keys()
    assert not {"handshake_ms", "version", "cipher", "certificate"} & entry.keys()
    assert "passthrough" not in log.wait_for(sni="other.example")


def test_it_is_counted(beside, origin, certs):
    server = beside(origin(speaking_tls(certs.rsa)), "--admin", "[127.0.0.1]:0")
    for name in (PASSED, PASSED, "other.example"):
        shown(server.port, name)
    metrics = admin_of(server).metrics()
    assert metrics.value("cleat_passthrough_connections_total") == 2


def test_an_upstream_that_is_down(serve, nobody):
    server = serve(upstream(nobody) + frontend(route("app", sni(PASSED), PASS)))
    assert "internal error" in str(refused(server.port, name=PASSED))
    failed = server.wait_for_log(event="connect-failed")
    assert failed["passthrough"] == "true"


def test_the_next_server_gets_the_hello(serve, origin, certs, nobody):
    passed = origin(speaking_tls(certs.rsa))
    text = upstream(nobody, passed.address, lines=["balance = first"])
    server = serve(text + frontend(route("app", sni(PASSED), PASS)))
    assert shown(server.port, PASSED) == certs.rsa.fingerprint


def test_a_reload_ends_tls_here(server, certs):
    with TlsClient(server.port, name=PASSED) as client:
        assert reload_with(server, PASS, "")["keys"] == "route"
        assert client.exchange(b"goes on") == b"goes on"
    with TlsClient(server.port, name=PASSED) as client:
        assert client.fingerprint == certs.ecdsa.fingerprint


def test_an_end_of_the_program(raw):
    server, passed = raw()
    client, connection = begin(server, passed)
    server.end()
    with pytest.raises(ConnectionResetError):
        connection.receive_to_end()
    assert server.log(event="connection-closed")[0]["reason"] == "stopped"


def test_a_session_of_the_upstream_resumes(server):
    tls = only(TLS_1_2)
    with TlsClient(server.port, tls, name=PASSED) as client:
        assert client.exchange(b"first") == b"first"
        session = client.tls.session
    with TlsClient(server.port, tls, name=PASSED, session=session) as client:
        assert client.exchange(b"again") == b"again"
        assert client.tls.session_reused


@pytest.mark.parametrize("flags", [["-tls1_3"], ["-tls1_2"]])
def test_openssl_sees_the_upstream_s_certificate(server, s_client, certs, flags):
    ran = s_client(server.port, "-servername", PASSED, "-CAfile", certs.rsa.cert, *flags)
    assert "Verify return code: 0 (ok)" in ran.stdout, ran.stdout


def test_curl_gets_a_page(beside, origin, certs):
    server = beside(origin(speaking_tls(certs.rsa, answer)), conditions=[sni("localhost")])
    command = ["curl", "-sS", "--noproxy", "*", "--ipv4", "--cacert", certs.rsa.cert]
    ran = subprocess.run(
        [*map(str, command), f"https://localhost:{server.port}/"],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert (ran.returncode, ran.stdout) == (0, "hello from the origin\n"), ran.stderr


def test_explain(certs, config):
    path = config(
        upstream("/s")
        + frontend(route("app", 'alpn = "acme-tls/1"', PASS), port=4430)
        + f'alpn-protos = h2\npem-file = "{certs.ecdsa.pem}"\n'
    )
    flags = ["explain", "--config", path, "--sni", "a.example", "--alpn"]
    ran = run(*flags, "acme-tls/1")
    assert "route        alpn acme-tls/1, passthrough (" in ran.stdout, ran.stdout
    assert "certificate" not in ran.stdout and "upstream     app," in ran.stdout
    (one,) = json.loads(run(*flags, "acme-tls/1", "--json").stdout)["frontends"]
    assert (one["passthrough"], one["upstream"], one["certificates"]) == (True, "app", [])
    ran = run(*flags, "h2")
    assert "none matches" in ran.stdout and "certificate  ECDSA" in ran.stdout
    assert "no_application_protocol" in run(*flags, "h3").stdout


@pytest.mark.parametrize(
    "routes, wrong",
    [
        ([f"{sni('a.example')} {PASS}", sni("a.example")], "never chosen: the route at"),
        ([PASS, sni("a.example")], "takes all clients with a.example"),
        ([f'alpn = "h2" {PASS}', 'alpn = "h2"'], "takes all clients that this one would take"),
        (['alpn = "h3"'], "alpn-protos does not have. Add it to alpn-protos; or set passthrough"),
    ],
)
def test_mistakes_are_named(certs, config, routes, wrong):
    text = f'alpn-protos = h2\npem-file = "{certs.ecdsa.pem}"\n' + upstream("/s")
    text += frontend(*(route("app", each) for each in routes))
    assert wrong in complaints("--config", config(text))


@pytest.mark.parametrize("name", [sni("a.example"), sni("*.example"), ""])
def test_a_route_with_a_rule_for_certificates_in_front_is_a_mistake(certs, config, ca, name):
    """TLS would begin for it, and never go on unread."""
    rule = 'client-certificate = { cn = "a" }'
    text = upstream("/s") + frontend(
        route("app", name, rule), route("app", sni("a.example"), PASS)
    )
    text += f'pem-file = "{certs.ecdsa.pem}"\n{verifies(ca, "optional")}\n'
    assert "takes all clients with a.example" in complaints("--config", config(text))


def test_a_protocol_that_is_offered_and_not_agreed_on_is_passed_through(certs, config):
    """The first route does not take all clients of the second: a client may offer h2 and agree on
    another protocol."""
    text = f'alpn-protos = "http/1.1,h2"\npem-file = "{certs.ecdsa.pem}"\n' + upstream("/s")
    routes = frontend(route("app", 'alpn = "h2"'), route("app", 'alpn = "h2"', PASS))
    assert run("-t", "--config", config(text + routes)).returncode == 0
