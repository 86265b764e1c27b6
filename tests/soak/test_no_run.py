"""A soak that cannot be made says so, and writes no result."""

import subprocess
from pathlib import Path

from conftest import BIN, ROOT


def test_a_cleat_that_does_not_start(tmp_path: Path) -> None:
    out = tmp_path / "soak.json"
    command = [ROOT / "perf/soak/run.py", "--binaries", BIN, "--cleat", "/bin/false", "--out", out]
    ran = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert ran.stderr.startswith("soak: cleat does not serve")
    assert not out.exists()
