"""A soak that cannot be made says so, and writes no result."""

import subprocess
from pathlib import Path

import pytest
from conftest import BIN, ROOT

from cleat_perf import environment
from cleat_perf.processes import Process
from cleat_perf.serve import Unable
from soak import loads


def test_a_cleat_that_does_not_start(tmp_path: Path) -> None:
    out = tmp_path / "soak.json"
    command = [ROOT / "perf/soak/run.py", "--binaries", BIN, "--cleat", "/bin/false", "--out", out]
    ran = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert ran.stderr.startswith("soak: cleat does not serve")
    assert not out.exists()


def test_a_load_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loads, "PATIENCE_S", 0.1)
    with Process(["sleep", "60"], environment.cores(), tmp_path / "log") as process:
        hanging = loads.Load("long uploads", process, tmp_path / "out.json")
        with pytest.raises(Unable, match="long uploads: does not end:\nsleep "):
            hanging.result()
