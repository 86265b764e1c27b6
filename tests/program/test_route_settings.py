"""Routes with settings of their own: certificates, versions, client verification, the PROXY header
and max-connections, chosen by the ClientHello. A session of one route does not resume under the
other settings of another one."""

import contextlib
import ctypes
import ctypes.util
import json
import os
import socket
import subprocess
import threading

import pytest

from admin_client import admin_of, eventually_counts
from client_authorities import bad, ca, good, let_in, showing, verifies  # noqa: F401: the fixtures
from deadlines import DEADLINE, SANITIZED
from origins import answer as web
from origins import echo
from program import binary, complaints, run
from proxy_header import AUTHORITY, SSL, parse_v2, receive_v1, receive_v2
from reloads import reload, reload_is_refused, reload_with, replace, rewrite
from tls_client import TLS_1_2, TLS_1_3, VERSIONS, TlsClient, context, only, refused
from upstream_blocks import answer, frontend, route, saying, sni, upstream


SUITE = "ECDHE-ECDSA-AES256-GCM-SHA384"


@pytest.fixture
def app(origin):
    """An upstream block whose server echoes."""
    return upstream(origin(echo).address) + f'backend = "{origin(echo).address}"\n'


# Certificates.


@VERSIONS
@pytest.mark.parametrize("many", [[], ["--certificate-cache", "2"]], ids=["few", "many"])
def test_a_route_has_its_certificates(serve, certs, app, version, many):
    """The client gets those of the route only, also where another has its name."""
    site = certs.named("site", "DNS:a.test,DNS:b.test")
    first = certs.named("first", "DNS:first.test")
    rsa = certs.rsa
    server = serve(
        app
        + frontend(
            route("app", sni("a.test"), f'pem-file = "{first.pem}" pem-file = "{rsa.pem}"'),
            route("app", sni("c.test"), "tls-protos = TLSv1.2 TLSv1.3 write-proxy-v1 = off"),
        )
        + f'pem-file = "{site.pem}"\n',
        *many,
    )
    tls = only(version)
    assert let_in(server.port, tls, name="a.test").fingerprint == rsa.fingerprint
    assert let_in(server.port, tls, name="b.test").fingerprint == site.fingerprint
    assert let_in(server.port, tls, name="c.test").fingerprint == certs.ecdsa.fingerprint
    assert let_in(server.port, tls, name=None).fingerprint == certs.ecdsa.fingerprint


def test_sni_chooses_among_a_routes_certificates(serve, certs, app):
    one, other = certs.named("one", "DNS:one.test"), certs.named("other", "DNS:other.test")
    server = serve(
        app
        + frontend(
            route(
                "app",
                sni("one.test", "other.test"),
                f'pem-file = {{ cert = "{one.cert}" private-key = "{one.key}" }}',
                f'pem-file = "{other.pem}"',
            )
        )
    )
    assert let_in(server.port, name="one.test").fingerprint == one.fingerprint
    assert let_in(server.port, name="other.test").fingerprint == other.fingerprint


def test_openssl_and_curl_get_the_routes_certificate(serve, certs, origin, s_client):
    site = certs.named("site", "DNS:a.test")
    server = serve(
        upstream(origin(web).address)
        + 'backend = "/nowhere"\n'
        + frontend(route("app", sni("a.test"), f'pem-file = "{site.pem}"'))
    )
    flags = ["-servername", "a.test", "-CAfile", site.cert, "-verify_hostname", "a.test"]
    assert "Verify return code: 0 (ok)" in s_client(server.port, *flags, said="x").stdout
    words = ["curl", "-sS", "--noproxy", "*", "--cacert", site.cert]
    words += ["--resolve", f"a.test:{server.port}:127.0.0.1", f"https://a.test:{server.port}/"]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "hello from the origin\n", "")


# Versions, suites and groups.


