"""The hooks of docs/guides/renewals.md, word for word, in ACME clients that renew a certificate at
pebble: cleat serves the new one when the client has ended."""

import re
import shlex
import shutil

import pytest

from acme_authority import NAME, run_client
from program import ROOT, binary
from tls_client import TlsClient

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("certbot", "lego", "pebble"))),
    reason="install the packages certbot, lego and pebble",
)


@pytest.fixture
def hook(tmp_path):
    """Makes an executable file of the guide's script that has a word, with folders of the test."""

    def make(word, folders):
        guide = (ROOT / "docs/guides/renewals.md").read_text()
        scripts = re.findall(r"(?:^    .*\n)+", guide, re.MULTILINE)
        (script,) = [each for each in scripts if "#!/bin/sh" in each and word in each]
        text = re.sub("^    ", "", script, flags=re.MULTILINE)
        text = text[text.index("#!/bin/sh") :]
        for theirs, ours in folders.items():
            assert theirs in text
            text = text.replace(theirs, str(ours))
        path = tmp_path / "hook"
        path.write_text(text)
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def hooks_reload(tmp_path):
    """Makes `cleat reload` mean one server: others may run on this machine. Returns the
    environment of a client."""

    def make(server):
        command = tmp_path / "bin" / "cleat"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(str(binary()))} "$@" {server.pid}\n')
        command.chmod(0o755)
        return {"PATH": f"{command.parent}:/usr/sbin:/usr/bin:/sbin:/bin"}

    return make


def certificate_shown(server):
    with TlsClient(server.port, name=NAME) as client:
        return client.fingerprint


def test_certbot_and_a_deploy_hook(serve, authority, hook, hooks_reload, tmp_path):
    directory = authority.start(1)
    folder = tmp_path / "letsencrypt"
    places = ["--config-dir", folder, "--work-dir", tmp_path, "--logs-dir", tmp_path]

    def certbot(*words, **environment):
        run_client(
            "certbot", *words, *places, "--server", directory, "--non-interactive",
            REQUESTS_CA_BUNDLE=authority.trusted, **environment,
        )  # fmt: skip

    asked = ["--standalone", "--http-01-port", authority.http_port, "--domain", NAME]
    certbot("certonly", *asked, "--agree-tos", "--register-unsafely-without-email")
    live = folder / "live" / NAME
    cert, key = live / "fullchain.pem", live / "privkey.pem"
    server = serve(f'pem-file = {{ cert = "{cert}" private-key = "{key}" }}')
    first = certificate_shown(server)
    deploy = folder / "renewal-hooks" / "deploy"
    shutil.move(hook("/etc/letsencrypt/renewal-hooks/deploy", {}), deploy / "cleat")
    certbot("renew", "--force-renewal", "--no-random-sleep-on-renew", **hooks_reload(server))
    assert certificate_shown(server) != first


def test_lego_and_a_hook_for_a_pem_dir(cleat, authority, hook, hooks_reload, config, tmp_path):
    pems = tmp_path / "pems"
    certificates = tmp_path / "lego" / "certificates"
    words = ["--server", authority.start(1), "--accept-tos", "--email", "a@cleat.example"]
    words += ["--domains", NAME, "--path", tmp_path / "lego"]
    words += ["--http", "--http.port", f":{authority.http_port}"]
    trusted = {"LEGO_CA_CERTIFICATES": authority.trusted}
    run_client("lego", *words, "run", **trusted)
    pems.mkdir()
    parts = [(certificates / f"{NAME}.{part}").read_text() for part in ("crt", "key")]
    (pems / f"{NAME}.pem").write_text("".join(parts))
    server = cleat("--config", config(f'pem-dir = "{pems}"\n'), pem=[])
    first = certificate_shown(server)
    folders = {"/etc/lego/certificates": certificates, "/etc/cleat/pems": pems}
    renew = ["renew", "--days", 10_000, "--no-random-sleep"]
    renew += ["--renew-hook", hook("LEGO_CERT_DOMAIN", folders)]
    run_client("lego", *words, *renew, **trusted, **hooks_reload(server))
    assert certificate_shown(server) != first
    assert [each.name for each in pems.iterdir()] == [f"{NAME}.pem"]
