"""client-verify-crl: a revoked certificate is refused, and so is one whose authority has no CRL, or
a stale one unless that is accepted. client-verify-depth: how long a client's chain may be."""

import datetime

import pytest

from admin_client import admin_of
from certificates import openssl
from client_authorities import ca, let_in, showing, verifies  # noqa: F401: the fixtures
from program import complaints
from reloads import reload, replace
from tls_client import TLS_1_3, VERSIONS, TlsClient, only, refused

LONG_AGO = "20200101000000Z 20200201000000Z"


@pytest.fixture
def alice(certs, ca):
    return certs.signed("crl-alice", ca, "/CN=alice")


@pytest.fixture
def mallory(certs, ca):
    return certs.signed("crl-mallory", ca, "/CN=mallory")


@pytest.fixture
def serve(serve_lines, ca):
    return lambda *lines: serve_lines(*lines, verifies(ca))


def is_refused(server, certificate, detail, version=TLS_1_3):
    before = len(server.log(event="handshake-failed"))
    refused(server.port, showing(certificate, version))
    line = server.wait_for_log(event="handshake-failed", times=before + 1)
    assert line["reason"] == "bad-certificate" and detail in line["detail"], line


@VERSIONS
@pytest.mark.parametrize("form", ["pem", "der", "folder"])
def test_the_revoked_are_refused(serve, certs, ca, alice, mallory, tmp_path, form, version):
    crl = certs.crl("crl-one", ca, mallory)
    if form == "der":
        openssl("crl", "-in", crl, "-outform", "der", "-out", tmp_path / "ca.crl")
        crl = tmp_path / "ca.crl"
    if form == "folder":
        folder = tmp_path / "crls"
        folder.mkdir()
        (folder / "a.pem").write_text(crl.read_text())
        (folder / ".hidden").write_text("nothing")
        crl = folder
    server = serve(f'client-verify-crl = "{crl}"')
    let_in(server.port, showing(alice, version))
    is_refused(server, mallory, "certificate revoked", version)


def test_an_authority_without_a_crl(serve, certs, ca, alice):
    other = certs.authority("crl-other")
    server = serve(f'client-verify-crl = "{certs.crl("crl-else", other)}"')
    is_refused(server, alice, "unable to get certificate CRL")


@VERSIONS
def test_a_stale_crl_refuses_its_clients(serve, certs, ca, alice, version):
    crl = certs.crl("crl-stale", ca, dates=LONG_AGO)
    server = serve(f'client-verify-crl = "{crl}"')
    is_refused(server, alice, "CRL has expired", version)
    assert any(
        "client-verify-crl" in line and "this CRL is stale since 2020-02-01" in line
        for line in server.lines
    ), server.lines


@VERSIONS
def test_a_stale_crl_can_be_accepted(serve, certs, ca, alice, mallory, version):
    crl = certs.crl("crl-stale-too", ca, mallory, dates=LONG_AGO)
    server = serve(f'client-verify-crl = "{crl}"', "client-verify-crl-stale = accept")
    let_in(server.port, showing(alice, version))
    is_refused(server, mallory, "certificate revoked", version)
    assert any("this CRL is stale" in line for line in server.lines)


@pytest.mark.parametrize("mode", ["refuse", "accept"])
def test_a_crl_that_becomes_stale_is_logged_once(serve, certs, ca, alice, tmp_path, mode):
    end = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    end += datetime.timedelta(seconds=5)
    dates = f"20200101000000Z {end:%Y%m%d%H%M%SZ}"
    crl = tmp_path / "ca.crl"
    crl.write_text(certs.crl(f"crl-ending-{mode}", ca, dates=dates).read_text())
    server = serve(
        f'client-verify-crl = "{crl}"', f"client-verify-crl-stale = {mode}",
        'admin = "[127.0.0.1]:0"',
    )
    let_in(server.port, showing(alice))
    soonest = admin_of(server).metrics().value("cleat_crl_soonest_next_update_timestamp_seconds")
    assert soonest == end.timestamp()
    line = server.wait_for_log(event="crl-stale")
    assert line["crl"] == str(crl) and line["end"] == f"{end:%Y-%m-%dT%H:%M:%SZ}"
    assert line["level"] == ("error" if mode == "refuse" else "warning")
    assert line["clients"] == ("refused" if mode == "refuse" else "let-in")
    replace(crl, certs.crl(f"crl-new-{mode}", ca).read_text())
    reload(server)
    let_in(server.port, showing(alice))
    assert len(server.log(event="crl-stale")) == 1


@VERSIONS
def test_a_revoked_clients_session_does_not_resume(serve, certs, ca, mallory, tmp_path, version):
    crl = tmp_path / "ca.crl"
    crl.write_text(certs.crl("crl-before", ca).read_text())
    server = serve(f'client-verify-crl = "{crl}"')
    tls = showing(mallory, version)
    with TlsClient(server.port, tls) as client:
        assert client.exchange(b"still") == b"still"
        session = client.tls.session
    replace(crl, certs.crl("crl-after", ca, mallory).read_text())
    reload(server)
    refused(server.port, tls, session=session)
    assert server.wait_for_log(event="handshake-failed")["detail"] == "certificate revoked"


@pytest.mark.parametrize("is_folder", [False, True])
def test_crls_are_watched(serve, certs, ca, mallory, tmp_path, is_folder):
    folder = tmp_path / "crls"
    folder.mkdir()
    file = folder / "ca.crl"
    file.write_text(certs.crl("crl-watched", ca).read_text())
    path = folder if is_folder else file
    server = serve(f'client-verify-crl = "{path}"', "reload-on-change = on")
    let_in(server.port, showing(mallory))
    replace(file, certs.crl("crl-watched-too", ca, mallory).read_text())
    server.wait_for_log(event="reloaded")
    is_refused(server, mallory, "certificate revoked")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("nothing\n", "there is no CRL in it"),
        ("-----BEGIN X509 CRL-----\nMII", "a CRL in it cannot be read"),
        (None, "has no file"),
    ],
)
def test_mistakes(config, certs, ca, tmp_path, content, said):
    crl = tmp_path / "crl"
    if content is None:
        crl.mkdir()
    else:
        crl.write_text(content)
    path = config(f"""client-verify-crl = "{crl}"
        pem-file = "{certs.ecdsa.pem}"
        {verifies(ca)}
    """)
    errors = complaints("--config", path)
    assert f"{path}:1:" in errors and said in errors and str(crl) in errors


def test_stale_without_a_crl_is_an_error(config, certs, ca):
    path = config(f"""client-verify-crl-stale = accept
        pem-file = "{certs.ecdsa.pem}"
        {verifies(ca)}
    """)
    assert "there is no CRL" in complaints("--config", path)


@VERSIONS
def test_the_depth_of_a_clients_chain(serve, certs, ca, tmp_path, version):
    between = "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign,cRLSign\n"
    middle = certs.signed("crl-middle", ca, "/CN=middle", between)
    leaf = certs.signed("crl-leaf", middle, "/CN=leaf")
    chain = tmp_path / "chain.pem"
    chain.write_text(leaf.pem.read_text() + middle.cert.read_text())
    shown = only(version, certificate=chain)
    with TlsClient(serve("client-verify-depth = 1").port, shown) as client:
        assert client.exchange(b"deep") == b"deep"
    server = serve("client-verify-depth = 0")
    refused(server.port, shown)
    assert server.wait_for_log(event="handshake-failed", reason="bad-certificate")