def test_a_route_has_its_versions(serve, app):
    server = serve(
        app
        + frontend(
            route("app", sni("new.test"), "tls-protos = TLSv1.3"),
            route("app", sni("old.test"), f'tls-protos = TLSv1.2 ciphers = "{SUITE}"'),
        )
    )
    assert let_in(server.port, name="new.test").tls.version() == "TLSv1.3"
    refused(server.port, only(TLS_1_2), name="new.test")
    # OpenSSL has not read the name by then.
    assert server.wait_for_log(event="handshake-failed", reason="no-shared-version")
    client = let_in(server.port, name="old.test")
    assert (client.tls.version(), client.cipher) == ("TLSv1.2", SUITE)
    for version in (TLS_1_2, TLS_1_3):
        let_in(server.port, only(version), name="localhost")


def test_a_route_has_its_groups(serve, app, s_client):
    server = serve(app + frontend(route("app", sni("a.test"), 'ecdh-curve = "P-384"')))
    for name, group in {"a.test": "secp384r1", "b.test": "X25519"}.items():
        shown = s_client(server.port, "-servername", name, "-groups", "X25519:P-384", said="x")
        assert group in shown.stdout, shown.stdout


# Client verification.


@VERSIONS
def test_a_route_verifies_its_clients(serve, certs, app, ca, good, bad, version):
    server = serve(
        app
        + frontend(
            route("app", sni("closed.test"), verifies(ca)),
            route("app", sni("other.test"), verifies(certs.authority("another-ca"), "optional")),
        )
    )
    let_in(server.port, only(version), name="localhost")
    let_in(server.port, showing(good, version), name="closed.test")
    refused(server.port, only(version), name="closed.test")
    assert server.wait_for_log(
        event="handshake-failed", sni="closed.test", reason="no-client-certificate"
    )
    refused(server.port, showing(bad, version), name="closed.test")
    assert server.wait_for_log(event="handshake-failed", reason="bad-certificate")
    let_in(server.port, only(version), name="other.test")
    let_in(server.port, showing(bad, version), name="other.test")
    refused(server.port, showing(good, version), name="other.test")


@VERSIONS
def test_a_route_has_rules_depth_and_crls(serve, certs, app, ca, good, version):
    revoked = certs.signed("revoked", ca, "/CN=carol")
    bob = certs.signed("bob", ca, "/CN=bob").pem
    crl = certs.crl("revoked-list", ca, revoked)
    server = serve(
        app
        + frontend(
            route("app", sni("alice.test"), verifies(ca), "client-allow = { cn = alice }"),
            route("app", sni("crl.test"), verifies(ca), f'client-verify-crl = "{crl}"'),
        )
    )
    let_in(server.port, showing(good, version), name="alice.test")
    refused(server.port, only(version, certificate=bob), name="alice.test")
    assert server.wait_for_log(event="connection-refused", reason="client-not-allowed")
    let_in(server.port, only(version, certificate=bob), name="crl.test")
    refused(server.port, only(version, certificate=revoked.pem), name="crl.test")


def test_certificates_of_clients_choose_among_routes_of_one_name(serve, origin, certs, ca, good):
    """The first route without client-certificate has the settings of both."""
    blocks = [upstream(origin(saying(name)).address, name=name) for name in ("alice", "others")]
    bob = certs.signed("bob", ca, "/CN=bob").pem
    server = serve(
        "".join(blocks)
        + frontend(
            route("alice", sni("a.test"), "client-certificate = { cn = alice }"),
            route("others", sni("a.test"), verifies(ca)),
            lines='upstream = "others"',
        )
    )
    assert answer(server.port, showing(good), name="a.test") == "alice"
    assert answer(server.port, only(TLS_1_3, certificate=bob), name="a.test") == "others"
    refused(server.port, only(TLS_1_3), name="a.test")
    assert answer(server.port, only(TLS_1_3), name="b.test") == "others"


