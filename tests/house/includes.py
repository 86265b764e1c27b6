"""Reads which file of a program includes which, and finds circles, and includes of what is above.

    python3 tests/house/includes.py [FOLDER]

Prints one line for each finding. A unit is a header with the source file of the same name: a circle
through a header and its source file is a circle too, and one that only files of the same name form
is none.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

# The programs, each with its folders from the lowest to the highest. A file includes from its own
# folder and from those below it. Without folders only circles are looked for.
PROGRAMS: dict[str, tuple[str, ...]] = {
    "apps/cleat": (
        # Values and texts: no configuration, no connection.
        "system",
        "failures",
        "admission",
        "memory",
        "limits",
        "counts",
        "overload",
        "client_rules",
        "route",
        "acme",
        "tickets",
        "log",
        "access",
        "proxy",
        "resolver",
        # The configuration, and the process that it asks for.
        "config",
        "command_line",
        "watch",
        "activation",
        "sandbox",
        "process",
        "privileged",
        # The parts that a configuration names, loaded and checked.
        "certificates",
        "upstream_tls",
        "upstream",
        "health",
        "preconnect",
        "snapshot",
        # A worker, and the connections that it serves.
        "liveness",
        "worker",
        "relay",
        "connection",
        "connect",
        "serve",
        "inspect",
        "live_page",
        "admin",
        "workers",
        # The main thread, and what people ask of the program.
        "start",
        "reload",
        "commands",
        "supervise",
    ),
    "apps/cleat-bench": (
        "text",
        "system",
        "generate",
        "result",
        "gate",
        "export",
        "report",
        "wire",
        "probe",
        "hosts",
        "compare",
        "commands",
    ),
    "apps/cleat-locks/lines/record": (),
    "apps/cleat-locks/preload": (),
}

# The only files outside a folder that may include from it, besides the program's own root.
ALLOWED: dict[str, set[str]] = {
    "apps/cleat-bench/compare": {"commands/command_line.hpp", "commands/command_line.cpp"},
}

# The only includes of a file above. The listener starts the life of a connection, which stands in
# the program's root because it is to be read first.
UPWARD: dict[str, set[str]] = {"apps/cleat": {"serve/listener.cpp"}}

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True, order=True)
class Include:
    """Include is one include of a file of the program; both paths are from the program's folder."""

    source: str
    target: str


def unit(path: str) -> str:
    """unit is the path without its suffix."""
    return str(PurePosixPath(path).with_suffix(""))


def folder_of(path: str) -> str:
    """folder_of is the first folder of a path; empty for a file in the program's root."""
    return PurePosixPath(path).parts[0] if "/" in path else ""


def includes_of(program: Path) -> list[Include]:
    """includes_of are all includes between the program's files; other includes are left out."""
    files = [path for path in program.rglob("*") if path.suffix in (".cpp", ".hpp", ".c", ".h")]
    found = set()
    for file in files:
        for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
            # The compiler looks beside the file first, then in the program's folder.
            for place in (file.parent / name, program / name):
                if place.exists():
                    source = file.relative_to(program).as_posix()
                    found.add(Include(source, place.relative_to(program).as_posix()))
                    break
    return sorted(found)


def circles(includes: list[Include]) -> list[list[str]]:
    """circles are the groups of units that all reach each other, each group sorted."""
    targets: dict[str, set[str]] = {}
    for include in includes:
        targets.setdefault(unit(include.source), set()).add(unit(include.target))

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


def upward(includes: list[Include], folders: tuple[str, ...]) -> list[Include]:
    """upward are the includes from a folder above; the program's root is above all folders.

    Tests may include from above: they put a part into the scene that uses it.
    """
    order = {name: layer for layer, name in enumerate(folders)} | {"": len(folders)}
    return [
        one
        for one in includes
        if order[folder_of(one.target)] > order[folder_of(one.source)]
        and not unit(one.source).endswith(("_test", "_for_tests"))
    ]


def not_allowed(includes: list[Include], private: str, allowed: set[str]) -> list[Include]:
    """not_allowed are the includes from a private folder by files that ALLOWED does not list."""
    return [
        one
        for one in includes
        if folder_of(one.target) == private
        and folder_of(one.source) not in ("", private)
        and one.source not in allowed
    ]


def findings(root: Path) -> list[str]:
    """findings are the sentences about all programs below root."""
    found = []
    for program, folders in PROGRAMS.items():
        includes = includes_of(root / program)
        found += [f"{program}: a circle: {', '.join(group)}" for group in circles(includes)]
        if not folders:
            continue
        known = {*folders, ""}
        files = {one for include in includes for one in (include.source, include.target)}
        found += sorted(
            f"{program}/{one}: its folder is not in the list of folders"
            for one in files
            if folder_of(one) not in known
        )
        inside = [
            one for one in includes if {folder_of(one.source), folder_of(one.target)} <= known
        ]
        found += [
            f"{program}/{one.source}: includes {one.target}, which is above it"
            for one in upward(inside, folders)
            if one.source not in UPWARD.get(program, ())
        ]
        for private, allowed in ALLOWED.items():
            if PurePosixPath(private).parent.as_posix() == program:
                found += [
                    f"{program}/{one.source}: includes {one.target}; only {sorted(allowed)} may"
                    for one in not_allowed(inside, PurePosixPath(private).name, allowed)
                ]
    return found


if __name__ == "__main__":
    lines = findings(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2])
    print("\n".join(lines) or "no circle, and no include from above")
    sys.exit(1 if lines else 0)
