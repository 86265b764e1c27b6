"""perf/overload.py: its rows are medians of rounds, and count every resumption."""

from pathlib import Path

import overload
from cleat_perf.rounds import named


def guests(resumed: int, p99_ms: float | None) -> dict:
    return {
        "p50_ms": 0.2, "p99_ms": p99_ms, "resumptions": 100, "resumed": resumed,
        "resumed_p50_ms": 4.0, "resumed_p99_ms": 50.0,
    }  # fmt: skip


def a_round(server: str, resumed: int, p99_ms: float | None, full_per_s: float) -> dict:
    flood = guests(resumed, p99_ms) | {"full_per_s": full_per_s}
    return {"server": server, "alone": guests(100, 0.5), "capacity": 200.0, "flood": flood}


def test_rows_are_medians_and_sums() -> None:
    rounds = [
        a_round("one", 100, 3.0, 100.0),
        a_round("two", 7, None, 20.0),
        a_round("one", 99, 1.0, 180.0),
        a_round("one", 100, 2.0, 200.0),
    ]
    one, two = overload.rows(rounds)
    assert one == [
        "one", "200/s", "0.2 ms, 0.5 ms", "0.2 ms, 2.0 ms", "300 of 300", "299 of 300",
        "4.0 ms, 50.0 ms", "0.90 (0.50..1.00)",
    ]  # fmt: skip
    assert two[3] == "0.2 ms, too many failed"
    assert two[5] == "7 of 100" and two[7] == "0.10 (0.10..0.10)"
    assert len(overload.HEADS) == len(one)


def test_a_server_may_be_another_build() -> None:
    assert named("haproxy") == ("haproxy", "haproxy", None)
    assert named("before=cleat:/a/b") == ("before", "cleat", Path("/a/b"))
