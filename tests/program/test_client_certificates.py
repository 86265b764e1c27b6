"""Client certificates: none are asked for by default; optional takes a good one or none; required
takes a good one. A bad one is refused in every case, and the log says why."""

import os
import ssl
import subprocess

import pytest

from client_authorities import bad, ca, good, let_in, showing, verifies  # noqa: F401: the fixtures
from deadlines import DEADLINE
from program import complaints, run
from tls_client import TLS_1_2, TLS_1_3, VERSIONS, TlsClient, only, refused


@pytest.fixture
def expired(certs, ca):
    return certs.expired("past", "/CN=yesterday", issuer=ca).pem


@pytest.fixture
def serve(cleat, ca):
    return lambda mode: cleat("--client-verify", mode, "--client-verify-ca", ca.cert)


@VERSIONS
@pytest.mark.parametrize("mode", ["optional", "required"])
def test_a_good_one_is_let_in(serve, good, version, mode):
    let_in(serve(mode).port, showing(good, version))


@VERSIONS
def test_optional_lets_a_client_without_one_in(serve, version):
    let_in(serve("optional").port, only(version))


@VERSIONS
def test_required_refuses_a_client_without_one(serve, version):
    server = serve("required")
    why = refused(server.port, only(version))
    assert isinstance(why, (ssl.SSLError, ConnectionResetError))
    if version == TLS_1_3:  # RFC 8446 section 4.4.2.4: alert 116, certificate_required.
        assert "CERTIFICATE_REQUIRED" in (getattr(why, "reason", "") or "")
    assert server.wait_for_log(event="handshake-failed", reason="no-client-certificate")


@VERSIONS
@pytest.mark.parametrize("mode", ["optional", "required"])
def test_a_strangers_is_refused(serve, bad, version, mode):
    server = serve(mode)
    why = refused(server.port, showing(bad, version))
    assert "UNKNOWN_CA" in (getattr(why, "reason", "") or "")
    line = server.wait_for_log(event="handshake-failed", reason="bad-certificate")
    assert "issuer" in line["detail"] or "self-signed" in line["detail"]


@VERSIONS
def test_an_expired_one_is_refused(serve, expired, version):
    server = serve("required")
    why = refused(server.port, only(version, certificate=expired))
    assert "CERTIFICATE_EXPIRED" in (getattr(why, "reason", "") or "")
    line = server.wait_for_log(event="handshake-failed", reason="bad-certificate")
    assert line["detail"] == "certificate has expired"


def test_none_does_not_ask(cleat, bad):
    let_in(cleat().port, showing(bad))


def test_a_frontend_has_its_own_rule(cleat, config, certs, ca, good):
    server = cleat(
        "--config",
        config(f"""
        pem-file = "{certs.ecdsa.pem}"
        frontend = {{ host = "127.0.0.1"
                      port = 0
                      {verifies(ca)} }}
        frontend = "[127.0.0.1]:0"
    """),
        pem=[],
        frontend=None,
    )
    closed, public = server.ports
    refused(closed, only(TLS_1_3))
    let_in(closed, showing(good))
    let_in(public, only(TLS_1_3))


@pytest.fixture
def rules(cleat, config, certs, ca):
    """A server with three certificates: `closed` wants a client's certificate, `other` one of
    another authority, and the last, the default, wants none."""
    closed = certs.named("closed", "DNS:closed.test").pem
    other = certs.named("other", "DNS:other.test").pem
    authority = certs.authority("another-ca")

    def start(*more):
        return cleat(
            "--config",
            config(f"""
            frontend = "[127.0.0.1]:0"
            pem-file = {{ cert = "{closed}"
                          {verifies(ca)} }}
            pem-file = {{ cert = "{other}"
                          {verifies(authority)} }}
            pem-file = "{certs.ecdsa.pem}"
        """),
            *more,
            pem=[],
            frontend=None,
        )

    return start