def test_by_address_and_protocol(serve, certs, app):
    """Settings of TLS depend on all that a ClientHello says, and on the client's address."""
    near, h2 = certs.named("near", "DNS:near.test"), certs.named("h2", "DNS:h2.test")
    server = serve(
        'alpn-protos = "h2,http/1.1"\n'
        + app
        + frontend(
            route("app", 'client-address = "127.0.0.2"', f'pem-file = "{near.pem}"'),
            route("app", 'alpn = "h2"', f'pem-file = "{h2.pem}"'),
        )
    )
    assert let_in(server.port, source="127.0.0.2").fingerprint == near.fingerprint
    assert let_in(server.port, context(alpn=["h2"])).fingerprint == h2.fingerprint
    assert let_in(server.port, context(alpn=["http/1.1"])).fingerprint == certs.ecdsa.fingerprint


# Sessions.


@VERSIONS
def test_a_session_stays_with_its_settings(serve, certs, app, ca, version):
    """A client that came without a certificate must not come back as one that has shown it, nor
    one of other certificates or authorities."""
    site = certs.named("site", "DNS:site.test")
    other = certs.authority("another-ca")
    server = serve(
        app
        + frontend(
            route("app", sni("closed.test"), verifies(ca)),
            route("app", sni("open.test"), verifies(ca, "optional")),
            route("app", sni("other.test"), verifies(other, "optional")),
            route("app", sni("site.test"), f'pem-file = "{site.pem}"'),
        )
    )
    tls = only(version)
    for first in ("localhost", "open.test", "other.test", "site.test"):
        session = let_in(server.port, tls, name=first).tls.session
        again = let_in(server.port, tls, name=first, session=session)
        assert again.tls.session_reused, first
        for name in {"localhost", "open.test", "other.test", "site.test"} - {first}:
            client = let_in(server.port, tls, name=name, session=session)
            assert not client.tls.session_reused, (first, name)
        refused(server.port, tls, name="closed.test", session=session)


def test_a_session_resumes_among_routes_with_the_same_settings(serve, app, ca, good):
    server = serve(
        app
        + frontend(
            route("app", sni("a.test"), verifies(ca)),
            route("app", sni("b.test"), verifies(ca)),
        )
    )
    tls = showing(good)
    session = let_in(server.port, tls, name="a.test").tls.session
    assert let_in(server.port, tls, name="b.test", session=session).tls.session_reused


def test_a_second_client_hello_changes_no_settings(serve, origin, ca):
    """A ClientHello after a HelloRetryRequest may name a server that the first one has not named.
    OpenSSL takes this name, and must not bring the client behind a route that asks for a
    certificate, by settings that ask for none. The other libraries keep the first name."""
    server = serve(
        'ecdh-curve = "P-384"\n'
        + upstream(origin(saying("closed")).address)
        + f'backend = "{origin(saying("open")).address}"\n'
        + frontend(route("app", sni("closed.test"), verifies(ca)))
    )
    assert said_to(server.port, "open.test", "open.test") == b"open"
    said = said_to(server.port, "open.test", "closed.test")
    if os.environ["CLEAT_TLS"].startswith("openssl"):
        server.wait_for_log(event="connection-refused", reason="client-hello-changed")
        assert said == b""
    else:
        assert said == b"open"


def pass_on(source, sink):
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


def said_to(port, first, second):
    """The bytes that an upstream says to a client on OpenSSL that has another name in its second
    ClientHello; none where the connection fails. Its first group is not the server's."""
    lib = ctypes.CDLL(ctypes.util.find_library("ssl"))
    for name in ("SSL_CTX_new", "TLS_client_method", "SSL_new"):
        getattr(lib, name).restype = ctypes.c_void_p
    lib.SSL_ctrl.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_long, ctypes.c_char_p]
    set_groups, set_name = 92, 55  # SSL_CTRL_SET_GROUPS_LIST, SSL_CTRL_SET_TLSEXT_HOSTNAME.
    settings = ctypes.c_void_p(lib.SSL_CTX_new(ctypes.c_void_p(lib.TLS_client_method())))
    tls = ctypes.c_void_p(lib.SSL_new(settings))
    room = ctypes.create_string_buffer(100)
    mine, between = socket.socketpair()
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as raw, mine, between:
        assert lib.SSL_ctrl(tls, set_groups, 0, b"X25519:P-384") == 1
        assert lib.SSL_ctrl(tls, set_name, 0, first.encode()) == 1
        lib.SSL_set_fd(tls, mine.fileno())
        mine.setblocking(False)
        lib.SSL_connect(tls)  # The first ClientHello, which nobody answers before the next line.
        assert lib.SSL_ctrl(tls, set_name, 0, second.encode()) == 1
        mine.setblocking(True)
        for source, sink in ((between, raw), (raw, between)):
            threading.Thread(target=pass_on, args=(source, sink), daemon=True).start()
        size = lib.SSL_read(tls, room, len(room)) if lib.SSL_connect(tls) == 1 else 0
    lib.SSL_free(tls)
    lib.SSL_CTX_free(settings)
    return room.raw[: max(size, 0)]


