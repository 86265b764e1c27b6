"""`cleat reload` makes a running cleat reload, waits, and says what came of it."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from deadlines import DEADLINE, eventually
from program import Cleat, binary, open_files, open_folder, run
from tls_client import TlsClient


@pytest.fixture
def pem(certs, tmp_path):
    path = tmp_path / "site.pem"
    path.write_text(certs.ecdsa.pem.read_text())
    return path


@pytest.fixture
def serve(cleat, pem, config):
    """A cleat whose configuration the test changes: serve(), and then serve.path."""

    class Served:
        path = config(f'pem-file = "{pem}"\nfrontend = "[127.0.0.1]:0"\nlog-level = 2\n')

        def __call__(self, *flags):
            return cleat(
                "--config", self.path, *flags, pem=[], frontend=None, log_level=None
            )

        def add(self, line):
            self.path.write_text(self.path.read_text() + line + "\n")

    return Served()


def test_it_waits_and_says_what_has_changed(serve, pem, certs):
    server = serve()
    pem.write_text(certs.rsa.pem.read_text())
    serve.add("idle-timeout = 7")
    ran = run("reload", server.pid)
    assert (ran.returncode, ran.stderr) == (0, "")
    said = r"reloaded in \d+ ms: changed idle-timeout; 1 certificate changed\n"
    assert re.fullmatch(said, ran.stdout)
    with TlsClient(server.port) as client:  # It is served when the command has ended.
        assert client.fingerprint == certs.rsa.fingerprint
    ran = run("reload", server.pid)
    assert re.fullmatch(r"reloaded in \d+ ms: nothing has changed\n", ran.stdout)


def test_it_names_the_keys_whose_files_have_changed(serve, certs, tmp_path):
    ca, crl, listed = tmp_path / "ca.pem", tmp_path / "ca.crl", tmp_path / "listed"
    files = tmp_path / "rules"
    bob = certs.signed("keys-bob", certs.authority("keys-ca"), "/CN=bob")
    authority = certs.authority("keys-ca")
    ca.write_text(authority.cert.read_text())
    crl.write_text(certs.crl("keys-crl", authority).read_text())
    listed.write_text("192.0.2.0/24\n")
    files.write_text('client-allow = { cn = "alice" }\n')
    serve.add(f'client-verify = required\nclient-verify-ca = "{ca}"')
    serve.add(f'client-verify-crl = "{crl}"\ndeny-from = "@{listed}"')
    serve.add(f'client-allow-file = "{files}"')
    server = serve()
    changes = {
        "client-verify-ca": lambda: ca.write_text(
            ca.read_text() + certs.authority("keys-other").cert.read_text()
        ),
        "client-verify-crl": lambda: crl.write_text(
            certs.crl("keys-more", authority, bob).read_text()
        ),
        "deny-from": lambda: listed.write_text("192.0.2.0/25\n"),
        "client-allow-file": lambda: files.write_text('client-allow = { cn = "bob" }\n'),
    }
    for number, (key, change) in enumerate(changes.items(), 1):
        change()
        ran = run("reload", server.pid)
        assert re.fullmatch(rf"reloaded in \d+ ms: changed {key}\n", ran.stdout), ran
        assert server.wait_for_log(times=number, event="reloaded")["keys"] == key
    assert run("reload", server.pid).stdout.endswith("nothing has changed\n")


def test_it_says_why_a_reload_is_refused(serve):
    server = serve()
    serve.add("workers = 7")
    serve.add("idel-timeout = 7")
    ran = run("reload", server.pid)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "cleat-1.conf:5:1: error: idel-timeout" in ran.stderr
    assert ran.stderr.endswith("cleat: the reload was refused: nothing has changed\n")


def test_a_warning_does_not_refuse_it(serve):
    server = serve()
    serve.add('ocsp-dir = "/var/lib/ocsp"')
    ran = run("reload", server.pid)
    assert ran.returncode == 0
    assert "warning: ocsp-dir" in ran.stdout
    assert server.wait_for_log(event="reload-warning")


def test_several_at_once_are_all_answered(serve):
    server = serve()
    command = [binary(), "reload", str(server.pid)]
    asked = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    for each in asked:
        assert "reloaded in" in each.communicate(timeout=DEADLINE)[0]
        assert each.returncode == 0


def test_it_finds_the_process_by_its_pid_file(serve, tmp_path):
    pidfile = tmp_path / "cleat.pid"
    serve("--pidfile", pidfile)
    assert run("reload", "--pidfile", pidfile).returncode == 0
    ran = run("reload", "-p", tmp_path / "nothing.pid")
    assert ran.returncode == 1 and "names no running cleat" in ran.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a network namespace")
def test_without_a_process_it_takes_the_only_one(certs):
    """The names of control sockets are a network namespace's."""
    alone = ("unshare", "--net", "--")
    none = run_in(alone, "reload")
    assert (none.returncode, none.stderr) == (1, "cleat: no cleat runs here\n")
    words = ("-f", "[127.0.0.1]:0", "-b", "[127.0.0.1]:9", "--log-level", 2, certs.ecdsa.pem)
    up = ("sh", "-c", 'ip link set lo up && exec "$@"', "sh")
    first = Cleat(*words, wrapper=(*alone, *up)).wait_until_started()
    inside = ("nsenter", f"--net=/proc/{first.pid}/ns/net", "--")
    try:
        assert "reloaded in" in run_in(inside, "reload").stdout
        second = Cleat(*words, wrapper=inside).wait_until_started()
        try:
            both = run_in(inside, "reload")
            assert both.returncode == 1 and "several run here" in both.stderr
            assert str(first.pid) in both.stderr and str(second.pid) in both.stderr
        finally:
            second.end()
    finally:
        first.end()


