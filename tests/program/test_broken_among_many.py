"""With pem-dir-skip-broken, a reload goes on without the files of pem-dir that cannot be used."""

import ssl

import pytest

from broken_files import BROKEN_FILES
from program import complaints, run
from reloads import reload, reload_is_refused, replace
from tls_client import TlsClient, shown

NAMES = ("first", "known", "third")


@pytest.fixture
def folder(certs, tmp_path):
    made = tmp_path / "pems"
    made.mkdir()
    for number, name in enumerate(NAMES):
        site = certs.named(name, f"DNS:{name}.example")
        (made / f"{number}.pem").write_text(site.pem.read_text())
    return made


@pytest.fixture
def serve(cleat, folder):
    def start(*flags, skip=True):
        skipping = ["--pem-dir-skip-broken"] if skip else []
        return cleat("--pem-dir", folder, "--workers", 1, *skipping, *flags, pem=[])

    return start


@pytest.fixture
def added(certs, folder):
    """A good certificate that comes beside the broken ones."""
    site = certs.named("added", "DNS:added.example")

    def add():
        (folder / "9.pem").write_text(site.pem.read_text())
        return site

    return add


@pytest.mark.parametrize("kind", BROKEN_FILES)
@pytest.mark.parametrize("cache", [1, 1000])
def test_a_broken_file_beside_new_ones_is_named_and_counted(serve, folder, added, kind, cache):
    make, why = BROKEN_FILES[kind]
    server = serve("--certificate-cache", cache)
    make(folder / "5.pem")
    site = added()
    line = reload(server)
    assert (line["certificates_added"], line["certificates_skipped"]) == ("1", "1")
    problem = server.log(event="reload-warning")[-1]["problem"]
    assert str(folder / "5.pem") in problem and why in problem and "skipped" in problem
    assert shown(server.port, "added.example") == site.fingerprint
    # Each reload names it, until it is mended.
    assert reload(server)["certificates_skipped"] == "1"
    (folder / "5.pem").unlink()
    assert reload(server)["certificates_skipped"] == "0"


def test_the_command_counts_them_and_succeeds(serve, folder, added):
    server = serve()
    (folder / "5.pem").write_text("")
    added()
    done = run("reload", server.pid)
    assert done.returncode == 0
    assert "1 certificate added, 1 skipped" in done.stdout
    assert str(folder / "5.pem") in done.stdout + done.stderr


def test_a_file_that_breaks_keeps_what_it_had(serve, folder, certs):
    server = serve()
    before = shown(server.port, "known.example")
    assert before == certs.named("known", "DNS:known.example").fingerprint
    good = (folder / "1.pem").read_text()
    (folder / "1.pem").write_text(good[: len(good) // 2])
    assert reload(server)["certificates_skipped"] == "1"
    (line,) = server.log(event="reload-warning")
    start = f"--pem-dir: warning: {folder}/1.pem"
    assert line["problem"].startswith(start), line
    assert ": skipped." in line["problem"]
    assert ".." not in line["problem"] and ". ." not in line["problem"]
    assert shown(server.port, "known.example") == before  # It is loaded.
    renewed = certs.named("renewed", "DNS:known.example")
    (folder / "1.pem").write_text(renewed.pem.read_text())
    line = reload(server)
    assert (line["certificates_changed"], line["certificates_skipped"]) == ("1", "0")
    assert shown(server.port, "known.example") == renewed.fingerprint


def test_a_file_that_breaks_before_anyone_asked_is_an_alert_for_its_name_alone(
    serve, folder, certs
):
    server = serve()
    (folder / "1.pem").write_text("")
    assert reload(server)["certificates_skipped"] == "1"
    with pytest.raises(ssl.SSLError, match="INTERNAL_ERROR"):
        TlsClient(server.port, name="known.example")
    assert server.wait_for_log(event="handshake-failed")["reason"] == "certificate-unavailable"
    third = certs.named("third", "DNS:third.example")
    assert shown(server.port, "third.example") == third.fingerprint


def test_a_change_that_is_watched_skips_it_too(serve, folder, added):
    server = serve("--reload-on-change", "--certificate-cache", 1)
    run("reload", server.pid)  # It watches all files when that has ended.
    replace(folder / "5.pem", "")
    line = server.wait_for_log(event="reloaded", times=2)
    assert line["certificates_skipped"] == "1"
    site = added()
    server.wait_for_log(event="reloaded", times=3)
    assert shown(server.port, "added.example") == site.fingerprint


def test_the_default_is_strict(serve, folder, added):
    server = serve(skip=False)
    (folder / "5.pem").write_text("")
    added()
    assert any("5.pem" in each for each in reload_is_refused(server))
    assert shown(server.port, "added.example") == shown(server.port, "first.example")


def test_a_start_is_strict(cleat, folder):
    (folder / "5.pem").write_text("")
    assert "5.pem" in complaints("--pem-dir", folder, "--pem-dir-skip-broken", "--frontend", "*:0")


def test_what_would_be_the_default_certificate_is_not_skipped(serve, folder):
    server = serve()
    (folder / "+.pem").write_text("")  # Before all others.
    assert any("+.pem" in each for each in reload_is_refused(server))


def test_without_a_folder_it_would_have_no_effect():
    errors = complaints("--pem-dir-skip-broken", "--frontend", "*:0", "some.pem")
    assert "pem-dir-skip-broken" in errors and "Set pem-dir too" in errors
