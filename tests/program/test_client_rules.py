"""client-allow: a client whose certificate verifies, and meets no rule, is refused after the
handshake, by an alert, with a line in the log that names the nearest rule and what the certificate
has. A session that resumes is checked again."""

import datetime
import hashlib
import json
import os
import ssl
import subprocess

import pytest

from admin_client import admin_of, eventually_counts
from certificates import openssl
from client_authorities import ca, let_in, showing, verifies  # noqa: F401: the fixtures
from deadlines import DEADLINE, eventually
from program import complaints, run
from reloads import reload, reload_is_refused, replace
from tls_client import TLS_1_3, VERSIONS, TlsClient, only, refused

HAS_ALERTS = not os.environ.get("CLEAT_TLS", "aws-lc").startswith("openssl")
SPIFFE = "subjectAltName=URI:spiffe://example.org/ns/web/1\n"
MIXED = (
    "subjectAltName=DNS:web.example.org,email:alice@example.org,IP:192.0.2.7,IP:2001:db8::7\n"
    "extendedKeyUsage=clientAuth,emailProtection\n"
)


@pytest.fixture
def web(certs, ca):
    return certs.signed("rules-web", ca, "/CN=web", SPIFFE)


@pytest.fixture
def mixed(certs, ca):
    return certs.signed("rules-mixed", ca, "/O=Example/CN=alice", MIXED)


@pytest.fixture
def serve(serve_lines, ca):
    """Starts cleat, with one worker, and a configuration file of these lines."""
    return lambda *lines, verify="required", **options: serve_lines(
        *lines, verifies(ca, verify), **options
    )


def is_denied(port, certificate, version=TLS_1_3):
    """The client is refused, by access_denied where the TLS library has a call for an alert."""
    why = refused(port, showing(certificate, version))
    if HAS_ALERTS:
        assert "ACCESS_DENIED" in (getattr(why, "reason", "") or ""), why
    else:
        assert isinstance(why, ssl.SSLEOFError), why


def spki(certificate):
    key = openssl("x509", "-in", certificate.cert, "-noout", "-pubkey")
    ran = subprocess.run(
        ["openssl", "pkey", "-pubin", "-outform", "der"], input=key.encode(), capture_output=True
    )
    return hashlib.sha256(ran.stdout).hexdigest()


@pytest.mark.parametrize(
    ("good", "bad", "has"),
    [
        ('cn = "alice"', 'cn = "bob"', "alice"),
        ('dns = "*.example.org"', 'dns = "*.org"', "web.example.org"),
        ('email = "@example.org"', 'email = "bob@example.org"', "alice@example.org"),
        ('ip = "192.0.2.0/24"', 'ip = "198.51.100.0/24"', "192.0.2.7, 2001:db8::7"),
        ('ip = "2001:db8::/32"', 'ip = "2001:db9::/32"', "192.0.2.7, 2001:db8::7"),
        ('issuer = "CN=ca"', 'issuer = "CN=another"', "CN=ca"),
        ('eku = "emailProtection"', 'eku = "serverAuth"', "clientAuth, emailProtection"),
        ('uri = "spiffe://example.org/*" cn = "web"', 'uri = "urn:x"', "no uri"),
    ],
)
def test_each_condition(serve, mixed, web, good, bad, has):
    shown = web if good.startswith("uri") else mixed
    let_in(serve(f"client-allow = {{ {good} }}").port, showing(shown))
    server = serve(f"client-allow = {{ {bad} }}")
    is_denied(server.port, mixed)
    line = server.wait_for_log(event="connection-refused")
    assert line["reason"] == "client-not-allowed"
    assert line["subject"] == "CN=alice,O=Example"
    assert (line["issuer"], line["serial"]) == (mixed.issuer, mixed.serial)
    key, text = bad.split(" = ")
    assert line["detail"].endswith(
        f":1 asks for {key} {text.strip(chr(34))}; the certificate has {has}"
    )


def test_the_hash_of_the_public_key(serve, mixed, web):
    server = serve(f'client-allow = {{ spki-sha256 = "{spki(mixed)}" }}')
    let_in(server.port, showing(mixed))
    is_denied(server.port, web)
    assert spki(web) in server.wait_for_log(event="connection-refused")["detail"]


