"""Runs cleat-bench as a client of TLS 1.3: it knows the groups that cleat's own TLS library has,
also where Go and OpenSSL are older than they."""

import subprocess

import pytest

import program
from deadlines import DEADLINE


def handshakes(port: int, groups: str, times: int = 1, at_once: int = 1) -> str:
    """handshakes makes so many, says "ping" in each and wants it echoed; it returns the report."""
    bench = program.binary().with_name("cleat-bench")
    if not bench.exists():
        pytest.skip("cleat-bench was not built")
    words = ["load", "--no-preflight", "-n", str(times), "-c", str(at_once)]
    words += ["--tls", "1.3", "--groups", groups]
    words += ["--raw", "ping", "--expect-size", "4", f"127.0.0.1:{port}"]
    ran = subprocess.run([bench, *words], capture_output=True, text=True, timeout=DEADLINE)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
