"""A reload when memory or the disk is full, when files change while they are read, and in the
middle of ten thousand handshakes: cleat serves on, and nobody is cut."""

import contextlib
import os
import resource
import subprocess
import threading

import pytest

from deadlines import SANITIZED
from program import file_limit, run
from reloads import PADDING, reload, reload_is_refused, replace
from tls_client import TlsClient, context, shown

MIB = 1 << 20


@pytest.mark.skipif(SANITIZED, reason="the limit is on address space")
@pytest.mark.parametrize("room", [0, 4 * MIB, 16 * MIB])
def test_a_reload_without_memory_is_refused_and_a_later_one_is_not(
    cleat, certs, tmp_path, room
):
    folder = tmp_path / "pems"
    folder.mkdir()
    replace(folder / "0.pem", certs.ecdsa.pem.read_text())
    one_arena = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    server = cleat("--pem-dir", folder, "--workers", 1, pem=[], env=one_arena)
    site = certs.named("more", "DNS:more.example")
    for number in range(1, 60):  # Their text is 54 MB.
        replace(folder / f"{number}.pem", site.pem.read_text() + PADDING)
    most = server.address_space() + room
    unlimited = resource.prlimit(server.pid, resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    with TlsClient(server.port) as old:
        problems = reload_is_refused(server)
        assert any(
            "memory" in each or "Resource temporarily unavailable" in each for each in problems
        ), problems
        assert old.exchange(b"still served") == b"still served"
        resource.prlimit(server.pid, resource.RLIMIT_AS, unlimited)
        assert shown(server.port, "more.example") == certs.ecdsa.fingerprint
        assert reload(server)["certificates_added"] == "59"
        assert old.exchange(b"still served") == b"still served"
    assert shown(server.port, "more.example") == site.fingerprint


@pytest.fixture
def full_disk(tmp_path):
    """A disk of its own, with no room left."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "cleat-test", disk], check=True)
    try:
        filler = disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_full_disk_takes_no_index_and_cleat_reloads(full_disk, cleat, certs, tmp_path):
    folder = tmp_path / "pems"
    folder.mkdir()
    replace(folder / "0.pem", certs.ecdsa.pem.read_text())
    replace(folder / "1.pem", certs.rsa.pem.read_text())
    index = full_disk / "index"
    flags = ["--pem-dir", folder, "--certificate-cache", 1, "--certificate-index", index]
    server = cleat(*flags, pem=[])
    line = server.wait_for_log(event="certificate-index-not-written")
    assert (line["file"], line["reason"]) == (str(index), "No space left on device")
    assert [each.name for each in full_disk.iterdir()] == ["filler"]
    site = certs.named("new", "DNS:new.example")
    replace(folder / "2.pem", site.pem.read_text())
    assert reload(server)["certificates_added"] == "1"
    assert shown(server.port, "new.example") == site.fingerprint

    (full_disk / "filler").unlink()
    server.end()
    assert index.stat().st_size > 0


def test_a_full_disk_takes_no_log_and_cleat_reloads(full_disk, cleat, certs, config):
    log = full_disk / "cleat.log"
    where = config("log-level = 2")
    server = cleat("--config", where, "--sandbox-write", full_disk, log_level=None)
    for level in (1, 2):  # The reload that moves the log, and one after it.
        replace(where, f'log-filename = "{log}"\nlog-level = {level}\n')
        done = run("reload", server.pid)
        assert done.returncode == 0, done.stdout + done.stderr
        assert shown(server.port) == certs.ecdsa.fingerprint
    assert log.read_text() == ""
    (full_disk / "filler").unlink()
    assert run("reload", server.pid).returncode == 0
    assert "event=reloaded" in log.read_text()


def test_files_that_change_while_they_are_read_are_read_whole_or_not_at_all(
    cleat, certs, tmp_path
):
    """Two certificates take turns in one place, hundreds of times a second, renamed or written
    over: a reload takes one of them, or refuses a half of one; nobody sees anything else."""
    known = {each.fingerprint: each.pem.read_text() + PADDING for each in (certs.ecdsa, certs.rsa)}
    renamed, rewritten = tmp_path / "renamed.pem", tmp_path / "rewritten.pem"
    for path in (renamed, rewritten):
        replace(path, known[certs.ecdsa.fingerprint])
    frontends = [
        f'frontend = {{ host = "127.0.0.1"\n port = 0\n pem-file = "{each}" }}'
        for each in (renamed, rewritten)
    ]
    where = tmp_path / "cleat.conf"
    where.write_text("\n".join(frontends) + "\n")
    server = cleat("--config", where, "--workers", 1, pem=[], frontend=None)
    over, turns = threading.Event(), [0]

    def change() -> None:
        while not over.wait(0.002):
            for text in known.values():
                replace(renamed, text)
                rewritten.write_text(text)
                turns[0] += 1

    outcomes = set()
    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(40):
            outcomes.add(run("reload", server.pid).returncode)
            for port in server.ports:
                assert shown(port) in known
    finally:
        over.set()
        changing.join()
    assert 0 in outcomes and turns[0] > 40
    for problem in server.log(event="reload-problem"):
        assert str(rewritten) in problem["problem"], problem  # Never of the one that is renamed.
    assert run("reload", server.pid).returncode == 0
    for port in server.ports:
        assert shown(port) == certs.rsa.fingerprint


MANY = 500 if SANITIZED else 10_000


@pytest.fixture
def many_files():
    with file_limit(MANY + 500):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert soft == MANY + 500, f"raise the hard limit of open files: it is {hard}"
        yield


def test_a_reload_in_the_middle_of_ten_thousand_handshakes(
    many_files, cleat, origin, certs, tmp_path
):
    """Of each three clients one has sent half of its ClientHello, one all of it, and one has
    cleat's answer already. They go on after the reload, with the certificate that cleat had when
    they came."""
    pem = tmp_path / "site.pem"
    replace(pem, certs.ecdsa.pem.read_text())
    flags = ["--pem-file", pem, "--ssl-handshake-timeout", 600]
    server = cleat(*flags, backend=origin(lambda upstream: upstream.end()), pem=[])
    tls = context()
    waiting = []
    for number in range(MANY):
        client = TlsClient(server.port, tls, handshake=False)
        hello = client.client_hello()
        now = len(hello) // 2 if number % 3 == 0 else len(hello)
        client.socket.sendall(hello[:now])
        if number % 3 == 2:
            client.pull()
        waiting.append((client, hello[now:]))
    replace(pem, certs.rsa.pem.read_text())
    assert reload(server)["certificates_changed"] == "1"
    with TlsClient(server.port, tls) as late:
        assert late.fingerprint == certs.rsa.fingerprint
    for client, rest in waiting:
        client.socket.sendall(rest)
        client.handshake()
        assert client.fingerprint == certs.ecdsa.fingerprint
        assert client.receive() == b""
        client.socket.close()
    server.wait_for_log(event="handshake-done", times=MANY)
    assert not server.log(event="handshake-failed")
    # The configuration before has ended with them: another reload has as much room.
    assert reload(server)["certificates_changed"] == "0"