@VERSIONS
def test_spiffe_ids(serve, web, mixed, certs, ca, version):
    """A trust domain, and what is under a path; never a certificate with two URIs."""
    server = serve('client-allow = { uri = "spiffe://example.org/ns/web/*" }')
    let_in(server.port, showing(web, version))
    two = "subjectAltName=URI:spiffe://example.org/ns/web/1,URI:spiffe://example.org/ns/web/2\n"
    is_denied(server.port, certs.signed("rules-two", ca, "/CN=two", two), version)
    line = server.wait_for_log(event="connection-refused")
    assert "a SPIFFE certificate has one" in line["detail"]
    other = "subjectAltName=URI:spiffe://example.org/ns/website/1\n"
    is_denied(server.port, certs.signed("rules-site", ca, "/CN=site", other), version)
    is_denied(server.port, mixed, version)


def test_all_keys_of_a_rule_and_any_of_the_rules(serve, mixed, web):
    server = serve(
        'client-allow = { cn = "alice" cn = "bob" issuer = "CN=another" }',
        'client-allow = { cn = "alice" eku = clientAuth email = "bob@example.org" }',
        'client-allow = { uri = "spiffe://example.org/*" }',
    )
    let_in(server.port, showing(web))
    is_denied(server.port, mixed)
    detail = server.wait_for_log(event="connection-refused")["detail"]
    assert detail.startswith("the nearest rule at ")
    assert detail.endswith(":1 asks for issuer CN=another; the certificate has CN=ca")


def test_optional_needs_no_certificate_and_no_bad_one(serve, mixed):
    server = serve('client-allow = { cn = "bob" }', verify="optional")
    with TlsClient(server.port, only(TLS_1_3)) as client:
        assert client.exchange(b"nobody") == b"nobody"
    is_denied(server.port, mixed)


def test_a_frontends_rules_replace_the_global_ones(serve, mixed, web):
    server = serve(
        'client-allow = { cn = "alice" }',
        'frontend = "[127.0.0.1]:0"',
        'frontend = { host = "127.0.0.1" port = "0" client-allow = { cn = "web" } }',
    )
    first, second = server.ports
    let_in(first, showing(mixed))
    let_in(second, showing(web))
    is_denied(first, web)
    is_denied(second, mixed)


@VERSIONS
def test_a_session_is_checked_again(serve, tmp_path, mixed, version):
    rules = tmp_path / "rules"
    rules.write_text('client-allow = { cn = "alice" }\n')
    server = serve(f'client-allow-file = "{rules}"')
    tls = showing(mixed, version)
    with TlsClient(server.port, tls) as client:
        assert client.exchange(b"first") == b"first"
        session = client.tls.session
    with TlsClient(server.port, tls, session=session) as client:
        assert client.exchange(b"again") == b"again"
        assert client.tls.session_reused
    replace(rules, '# Nobody but bob.\nclient-allow = { cn = "bob" }\n')
    reload(server)
    refused(server.port, tls, session=session)
    line = server.wait_for_log(event="connection-refused")
    assert line["detail"].endswith("rules:2 asks for cn bob; the certificate has alice")
    resumed = [each["resumed"] for each in server.log(event="handshake-done")]
    assert resumed[-1] == "true", resumed


@VERSIONS
def test_an_expired_certificate_does_not_resume(serve, certs, ca, version):
    """A session lives longer than the certificate that was shown for it."""
    now = datetime.datetime.now(datetime.timezone.utc)
    dates = [(now + datetime.timedelta(seconds=s)).strftime("%Y%m%d%H%M%SZ") for s in (-60, 4)]
    soon = certs.dated(f"rules-soon-{version}", "/CN=soon", *dates, issuer=ca)
    server = serve()
    tls = showing(soon, version)
    with TlsClient(server.port, tls) as client:
        assert client.exchange(b"in time") == b"in time"
        session = client.tls.session

    def is_refused():
        try:
            with TlsClient(server.port, tls, session=session) as client:
                client.exchange(b"again")
        except (ssl.SSLError, OSError) as why:
            return why
        return None

    why = eventually("the session is refused", is_refused)
    if HAS_ALERTS:
        assert "CERTIFICATE_EXPIRED" in (getattr(why, "reason", "") or ""), why
    line = server.wait_for_log(event="connection-refused")
    assert line["reason"] == "client-certificate-expired" and line["subject"] == "CN=soon"


