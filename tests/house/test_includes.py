"""The include graph of the programs has no circle, and no include from a folder above."""

from pathlib import Path

import includes
import pytest

ROOT = Path(__file__).resolve().parents[2]

# Circles that are known and not cut yet. A line whose circle is gone has to go as well.
KNOWN: set[str] = set()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program with three folders; only high/user.cpp may include from private."""
    monkeypatch.setattr(includes, "PROGRAMS", {"app": ("low", "private", "high")})
    monkeypatch.setattr(includes, "ALLOWED", {"app/private": {"high/user.cpp"}})
    for folder in ("low", "private", "high"):
        (tmp_path / "app" / folder).mkdir(parents=True)
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for path, included in files.items():
        lines = [f'#include "{name}"\n' for name in included.split()]
        (root / "app" / path).write_text("".join(lines) + "#include <vector>\nint a;\n")


def test_the_programs_have_neither() -> None:
    assert set(includes.findings(ROOT)) == KNOWN


def test_every_program_is_read() -> None:
    for program in includes.PROGRAMS:
        assert len(includes.includes_of(ROOT / program)) >= 10, program


def test_a_sound_program_has_no_finding(program: Path) -> None:
    write(
        program,
        {
            "main.cpp": "high/user.hpp private/a.hpp",
            "low/a.hpp": "",
            "low/a.cpp": "low/a.hpp outside.hpp",
            "private/a.hpp": "low/a.hpp",
            "private/b.cpp": "private/a.hpp",
            "high/user.hpp": "",
            "high/user.cpp": "user.hpp private/a.hpp low/a.hpp",
        },
    )
    assert includes.findings(program) == []


def test_a_circle_of_headers_is_found(program: Path) -> None:
    write(
        program,
        {
            "low/a.hpp": "low/b.hpp",
            "low/b.hpp": "low/c.hpp",
            "low/c.hpp": "low/a.hpp",
            "low/d.hpp": "low/a.hpp",
        },
    )
    assert includes.findings(program) == ["app: a circle: low/a, low/b, low/c"]


def test_a_circle_through_a_source_file_is_found(program: Path) -> None:
    write(program, {"low/a.hpp": "", "low/a.cpp": "low/a.hpp low/b.hpp", "low/b.hpp": "low/a.hpp"})
    assert includes.findings(program) == ["app: a circle: low/a, low/b"]


def test_two_circles_are_two_findings(program: Path) -> None:
    write(
        program,
        {
            "low/a.hpp": "low/b.hpp low/c.hpp",
            "low/b.hpp": "low/a.hpp",
            "low/c.hpp": "low/d.hpp",
            "low/d.hpp": "low/c.hpp",
        },
    )
    assert includes.findings(program) == [
        "app: a circle: low/a, low/b",
        "app: a circle: low/c, low/d",
    ]


def test_an_include_from_above_is_found(program: Path) -> None:
    write(
        program,
        {"low/a.cpp": "high/b.hpp", "low/c.cpp": "top.hpp", "high/b.hpp": "", "top.hpp": ""},
    )
    assert includes.findings(program) == [
        "app/low/a.cpp: includes high/b.hpp, which is above it",
        "app/low/c.cpp: includes top.hpp, which is above it",
    ]


def test_only_a_listed_file_includes_from_a_private_folder(program: Path) -> None:
    write(
        program,
        {"private/a.hpp": "", "high/user.cpp": "private/a.hpp", "high/b.cpp": "private/a.hpp"},
    )
    assert includes.findings(program) == [
        "app/high/b.cpp: includes private/a.hpp; only ['high/user.cpp'] may"
    ]


def test_a_new_folder_has_to_be_put_in_order(program: Path) -> None:
    (program / "app" / "attic").mkdir()
    write(program, {"attic/a.cpp": "low/a.hpp", "low/a.hpp": ""})
    found = includes.findings(program)
    assert found == ["app/attic/a.cpp: its folder is not in the list of folders"]
