#!/usr/bin/env python3
"""Counts the cache lines that move between workers, for each handshake, request and MB.

Runs a server of the preset `lines` with two workers under `cleat-locks lines`, and leaves its
start-up and first handshakes out.
"""

import argparse
import collections
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from cleat_perf import environment, results, serve
from cleat_perf.results import TREE

MB = 1_000_000
CONNECTIONS = 32  # So many that the kernel gives each worker some.
KEPT = 12  # Kinds of memory in a document.
# The program of each server, and the names of the threads that serve.
PROGRAMS = {"cleat": "cleat", "asio": "perf-asio-relay"}
WORKERS = {"cleat": re.compile(r"worker-\d+"), "asio": re.compile(".*")}


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--binaries", type=Path, default=TREE / "build/release/bin",
                       help="of cleat-bench and cleat-locks")  # fmt: skip
    parse.add_argument("--built", type=Path, default=TREE / "build/lines/bin",
                       help="of the servers")  # fmt: skip
    parse.add_argument("--server", action="append", choices=PROGRAMS, default=[],
                       help="cleat or asio (naive: two threads of one io_context), once or more; "
                       "default: cleat")  # fmt: skip
    parse.add_argument("--scenario", action="append", default=[],
                       help="of cleat-bench compare, once or more; default: " + serve.DEFAULT)
    parse.add_argument("--handshakes", type=int, default=500)
    parse.add_argument("--megabytes", type=int, default=32,
                       help="moved over 16 connections, each way")  # fmt: skip
    parse.add_argument("--allow", action="append", default=[],
                       help="pattern of memory that may move: of a global's name, or of the "
                       "function that allocates it")  # fmt: skip
    parse.add_argument("--check", action="store_true",
                       help="fail where a line moves between workers that is not allowed")
    parse.add_argument("--json", type=Path, help="write the figures and all rows here, too")
    return parse.parse_args()


class Counted:
    """Counted is a server under the recorder; each part of the traffic is counted alone."""

    def __init__(self, name: str, locks: Path, file: Path):
        self.is_worker = WORKERS[name].fullmatch
        self.locks = locks
        self.file = file

    def begin(self) -> None:
        self._run("lines-mark", self.file, "begin")

    def take(self) -> list[dict]:
        """take gives the rows of moves between workers since begin()."""
        self._run("lines-mark", self.file, "end")
        found: dict = json.loads(self._run("lines-report", self.file, "--json", "-"))
        lost = {key: found[key] for key in ("moves_lost", "stacks_lost") if found[key]}
        if lost:
            sys.exit(f"the record's tables are full: {lost}")
        workers = {
            place: each["accesses"]
            for place, each in enumerate(found["threads"])
            if self.is_worker(each["name"]) and each["accesses"]
        }
        if len(workers) < 2 or min(workers.values()) < max(workers.values()) / 10:
            sys.exit(f"one worker had nearly nothing to do (accesses: {workers}): ask for more")
        names, stacks = found["functions"], found["stacks"]
        return [
            {**row, "stack": [names[function] for function in stacks[row["stack"]][:3]]}
            for row in found["rows"]
            if row["thread"] in workers and row["thread_before"] in workers
        ]

    def _run(self, *words: object) -> str:
        command = [str(word) for word in (self.locks, *words)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def recorded_program(use: argparse.Namespace, name: str, folder: Path) -> tuple[Path, Path]:
    """recorded_program is a script that runs a server under the recorder, and its file."""
    file = folder / f"{name}.lines"
    script = folder / name
    binary = shlex.quote(str((use.built / PROGRAMS[name]).resolve()))
    locks = shlex.quote(str((use.binaries / "cleat-locks").resolve()))
    # The sandbox would keep the recorder from reading the memory map at the end.
    options = "--sandbox off" if name == "cleat" else ""
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *--version*) exec {binary} "$@" ;; esac\n'
        f'exec {locks} lines --wait -o {shlex.quote(str(file))} -- {binary} {options} "$@"\n'
    )
    script.chmod(0o755)
    return script, file


