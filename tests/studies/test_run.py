"""perf/run.py says what it lacks before the first measurement, whose figures would be lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
INSTALL = "apps/cleat-bench/compare/peers/install"


@pytest.mark.parametrize(
    "names, said",
    [
        (
            "cleat,epoll,asio,nginx,hitch",
            f"nginx and hitch are not there: {INSTALL}, or --servers cleat,epoll,asio",
        ),
        ("haproxy", f"haproxy is not there: {INSTALL}"),
    ],
)
def test_a_server_that_is_not_installed(tmp_path, names, said):
    ran = subprocess.run(
        [sys.executable, TREE / "perf/run.py", "--servers", names, "--out", "-"],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", said + "\n")