@VERSIONS
def test_a_certificate_has_its_own_rule(rules, good, bad, version):
    server = rules()
    for port, name, shown in [
        (server.port, None, None),
        (server.port, "elsewhere.test", None),
        (server.port, "closed.test", good),
        (server.port, "other.test", bad),
    ]:
        tls = showing(shown, version) if shown else only(version)
        with TlsClient(port, tls, name=name) as client:
            assert client.exchange(b"it is me") == b"it is me"
    refused(server.port, only(version), name="closed.test")
    assert server.wait_for_log(event="handshake-failed", reason="no-client-certificate")
    why = refused(server.port, showing(bad, version), name="closed.test")
    assert "UNKNOWN_CA" in (getattr(why, "reason", "") or "")
    why = refused(server.port, showing(good, version), name="other.test")
    assert "UNKNOWN_CA" in (getattr(why, "reason", "") or "")


@VERSIONS
def test_a_session_does_not_resume_under_another_rule(rules, version):
    """A client that came without a certificate must not come back as one that has shown it."""
    server = rules()
    tls = only(version)
    with TlsClient(server.port, tls, name="elsewhere.test") as client:
        assert client.exchange(b"it is me") == b"it is me"
        session = client.tls.session
    with TlsClient(server.port, tls, name="elsewhere.test", session=session) as client:
        assert client.exchange(b"again") == b"again"
        assert client.tls.session_reused
    refused(server.port, tls, name="closed.test", session=session)


def test_certificates_with_one_name_have_one_rule(config, certs, ca):
    """A client chooses between an ECDSA and an RSA certificate by what it can verify."""
    path = config(f"""
        pem-file = {{ cert = "{certs.rsa.pem}"
                      {verifies(ca)} }}
        pem-file = "{certs.ecdsa.pem}"
    """)
    errors = complaints("--config", path)
    assert "Give both the same client-verify" in errors
    assert f"{path}:" in errors


def test_a_rule_needs_its_certificate_in_memory(config, certs, ca):
    closed = certs.named("closed", "DNS:closed.test").pem
    path = config(f"""
        pem-file = {{ cert = "{closed}"
                      {verifies(ca)} }}
        pem-file = "{certs.ecdsa.pem}"
        certificate-cache = 1
    """)
    errors = complaints("--config", path)
    assert f"{path}:2:" in errors and "Set certificate-cache" in errors


def test_explain_knows_the_rule(config, certs, ca):
    closed = certs.named("closed", "DNS:closed.test").pem
    path = config(f"""
        pem-file = {{ cert = "{closed}"
                      {verifies(ca)} }}
        pem-file = "{certs.ecdsa.pem}"
    """)
    said = {
        name: run("explain", "--sni", name, "--config", path).stdout
        for name in ("closed.test", "elsewhere.test")
    }
    assert f"required: it must verify by {ca.cert}" in said["closed.test"]
    assert "required" not in said["elsewhere.test"]


IS_OPENSSL = os.environ.get("CLEAT_TLS", "aws-lc").startswith("openssl")
# RFC 8446, section 4.2.3.
SOUND_1_2 = {0x0401, 0x0403, 0x0501, 0x0503, 0x0601, 0x0603, 0x0804, 0x0805, 0x0806}
SOUND_1_2 |= {0x0807, 0x0808, 0x0809, 0x080A, 0x080B}  # The last four not on every library.
ML_DSA = {0x0904, 0x0905, 0x0906}


