"""perf/compile_time.py: the programs compile, and differ in the library alone."""

import os
import shutil
from difflib import ndiff
from pathlib import Path

import pytest

import compile_time

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("CLEAT_BIN", ROOT / "build/release/bin")).parent


@pytest.mark.parametrize("name", compile_time.PROGRAMS)
def test_a_program_compiles(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The compiler cache knows a program by its text and by paths relative to the clone."""
    cache = ["ccache"] if shutil.which("ccache") else []
    monkeypatch.setenv("CCACHE_BASEDIR", str(ROOT))
    monkeypatch.setenv("CCACHE_NOHASHDIR", "1")
    command = [*cache, "c++", *compile_time.include_paths(BUILD)]
    folder = BUILD / "compile-time" / name.replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    compile_time.compile_program(command, name, folder)


def test_the_compiler_is_measured(tmp_path: Path) -> None:
    command = ["c++", "-fsyntax-only", *compile_time.include_paths(BUILD)]
    user_s, memory_kib = compile_time.compile_program(command, compile_time.BASE, tmp_path)
    assert user_s > 0.1 and memory_kib > 10_000


def test_a_program_that_does_not_compile_is_no_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(compile_time.PROGRAMS, "wrong", "int main( {}")
    with pytest.raises(SystemExit, match="wrong does not compile"):
        compile_time.compile_program(["c++", "-fsyntax-only"], "wrong", tmp_path)


@pytest.mark.parametrize("group", compile_time.GROUPS)
def test_the_programs_on_a_stream_differ_in_the_library_alone(group: dict[str, str]) -> None:
    """In the header and the namespace, and in the name of Beast's stream."""
    texts = [text.splitlines() for text in list(group.values())[:2]]
    other = [line for line in ndiff(*texts) if line.startswith("+ ")]
    assert len(other) == (2 if group is compile_time.ON_ASIO else 3)


def test_a_ratio_is_of_one_round() -> None:
    def round_of(*seconds: float) -> list[dict]:
        programs = {
            name: {"user_s": each, "memory_kib": 2048}
            for name, each in zip(compile_time.PROGRAMS, seconds)
        }
        return [{"level": level, "programs": programs} for level in compile_time.LEVELS]

    shown = compile_time.rows([
        *round_of(1, 2, 3, 20, 10, 5), *round_of(10, 10, 10, 20, 10, 5),
        *round_of(4, 6, 8, 20, 10, 5)
    ])  # fmt: skip
    assert shown[0] == ["-O0", "`asio::ssl`", "4.0 s", "", "2 MiB"]
    assert shown[1] == ["", "`cleat::net::ssl`", "6.0 s", "1.50 (1.00 to 2.00)", "2 MiB"]
    assert shown[3] == ["", "WebSocket, `beast::ssl_stream`", "20.0 s", "", "2 MiB"]
    assert shown[4][1:4] == ["WebSocket, `cleat::net::ssl`", "10.0 s", "0.50 (0.50 to 0.50)"]
    assert len(shown) == 12


def test_a_record_without_websockets_has_the_other_rows() -> None:
    programs = dict.fromkeys(compile_time.ON_ASIO, {"user_s": 1, "memory_kib": 1})
    old = [{"level": level, "programs": programs} for level in compile_time.LEVELS]
    assert [row[1] for row in compile_time.rows(old)] == 2 * [
        f"`{name}`" for name in compile_time.ON_ASIO
    ]
