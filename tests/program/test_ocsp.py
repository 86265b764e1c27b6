"""ocsp-resp-file: a client that asks gets the OCSP response of the certificate that it is shown,
while the response is fresh. A wrong file is an error, a stale response a warning. It makes no
difference whether the certificates are all loaded at the start, or are in a store."""

import pytest

from ocsp_responses import Authority, make_stale, said, stapled
from program import complaints, run
from reloads import reload, reload_is_refused

VERSIONS = ("-tls1_2", "-tls1_3")


@pytest.fixture(params=("loaded at the start", "in a store"))
def more(request, certs):
    """Settings for the end of the file. With the second ones there are more certificates than
    certificate-cache, and the first one is loaded when a client asks for it."""
    in_store = request.param == "in a store"
    return f'pem-file = "{certs.ecdsa.pem}"\n' + ("certificate-cache = 1\n" if in_store else "")


@pytest.fixture
def serve(cleat, config):
    """Starts cleat with a configuration file alone."""

    def serve(text, **options):
        return cleat("--config", config(text), pem=[], frontend=None, **options)

    return serve


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


@pytest.mark.parametrize("version", VERSIONS)
def test_a_client_that_asks_gets_the_response(serve, authority, more, version):
    site = authority.site("stapled")
    server = serve(block(site, authority.response(site, "stapled")) + more)
    assert stapled(server.port, "stapled", version)
    assert "Cert Status: good" in said(server.port, "stapled", version, "-status")
    assert "OCSP" not in said(server.port, "stapled", version)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_stale_response_is_a_warning_and_is_not_sent(serve, authority, config, more, version):
    site = authority.site("stale")
    response = make_stale(authority.response(site, "stale"))
    text = block(site, response) + more
    path = config(text)
    checked = run("-t", "--config", path)
    assert checked.returncode == 0
    assert f"{path}:5:" in checked.stderr
    assert f"warning: ocsp-resp-file: {response}: the OCSP response is stale" in checked.stderr
    server = serve(text)
    assert not stapled(server.port, "stale", version)


def test_a_response_for_another_certificate_is_an_error(authority, config, more):
    site, other = authority.site("one"), authority.site("another")
    response = authority.response(other, "another")
    path = config(block(site, response) + more)
    (line,) = complaints("--config", path).splitlines()
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
def test_a_wrong_file_is_an_error(authority, config, more, tmp_path, content, text):
    response = tmp_path / "wrong.ocsp"
    if content is not None:
        response.write_bytes(content)
    path = config(block(authority.site("wrong"), response) + more)
    (line,) = complaints("--config", path).splitlines()
    assert line.startswith(f"cleat: {path}:5:")
    assert "error: ocsp-resp-file: " in line and str(response) in line and text in line


def test_a_reload_reads_the_response_again(serve, authority, more):
    site = authority.site("renewed")
    response = make_stale(authority.response(site, "renewed"))
    server = serve(block(site, response) + more)
    assert not stapled(server.port, "renewed")
    response.write_bytes(authority.response(site, "fresh").read_bytes())
    assert reload(server)["certificates_changed"] == "1"
    assert stapled(server.port, "renewed")


def test_a_reload_refuses_a_response_that_cannot_be_used(serve, authority, more):
    site = authority.site("damaged")
    response = authority.response(site, "damaged")
    server = serve(block(site, response) + more)
    assert stapled(server.port, "damaged")
    response.write_bytes(b"damaged")
    (problem,) = reload_is_refused(server)
    assert f"ocsp-resp-file: {response}: this is no OCSP response" in problem
    assert stapled(server.port, "damaged")


def test_a_new_response_is_loaded_with_reload_on_change(serve, authority, more):
    site = authority.site("watched")
    response = make_stale(authority.response(site, "watched"))
    server = serve("reload-on-change = on\n" + block(site, response) + more)
    renewed = authority.response(site, "watched-next")
    renewed.rename(response)
    server.wait_for_log(event="reloaded", certificates_changed="1")
    assert stapled(server.port, "watched")


def test_the_default_certificate_of_a_store_has_its_response(serve, authority, certs):
    site = authority.site("default")
    response = make_stale(authority.response(site, "default"))
    first = f'certificate-cache = 1\npem-file = "{certs.ecdsa.pem}"\n'
    server = serve(first + block(site, response))
    assert not stapled(server.port, "default")
    response.write_bytes(authority.response(site, "default-next").read_bytes())
    assert reload(server)["certificates_changed"] == "1"
    assert stapled(server.port, "default")


def store(certs):
    return f'certificate-cache = 1\npem-file = "{certs.ecdsa.pem}"\n'


def test_a_certificate_of_a_store_is_loaded_with_the_present_response(serve, authority, certs):
    """The authority renews the response often, and not every renewal comes with a reload."""
    site = authority.site("present")
    response = make_stale(authority.response(site, "present"))
    server = serve(block(site, response) + store(certs))
    response.write_bytes(authority.response(site, "present-next").read_bytes())
    assert stapled(server.port, "present")


@pytest.mark.parametrize("content", [b"damaged", b"", None])
def test_a_certificate_of_a_store_is_loaded_without_a_response_that_was_spoilt_since(
    serve, authority, certs, content
):
    site = authority.site("spoilt")
    response = authority.response(site, "spoilt")
    server = serve(block(site, response) + store(certs))
    response.unlink()
    if content is not None:
        response.write_bytes(content)
    assert not stapled(server.port, "spoilt")


@pytest.mark.parametrize("command", ["explain", "check"])
def test_cleat_explain_and_check_take_a_certificate_with_a_response(
    authority, config, more, command
):
    site = authority.site("explained")
    path = config(block(site, authority.response(site, "explained")) + more)
    flags = ("--sni", "explained.example") if command == "explain" else ("--all",)
    ran = run(command, "--config", path, *flags)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert str(site.cert) in ran.stdout


def test_cleat_check_reports_a_wrong_response_and_shows_the_certificate(
    authority, config, more, tmp_path
):
    site = authority.site("checked")
    response = tmp_path / "checked.ocsp"
    response.write_bytes(b"wrong")
    ran = run("check", "--all", "--config", config(block(site, response) + more))
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert f"ocsp-resp-file: {response}: this is no OCSP response" in line
    assert str(site.cert) in ran.stdout and "checked.example" in ran.stdout