# The PROXY header.


def test_a_route_has_its_header(serve, origin):
    plain, first, second = origin(), origin(), origin()
    server = serve(
        "write-proxy-v2 = on\nproxy-tlv = off\n"
        + upstream(plain.address, name="plain")
        + upstream(first.address, name="first")
        + upstream(second.address, name="second")
        + f'backend = "{second.address}"\n'
        + frontend(
            route("plain", sni("plain.test"), "write-proxy-v2 = off"),
            route("first", sni("first.test"), "write-proxy-v1 = on"),
            route("second", sni("second.test"), "proxy-tlv = on proxy-authority = off"),
        )
    )
    with TlsClient(server.port, name="plain.test") as client:
        client.send(b"hello")
        assert plain.accept().receive_exactly(5) == b"hello"
    with TlsClient(server.port, name="first.test") as client:
        port = client.socket.getsockname()[1]
        expected = f"PROXY TCP4 127.0.0.1 127.0.0.1 {port} {server.port}\r\n".encode()
        assert receive_v1(first.accept()) == expected
    with TlsClient(server.port, name="second.test"):
        header = parse_v2(receive_v2(second.accept()))
        assert SSL in header.tlvs and AUTHORITY not in header.tlvs
    with TlsClient(server.port, name="else.test"):
        header = parse_v2(receive_v2(second.accept()))
        assert SSL not in header.tlvs and header.tlvs[AUTHORITY] == b"else.test"


def test_a_passthrough_has_its_header(serve, origin):
    away = origin()
    server = serve(
        upstream(away.address)
        + 'backend = "/nowhere"\n'
        + frontend(route("app", sni("a.test"), "passthrough = on write-proxy-v1 = on"))
    )
    with TlsClient(server.port, name="a.test", handshake=False) as client:
        hello = client.client_hello()
        client.socket.sendall(hello)
        reached = away.accept()
        assert receive_v1(reached).startswith(b"PROXY TCP4 127.0.0.1 127.0.0.1 ")
        assert reached.receive_exactly(len(hello)) == hello


# Limits.


def is_reset(port, **more):
    try:
        TlsClient(port, **more).socket.close()
    except (ConnectionResetError, BrokenPipeError):
        return True
    return False


def test_a_route_has_so_many_connections(serve, app):
    """One more is reset behind its ClientHello. Nothing of TLS is done for it."""
    server = serve(app + frontend(route("app", sni("a.test"), "max-connections = 1")))
    with TlsClient(server.port, name="a.test"):
        assert is_reset(server.port, name="a.test")
        line = server.wait_for_log(event="connection-refused", reason="route-connection-limit")
        assert (line["level"], line["sni"], line["route"]) == ("warning", "a.test", "sni a.test")
        let_in(server.port, name="b.test")
        assert not server.log(event="handshake-failed")
    server.wait_for_log(times=2, event="connection-closed")
    let_in(server.port, name="a.test")


