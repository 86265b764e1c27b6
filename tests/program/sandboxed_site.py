"""A configuration in a folder of its own, for a cleat in its sandbox."""

import os
import re
from pathlib import Path

import pytest

from origins import echo
from program import capabilities, open_folder
from reloads import replace
from tls_client import TlsClient

HAS_LANDLOCK = re.search(r"Landlock ABI (\d+)", capabilities().get("sandbox", ""))
ABI = int(HAS_LANDLOCK[1]) if HAS_LANDLOCK else 0
needs_landlock = pytest.mark.skipif(ABI == 0, reason="this kernel has no Landlock")
SANITIZED = bool(os.environ.get("CLEAT_SANITIZE"))
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def shown(port):
    with TlsClient(port) as client:
        assert client.exchange(b"hello") == b"hello"
        return client.fingerprint


def status(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.replace("\t", "").split(":", 1) for line in lines)


class Site:
    """A configuration in a folder of its own, directly in one that programs share."""

    def __init__(self, cleat, certs, upstream, folder):
        self.start_cleat, self.certs, self.upstream = cleat, certs, upstream
        self.folder = folder
        self.config = folder / "cleat.conf"
        self.pem = folder / "tls/site/site.pem"
        self.pem.parent.mkdir(parents=True)
        replace(self.pem, certs.ecdsa.pem.read_text())

    def write(self, *lines, pem=None, backend=None):
        text = [f'backend = "{backend or self.upstream.address}"', "log-level = 2"]
        text += ['frontend = "[127.0.0.1]:0"', "shutdown-timeout = 0"]
        text += [f'pem-file = "{pem or self.pem}"', *lines]
        replace(self.config, "\n".join(text) + "\n")

    def start(self, *lines, **options):
        self.write(*lines)
        nothing = {"backend": "", "frontend": None, "log_level": None, "shutdown_timeout": None}
        return self.start_cleat("--config", self.config, pem=[], **nothing, **options)


@pytest.fixture
def elsewhere():
    with open_folder() as folder:
        yield folder


@pytest.fixture
def site(elsewhere, cleat, certs, origin):
    """site begins after `elsewhere`, whose folder is removed once cleat writes no more."""
    with open_folder() as folder:
        yield Site(cleat, certs, origin(echo), folder)