@VERSIONS
def test_a_servers_certificate_is_refused_with_a_hint(serve, certs, ca, version):
    """Let's Encrypt's certificates have serverAuth alone: the TLS library refuses them."""
    public = certs.signed("rules-public", ca, "/CN=public", "extendedKeyUsage=serverAuth\n")
    server = serve()
    refused(server.port, showing(public, version))
    line = server.wait_for_log(event="handshake-failed", reason="bad-certificate")
    assert "needs clientAuth in its extended key usage (EKU)" in line["detail"]
    assert "Let's Encrypt" in line["detail"]


def test_refusals_are_counted_by_reason(serve, tmp_path, mixed):
    server = serve('client-allow = { cn = "bob" }', f'admin = "{tmp_path}/admin"')
    is_denied(server.port, mixed)
    is_denied(server.port, mixed)
    labels = {"reason": "client-not-allowed"}
    eventually_counts(admin_of(server), "cleat_connections_refused_total", 2, **labels)


def test_curl_and_gnutls_hear_of_it(serve, mixed, web):
    server = serve('client-allow = { cn = "web" }')
    curl = subprocess.run(
        ["curl", "-sSk", "--cert", mixed.pem, f"https://127.0.0.1:{server.port}/"],
        capture_output=True, text=True, timeout=DEADLINE,
    )
    assert curl.returncode != 0
    assert not HAS_ALERTS or "access denied" in curl.stderr, curl.stderr
    for shown, good in ((mixed, False), (web, True)):
        files = ["--x509certfile", shown.cert, "--x509keyfile", shown.key]
        ran = subprocess.run(
            ["gnutls-cli", "--insecure", *files, "--port", str(server.port), "127.0.0.1"],
            input="it is me\n", capture_output=True, text=True, timeout=DEADLINE,
        )
        assert ("it is me" in ran.stdout) == good, ran.stdout + ran.stderr
        assert good or not HAS_ALERTS or "Access was denied" in ran.stdout + ran.stderr


def test_a_file_is_read_again_by_a_reload(serve, tmp_path, mixed, web):
    rules = tmp_path / "rules"
    rules.write_text('client-allow = { cn = "alice" }\n')
    server = serve(f'client-allow-file = "{rules}"', 'client-allow = { email = "x@y.test" }')
    let_in(server.port, showing(mixed))
    is_denied(server.port, web)
    replace(rules, 'client-allow = { cn = "web" }\n')
    reload(server)
    let_in(server.port, showing(web))
    is_denied(server.port, mixed)
    replace(rules, 'client-allow = { cm = "web" }\n')
    (problem,) = reload_is_refused(server)
    assert f"{rules}:1:18: error: cm: there is no such key. Did you mean cn?" in problem


def test_an_empty_file_lets_no_certificate_in(serve, tmp_path, web):
    rules = tmp_path / "rules"
    rules.write_text("# Nobody yet.\n")
    server = serve(f'client-allow-file = "{rules}"')
    is_denied(server.port, web)
    assert "there is no rule" in server.wait_for_log(event="connection-refused")["detail"]


def test_a_file_is_watched(serve, tmp_path, mixed, web):
    rules = tmp_path / "rules"
    rules.write_text('client-allow = { cn = "alice" }\n')
    server = serve(f'client-allow-file = "{rules}"', "reload-on-change = on")
    let_in(server.port, showing(mixed))
    rules.write_text('client-allow = { cn = "web" }\n')
    server.wait_for_log(event="reloaded")
    let_in(server.port, showing(web))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("client-allow = { }", "client-allow: this rule asks for nothing"),
        ('client-allow = "cn=alice"', "client-allow: a rule is a block"),
        ('client-allow = { cn = "a" port = 1 }', "port: this key does not stand in a client-allow"),
        ('client-allow = { ip = "192.0.2.1/24" }', 'ip: "192.0.2.1/24" has bits behind the length'),
        ('client-allow = { spki-sha256 = "abc" }', 'spki-sha256: "abc" is no SHA-256'),
        ('client-allow = { uri = "spiffe://*" }', 'uri: "spiffe://*" is no URI'),
        ('client-allow-file = "/nowhere/rules"', "client-allow-file: cannot read /nowhere/rules"),
        ('cn = "alice"', "cn: this key does not stand at the top of the file"),
    ],
)
def test_mistakes(config, certs, ca, line, said):
    path = config(f"""{line}
        pem-file = "{certs.ecdsa.pem}"
        {verifies(ca)}
    """)
    errors = complaints("--config", path)
    assert f"{path}:1:" in errors and said in errors


