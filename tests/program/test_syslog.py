"""syslog: the log goes to the machine's log daemon, with the facility and the level that it has.

The daemon is the test's own: cleat has a /dev in which /dev/log is a socket that the test reads."""

import os
import re
import shutil
import socket
import subprocess

import pytest

import program
from deadlines import DEADLINE
from origins import echo
from tls_client import TlsClient

# Of <syslog.h>: the facility local3, and the levels.
LOCAL3, WARNING, INFO = 19 << 3, 4, 6
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
        while True:
            said = self.socket.recv(65536).decode()
            priority, text = re.fullmatch(r"<(\d+)>(.*)", said.rstrip("\0\n")).groups()
            if f"event={event}" in text:
                return int(priority), text


@pytest.fixture
def logged(certs, origin, tmp_path):
    """logged is a cleat whose /dev/log is the daemon's."""
    folder = tmp_path / "dev"
    folder.mkdir()
    for each in DEVICES:
        (folder / each).touch()
    daemon = LogDaemon(folder)
    binds = [f"mount --bind /dev/{each} {folder}/{each}" for each in DEVICES]
    script = " && ".join([*binds, f"mount --rbind {folder} /dev", 'exec "$0" "$@"'])
    command = [
        "unshare", "--mount", "--propagation", "private", "sh", "-c", script,
        program.binary(), "-f", "[127.0.0.1]:0", "-b", origin(echo).address, "--log-level", 2,
        "--syslog", "--syslog-facility", "local3", certs.ecdsa.pem,
    ]  # fmt: skip
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mounts of one's own are to be had here")
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
    assert priority == LOCAL3 | WARNING
    assert "reason=" in text
