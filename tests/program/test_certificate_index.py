"""With certificate-index, a start reads only the certificates that have changed since the file was
written; a file that cannot be believed is not used, and is written anew."""

import os

import pytest

from deadlines import eventually
from program import complaints, run
from reloads import PADDING, bytes_read, reload, wait_for_stamps
from tls_client import shown

NAMES = ("one", "two", "three", "four", "five")


@pytest.fixture
def sites(certs, tmp_path):
    """Files that are old enough for an index."""
    folder = tmp_path / "pems"
    folder.mkdir()
    made = {name: certs.named(name, f"DNS:{name}.example") for name in NAMES}
    for name, site in made.items():
        (folder / f"{name}.pem").write_text(site.pem.read_text() + PADDING)
    wait_for_stamps(*folder.iterdir())
    return made


@pytest.fixture
def index(tmp_path):
    return tmp_path / "index" / "certificates"


@pytest.fixture
def serve(cleat, tmp_path, index, sites):
    index.parent.mkdir()

    def start(watch=False, **options):
        flags = ["--pem-dir", tmp_path / "pems", "--certificate-index", index]
        flags += ["--reload-on-change"] if watch else []
        return cleat(*flags, "--certificate-cache", 1, "--workers", 1, pem=[], **options)

    return start


def check(server, sites):
    for name, site in sites.items():
        assert shown(server.port, f"{name}.example") == site.fingerprint


def written_by(serve, index):
    """A cleat that has written an index."""
    server = serve()
    eventually("the index is written", index.exists)
    return server


def test_a_later_start_reads_no_certificate_that_is_known(serve, index, sites):
    first = written_by(serve, index)
    read_all = bytes_read(first)
    assert read_all > len(NAMES) * len(PADDING)
    check(first, sites)
    first.end()
    later = serve()
    # The default certificate is loaded; cleat itself is some files, too.
    assert bytes_read(later) < read_all - 3.5 * len(PADDING)
    check(later, sites)


def test_a_file_that_has_changed_is_read(serve, index, sites, certs, tmp_path):
    written_by(serve, index).end()
    renewed = certs.named("renewed", "DNS:two.example,DNS:six.example")
    (tmp_path / "pems" / "two.pem").write_text(renewed.pem.read_text())
    (tmp_path / "pems" / "three.pem").unlink()
    server = serve()
    assert shown(server.port, "two.example") == renewed.fingerprint
    assert shown(server.port, "six.example") == renewed.fingerprint
    assert shown(server.port, "three.example") == sites["five"].fingerprint  # The first of all.
    assert shown(server.port, "four.example") == sites["four"].fingerprint


def test_what_a_reload_has_read_is_written_at_the_end(serve, index, sites, certs, tmp_path):
    server = written_by(serve, index)
    renewed = certs.named("new", "DNS:new.example")
    changed = tmp_path / "pems" / "two.pem"
    changed.write_text(renewed.pem.read_text() + PADDING)
    reload(server)
    wait_for_stamps(changed)
    reload(server)  # The file is old enough now to be recognized.
    server.end()
    later = serve()
    assert bytes_read(later) < len(NAMES) * len(PADDING) / 2
    assert shown(later.port, "new.example") == renewed.fingerprint


def test_what_a_watched_change_has_read_is_written_at_the_end(serve, index, sites, certs, tmp_path):
    written_by(serve, index).end()
    server = serve(watch=True)
    run("reload", server.pid)  # It watches all files when that has ended.
    changed = tmp_path / "pems" / "two.pem"
    renewed = certs.named("new", "DNS:new.example")
    changed.write_text(renewed.pem.read_text() + PADDING)
    server.wait_for_log(event="reloaded", times=2)
    wait_for_stamps(changed)
    another = tmp_path / "pems" / "three.pem"
    another.write_text(another.read_text() + "\n")
    server.wait_for_log(event="reloaded", times=3)
    server.end()
    later = serve()
    # The default certificate, and the file that had changed too lately.
    assert bytes_read(later) < 4 * len(PADDING)
    assert shown(later.port, "new.example") == renewed.fingerprint


def test_a_relative_name_is_in_the_folder_of_the_start(cleat, sites, tmp_path):
    flags = ["--pem-dir", "pems", "--certificate-index", "index.bin", "--certificate-cache", 1]
    cleat(*flags, pem=[], cwd=tmp_path).end()
    assert (tmp_path / "index.bin").stat().st_size > 0


@pytest.mark.parametrize(
    "spoil, why",
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "it is damaged"),
        (lambda path: path.write_bytes(b"something else"), "it is damaged"),
        (
            lambda path: path.write_bytes(path.read_bytes().replace(b"index 3", b"index 2", 1)),
            "it is damaged, or another version of cleat",
        ),
        (lambda path: path.chmod(0o666), "another user may have written it"),
        (lambda path: (path.unlink(), path.mkdir()), "it is no regular file"),
    ],
)
def test_a_file_that_cannot_be_believed_is_not_used(serve, index, sites, spoil, why):
    written_by(serve, index).end()
    spoil(index)
    server = serve()
    assert f"{index} is not used: {why}" in "\n".join(server.lines)
    check(server, sites)
    if index.is_dir():
        assert server.wait_for_log(event="certificate-index-not-written")["file"] == str(index)
        return
    eventually("it is written anew", lambda: index.stat().st_mode & 0o777 == 0o600)
    server.end()
    assert "is not used" not in "\n".join(serve().lines)


def test_a_folder_that_cannot_be_written_is_said(serve, index, sites):
    index.parent.rmdir()
    server = serve()
    line = server.wait_for_log(event="certificate-index-not-written")
    assert line["reason"] == os.strerror(2)
    check(server, sites)


def test_t_reads_every_certificate(serve, index, sites, tmp_path):
    written_by(serve, index).end()
    before = index.read_bytes()
    broken = tmp_path / "pems" / "two.pem"
    times = broken.stat()
    text = broken.read_text()
    broken.write_text(text.replace("BEGIN", "BEGUN"))
    os.utime(broken, ns=(times.st_atime_ns, times.st_mtime_ns))
    flags = ["--pem-dir", broken.parent, "--certificate-cache", 1, "--certificate-index", index]
    assert str(broken) in complaints(*flags)
    assert index.read_bytes() == before
