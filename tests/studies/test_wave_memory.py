"""perf/wave_memory.py: its clients begin a long ClientHello, and its rows are medians of rounds."""

import wave_memory


def a_round(kind: str, after: list[int], longest: list[float]) -> dict:
    return {
        "server": "one", "kind": kind, "before_kib": 1024, "after_kib": after,
        "longest_ms": longest,
    }  # fmt: skip


def test_rows_have_the_memory_after_the_last_wave_and_the_longest_answer_after_any() -> None:
    rounds = [
        a_round("hellos", [9_000, 2_048], [5.0, 1.0]),
        a_round("hellos", [9_000, 3_072], [1.0, 7.0]),
        a_round("hellos", [9_000, 4_096], [1.0, 1.0]),
        a_round("answers", [9_000, 1_536], [6.0, 2.0]),
        a_round("answers", [9_000, 1_536], [6.0, 2.0]),
    ]
    (row,) = wave_memory.rows(rounds)
    assert row == ["one", "1.0 MiB", "3.0 MiB", "1.5 MiB", "6.0 ms"]
    assert len(wave_memory.HEADS) == len(row)


def test_a_long_hello_is_one_record_that_does_not_end_its_message() -> None:
    hello = wave_memory.long_hello()
    assert hello[:3] == b"\x16\x03\x01"  # A handshake record.
    assert int.from_bytes(hello[3:5], "big") == len(hello) - 5
    assert int.from_bytes(hello[6:9], "big") > len(hello) - 9
