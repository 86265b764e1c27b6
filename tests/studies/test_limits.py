"""perf/limits.py: a window in which honest clients failed has an infinite 99th percentile, and no
process is left over."""

import argparse
import os
from pathlib import Path

import pytest

import limits
from cleat_perf.processes import Process

ROOT = Path(__file__).resolve().parents[2]


def window(kind: str, p99_s: float | None) -> dict:
    figures = {"honest": 9, "failed": 9, "flood_per_s": 0, "let_in_per_s": 0, "cpu": 0.5}
    return {"server": "cleat", "kind": kind, "p99_s": p99_s, **figures}


@pytest.mark.parametrize(
    "flooded, p99, ratio",
    [
        ([0.002, 0.004, 0.003], "3.00 ms", "3.00 (2.00..4.00)"),
        ([0.002, None, 0.003], "3.00 ms", "3.00 (2.00..inf)"),
        ([None, 0.002, None], "over 1 % failed", "inf (2.00..inf)"),
        ([None, None, None], "over 1 % failed", "inf (inf..inf)"),
    ],
)
def test_a_window_of_failures_counts_in_the_median(
    flooded: list[float | None], p99: str, ratio: str
) -> None:
    rounds = [
        each
        for wait in flooded
        for each in (window("alone", 0.001), window("unlimited", wait))
    ]
    alone, unlimited = limits.rows(rounds)
    assert alone[3:5] == ["1.00 ms", "1.00 (1.00..1.00)"]
    assert unlimited[3:5] == [p99, ratio]


def test_a_ratio_to_a_window_of_failures_is_infinite() -> None:
    alone, limited = limits.rows([window("alone", None), window("limited", 0.001)])
    assert alone[3:5] == ["over 1 % failed", "inf (inf..inf)"]
    assert limited[3:5] == ["1.00 ms", "inf (inf..inf)"]


def test_processes_end_when_the_server_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[Process]
) -> None:
    binaries = Path(os.environ.get("CLEAT_BIN", ROOT / "build/release/bin"))
    monkeypatch.setattr(limits, "BIN", binaries)
    options = argparse.Namespace(cleat="/bin/false", rate=1)
    with pytest.raises(SystemExit, match="cleat does not serve"):
        limits.window(options, "cleat", "alone", tmp_path / "window")
    assert [each.child.returncode is not None for each in started] == [True] * 2
