"""Machines that are reached by OpenSSH: each is a network namespace with an sshd, of which nothing
is the system's but the program. They are linked to the network of the test."""

import contextlib
import shutil
import subprocess
import uuid
from pathlib import Path
from typing import Iterator

import pytest

from conftest import binary
from deadlines import DEADLINE, eventually
from own_network import own_network

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")

# root may be locked, and no user has a password; keys, log and configuration are the test's.
CONFIGURATION = """
ListenAddress {address}
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
StrictModes no
UsePAM no
PidFile none
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv PATH={machine}/bin:/usr/bin:/bin TMPDIR={machine}/tmp
"""
CLIENT = """
Host *
    User root
    IdentityFile {folder}/key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    StrictHostKeyChecking accept-new
"""
# sshd's empty folder is in /run, which is one of the machine's own.
START = 'mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec "$0" "$@"'


def run(*words: object) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True,
                   timeout=DEADLINE)


class Machine:
    """Machine is one of them. Its `name` is the address, as --hosts takes it."""

    def __init__(self, number: int, folder: Path, port: int = 22) -> None:
        self.address = f"10.98.{number}.2"
        self.server = f"10.98.{number}.1"  # The test's end of the link.
        self.name = self.address if port == 22 else f"{self.address}:{port}"
        self.space = f"cleat-{uuid.uuid4().hex[:8]}"
        self.folder = folder / f"machine-{number}"
        self.sshd: subprocess.Popen | None = None
        for name in ("bin", "tmp"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "sshd_config").write_text(CONFIGURATION.format(
            address=self.address, port=port, folder=folder, machine=self.folder))
        self.number = number

    def link(self) -> None:
        end = f"m{self.number}"
        run("ip", "netns", "add", self.space)
        run("ip", "link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", self.space)
        run("ip", "addr", "add", f"{self.server}/24", "dev", end)
        run("ip", "link", "set", end, "up")
        inside = ("ip", "-n", self.space)
        run(*inside, "link", "set", "lo", "up")
        run(*inside, "addr", "add", f"{self.address}/24", "dev", "eth0")
        run(*inside, "link", "set", "eth0", "up")
        # All addresses of the test's network, so that all machines reach one server.
        run(*inside, "route", "add", "default", "via", self.server)

    def start(self) -> None:
        log = self.folder / "log"
        command = ["ip", "netns", "exec", self.space, "sh", "-c", START, SSHD, "-D", "-e", "-f",
                   str(self.folder / "sshd_config")]
        with log.open("w") as file:
            self.sshd = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=file)

        def listens() -> bool:
            assert self.sshd.poll() is None, log.read_text()
            return "Server listening" in log.read_text()

        eventually("sshd listens", listens)

    def unplug(self) -> None:
        run("ip", "-n", self.space, "link", "set", "eth0", "down")

    def has(self, bench: str) -> None:
        """has gives it a cleat-bench: a script."""
        path = self.folder / "bin" / "cleat-bench"
        path.write_text(bench)
        path.chmod(0o755)

    def processes(self) -> list[int]:
        """processes are those of the namespace, without sshd that listens."""
        found = subprocess.run(["ip", "netns", "pids", self.space], capture_output=True, text=True,
                               check=True, timeout=DEADLINE)
        return [int(pid) for pid in found.stdout.split() if int(pid) != self.sshd.pid]

    def pids_of(self, word: str) -> list[int]:
        """pids_of the programs whose name has the word."""
        found = []
        for pid in self.processes():
            with contextlib.suppress(OSError):
                if word in Path(f"/proc/{pid}/comm").read_text():
                    found.append(pid)
        return found

    def left(self) -> list:
        return [*self.processes(), *(self.folder / "tmp").iterdir()]

    def end(self) -> None:
        if self.sshd:
            for pid in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    subprocess.run(["kill", "-9", str(pid)], capture_output=True)
            self.sshd.kill()
            self.sshd.wait(DEADLINE)
        subprocess.run(["ip", "netns", "del", self.space], capture_output=True, timeout=DEADLINE)


class Machines:
    """Machines are those of a test. `ssh` is the option of cleat-bench that reaches them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.all: list[Machine] = []
        for name in ("host_key", "key"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name)
        (folder / "ssh_config").write_text(CLIENT.format(folder=folder))
        self.ssh = ("--ssh", f"ssh -F {folder}/ssh_config")

    def add(self, port: int = 22, bench: str | None = None) -> Machine:
        """add makes one whose cleat-bench is the one under test, or a script."""
        made = Machine(len(self.all) + 1, self.folder, port)
        self.all.append(made)
        made.link()
        made.start()
        made.has(bench or f'#!/bin/sh\nexec {binary()} "$@"\n')
        return made

    def left(self) -> list:
        return [one for each in self.all for one in each.left()]


@contextlib.contextmanager
def machines(folder: Path) -> Iterator[Machines]:
    if not SSHD or not shutil.which("ssh"):
        pytest.skip("install the packages openssh-server and openssh-client")
    with own_network():
        try:
            subprocess.run(["ip", "netns", "list"], check=True, capture_output=True)
        except subprocess.CalledProcessError as failure:
            pytest.skip(f"no network namespaces here: {failure.stderr.decode().strip()}")
        made = Machines(folder)
        try:
            yield made
        finally:
            for each in made.all:
                each.end()
