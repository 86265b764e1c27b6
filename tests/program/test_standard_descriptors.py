"""Started without a standard input, output or error, cleat serves and ends as ever: none of its own
descriptors takes their place."""

import os

import pytest

from origins import echo
from program import run
from test_daemon import Daemon
from tls_client import TlsClient


@pytest.mark.parametrize("missing", [(0,), (0, 1), (0, 1, 2)], ids=str)
def test_a_daemon(certs, origin, tmp_path, missing):
    def close():
        for each in missing:
            os.close(each)

    flags = ["-b", origin(echo).address, "-f", "[127.0.0.1]:0", "--log-level", 2]
    server = Daemon(tmp_path / "pid", tmp_path / "log", *flags, certs.ecdsa.pem, preexec_fn=close)
    with TlsClient(server.port) as client:
        assert client.exchange(b"in the background") == b"in the background"
    server.end()


def test_a_check_with_nothing_to_say_it_on(certs):
    flags = ["-t", "-b", "[127.0.0.1]:1", "-f", "[127.0.0.1]:0", certs.ecdsa.pem]
    assert run(*flags, preexec_fn=lambda: os.closerange(0, 3)).returncode == 0
