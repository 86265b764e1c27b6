"""daemon: the one who started it waits until it serves, and gets code 0. It then has a session of
its own, no terminal, a pid file that names it and its log in a file; SIGTERM ends it and takes the
pid file away. SIGUSR1 opens the log anew, for those who rotate it."""

import os
import shutil
import signal
import subprocess

import pytest

from daemons import Daemon
from deadlines import DEADLINE, eventually
from origins import echo
from program import binary, run, wait_for_reopening
from tls_client import TlsClient


@pytest.fixture
def daemon(certs, origin, tmp_path):
    flags = ["-b", origin(echo).address, "-f", "[127.0.0.1]:0", "--log-level", 2]
    made = Daemon(tmp_path / "pid", tmp_path / "log", *flags, certs.ecdsa.pem)
    yield made
    made.end()


def test_it_serves_once_the_starter_is_back(daemon):
    assert daemon.started.returncode == 0
    with TlsClient(daemon.port) as client:
        assert client.exchange(b"from the background") == b"from the background"


def test_it_has_left_the_starter(daemon):
    assert os.getsid(daemon.pid) == daemon.pid
    assert os.readlink(f"/proc/{daemon.pid}/cwd") == "/"
    for standard in range(3):
        assert os.readlink(f"/proc/{daemon.pid}/fd/{standard}") == "/dev/null"


def test_sigterm_ends_it_and_takes_the_pid_file_away(daemon):
    daemon.end()
    assert not daemon.pidfile.exists()
    assert daemon.lines("ended")


def test_sigusr1_opens_the_log_anew(daemon):
    old = daemon.log.with_suffix(".old")
    daemon.log.rename(old)
    os.kill(daemon.pid, signal.SIGUSR1)
    wait_for_reopening(daemon.pid, old)
    port = int(daemon.lines("listening", old)[0]["address"].rsplit(":", 1)[1])
    with TlsClient(port) as client:
        client.exchange(b"x")
    eventually("it is written to", lambda: daemon.lines("handshake-done"))
    assert not daemon.lines("handshake-done", old)


def test_a_reload_finds_files_whose_names_are_relative(certs, origin, tmp_path):
    (tmp_path / "site.pem").write_text(certs.ecdsa.pem.read_text())
    upstream = origin(echo)
    (tmp_path / "cleat.conf").write_text(
        f'backend = "{upstream.address}"\npem-file = "site.pem"\n'
        'frontend = "[127.0.0.1]:0"\nlog-level = 2\n'
    )
    files = [tmp_path / "pid", tmp_path / "log"]
    made = Daemon(*files, "--config", "cleat.conf", cwd=tmp_path)
    try:
        (tmp_path / "site.pem").write_text(certs.rsa.pem.read_text())
        os.kill(made.pid, signal.SIGHUP)
        eventually("it has reloaded", lambda: made.lines("reloaded"))
        with TlsClient(made.port) as client:
            assert client.fingerprint == certs.rsa.fingerprint
        assert os.readlink(f"/proc/{made.pid}/cwd") == "/"
    finally:
        made.end()


def test_a_pid_file_that_is_none_stays(certs, origin, tmp_path):
    """-p site.pem is a slip of the finger, and the key in it is not to pay for it. The error looks
    like every other: place, error, key, text, cure."""
    key = tmp_path / "site.pem"
    key.write_bytes(certs.ecdsa.pem.read_bytes())
    missing = tmp_path / "no-folder" / "pid"
    flags = ["-b", origin(echo).address, "-f", "[127.0.0.1]:0"]
    for path, cure in ((key, "is no pid file"), (missing, "Make its folder")):
        ran = run(*flags, "--pidfile", path, certs.ecdsa.pem)
        assert ran.returncode == 1
        start = f"cleat: --pidfile: error: cannot write {path}: "
        lines = [line for line in ran.stderr.splitlines() if line.startswith("cleat: ")]
        assert len(lines) == 1 and lines[0].startswith(start) and cure in lines[0], ran.stderr
    assert key.read_bytes() == certs.ecdsa.pem.read_bytes()

    config = tmp_path / "cleat.conf"
    config.write_text(f'pidfile = "{missing}"\n')
    ran = run(*flags, "--config", config, certs.ecdsa.pem)
    assert f"cleat: {config}:1:11: error: pidfile: cannot write {missing}: " in ran.stderr


def test_a_number_that_is_left_over_is_replaced(certs, origin, tmp_path):
    pidfile = tmp_path / "pid"
    pidfile.write_text("4194304999\n")
    flags = ["-b", origin(echo).address, "-f", "[127.0.0.1]:0"]
    made = Daemon(pidfile, tmp_path / "log", *flags, certs.ecdsa.pem)
    assert pidfile.read_text() == f"{made.pid}\n"
    made.end()


def test_a_pid_file_of_one_who_runs_is_an_error(daemon, certs, tmp_path):
    """A second daemon that took the pid file over would remove it while the first one still
    serves."""
    log = tmp_path / "second-log"
    flags = ["-f", "[127.0.0.1]:0", "--pidfile", daemon.pidfile, "--log-filename", log]
    for more in ([], ["--daemon"]):
        ran = run(*flags, *more, certs.ecdsa.pem)
        assert ran.returncode == 1
        text = f"cleat already runs as {daemon.pid} ({daemon.pidfile}). End it, or name another"
        assert f"cleat: --pidfile: error: {text}" in ran.stderr
        assert daemon.pidfile.read_text() == f"{daemon.pid}\n"
        assert not log.exists()
    with TlsClient(daemon.port) as client:
        assert client.exchange(b"undisturbed") == b"undisturbed"


def test_an_upgrade_of_the_program_leaves_the_pid_file_to_the_one_who_runs(daemon, certs, tmp_path):
    """After an upgrade the running program is another file than the one at its path."""
    copy = tmp_path / "upgraded" / "cleat"
    copy.parent.mkdir()
    shutil.copy(binary(), copy)
    flags = ["-f", "[127.0.0.1]:0", "--pidfile", daemon.pidfile, certs.ecdsa.pem]
    ran = subprocess.run([copy, *flags], capture_output=True, text=True, timeout=DEADLINE)
    assert ran.returncode == 1
    assert f"cleat already runs as {daemon.pid}" in ran.stderr


def test_a_number_that_another_program_has_is_replaced(certs, origin, tmp_path):
    """The pid is that of the test, which runs and is no cleat."""
    pidfile = tmp_path / "pid"
    pidfile.write_text(f"{os.getpid()}\n")
    flags = ["-b", origin(echo).address, "-f", "[127.0.0.1]:0"]
    made = Daemon(pidfile, tmp_path / "log", *flags, certs.ecdsa.pem)
    assert pidfile.read_text() == f"{made.pid}\n"
    made.end()


def test_a_relative_pidfile_and_log(certs, origin, tmp_path):
    """A daemon goes to the root directory, but files are where the starter said."""
    flags = ["-b", origin(echo).address, "-f", "[127.0.0.1]:0", "--pidfile", "pid"]
    flags += ["--log-filename", "log", "--log-level", 2, "--daemon"]
    assert run(*flags, certs.ecdsa.pem, cwd=tmp_path).returncode == 0
    pid = int((tmp_path / "pid").read_text())
    try:
        log = tmp_path / "log"
        log.rename(tmp_path / "old")
        os.kill(pid, signal.SIGUSR1)
        eventually("the new log is where the old one was", log.exists)
    finally:
        os.kill(pid, signal.SIGTERM)
        eventually("the pid file is gone", lambda: not (tmp_path / "pid").exists())
