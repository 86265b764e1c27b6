"""The soak program of perf/ as modules, and as a program that a test runs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "perf"))

BIN = Path(os.environ.get("CLEAT_BIN", ROOT / "build/release/bin"))


@pytest.fixture
def soak(tmp_path: Path) -> Callable[..., tuple[int, dict, str]]:
    """soak runs the program; it gives its exit code, its document, and its report."""

    def run(*words: object) -> tuple[int, dict, str]:
        out = tmp_path / "soak.json"
        command = [ROOT / "perf/soak/run.py", "--binaries", BIN, "--out", out, *words]
        ran = subprocess.run([*map(str, command)], capture_output=True, text=True)
        assert out.exists(), ran.stdout + ran.stderr
        return ran.returncode, json.loads(out.read_text()), ran.stdout

    return run
