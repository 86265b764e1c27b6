"""Servers from `cleat-bench serve`, and the load that the programs of perf/ put on them."""

import os
from pathlib import Path

import pytest

from cleat_perf import environment, serve

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("CLEAT_BIN", ROOT / "build" / "release" / "bin"))
CORES = environment.cores()


def test_a_server_is_asked_by_a_client_that_offers_what_it_has() -> None:
    with serve.serving(
        BIN, "cleat", scenario="full-rsa-2048", workers=2, server_cores=CORES, client_cores=CORES,
        program=BIN / "cleat", variables={"CLEAT_TEST_WORD": 1},
    ) as server:  # fmt: skip
        words = Path(f"/proc/{server.pid}/environ").read_text().split("\0")
        assert "CLEAT_TEST_WORD=1" in words
        found = server.handshakes(20, 2)
        assert found["ok"] == found["handshakes"]["full"] == 20
        (agreed,) = found["handshakes"]["agreed"]
        assert (agreed["version"], agreed["cipher"], agreed["group"].lower()) == (
            "TLSv1.3", "TLS_AES_128_GCM_SHA256", "x25519"
        )  # fmt: skip
        assert 0 < serve.cpu_us(found) * 20 * 1000 <= server.cpu_ns()
        assert server.pss_kib() > 100
        assert server.move("down", 300_000, 3)["bytes"]["down"] >= 900_000
        assert server.move("up", 300_000, 3)["bytes"]["up"] >= 900_000
        assert "TLS library" in server.version
        with pytest.raises(serve.Unable, match="answer"):
            short = server.ask("load", "6", "-n", 1, "--expect-size", 5, "--no-preflight")
            serve.whole(short)
        pid, origin = server.pid, server.origin_pid
    assert not any(Path(f"/proc/{each}").exists() for each in (pid, origin))


def test_a_server_that_cannot_is_unable_and_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "cleat"
    broken.write_text("#!/bin/sh\necho 'error: cannot read the stars'\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(serve.Unable, match="cannot read the stars"):
        with serve.serving(
            BIN, "cleat", server_cores=CORES, client_cores=CORES, program=broken
        ):
            pass


def test_offers_are_those_of_the_scenarios_file() -> None:
    assert serve.offers("full-ecdsa-p256") == [
        "--tls", "1.3", "--ciphersuites", "TLS_AES_128_GCM_SHA256", "--groups", "X25519",
    ]  # fmt: skip
    assert serve.offers("suite-cbc-tls12")[:3] == ["--tls", "1.2", "--ciphers"]
    assert serve.offers("full-ed25519")[4:6] == ["--signature-algorithms", "ed25519"]
