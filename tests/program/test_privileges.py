"""Started as root with user and group, cleat opens its ports and reads its keys as root, and serves
as that user, with no other group and no way back."""

import os
import pwd
import socket
import stat
from pathlib import Path

import pytest

import program
from deadlines import eventually
from task_files import task_files
from tls_client import TlsClient

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


def identity(pid):
    """The kernel's word: {"Uid": [...], "Gid": [...], "Groups": [...]} for each thread."""
    made = []
    for text in task_files(pid, "status").values():
        lines = (line.split(":") for line in text.splitlines())
        made.append({k: v.split() for k, v in lines if k in ("Uid", "Gid", "Groups", "CapEff")})
    return made


def test_every_thread_becomes_the_user(cleat, certs):
    nobody = pwd.getpwnam("nobody")
    certs.ecdsa.pem.chmod(0o600)  # root's alone.
    server = cleat("--user", "nobody", "--workers", 2)
    with TlsClient(server.port) as client:
        assert client.exchange(b"as nobody") == b"as nobody"
    server.wait_for_log(event="connection-closed")
    threads = identity(server.pid)
    assert len(threads) >= 3
    for thread in threads:
        assert thread["Uid"] == [str(nobody.pw_uid)] * 4
        assert thread["Gid"] == [str(nobody.pw_gid)] * 4
        assert "0" not in thread["Groups"]
        assert int(thread["CapEff"][0], 16) == 0
    assert not server.log(event="running-as-root")


def test_a_group_of_its_own(cleat):
    import grp

    group = grp.getgrnam("daemon")
    server = cleat("--user", "nobody", "--group", "daemon")
    for thread in identity(server.pid):
        assert thread["Gid"] == [str(group.gr_gid)] * 4


def test_a_port_below_1024(cleat):
    for port in range(1023, 900, -1):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        server = cleat("--user", "nobody", frontend=f"[127.0.0.1]:{port}")
        with TlsClient(port) as client:
            assert client.exchange(b"privileged") == b"privileged"
        assert server.port == port
        return
    pytest.skip("no port below 1024 is free")


@pytest.fixture
def their_folder():
    """A folder of the user nobody, such as an administrator makes for the log, and a file of root's
    that this user must not get."""
    nobody = pwd.getpwnam("nobody")
    with program.open_folder() as path:
        precious = path / "precious"
        precious.write_text("root's alone\n")
        precious.chmod(0o600)
        theirs = path / "theirs"
        theirs.mkdir()
        os.chown(theirs, nobody.pw_uid, nobody.pw_gid)
        yield theirs


LINKS = pytest.mark.parametrize("plant", [os.symlink, os.link], ids=["symbolic", "hard"])


@LINKS
@pytest.mark.parametrize("key", ["log-filename", "pidfile"])
def test_a_planted_link_gets_nothing(certs, their_folder, key, plant):
    """A user who can write the folder links to a file of root's: neither written nor given."""
    precious = their_folder.parent / "precious"
    link = their_folder / "link"
    plant(precious, link)
    flags = ["--user", "nobody", "-f", "[127.0.0.1]:0", f"--{key}", link]
    ran = program.run(*flags, certs.ecdsa.pem)
    assert ran.returncode == 1
    assert f"--{key}: error: cannot write {link}: " in ran.stderr, ran.stderr
    assert ("name the file itself" if plant is os.symlink else "choose another") in ran.stderr
    assert precious.read_text() == "root's alone\n"
    about = precious.stat()
    assert (about.st_uid, about.st_mode & 0o777) == (0, 0o600)


@pytest.mark.parametrize("key", ["log-filename", "pidfile"])
def test_a_planted_link_to_nothing_makes_nothing(certs, their_folder, key):
    target = their_folder.parent / "not-there-yet"
    (their_folder / "link").symlink_to(target)
    flags = ["--user", "nobody", "-f", "[127.0.0.1]:0", f"--{key}", their_folder / "link"]
    assert program.run(*flags, certs.ecdsa.pem).returncode == 1
    assert not target.exists()


def test_a_log_is_given_to_the_user_only_if_it_is_new(cleat, their_folder):
    nobody = pwd.getpwnam("nobody")
    new, old = their_folder / "new", their_folder / "old"
    old.write_text("")
    for log, owner in ((new, nobody.pw_uid), (old, 0)):
        server = cleat("--user", "nobody", "--log-filename", log, wait=False)
        eventually("it serves", lambda: "event=started" in log.read_text() if log.exists() else 0)
        assert log.stat().st_uid == owner
        server.end()


def test_devices_stay_what_they_are(cleat, origin, certs, tmp_path):
    """A node like /dev/null, and the names of the standard descriptors. They are in the test's own
    folder, because a mistake in /dev would damage the machine."""
    null = tmp_path / "null"
    os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    try:
        null.open("w").close()
    except OSError:
        pytest.skip("devices are not to be had in this folder")
    for log in (null, Path("/dev/stderr")):
        pidfile = tmp_path / "pid"
        server = cleat("--user", "nobody", "-l", log, "-p", pidfile, wait=log != null)
        eventually("it has its number", lambda: pidfile.exists() and pidfile.read_text())
        eventually("it is nobody", lambda: identity(server.pid)[0]["Uid"][0] != "0")
        server.end()
        pidfile.unlink(missing_ok=True)
    assert null.stat().st_uid == 0


def test_root_without_a_user_is_warned(cleat):
    assert cleat().wait_for_log(event="running-as-root")["level"] == "warning"


def test_somebody_else_cannot(certs):
    """A user who is not root cannot become another one: cleat must say so, and not go on."""
    with program.open_folder() as folder:
        pem = folder / "site.pem"
        pem.write_bytes(certs.ecdsa.pem.read_bytes())
        pem.chmod(0o644)
        ran = program.run_as_nobody("--user", "daemon", "-f", "[127.0.0.1]:0", pem)
    assert ran.returncode == 1 and "Start as root" in ran.stderr
    assert "cleat: --user: error: cannot become user daemon" in ran.stderr


def test_the_pid_file_goes_with_the_program(cleat, tmp_path):
    """The folder belongs to root, so the user nobody cannot remove the file, and empties it
    instead."""
    pidfile = tmp_path / "pid"
    server = cleat("--user", "nobody", "--pidfile", pidfile)
    assert int(pidfile.read_text()) == server.pid
    server.end()
    assert pidfile.read_text() == ""


def test_a_pid_file_that_another_has_taken_over_stays(cleat, tmp_path):
    pidfile = tmp_path / "pid"
    server = cleat("--pidfile", pidfile)
    pidfile.write_text(f"{os.getpid()}\n")
    server.end()
    assert int(pidfile.read_text()) == os.getpid()


def test_a_pid_file_of_somebody_who_runs_is_seen_by_root(cleat, certs, tmp_path):
    """The kernel shows the program's file of a process only to users who may trace it, and its name
    to all."""
    pidfile = tmp_path / "pid"
    server = cleat("--user", "nobody", "--pidfile", pidfile)
    ran = program.run("-f", "[127.0.0.1]:0", "--pidfile", pidfile, certs.ecdsa.pem)
    assert ran.returncode == 1 and f"cleat already runs as {server.pid} " in ran.stderr
