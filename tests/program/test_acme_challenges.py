"""acme-challenges: cleat answers tls-alpn-01 (RFC 8737) itself, from certificates that a hook of an
ACME client puts into a folder while it serves."""

import json
import shutil
import ssl

import pytest

from program import complaints, run
from reloads import reload_is_refused, reload_with, rewrite
from tls_client import VERSIONS, TlsClient, context, only
from upstream_blocks import answer, frontend, route, saying, upstream

NAME = "www.cleat.example"
CHALLENGE = {"alpn": ["acme-tls/1"]}


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "challenges"
    made.mkdir()
    return made


@pytest.fixture
def put(certs, folder):
    """Puts the certificate for a name into the folder, as a hook does; returns it."""

    def make(name=NAME, one_file=False):
        made = certs.named(f"challenge-{name}", f"DNS:{name}")
        if one_file:
            shutil.copy(made.pem, folder / f"{name}.pem")
        else:
            shutil.copy(made.cert, folder / f"{name}.crt.pem")
            shutil.copy(made.key, folder / f"{name}.key.pem")
        return made

    return make


def seen(port, name=NAME, tls=None):
    """The fingerprint of the certificate that an ACME server sees before the connection ends."""
    with TlsClient(port, tls or context(**CHALLENGE), name=name) as client:
        assert client.tls.selected_alpn_protocol() == "acme-tls/1"
        assert client.receive_to_end() == b""
        return client.fingerprint


def refused(port, name=NAME):
    """The alert of the client for whom there is no certificate."""
    with pytest.raises(ssl.SSLError) as why:
        TlsClient(port, context(**CHALLENGE), name=name)
    return str(why.value).lower()


@VERSIONS
@pytest.mark.parametrize("one_file", [False, True], ids=["two-files", "one-file"])
def test_the_certificate_of_the_hook_is_shown(serve, certs, folder, put, version, one_file):
    """The challenge's certificate is served as soon as its file exists. Other clients get the
    site's certificate, before and after."""
    server = serve(f'acme-challenges = "{folder}"')
    assert "unrecognized" in refused(server.port)
    made = put(one_file=one_file)
    assert seen(server.port, tls=only(version, **CHALLENGE)) == made.fingerprint
    assert seen(server.port, name=NAME.upper()) == made.fingerprint
    with TlsClient(server.port, only(version), name=NAME) as client:
        assert client.fingerprint == certs.ecdsa.fingerprint
    ended = server.wait_for_log(event="connection-closed", reason="done")
    assert server.log(event="handshake-done")[0]["alpn"] == "acme-tls/1", ended


def test_a_certificate_that_is_missing_or_wrong_is_named(serve, certs, folder, put):
    server = serve(f'acme-challenges = "{folder}"\nlog-burst = 0')
    crt, key = folder / f"{NAME}.crt.pem", folder / f"{NAME}.key.pem"
    assert "unrecognized" in refused(server.port)
    first = server.wait_for_log(event="challenge-refused", sni=NAME)
    assert f"there is no {crt}" in first["detail"]
    put()
    key.unlink()
    assert "unrecognized" in refused(server.port)
    key.write_text("nonsense")
    assert "unrecognized" in refused(server.port)
    shutil.copy(certs.rsa.key, key)
    assert "unrecognized" in refused(server.port)
    server.wait_for_log(times=4, event="challenge-refused")
    details = [line["detail"] for line in server.log(event="challenge-refused")]
    assert all(str(key) in each for each in details[1:]), details
    assert len(set(details)) == 4


def test_others_that_know_the_protocol_are_served_as_ever(serve, certs, folder, put):
    """A challenge offers nothing else, and names a host (RFC 8737, section 3)."""
    put()
    server = serve(f'acme-challenges = "{folder}"\nalpn-protos = "h2"')
    with TlsClient(server.port, context(alpn=["acme-tls/1", "h2"]), name=NAME) as client:
        assert client.fingerprint == certs.ecdsa.fingerprint
        assert client.tls.selected_alpn_protocol() == "h2"
    with pytest.raises(ssl.SSLError, match="(?i)no.application.protocol"):
        TlsClient(server.port, context(**CHALLENGE), name=None)


def test_a_passthrough_route_comes_first(serve, origin, folder, put):
    made = put()
    put("other.example")
    names = upstream(origin(lambda connection: None).address, name="acme")
    taken = route("acme", 'sni = "other.example"', 'alpn = "acme-tls/1"', "passthrough = on")
    server = serve(f'acme-challenges = "{folder}"\n' + names + frontend(taken))
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        TlsClient(server.port, context(**CHALLENGE), name="other.example")
    server.wait_for_log(event="passthrough-begins", sni="other.example")
    assert seen(server.port) == made.fingerprint


def test_a_reload_begins_and_ends_it(serve, origin, folder, put):
    made = put()
    text = f'backend = "{origin(saying("backend")).address}"\n'
    server = serve(text)
    assert answer(server.port, context(**CHALLENGE), name=NAME) == "backend"
    reload_with(server, "", f'acme-challenges = "{folder}"\n')
    assert seen(server.port) == made.fingerprint
    assert answer(server.port, name=NAME) == "backend"
    rewrite(server, f"{folder}", f"{folder}/missing")
    assert any("cannot open the folder" in each for each in reload_is_refused(server))
    assert seen(server.port) == made.fingerprint
    reload_with(server, f'acme-challenges = "{folder}/missing"\n', "")
    assert answer(server.port, context(**CHALLENGE), name=NAME) == "backend"


def test_two_workers_ask_one_thread(cleat, folder, put):
    made = {name: put(name) for name in (f"n{i}.example" for i in range(4))}
    server = cleat("--acme-challenges", folder, "--workers", 2)
    for _ in range(5):
        for name, certificate in made.items():
            assert seen(server.port, name=name) == certificate.fingerprint


def test_a_folder_that_cannot_be_used_stops_the_start(certs, tmp_path):
    plain = tmp_path / "file"
    plain.touch()
    for place in (plain, tmp_path / "missing"):
        errors = complaints("--acme-challenges", place, certs.ecdsa.pem)
        assert "acme-challenges" in errors and str(place) in errors
        assert "Make the folder" in errors


def test_explain_names_the_files(certs, folder):
    words = ["explain", "--sni", NAME, "--acme-challenges", folder, certs.ecdsa.pem]
    for offered, expected in (("acme-tls/1", f"{folder}/{NAME}.crt.pem"), ("h2", None)):
        found = json.loads(run(*words, "--json", "--alpn", offered).stdout)["frontends"][0]
        assert expected is None or found["challenge"].startswith(expected)
        assert expected is not None or found["challenge"] is None
    assert "a challenge: the client gets the certificate in" in run(
        *words, "--alpn", "acme-tls/1"
    ).stdout
