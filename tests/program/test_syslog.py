"""syslog: the log goes to the machine's log daemon, with the facility and the level that it has.

The daemon is the test's own: cleat has a /dev in which /dev/log is a socket that the test reads."""

import json
import os
import re
import shutil
import socket
import subprocess

import pytest

import program
from deadlines import DEADLINE, eventually
from origins import echo
from program import Cleat
from tls_client import TLS_1_2, TlsClient, only, refused

# Of <syslog.h>: the facilities local3 and daemon, and the levels.
LOCAL3, DAEMON, WARNING, INFO = 19 << 3, 3 << 3, 4, 6
DEVICES = ("null", "urandom")

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare"), reason="a /dev of one's own wants root"
)


class LogDaemon:
    """LogDaemon is who reads /dev/log: lines with their priority."""

    def __init__(self, folder):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(folder / "log"))
        os.chmod(folder / "log", 0o666)
        self.socket.settimeout(DEADLINE)

    def until(self, event):
        """until such a line comes: its priority, and its text."""
        return self.until_there_is(f"event={event}")

    def until_there_is(self, part):
        while True:
            said = self.socket.recv(65536).decode()
            priority, text = re.fullmatch(r"<(\d+)>(.*)", said.rstrip("\0\n")).groups()
            if part in text:
                return int(priority), text


@pytest.fixture
def in_own_dev(tmp_path):
    """in_own_dev is a command that gives a program a /dev with nothing but this folder's files."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mounts of one's own are to be had here")
    folder = tmp_path / "dev"
    folder.mkdir()
    for each in DEVICES:
        (folder / each).touch()
    binds = [f"mount --bind /dev/{each} {folder}/{each}" for each in DEVICES]
    script = " && ".join([*binds, f"mount --rbind {folder} /dev", 'exec "$0" "$@"'])
    return folder, ["unshare", "--mount", "--propagation", "private", "sh", "-c", script]


@pytest.fixture
def logged(certs, origin, in_own_dev):
    """logged is a cleat whose /dev/log is the daemon's."""
    folder, wrapper = in_own_dev
    daemon = LogDaemon(folder)
    command = [
        *wrapper,
        program.binary(), "-f", "[127.0.0.1]:0", "-b", origin(echo).address, "--log-level", 2,
        "--syslog", "--syslog-facility", "local3", "--access-log", "syslog",
        "--access-log-format", "json", certs.ecdsa.pem,
    ]  # fmt: skip
    child = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
    yield daemon
    child.terminate()
    _, said = child.communicate(timeout=DEADLINE)
    assert child.returncode == 0
    assert "event=" not in said, "the log goes to one place"


def test_lines_have_their_facility_and_their_level(logged):
    priority, text = logged.until("listening")
    assert priority == LOCAL3 | INFO
    assert re.search(r"\bcleat\[\d+\]: ", text)
    port = int(re.search(r"address=\S*:(\d+)", text).group(1))

    with TlsClient(port) as client:
        assert client.exchange(b"hello") == b"hello"
    priority, text = logged.until("handshake-done")
    assert priority == LOCAL3 | INFO
    assert "version=TLSv1.3" in text

    with socket.create_connection(("127.0.0.1", port), DEADLINE) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
        priority, text = logged.until("handshake-failed")
    assert priority == LOCAL3 | INFO
    assert "reason=" in text
    refused(port, only(TLS_1_2, ciphers="ECDHE-RSA-AES128-GCM-SHA256"))
    priority, text = logged.until_there_is("no-shared-cipher")
    assert priority == LOCAL3 | WARNING


def test_the_log_may_go_to_a_file_too(certs, in_own_dev, tmp_path):
    folder, wrapper = in_own_dev
    daemon = LogDaemon(folder)
    file = tmp_path / "log"
    flags = ["-f", "[127.0.0.1]:0", "--log-level", 2, "--syslog", "--log-filename", file]
    server = Cleat(*flags, certs.ecdsa.pem, wrapper=wrapper)
    priority, text = daemon.until("started")
    assert priority == DAEMON | INFO
    server.end()
    daemon.until("ended")
    lines = file.read_text().splitlines()
    assert [line for line in lines if "event=started" in line]
    # The same line, with the time in place of the daemon's head.
    said = text.split("]: ", 1)[1]
    assert said.startswith("level=info event=started")
    assert any(line.endswith("Z " + said) for line in lines)
    assert not server.log()


def test_without_a_daemon_the_file_has_the_log(certs, in_own_dev, tmp_path):
    folder, wrapper = in_own_dev
    file = tmp_path / "log"
    flags = ["-f", "[127.0.0.1]:0", "--log-level", 2, "--syslog", "--log-filename", file]
    server = Cleat(*flags, certs.ecdsa.pem, wrapper=wrapper)
    eventually("it has started", lambda: file.exists() and "event=started" in file.read_text())
    assert any("warning: no log daemon listens on /dev/log" in line for line in server.lines)
    late = LogDaemon(folder)
    server.end()
    late.until("ended")


@pytest.mark.parametrize(
    "flags, key, cure",
    [
        (["--syslog"], "syslog", "use log-filename"),
        (["--access-log", "syslog"], "access-log", "name a file"),
    ],
)
def test_without_a_daemon_syslog_alone_is_an_error_for_the_check_too(
    certs, in_own_dev, flags, key, cure
):
    _, wrapper = in_own_dev
    for verb in (["check"], ["--test"], []):
        command = [*wrapper, program.binary(), *verb, "-f", "[127.0.0.1]:0", *flags]
        command = list(map(str, [*command, certs.ecdsa.pem]))
        ran = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
        assert ran.returncode == 1
        assert f"--{key}: error: no log daemon listens on /dev/log" in ran.stderr
        assert cure in ran.stderr


def test_the_access_log_has_its_lines_there_too(logged):
    _, text = logged.until("listening")
    port = int(re.search(r"address=\S*:(\d+)", text).group(1))
    with TlsClient(port, name="syslog.example") as client:
        assert client.exchange(b"hello") == b"hello"
    priority, text = logged.until_there_is("syslog.example")
    while "handshake-done" in text:
        priority, text = logged.until_there_is("syslog.example")
    assert priority == LOCAL3 | INFO
    assert json.loads(re.fullmatch(r"cleat\[\d+\]: (.*)", text)[1])["up_bytes"] == 5