def test_a_limit_is_counted_and_kept_over_reloads(serve, origin, app):
    away = origin(echo)
    server = serve(
        app
        + upstream(away.address, name="away")
        + 'admin = "[127.0.0.1]:0"\n'
        + frontend(
            route("away", sni("p.test"), "passthrough = on max-connections = 1"),
            route("app", sni("a.test"), "max-connections = 1"),
        )
    )
    with contextlib.ExitStack() as stack:
        stack.enter_context(TlsClient(server.port, name="a.test"))
        passed = stack.enter_context(TlsClient(server.port, name="p.test", handshake=False))
        passed.socket.sendall(passed.client_hello())
        server.wait_for_log(event="passthrough-begins")
        for _ in range(3):
            reload(server)
        assert is_reset(server.port, name="a.test")
        assert is_reset(server.port, name="p.test")
        reload_with(server, 'a.test" max-connections = 1', 'a.test" max-connections = 2')
        stack.enter_context(TlsClient(server.port, name="a.test"))
        assert is_reset(server.port, name="a.test")
    counted = "cleat_connections_refused_total"
    eventually_counts(admin_of(server), counted, 3, reason="route-connection-limit")


# Reloads.


def test_a_reload_changes_a_routes_settings(serve, certs, app, ca, good):
    site = certs.named("site", "DNS:a.test")
    server = serve(app + frontend(route("app", sni("a.test"), "tls-protos = TLSv1.3")))
    before = TlsClient(server.port, name="a.test")
    own = f'pem-file = "{site.pem}" {verifies(ca)}'
    assert "route" in reload_with(server, "tls-protos = TLSv1.3", own)["keys"]
    assert before.exchange(b"as before") == b"as before"
    before.socket.close()
    refused(server.port, name="a.test")
    client = let_in(server.port, context(certificate=good.pem), name="a.test")
    assert client.fingerprint == site.fingerprint
    rewrite(server, f'pem-file = "{site.pem}"', 'pem-file = "/nowhere"')
    (problem,) = reload_is_refused(server)
    assert "pem-file: " in problem and "/nowhere" in problem
    let_in(server.port, context(certificate=good.pem), name="a.test")


def test_a_reload_renews_a_routes_certificate(serve, certs, app, tmp_path):
    """Sessions of a renewed certificate resume."""
    old, new = certs.named("old", "DNS:a.test"), certs.named("new", "DNS:a.test")
    file = tmp_path / "site.pem"
    file.write_text(old.pem.read_text())
    server = serve(app + frontend(route("app", sni("a.test"), f'pem-file = "{file}"')))
    tls = only(TLS_1_3)
    first = let_in(server.port, tls, name="a.test")
    assert first.fingerprint == old.fingerprint
    replace(file, new.pem.read_text())
    assert reload(server)["certificates_changed"] == "1"
    assert let_in(server.port, name="a.test").fingerprint == new.fingerprint
    assert let_in(server.port, tls, name="a.test", session=first.tls.session).tls.session_reused


def test_a_change_of_a_routes_file_is_a_reload(serve, certs, app, tmp_path):
    old, new = certs.named("old", "DNS:a.test"), certs.named("new", "DNS:a.test")
    file = tmp_path / "site.pem"
    file.write_text(old.pem.read_text())
    server = serve(
        "reload-on-change = on\n"
        + app
        + frontend(route("app", sni("a.test"), f'pem-file = "{file}"'))
    )
    assert let_in(server.port, name="a.test").fingerprint == old.fingerprint
    replace(file, new.pem.read_text())
    server.wait_for_log(event="reloaded")
    assert let_in(server.port, name="a.test").fingerprint == new.fingerprint


# Memory.


@pytest.mark.skipif(SANITIZED, reason="a sanitizer keeps memory of its own")
def test_routes_without_settings_of_tls_have_no_context(serve, app):
    """A TLS context with its certificate takes tens of kilobytes."""
    count = 4000
    one = serve(app + frontend(route("app", sni("n0.test"))))
    many = serve(app + frontend(*(route("app", sni(f"n{i}.test")) for i in range(count))))
    let_in(many.port, name=f"n{count - 1}.test")
    assert resident(many) - resident(one) < count * 8192


