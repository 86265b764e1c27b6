"""perf/limits.py: a window in which honest clients failed has an infinite 99th percentile."""

import pytest

import limits


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
