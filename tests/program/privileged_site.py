"""A configuration in a folder that only root can change, for a cleat that is started as root."""

import tempfile
from pathlib import Path

import pytest

from origins import echo
from reloads import replace
from tls_client import TlsClient


def is_roots_alone(path):
    return all(
        each.stat().st_uid == 0 and each.stat().st_mode & 0o022 == 0
        for each in (path, *path.parents)
    )


@pytest.fixture
def place():
    """A folder that only root can change, with all folders above it: /tmp is none."""
    with tempfile.TemporaryDirectory(dir="/run") as name:
        folder = Path(name)
        folder.chmod(0o755)
        if not is_roots_alone(folder):
            pytest.skip("this machine has no folder that is root's alone")
        yield folder


def put(path, text, mode=0o600):
    replace(path, text, mode)


def shown(port, **options):
    with TlsClient(port, **options) as client:
        assert client.exchange(b"hello") == b"hello"
        return client.fingerprint


class Site:
    """A configuration in a folder of root's, with a key that only root may read."""

    def __init__(self, place, certs, upstream):
        self.place, self.upstream = place, upstream
        self.keys = place / "keys"
        self.keys.mkdir(mode=0o700)
        self.pem = self.keys / "site.pem"
        self.config = place / "cleat.conf"
        put(self.pem, certs.ecdsa.pem.read_text())
        self.write()

    def write(self, *lines, frontends=("[127.0.0.1]:0",), pem=True):
        text = [f'backend = "{self.upstream.address}"', 'user = "nobody"', "log-level = 2"]
        text += [f'frontend = "{each}"' for each in frontends]
        text += [f'pem-file = "{self.pem}"'] if pem else []
        put(self.config, "\n".join([*text, "shutdown-timeout = 0", *lines]) + "\n")


@pytest.fixture
def site(place, certs, origin):
    return Site(place, certs, origin(echo))


@pytest.fixture
def serve(cleat, site):
    """Starts cleat with the site's configuration."""

    def serve(*flags, **options):
        nothing = {"backend": "", "frontend": None, "log_level": None, "shutdown_timeout": None}
        return cleat("--config", site.config, *flags, pem=[], **nothing, **options)

    return serve
