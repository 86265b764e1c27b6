"""Started without a standard input, output or error, cleat serves and ends as ever: none of its own
descriptors takes their place."""

import os
import subprocess

import pytest

from daemons import Daemon
from deadlines import DEADLINE
from origins import echo
from program import binary, run
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


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["-t"]], ids=" ".join)
def test_what_did_not_reach_standard_output_is_an_error(certs, words):
    what = ["-b", "[127.0.0.1]:1", "-f", "[127.0.0.1]:0", certs.ecdsa.pem]
    with open("/dev/full", "w") as full:
        command = [str(word) for word in (binary(), *words, *(what if words == ["-t"] else []))]
        ran = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=DEADLINE
        )
    assert ran.returncode == 1
    assert "No space left on device" in ran.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
@pytest.mark.parametrize("words", [["--nope"], ["--config", "/nope"]], ids=" ".join)
def test_a_mistake_that_nobody_hears_ends_as_one_that_is_heard(words):
    with open("/dev/full", "w") as full:
        unheard = subprocess.run([binary(), *words], stderr=full, timeout=DEADLINE)
    assert unheard.returncode == run(*words).returncode > 0