def run_in(wrapper, *words):
    command = [*map(str, wrapper), binary(), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)


def test_a_process_that_is_no_cleat_is_said():
    ran = run("reload", os.getpid())
    assert ran.returncode == 1 and "is no cleat that takes commands" in ran.stderr


def test_a_cleat_that_ends_ends_the_wait(certs):
    server = Cleat("-f", "[127.0.0.1]:0", "--log-level", 2, certs.ecdsa.pem).wait_until_started()
    try:
        with server.paused():
            command = [binary(), "reload", str(server.pid)]
            asked = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            eventually("it waits for the answer", lambda: waits_for_a_process(asked.pid))
            server.process.kill()
    finally:
        server.process.kill()
        server.process.wait(DEADLINE)
    assert asked.communicate(timeout=DEADLINE)[1] == f"cleat: process {server.pid} has ended\n"
    assert asked.returncode == 1


def waits_for_a_process(pid):
    """It sleeps, and can see another process's end."""
    folder = Path(f"/proc/{pid}")
    is_asleep = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0] == "S"
    return is_asleep and "anon_inode:[pidfd]" in open_files(pid).values()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_another_user_is_not_heard(serve, tmp_path):
    server = serve()
    with open_folder() as folder:
        copy = folder / "cleat"
        copy.write_bytes(binary().read_bytes())
        copy.chmod(0o755)
        ran = run(
            "reload", server.pid, path=copy, user="nobody", group="nogroup", extra_groups=[]
        )
    assert ran.returncode == 1
    assert "only root and the user that cleat runs as" in ran.stderr
    assert not server.log(event="reloading")


def control_name(pid):
    return f"cleat/control/{os.stat('/proc/self/ns/pid').st_ino}/{pid}"


# It binds a name, which the command that takes its place keeps.
SQUATTER = """
import os, socket, sys
name, *command = sys.argv[1:]
squatter = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
squatter.bind(chr(0) + name)
squatter.set_inheritable(True)
os.execv(command[0], command)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a network namespace")
@pytest.mark.parametrize("pid", [2**22 + 1, 0, -1, "1x"])  # The first is above the kernel's.
def test_a_name_without_a_process_is_no_cleat(pid):
    """Any user may bind a name like that of a control socket."""
    alone = ("unshare", "--net", "--")
    ran = run_in((*alone, sys.executable, "-c", SQUATTER, control_name(pid)), "reload")
    assert (ran.returncode, ran.stderr) == (1, "cleat: no cleat runs here\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a PID namespace")
def test_containers_on_one_network_do_not_hear_each_other(serve):
    """Each has a process 1, or another of the same number."""
    server = serve()
    elsewhere = ("unshare", "--pid", "--fork", "--mount-proc", "--")
    ran = run_in(elsewhere, "reload")
    assert (ran.returncode, ran.stderr) == (1, "cleat: no cleat runs here\n")
    assert not server.log(event="reloading")


def test_an_unknown_command_is_answered(serve):
    server = serve()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asker:
        asker.settimeout(DEADLINE)
        asker.bind("")  # A name of the kernel's choice.
        asker.sendto(b"dance", "\0" + control_name(server.pid))
        assert asker.recv(1000).startswith(b"2cleat: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("soon",), '"soon" is no number of a process'),
        (("0",), '"0" is no number of a process'),
        # As a script has it whose file with the number is missing.
        (("",), '"" is no number of a process'),
        (("--pidfile", ""), "the pidfile has no name"),
        (("1", "2"), '"2" is one word too many'),
        (("1", "--pidfile", "x"), "pidfile"),
        (("--force",), "--force is none of its options"),
        (("--config", "cleat.conf"), "--config is none of its options"),
    ],
)
def test_wrong_words_are_refused(words, said):
    ran = run("reload", *words)
    assert ran.returncode == 1
    assert said in ran.stderr and "reload --help" in ran.stderr
    assert run("reload", "--help").stdout.startswith("Usage: cleat reload")
