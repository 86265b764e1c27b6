"""tcp-fastopen: a client's first bytes come with its SYN, where the kernel lets servers take them.

The kernel's setting belongs to a network, so each test has one of its own, which only root can."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import program
from deadlines import DEADLINE, eventually

SETTING = "/proc/sys/net/ipv4/tcp_fastopen"


def own_network(bits):
    script = f"ip link set lo up && echo {bits} > {SETTING}"
    return ("unshare", "--net", "sh", "-c", script + ' && exec "$0" "$@"')


def has_own_network():
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("ip"):
        return False
    return subprocess.run([*own_network(3), "true"], capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not has_own_network(), reason="a network of one's own wants root")

# A client without data in its first SYN gets a cookie; its next SYN has the data.
CLIENT = """
import socket, sys
for _ in range(2):
    with socket.socket() as client:
        client.sendto(b"GET / HTTP", socket.MSG_FASTOPEN, ("127.0.0.1", int(sys.argv[1])))
        try:
            client.recv(100)
        except ConnectionResetError:
            pass
"""


def accepted_early(pid):
    """accepted_early is how many connections the network's kernel has accepted with data."""
    lines = Path(f"/proc/{pid}/net/netstat").read_text().splitlines()
    names, values = (line.split() for line in lines if line.startswith("TcpExt:"))
    return int(dict(zip(names, values))["TCPFastOpenPassive"])


@pytest.mark.parametrize("setting, count", [("on", 1), ("off", 0)])
def test_data_comes_with_the_syn(cleat, setting, count):
    server = cleat(f"--tcp-fastopen={setting}", wrapper=own_network(3))
    inside = ["nsenter", "--net", "--target", str(server.pid)]
    client = [sys.executable, "-c", CLIENT, str(server.port)]
    subprocess.run([*inside, *client], check=True, timeout=DEADLINE)
    eventually("both were refused", lambda: len(server.log(event="handshake-failed")) == 2)
    assert accepted_early(server.pid) == count


@pytest.mark.parametrize("bits, cure", [(0, 2), (1, 3)])
def test_a_kernel_that_takes_none_is_an_error(certs, bits, cure):
    command = [*own_network(bits), program.binary(), "--test", "--tcp-fastopen", certs.ecdsa.pem]
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=DEADLINE)
    assert ran.returncode == 1
    assert "--tcp-fastopen: error: " in ran.stderr
    assert f"net.ipv4.tcp_fastopen is {bits}" in ran.stderr
    assert f"sysctl -w net.ipv4.tcp_fastopen={cure}" in ran.stderr
