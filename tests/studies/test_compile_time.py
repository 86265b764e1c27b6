"""perf/compile_time.py: the programs compile, and differ in the library alone."""

import os
from difflib import ndiff
from pathlib import Path

import pytest

import compile_time

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("CLEAT_BIN", ROOT / "build/release/bin")).parent


@pytest.mark.parametrize("name", compile_time.PROGRAMS)
def test_a_program_compiles(tmp_path: Path, name: str) -> None:
    command = ["c++", "-fsyntax-only", *compile_time.include_paths(BUILD)]
    user_s, memory_kib = compile_time.compile_program(command, name, tmp_path)
    assert user_s > 0 and memory_kib > 10_000


def test_a_program_that_does_not_compile_is_no_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(compile_time.PROGRAMS, "wrong", "int main( {}")
    with pytest.raises(SystemExit, match="wrong does not compile"):
        compile_time.compile_program(["c++", "-fsyntax-only"], "wrong", tmp_path)


def test_the_programs_on_a_stream_differ_in_two_lines() -> None:
    texts = [compile_time.PROGRAMS[name].splitlines() for name in ("asio::ssl", "cleat::net::ssl")]
    assert len([line for line in ndiff(*texts) if line.startswith("+ ")]) == 2


def test_a_ratio_is_of_one_round() -> None:
    def round_of(*seconds: float) -> list[dict]:
        programs = {
            name: {"user_s": each, "memory_kib": 2048}
            for name, each in zip(compile_time.PROGRAMS, seconds)
        }
        return [{"level": level, "programs": programs} for level in compile_time.LEVELS]

    shown = compile_time.rows([*round_of(1, 2, 3), *round_of(10, 10, 10), *round_of(4, 6, 8)])
    assert shown[0] == ["-O0", "`asio::ssl`", "4.0 s", "", "2 MiB"]
    assert shown[1] == ["", "`cleat::net::ssl`", "6.0 s", "1.50 (1.00 to 2.00)", "2 MiB"]
    assert len(shown) == 6
