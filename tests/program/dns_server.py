"""A server of DNS for the tests: dnsmasq, with names below .example that the test changes."""

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from deadlines import DEADLINE, eventually
from ports import free_port


class DnsServer:
    """DnsServer answers with what `hosts` has, by the TTL; an empty list is a name without
    addresses. What it does not have does not exist."""

    def __init__(
        self, folder: Path, port: int | None = None, ttl: int = 1, host: str = "127.0.0.1"
    ) -> None:
        if not shutil.which("dnsmasq"):
            pytest.skip("install the packages dnsmasq-base")
        self.port = port or free_port()
        self.ttl = ttl
        self.host = host
        self.elsewhere: dict[str, str] = {}  # Servers that are asked for a name, by name.
        self.hosts: dict[str, list[str]] = {}
        self.services: list[str] = []
        self.file = folder / f"dns-hosts-{host}"
        self.log = folder / f"dns-{host}.log"
        self.write()
        self.process: subprocess.Popen | None = None

    @property
    def setting(self) -> str:
        return f'dns-servers = "127.0.0.1:{self.port}"\n'

    def write(self) -> None:
        lines = [f"{each} {name}" for name, all in self.hosts.items() for each in all]
        self.file.write_text("\n".join(lines) + "\n")

    def start(self) -> "DnsServer":
        self.write()
        empty = [f"--txt-record={name},none" for name, all in self.hosts.items() if not all]
        command = [
            "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--pid-file",
            f"--user={os.environ.get('USER', 'root')}", "--no-resolv", "--no-hosts", "--no-poll",
            f"--listen-address={self.host}", "--bind-interfaces", f"--port={self.port}",
            "--local=/example/", f"--local-ttl={self.ttl}", f"--addn-hosts={self.file}",
            "--log-queries", f"--log-facility={self.log}", *empty,
            *(f"--srv-host={each}" for each in self.services),
            *(f"--server=/{name}/{host}" for name, host in self.elsewhere.items()),
        ]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        eventually("dnsmasq answers", self.is_there)
        return self

    def is_there(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex((self.host, self.port)) == 0

    def loads(self) -> int:
        return self.log.read_text().count(str(self.file)) if self.log.exists() else 0

    def change(self, **hosts: list[str]) -> None:
        """change gives names below .example other addresses, and returns when it answers so."""
        for name, addresses in hosts.items():
            self.hosts[f"{name}.example"] = addresses
        before = self.loads()
        self.write()
        assert self.process
        self.process.send_signal(signal.SIGHUP)
        eventually("dnsmasq has read it", lambda: self.loads() > before)

    def restart(self) -> None:
        self.end()
        self.start()

    def queries(self, name: str, kind: str = "A") -> int:
        """queries is how often the name was asked for."""
        return self.log.read_text().count(f"query[{kind}] {name} ")

    def signal(self, number: signal.Signals) -> None:
        assert self.process
        self.process.send_signal(number)

    def end(self) -> None:
        if self.process:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            self.process.wait(DEADLINE)
            self.process = None
