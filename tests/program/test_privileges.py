"""Started as root with user and group, cleat opens its ports and reads its keys as root, and serves
as that user, with no other group and no way back."""

import os
import pwd
import socket
import tempfile
from pathlib import Path

import pytest

import program
from tls_client import TlsClient

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


def identity(pid):
    """The kernel's word: {"Uid": [...], "Gid": [...], "Groups": [...]} for each thread."""
    made = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        lines = (line.split(":") for line in (thread / "status").read_text().splitlines())
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


def test_root_without_a_user_is_warned(cleat):
    assert cleat().wait_for_log(event="running-as-root")["level"] == "warning"


def test_somebody_else_cannot(certs):
    """A user who is not root cannot become another: an error, not a shrug."""
    with tempfile.TemporaryDirectory() as folder:
        pem = Path(folder) / "site.pem"
        pem.write_bytes(certs.ecdsa.pem.read_bytes())
        pem.chmod(0o644)
        pem.parent.chmod(0o755)
        if not all(folder.stat().st_mode & 0o001 for folder in program.binary().resolve().parents):
            pytest.skip("nobody else can reach the program")
        flags = ["--user", "daemon", "-f", "[127.0.0.1]:0", pem]
        ran = program.run(*flags, user="nobody", group="nogroup", extra_groups=[])
    assert ran.returncode == 1 and "daemon" in ran.stderr and "Start as root" in ran.stderr


def test_the_pid_file_goes_with_the_program(cleat, tmp_path):
    """Its folder is root's, and so nobody may not take it away: it must not be half there."""
    pidfile = tmp_path / "pid"
    server = cleat("--user", "nobody", "--pidfile", pidfile)
    assert int(pidfile.read_text()) == server.pid
    server.end()
    assert not pidfile.exists() or pidfile.read_text() == ""


def test_a_pid_file_that_another_has_taken_over_stays(cleat, tmp_path):
    pidfile = tmp_path / "pid"
    first = cleat("--pidfile", pidfile)
    second = cleat("--pidfile", pidfile)
    first.end()
    assert int(pidfile.read_text()) == second.pid
    second.end()
    assert not pidfile.exists()
