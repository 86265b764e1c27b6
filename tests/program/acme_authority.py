"""pebble, an authority of ACME, and what its clients need."""

import json
import os
import subprocess
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Iterator

from certificates import Certificate
from deadlines import DEADLINE, eventually
from ports import free_port
from server_process import accepts

NAME = "www.cleat.example"


@contextmanager
def _running(log: Path, *command: object) -> Iterator[None]:
    quick = {"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"}
    with log.open("w") as out:
        process = subprocess.Popen(
            [*map(str, command)], stdout=out, stderr=out, env={**os.environ, **quick}
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(DEADLINE)


class Authority:
    """Runs pebble in a folder. It finds every name at 127.0.0.1, and validates at tls_port or
    http_port; clients trust it by the certificate."""

    def __init__(self, certificate: Certificate, folder: Path) -> None:
        self.trusted = str(certificate.cert)
        self.http_port = free_port()
        self._key = str(certificate.key)
        self._folder = folder
        self._running = ExitStack()

    def start(self, tls_port: int) -> str:
        """start returns the address of the authority's directory."""
        dns, port = free_port(), free_port()
        settings = {
            "listenAddress": f"127.0.0.1:{port}",
            "managementListenAddress": f"127.0.0.1:{free_port()}",
            "certificate": self.trusted,
            "privateKey": self._key,
            "httpPort": self.http_port,
            "tlsPort": tls_port,
        }
        path = self._folder / "pebble.json"
        path.write_text(json.dumps({"pebble": settings}))
        names = ["-dns01", f"127.0.0.1:{dns}", "-defaultIPv4", "127.0.0.1", "-defaultIPv6", ""]
        for unused in ("-http01", "-https01", "-tlsalpn01"):
            names += [unused, ""]
        names += ["-management", f"127.0.0.1:{free_port()}"]
        self._run("pebble-challtestsrv", *names)
        self._run("pebble", "-config", path, "-dnsserver", f"127.0.0.1:{dns}")
        eventually("pebble listens", lambda: accepts(port))
        return f"https://localhost:{port}/dir"

    def end(self) -> None:
        self._running.close()

    def _run(self, *command: object) -> None:
        self._running.enter_context(_running(self._folder / f"{command[0]}.log", *command))


def run_client(*command: object, **environment: str) -> None:
    """run_client runs an ACME client to its end, which must be a success."""
    ran = subprocess.run(
        [*map(str, command)],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env={**os.environ, **environment},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
