"""The programs of perf/ as modules, and the helpers of the program's tests."""

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "perf"), str(ROOT / "tests/program")]

from cleat_perf.processes import Process  # noqa: E402


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Process]:
    """started are the processes that a program of perf/ starts."""
    every: list[Process] = []
    start = Process.__init__

    def record(process: Process, *words: Any, **options: Any) -> None:
        start(process, *words, **options)
        every.append(process)

    monkeypatch.setattr(Process, "__init__", record)
    return every
