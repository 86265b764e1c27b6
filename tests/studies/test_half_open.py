"""perf/half_open.py: its clients begin a handshake, and its rows are medians of rounds."""

import half_open


def a_round(kind: str, size: int, beside_us: float) -> dict:
    return {
        "server": "one", "kind": kind, "bytes_each": size,
        "alone": {"handshake_us": 100.0, "p99_ms": 1.0},
        "beside": {"handshake_us": beside_us, "p99_ms": 2.0},
    }  # fmt: skip


def test_rows_are_medians_of_each_kind_and_ratios_of_all() -> None:
    rounds = [
        a_round("silent", 0, 110.0),
        a_round("part", 3_000, 100.0),
        a_round("part", 1_000, 90.0),
        a_round("part", 2_000, 100.0),
        a_round("unfinished", 9_000, 120.0),
    ]
    (row,) = half_open.rows(rounds)
    assert row == [
        "one", "0", "2,000", "9,000", "1.00 (0.90..1.20)", "2.00 (2.00..2.00)",
    ]  # fmt: skip
    assert len(half_open.HEADS) == len(row)


def test_a_part_is_the_beginning_of_a_whole_hello() -> None:
    assert half_open.beginning("silent") == b""
    whole = half_open.beginning("unfinished")
    part = half_open.beginning("part")
    assert whole[:3] == b"\x16\x03\x01"  # A handshake record.
    assert int.from_bytes(whole[3:5], "big") == len(whole) - 5
    assert part[:5] == whole[:5]
    assert 5 < len(part) < len(whole)
