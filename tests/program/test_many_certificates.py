"""With more certificates than certificate-cache, cleat keeps names and digests of all, and reads a
certificate when a client first asks for it."""

import ssl
from concurrent.futures import ThreadPoolExecutor

import pytest

from broken_files import BROKEN_FILES
from program import complaints
from tls_client import TLS_1_2, TLS_1_3, TlsClient, only, shown


@pytest.fixture
def sites(certs):
    """Three certificates, each for a name and for a wildcard."""
    return {
        name: certs.named(name, f"DNS:{name}.example,DNS:*.{name}.example")
        for name in ("one", "two", "three")
    }


@pytest.fixture
def folder(sites, tmp_path):
    made = tmp_path / "pems"
    for name, site in sites.items():
        (made / name).mkdir(parents=True)
        (made / name / "site.pem").write_text(site.pem.read_text())
    return made


@pytest.fixture
def serve(cleat, folder):
    """Starts cleat with a cache of one certificate; the default one, which is the first of all
    (one), is not in it."""

    def start(*flags, **options):
        many = ["--pem-dir", folder, "--pem-dir-recursive", "--certificate-cache", 1]
        return cleat(*many, *flags, pem=[], **options)

    return start


@pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3])
def test_cold_names_are_served_and_evicted_and_served_again(serve, sites, version):
    port = serve("--workers", 1).port
    for _ in range(3):
        for name, site in sites.items():
            assert shown(port, f"{name}.example", only(version)) == site.fingerprint
            assert shown(port, f"www.{name}.example", only(version)) == site.fingerprint


def test_the_first_of_all_is_the_default(serve, sites):
    port = serve().port
    assert shown(port, "elsewhere.example") == sites["one"].fingerprint
    assert shown(port, None) == sites["one"].fingerprint


def test_unknown_names_are_refused_where_they_are_to_be(serve, sites):
    port = serve("--sni-nomatch-abort").port
    assert shown(port, "three.example") == sites["three"].fingerprint
    with pytest.raises(ssl.SSLError, match="UNRECOGNIZED_NAME"):
        TlsClient(port, name="elsewhere.example")


def test_many_clients_for_one_cold_name(serve, sites):
    port = serve().port
    with ThreadPoolExecutor(16) as clients:
        for name in ("two", "three", "two"):
            found = clients.map(lambda _: shown(port, f"{name}.example"), range(32))
            assert set(found) == {sites[name].fingerprint}


def test_a_name_whose_certificate_is_renewed_is_served_before_the_reload(serve, certs, folder):
    """The reload of a change takes a moment, or never comes, and the old file is gone."""
    server = serve("--workers", 1)
    renewed = certs.named("renewed", "DNS:two.example,DNS:*.two.example")
    (folder / "two" / "site.pem").write_text(renewed.pem.read_text())
    assert shown(server.port, "two.example") == renewed.fingerprint
    assert shown(server.port, "www.two.example") == renewed.fingerprint


def test_a_file_for_other_names_ends_the_handshake_and_is_logged(serve, sites, folder):
    server = serve("--workers", 1)
    changed = folder / "two" / "site.pem"
    changed.write_text(sites["three"].pem.read_text())
    for attempt in (1, 2):  # The second time the file is not read again.
        with pytest.raises(ssl.SSLError, match="INTERNAL_ERROR"):
            TlsClient(server.port, name="two.example")
        fields = server.wait_for_log(times=attempt, event="handshake-failed")
        assert fields["reason"] == "certificate-unavailable"
        assert fields["sni"] == "two.example"
        assert str(changed) in fields["detail"]
        assert "has changed" in fields["detail"]
    # The others are not affected.
    assert shown(server.port, "three.example") == sites["three"].fingerprint


def test_a_file_that_is_gone_ends_the_handshake(serve, sites, folder):
    server = serve("--workers", 1)
    (folder / "three" / "site.pem").unlink()
    with pytest.raises(ssl.SSLError, match="INTERNAL_ERROR"):
        TlsClient(server.port, name="three.example")
    assert shown(server.port, "two.example") == sites["two"].fingerprint


def test_several_folders_and_a_frontend_of_its_own(cleat, certs, folder, sites, config, tmp_path):
    mine = certs.named("mine", "DNS:mine.example")
    server = cleat(
        "--config",
        config(f"""
        pem-dir = "{folder}/one"
        pem-dir = "{folder}/two"
        certificate-cache = 1
        frontend = {{ host = "127.0.0.1"
                      port = 0 }}
        frontend = {{ host = "127.0.0.1"
                      port = 0
                      pem-file = "{mine.pem}" }}
        frontend = {{ host = "127.0.0.1"
                      port = 0
                      pem-file = "{mine.pem}"
                      match-global-certs = on }}
    """),
        pem=[],
        frontend=None,
    )
    shared, alone, both = server.ports
    assert shown(shared, "two.example") == sites["two"].fingerprint
    assert shown(shared, "mine.example") == sites["one"].fingerprint
    assert shown(alone, "two.example") == mine.fingerprint
    assert shown(both, "two.example") == sites["two"].fingerprint
    assert shown(both, "elsewhere.example") == mine.fingerprint


@pytest.mark.parametrize("kind", BROKEN_FILES)
@pytest.mark.parametrize("cache", [1, 1000])
def test_a_bad_file_among_many_stops_the_start(folder, kind, cache):
    make, message = BROKEN_FILES[kind]
    bad = folder / "two" / "bad.pem"
    make(bad)
    flags = ["--pem-dir", folder, "--pem-dir-recursive", "--certificate-cache", cache]
    errors = complaints(*flags)
    assert str(bad) in errors
    assert message in errors