@pytest.mark.parametrize(
    "line",
    [
        'client-allow = { cn = "alice" }',
        'client-allow-file = "rules"',
        "client-verify-depth = 1",
        'client-verify-crl = "crl"',
    ],
)
def test_rules_without_verification_are_an_error(config, certs, line):
    path = config(f'{line}\npem-file = "{certs.ecdsa.pem}"\n')
    errors = complaints("--config", path)
    assert f"{path}:1:" in errors and "client-verify is none" in errors


def answering(text):
    """A handler that says `text` to each client."""

    def handle(connection):
        connection.send(text)
        connection.receive_to_end()

    return handle


@VERSIONS
def test_routes_by_certificate(serve, origin, mixed, web, version):
    one, two = origin(answering(b"one")), origin(answering(b"two"))
    server = serve(
        f'upstream = {{ name = "one" server = "{one.address}" }}',
        f'upstream = {{ name = "two" server = "{two.address}" }}',
        'upstream = "two"',
        'frontend = { host = "127.0.0.1" port = "0" route = { upstream = "one"',
        '  client-certificate = { uri = "spiffe://example.org/*" }',
        '  client-certificate = { cn = "bob" } } }',
        verify="optional",
        backend="",
    )

    def answer(**more):
        with TlsClient(server.port, only(version, **more)) as client:
            return client.receive_exactly(3)

    assert answer(certificate=web.pem) == b"one"
    assert answer(certificate=mixed.pem) == b"two"
    assert answer() == b"two"
    tls = showing(web, version)
    with TlsClient(server.port, tls) as client:
        assert client.receive_exactly(3) == b"one"
        session = client.tls.session
    with TlsClient(server.port, tls, session=session) as client:
        assert client.receive_exactly(3) == b"one" and client.tls.session_reused


@pytest.mark.parametrize(
    ("condition", "said", "verify"),
    [
        ("client-certificate = { }", "this rule asks for nothing", "required"),
        ('client-certificate = { cn = "a" }', "no client of this route is asked", "none"),
        ('client-certificate = { cn = "a" } passthrough = on', "passed through", "required"),
        ('client-certificate = "cn"', "a rule is a block", "required"),
    ],
)
def test_mistakes_in_routes(config, certs, ca, condition, said, verify):
    path = config(f"""
        frontend = {{ route = {{ upstream = "a" sni = "a.test" {condition} }} }}
        upstream = {{ name = "a" server = "[127.0.0.1]:1" }}
        upstream = {{ name = "b" server = "[127.0.0.1]:2" }}
        upstream = "b"
        pem-file = "{certs.ecdsa.pem}"
        {verifies(ca, verify)}
    """)
    errors = complaints("--config", path)
    assert f"{path}:2:" in errors and said in errors


@pytest.mark.parametrize(
    ("asking", "is_good"), [("y.test", False), ("*.test", True), ("x.test", True), (None, True)]
)
def test_a_rule_needs_clients_that_are_asked(config, certs, ca, asking, is_good):
    """Another route may ask them, where it takes clients with the same name."""
    name = f'sni = "{asking}"' if asking else 'alpn = "h2"'
    path = config(f"""
        frontend = {{
            route = {{ upstream = "a" sni = "x.test" client-certificate = {{ cn = "a" }} }}
            route = {{ upstream = "a" {name} {verifies(ca)} }}
        }}
        alpn-protos = "h2,http/1.1"
        upstream = {{ name = "a" server = "[127.0.0.1]:1" }}
        pem-file = "{certs.ecdsa.pem}"
    """)
    ran = run("-t", "--config", path)
    assert (ran.returncode == 0) == is_good, ran.stderr
    if not is_good:
        assert f"{path}:3:" in ran.stderr
        assert "no client of this route is asked for a certificate" in ran.stderr


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ('client-allow = { cn = "a" }', ", and meet the rule\n"),
        ('client-allow = { cn = "a" } client-allow = { cn = "b" }', ", and meet one of 2 rules\n"),
    ],
)
def test_explain_counts_the_rules(config, certs, ca, rules, said):
    path = config(f"""
        {rules}
        pem-file = "{certs.ecdsa.pem}"
        {verifies(ca)}
    """)
    ran = run("explain", "--sni", "localhost", "--config", path)
    assert f"required: it must verify by {ca.cert}{said}" in ran.stdout, ran.stdout
    found = json.loads(run("explain", "--json", "--sni", "localhost", "--config", path).stdout)
    assert found["frontends"][0]["client_rules"] == rules.count("client-allow")