def requested_schemes(s_client, port, version):
    """requested_schemes are those of the CertificateRequest, as its bytes have them: from
    `openssl s_client -msg`, which prints each message of the handshake in the clear."""
    flag = {TLS_1_2: "-tls1_2", TLS_1_3: "-tls1_3"}[version]
    printed = s_client(port, flag, "-msg").stdout
    lines = iter(printed.splitlines())
    next(line for line in lines if line.startswith("<<<") and "CertificateRequest" in line)
    text = ""
    for line in lines:
        if not line.startswith("    "):
            break
        text += line
    message = bytes.fromhex(text)
    assert message[0] == 13  # certificate_request
    body = message[4:]
    if version == TLS_1_2:  # RFC 5246, section 7.4.4: types, schemes, names.
        listed = body[1 + body[0] :]
    else:  # RFC 8446, section 4.3.2: a context, and extensions.
        extensions, found = body[1 + body[0] + 2 :], {}
        while extensions:
            kind, size = (int.from_bytes(extensions[i : i + 2], "big") for i in (0, 2))
            found[kind], extensions = extensions[4 : 4 + size], extensions[4 + size :]
        listed = found[13]
    size = int.from_bytes(listed[:2], "big")
    return [int.from_bytes(listed[i : i + 2], "big") for i in range(2, 2 + size, 2)]


@VERSIONS
@pytest.mark.parametrize("names", [None, "closed.test"])
def test_the_request_has_what_is_sound_for_its_version(rules, serve, s_client, version, names):
    """TLS 1.2 has no ML-DSA, and neither version SHA-1 or SHA-224."""
    port = rules().port if names else serve("optional").port
    asked = lambda *flags: s_client(*flags, "-servername", names) if names else s_client(*flags)
    schemes = requested_schemes(asked, port, version)
    assert len(schemes) == len(set(schemes))
    assert {0x0403, 0x0804, 0x0401} <= set(schemes)
    assert set(schemes) <= (SOUND_1_2 if version == TLS_1_2 else SOUND_1_2 | ML_DSA)


@VERSIONS
def test_the_schemes_of_the_request_can_be_set(cleat, config, certs, ca, s_client, good, version):
    names = "rsa_pss_rsae_sha256:ecdsa_secp384r1_sha384:ecdsa_secp256r1_sha256"
    names += "" if IS_OPENSSL else ":rsa_pkcs1_sha1"
    path = config(f"""
        {verifies(ca)}
        client-verify-sigalgs = "{names}"
    """)
    server = cleat("--config", path)
    old = [0x0201] if version == TLS_1_2 and not IS_OPENSSL else []
    assert requested_schemes(s_client, server.port, version) == [0x0804, 0x0503, 0x0403, *old]
    let_in(server.port, showing(good, version))


@pytest.mark.parametrize("priority", ["NORMAL:-VERS-ALL:+VERS-TLS1.2", "NORMAL"])
def test_gnutls_takes_the_request(serve, good, priority):
    server = serve("required")
    ran = subprocess.run(
        ["gnutls-cli", "--insecure", "--priority", priority, "--x509certfile", good.cert]
        + ["--x509keyfile", good.key, "--port", str(server.port), "127.0.0.1"],
        input="it is me\n", capture_output=True, text=True, timeout=DEADLINE,
    )
    assert "it is me" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("md5_with_everything", "is no scheme of RFC 8446"),
        ("rsa_pkcs1_sha256", "none of them signs a handshake of TLSv1.3"),
        ("ecdsa_secp256r1_sha256::ed25519", "is no scheme"),
        *([("ed25519:rsa_pkcs1_sha1", "does not verify rsa_pkcs1_sha1")] if IS_OPENSSL else []),
    ],
)
def test_a_bad_list_of_schemes_is_an_error(config, certs, ca, written, said):
    path = config(f"""
        pem-file = "{certs.ecdsa.pem}"
        {verifies(ca)}
        client-verify-sigalgs = "{written}"
    """)
    errors = complaints("--config", path)
    assert f"{path}:4:" in errors and said in errors


def test_schemes_without_verification_are_an_error(config, certs):
    path = config(f"""
        pem-file = "{certs.ecdsa.pem}"
        client-verify-sigalgs = "ecdsa_secp256r1_sha256"
    """)
    errors = complaints("--config", path)
    assert f"{path}:3:" in errors and "client-verify is none" in errors
