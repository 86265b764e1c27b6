"""ocsp-resp-file: a client that asks gets the OCSP response of the certificate that it is shown,
while the response is fresh. A wrong file is an error, a stale response a warning."""

import re
import signal
import subprocess

import pytest

from certificates import openssl
from program import run

VERSIONS = ("-tls1_2", "-tls1_3")


@pytest.fixture
def serve(cleat, config):
    """Starts cleat with a configuration file alone."""

    def serve(text, **options):
        return cleat("--config", config(text), pem=[], frontend=None, **options)

    return serve


class Authority:
    """Authority signs certificates, and OCSP responses for them."""

    def __init__(self, certs, folder):
        self.root = certs.authority("ocsp-root")
        self.certs = certs
        self.folder = folder

    def site(self, name):
        return self.certs.signed(f"ocsp-{name}", self.root, f"/CN={name}")

    def response(self, site, name):
        """A response that says that the certificate is good."""
        request, path = self.folder / f"{name}.req", self.folder / f"{name}.ocsp"
        index = self.folder / f"{name}.index"
        serial = openssl("x509", "-in", site.cert, "-noout", "-serial").split("=")[1].strip()
        index.write_text(f"V\t400101000000Z\t\t{serial}\tunknown\t/CN=site\n")
        openssl("ocsp", "-issuer", self.root.cert, "-cert", site.cert, "-reqout", request)
        signer = ["-rsigner", self.root.cert, "-rkey", self.root.key, "-CA", self.root.cert]
        files = ["-index", index, "-reqin", request, "-respout", path]
        openssl("ocsp", *files, *signer, "-ndays", "7")
        return path


@pytest.fixture
def authority(certs, tmp_path):
    return Authority(certs, tmp_path)


def block(site, response):
    return f"""
        frontend = "[127.0.0.1]:0"
        pem-file = {{ cert = "{site.cert}"
                      private-key = "{site.key}"
                      ocsp-resp-file = "{response}" }}
    """


def status(port, version, *more):
    """What `openssl s_client -status` prints."""
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", version, *more]
    return subprocess.run(command, input="", capture_output=True, text=True).stdout


def stapled(port, version):
    return "OCSP Response Status: successful" in status(port, version, "-status")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_client_that_asks_gets_the_response(serve, authority, version):
    site = authority.site("stapled")
    server = serve(block(site, authority.response(site, "stapled")))
    assert stapled(server.port, version)
    assert "Cert Status: good" in status(server.port, version, "-status")
    assert "OCSP" not in status(server.port, version)


def make_stale(response):
    """The time of nextUpdate, the last one in a response, becomes one of the past."""
    der = response.read_bytes()
    times = list(re.finditer(rb"\x18\x0f(\d{14}Z)", der))
    begin, end = times[-1].span(1)
    response.write_bytes(der[:begin] + b"20200101000000Z" + der[end:])
    return response


@pytest.mark.parametrize("version", VERSIONS)
def test_a_stale_response_is_a_warning_and_is_not_sent(serve, authority, config, version):
    site = authority.site("stale")
    response = make_stale(authority.response(site, "stale"))
    checked = run("-t", "--config", config(block(site, response)))
    assert checked.returncode == 0
    assert f"warning: ocsp-resp-file: {response}: the OCSP response is stale" in checked.stderr
    server = serve(block(site, response))
    assert "OCSP response: no response sent" in status(server.port, version, "-status")


def test_a_response_for_another_certificate_is_an_error(authority, config):
    site, other = authority.site("one"), authority.site("another")
    response = authority.response(other, "another")
    path = config(block(site, response))
    ran = run("-t", "--config", path)
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert line.startswith(f"cleat: {path}:5:")
    assert f"ocsp-resp-file: {response}: the OCSP response is for another certificate" in line


@pytest.mark.parametrize(
    "content, text",
    [
        (b"", "is empty"),
        (b"-----BEGIN OCSP RESPONSE-----\n", "no OCSP response in DER form"),
        (bytes.fromhex("30030a0103"), "with the status 3"),  # tryLater
        (None, "No such file"),
    ],
)
def test_a_wrong_file_is_an_error(authority, config, tmp_path, content, text):
    response = tmp_path / "wrong.ocsp"
    if content is not None:
        response.write_bytes(content)
    ran = run("-t", "--config", config(block(authority.site("wrong"), response)))
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert "error: ocsp-resp-file: " in line and str(response) in line and text in line


def test_a_reload_reads_the_response_again(serve, authority):
    site = authority.site("renewed")
    response = make_stale(authority.response(site, "renewed"))
    server = serve(block(site, response))
    assert not stapled(server.port, "-tls1_3")
    response.write_bytes(authority.response(site, "fresh").read_bytes())
    server.signal(signal.SIGHUP)
    server.wait_for_log(event="reloaded", certificates_changed="1")
    assert stapled(server.port, "-tls1_3")


def test_a_new_response_is_loaded_with_reload_on_change(serve, authority):
    site = authority.site("watched")
    response = make_stale(authority.response(site, "watched"))
    server = serve("reload-on-change = on\n" + block(site, response))
    renewed = authority.response(site, "watched-next")
    renewed.rename(response)
    server.wait_for_log(event="reloaded")
    assert stapled(server.port, "-tls1_3")


def test_a_response_with_a_store_of_certificates_is_an_error(authority, config, certs):
    """More certificates than certificate-cache are loaded while cleat serves, without responses."""
    site = authority.site("stored")
    response = authority.response(site, "stored")
    more = f'certificate-cache = 1\npem-file = "{certs.ecdsa.pem}"\n'
    ran = run("-t", "--config", config(more + block(site, response)))
    assert ran.returncode == 1
    assert "ocsp-resp-file: not built yet" in ran.stderr
    assert "Set certificate-cache to at least 2" in ran.stderr


def test_cleat_explain_takes_a_certificate_with_a_response(authority, config):
    site = authority.site("explained")
    path = config(block(site, authority.response(site, "explained")))
    ran = run("explain", "--config", path, "--sni", "explained.example")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert str(site.cert) in ran.stdout