def summary(rows: list[dict], units: float, allowed: list[re.Pattern]) -> list[dict]:
    """summary has a row for each memory, with the functions that move it most, most moves first."""
    moves: collections.Counter = collections.Counter()
    functions: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for row in rows:
        name = f"{row['memory_kind']}: {row['memory']}"
        moves[name] += row["reads"] + row["writes"]
        functions[name][" < ".join(row["stack"])] += row["reads"] + row["writes"]
    return [
        {
            "memory": name,
            "moves": count / units,
            "function": functions[name].most_common(1)[0][0],
            "allowed": any(pattern.search(name) for pattern in allowed),
        }
        for name, count in moves.most_common()
    ]


def load(server: serve.Server, count: int, *options: object) -> float:
    """load makes connections with a request of 1 KiB each, or as `options` say. It gives how many
    requests were answered."""
    found = serve.whole(
        server.ask("load", "1024", "-n", count, "-c", 16, "-d", f"{serve.PATIENCE_S}s",
                   "--workers", 1, "--no-preflight", *options)
    )  # fmt: skip
    return float(found["ok"])


def traffic(use: argparse.Namespace, server: serve.Server, counted: Counted) -> dict[str, list]:
    """traffic gives the rows of each part."""
    allowed = [re.compile(pattern) for pattern in use.allow]

    def move(direction: str) -> float:
        server.move(direction, use.megabytes * MB // CONNECTIONS, CONNECTIONS)
        return float(use.megabytes)

    count = use.handshakes
    parts = {
        "full handshake": lambda: load(server, count),
        "connection, 3 of 4 resumed": lambda: load(server, count, "--reuse", 4),
        "request of 16 on a connection": lambda: load(server, 4 * count, "--requests", 16),
        "MB of download": lambda: move("down"),
        "MB of upload": lambda: move("up"),
    }
    load(server, 200, "--reuse", 4)
    found = {}
    for name, part in parts.items():
        counted.begin()
        units = part()
        found[name] = summary(counted.take(), units, allowed)
    return found


def show(title: str, rows: list[dict]) -> None:
    print(f"{title}: {sum(row['moves'] for row in rows):.3f} cache lines moved between workers")
    for row in rows[:8]:
        print(f"  {row['moves']:9.3f}  {row['memory']}{'  [allowed]' if row['allowed'] else ''}")
        print(f"             in {row['function']}")


def shortened(parts: dict[str, list]) -> dict[str, dict]:
    """shortened has of each part the sum, and the memory that moves most."""
    return {
        part: {"moves": sum(row["moves"] for row in rows), "memory": rows[:KEPT]}
        for part, rows in parts.items()
    }


def run(use: argparse.Namespace, name: str, scenario: str, versions: dict) -> dict[str, list]:
    cores = environment.cores()
    with tempfile.TemporaryDirectory(prefix="shared-lines-") as folder:
        program, file = recorded_program(use, name, Path(folder))
        with serve.serving(
            use.binaries, name, scenario=scenario, workers=2, server_cores=cores,
            client_cores=cores, program=program,
        ) as server:  # fmt: skip
            versions[name] = server.version
            return traffic(use, server, Counted(name, use.binaries / "cleat-locks", file))


def main() -> int:
    use = arguments()
    names = use.server or ["cleat"]
    for name in names:
        if not (use.built / PROGRAMS[name]).exists():
            print(f"{name} is not in {use.built}: scripts/build lines {PROGRAMS[name]}",
                  file=sys.stderr)  # fmt: skip
            return 2
    machine = environment.describe(TREE) if use.json else {}
    versions: dict[str, str] = {}
    runs = []
    for name in names:
        for scenario in use.scenario or [serve.DEFAULT]:
            parts = run(use, name, scenario, versions)
            runs.append({"server": name, "scenario": scenario, "parts": parts})
            for part, rows in parts.items():
                show(f"{name}, {scenario}, {part}", rows)
    if use.json:
        asked = {key: getattr(use, key) for key in ("handshakes", "megabytes")}
        environment_of_all = {**machine, "servers": versions, **asked}
        kept = [{**each, "parts": shortened(each["parts"])} for each in runs]
        results.write(use.json, {"environment": environment_of_all, "runs": kept})
    found = [row for each in runs for rows in each["parts"].values() for row in rows]
    bad = sum(not row["allowed"] for row in found)
    if use.check and bad:
        print(f"FAIL: {bad} kinds of memory move between workers that are not allowed")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