@pytest.mark.skipif(SANITIZED, reason="a sanitizer keeps memory of its own")
def test_a_route_has_no_copy_of_its_frontends_certificates(certs, config):
    count = 300
    files = f'pem-file = "{certs.ecdsa.pem}"\n' * count

    def peak(settings):
        routes = [route("app", sni(f"n{i}.test"), settings) for i in range(count)]
        path = config(upstream("/s") + frontend(*routes, lines=files))
        with subprocess.Popen([binary(), "-t", "--config", path], stderr=subprocess.DEVNULL) as ran:
            _, status, usage = os.wait4(ran.pid, 0)
            ran.returncode = os.waitstatus_to_exitcode(status)
        assert ran.returncode == 0
        return usage.ru_maxrss << 10

    assert peak("tls-protos = TLSv1.3") - peak("") < count * count * 100


def resident(server):
    with open(f"/proc/{server.pid}/status") as status:
        (line,) = [each for each in status if each.startswith("VmRSS:")]
    return int(line.split()[1]) << 10


# cleat explain and cleat check.


def test_explain_tells_the_settings_of_a_route(certs, config, ca):
    site = certs.named("site", "DNS:a.test")
    path = config(
        upstream("/s")
        + f'pem-file = "{certs.ecdsa.pem}"\n'
        + frontend(
            route(
                "app",
                sni("a.test"),
                f'pem-file = "{site.pem}" tls-protos = TLSv1.3 write-proxy-v1 = on',
                f"{verifies(ca)} max-connections = 7",
            )
        )
    )

    def explain(name):
        ran = run("explain", "--config", path, "--sni", name, "--json")
        assert ran.returncode == 0, ran.stderr
        (one,) = json.loads(ran.stdout)["frontends"]
        return one

    found = explain("a.test")
    assert found["settings"] == found["route"] and found["route"].startswith(f"{path}:")
    assert found["certificates"] == [{"files": str(site.pem), "key": "ECDSA P-256"}]
    assert (found["versions"], found["client_verify"]) == (["TLS 1.3"], "required")
    assert found["announcement"] == "write-proxy-v1"
    assert found["limits"]["route_connections"] == 7
    usual = explain("b.test")
    assert usual["settings"] is None and usual["announcement"] == "nothing"
    assert usual["certificates"][0]["files"] == str(certs.ecdsa.pem)
    assert usual["versions"] == ["TLS 1.3", "TLS 1.2"] and usual["client_verify"] == "none"
    text = run("explain", "--config", path, "--sni", "a.test").stdout
    assert "of the route sni a.test (" in text and "7 connections of the route" in text


def test_check_tells_where_a_routes_certificate_serves(certs, config):
    site = certs.named("site", "DNS:a.test")
    path = config(
        upstream("/s")
        + f'pem-file = "{certs.ecdsa.pem}"\n'
        + frontend(route("app", sni("a.test"), f'pem-file = "{site.pem}"'))
    )
    ran = run("check", "--config", path, "--json")
    (found,) = [
        each for each in json.loads(ran.stdout)["certificates"] if each["chain"] == str(site.pem)
    ]
    (place,) = found["frontends"]
    assert f" route {path}:" in place and found["default_in"] == [place]


@pytest.mark.parametrize(
    "settings, wrong",
    [
        ('passthrough = on pem-file = "a.pem"', "pem-file: this has no effect: with passthrough"),
        ("client-verify = required", "client-verify: clients cannot be verified without"),
        ('pem-file = "/nowhere.pem"', "/nowhere.pem"),
        ('tls-protos = TLSv1.2 ciphers = "NOTHING"', "ciphers: "),
        ('ecdh-curve = "P-1"', "ecdh-curve: "),
        ("max-connections = 1", "max-connections: 1 connections cannot be divided"),
        ("sni-nomatch-abort = on", "sni-nomatch-abort: this key does not stand in a route block."),
    ],
)
def test_mistakes_are_named(certs, config, settings, wrong):
    path = config(
        upstream("/s")
        + f'pem-file = "{certs.ecdsa.pem}"\nworkers = 2\n'
        + frontend(route("app", sni("a.test"), settings))
    )
    errors = complaints("--config", path)
    assert wrong in errors
    assert f"{path}:" in errors
