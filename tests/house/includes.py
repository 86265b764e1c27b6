"""Reads which file of a program includes which, and finds circles and arrows upward.

    python3 tests/house/includes.py [FOLDER]

Prints one line for each finding. A unit is a header with the source file of the same name: a circle
through a header and its source file is a circle too, and one that only files of the same name form
is none.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

# The programs, each with its rooms from the lowest to the highest. A file includes from its own
# room and from those below it. Without rooms only circles are looked for.
PROGRAMS: dict[str, tuple[str, ...]] = {
    "apps/cleat": (),
    "apps/cleat-bench": (
        "text",
        "system",
        "generate",
        "result",
        "report",
        "probe",
        "compare",
        "commands",
    ),
    "apps/cleat-locks/preload": (),
}

# The only files outside a room that may include from it, besides the program's own root.
DOORS: dict[str, set[str]] = {
    "apps/cleat-bench/compare": {"commands/command_line.hpp", "commands/command_line.cpp"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True, order=True)
class Arrow:
    """Arrow is one include of a file of the program; both paths are from the program's folder."""

    source: str
    target: str


def unit(path: str) -> str:
    """unit is the path without its suffix."""
    return str(PurePosixPath(path).with_suffix(""))


def room(path: str) -> str:
    """room is the first folder of a path; empty for a file in the program's root."""
    return PurePosixPath(path).parts[0] if "/" in path else ""


def arrows(program: Path) -> list[Arrow]:
    """arrows are all includes between the program's files. Others are not the program's concern."""
    files = [path for path in program.rglob("*") if path.suffix in (".cpp", ".hpp", ".c", ".h")]
    found = set()
    for file in files:
        for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
            # The compiler looks beside the file first, then in the program's folder.
            for place in (file.parent / name, program / name):
                if place.exists():
                    source = file.relative_to(program).as_posix()
                    found.add(Arrow(source, place.relative_to(program).as_posix()))
                    break
    return sorted(found)


def circles(includes: list[Arrow]) -> list[list[str]]:
    """circles are the groups of units that all reach each other, each group sorted."""
    targets: dict[str, set[str]] = {}
    for arrow in includes:
        targets.setdefault(unit(arrow.source), set()).add(unit(arrow.target))

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        open_units = [start]
        while open_units:
            for target in targets.get(open_units.pop(), ()):
                if target not in seen and target != start:
                    seen.add(target)
                    open_units.append(target)
        return seen

    reach = {one: reached(one) for one in targets}
    groups = {
        frozenset({one, *(other for other in reach[one] if one in reach.get(other, ()))})
        for one in targets
    }
    return sorted(sorted(group) for group in groups if len(group) > 1)


def upward(includes: list[Arrow], rooms: tuple[str, ...]) -> list[Arrow]:
    """upward are the includes from a room above; the program's root is above all rooms."""
    order = {name: layer for layer, name in enumerate(rooms)} | {"": len(rooms)}
    return [one for one in includes if order[room(one.target)] > order[room(one.source)]]


def past_doors(includes: list[Arrow], guarded: str, doors: set[str]) -> list[Arrow]:
    """past_doors are the includes from a guarded room by files that are no door of it."""
    return [
        one
        for one in includes
        if room(one.target) == guarded
        and room(one.source) not in ("", guarded)
        and one.source not in doors
    ]


def findings(root: Path) -> list[str]:
    """findings are the sentences about all programs below root."""
    found = []
    for program, rooms in PROGRAMS.items():
        includes = arrows(root / program)
        found += [f"{program}: a circle: {', '.join(group)}" for group in circles(includes)]
        if not rooms:
            continue
        known = {*rooms, ""}
        strangers = {one for arrow in includes for one in (arrow.source, arrow.target)}
        found += sorted(
            f"{program}/{one}: its folder is not in the list of rooms"
            for one in strangers
            if room(one) not in known
        )
        inside = [one for one in includes if {room(one.source), room(one.target)} <= known]
        found += [
            f"{program}/{one.source}: includes {one.target}, which is above it"
            for one in upward(inside, rooms)
        ]
        for guarded, doors in DOORS.items():
            if PurePosixPath(guarded).parent.as_posix() == program:
                found += [
                    f"{program}/{one.source}: includes {one.target}; only {sorted(doors)} may"
                    for one in past_doors(inside, PurePosixPath(guarded).name, doors)
                ]
    return found


if __name__ == "__main__":
    lines = findings(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2])
    print("\n".join(lines) or "no circle, and no include from above")
    sys.exit(1 if lines else 0)
