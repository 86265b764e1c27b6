"""tls-alpn-01 (RFC 8737) through cleat: ACME clients obtain certificates from pebble, which
connects to cleat's port as to any server of the name. A passthrough route hands its connection to
lego; with acme-challenges cleat answers for dehydrated, which speaks no TLS itself."""

import shutil
import subprocess

import pytest

from acme_authority import NAME, run_client
from ports import free_port
from upstream_blocks import frontend, route, upstream

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("lego", "dehydrated", "pebble"))),
    reason="install the packages lego, dehydrated and pebble",
)


def names_in(certificate):
    return subprocess.run(
        ["openssl", "x509", "-in", certificate, "-noout", "-ext", "subjectAltName"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_lego_obtains_a_certificate_from_pebble(serve, authority, tmp_path):
    challenges = free_port()
    text = "alpn-protos = h2\n" + upstream(f"[127.0.0.1]:{challenges}", name="acme")
    server = serve(text + frontend(route("acme", 'alpn = "acme-tls/1"', "passthrough = on")))
    flags = ["--server", authority.start(server.port), "--accept-tos", "--email", "a@cleat.example"]
    flags += ["--domains", NAME, "--path", tmp_path / "lego", "--tls"]
    port = f"127.0.0.1:{challenges}"
    trusted = {"LEGO_CA_CERTIFICATES": authority.trusted}
    run_client("lego", *flags, "--tls.port", port, "run", **trusted)
    assert NAME in names_in(tmp_path / "lego" / "certificates" / f"{NAME}.crt")
    assert server.wait_for_log(event="passthrough-begins")["sni"] == NAME
    assert "handshake-done" not in {line["event"] for line in server.log()}


def test_dehydrated_obtains_a_certificate_from_pebble(serve, authority, tmp_path):
    challenges = tmp_path / "challenges"
    challenges.mkdir()
    server = serve(f'acme-challenges = "{challenges}"')
    (tmp_path / "config").write_text(f'CA="{authority.start(server.port)}"\nBASEDIR="{tmp_path}"\n')
    flags = ["--config", tmp_path / "config"]

    def dehydrated(*words):
        run_client("dehydrated", *words, *flags, CURL_CA_BUNDLE=authority.trusted)

    dehydrated("--register", "--accept-terms")
    asked = ["--domain", NAME, "--challenge", "tls-alpn-01", "--alpn", challenges]
    dehydrated("--cron", *asked)
    assert NAME in names_in(tmp_path / "certs" / NAME / "cert.pem")
    answered = server.wait_for_log(event="handshake-done", alpn="acme-tls/1")
    assert answered["sni"] == NAME
    assert not any(challenges.iterdir()), "dehydrated removes what it does not need any more"
