#!/usr/bin/env python3
"""Lays builds of cleat side by side: a change and the commit before it, or several ways to do it.

    perf/builds.py before=FOLDER after=FOLDER --scenario full-ecdsa-p256 --rounds 7 --out FILE.json

A FOLDER holds a program `cleat`. Everything else, cleat-bench and the origin, is of --binaries, so
that both are asked the same by the same. Builds take turns, A B A B; a ratio to the first is taken
within a round, and what is printed is the median of the ratios and their range.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from keep import commit
from tables import span

FIGURES = {
    "cpu_ns": ("CPU", 1e3, "us"),
    "p50_ns": ("p50", 1e6, "ms"),
    "p99_ns": ("p99", 1e6, "ms"),
    "rate": ("rate", 1, "/s"),
    "memory_bytes": ("memory", 1e3, "kB"),
}


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("builds", nargs="+", metavar="NAME=FOLDER", help="two at least")
    parse.add_argument("--scenario", action="append", required=True, help="of cleat-bench compare")
    parse.add_argument("--rounds", type=int, default=7)
    parse.add_argument("--binaries", type=Path, default=Path("build/release/bin"))
    parse.add_argument("--out", type=Path, help="write all figures of all rounds to this file")
    use = parse.parse_args()
    if len(use.builds) < 2 or not all("=" in each for each in use.builds):
        parse.error("name two builds at least, as NAME=FOLDER")
    pairs = (each.split("=", 1) for each in use.builds)
    use.builds = {name: Path(folder) for name, folder in pairs}
    for name, folder in use.builds.items():
        if not (folder / "cleat").exists():
            parse.error(f"{name}={folder}: there is no program cleat in that folder")
    return use


def linked(folder: Path, to: Path, binaries: Path) -> Path:
    """linked is a folder with that build's cleat and the others' programs."""
    to.mkdir()
    (to / "cleat").symlink_to((folder / "cleat").resolve())
    (to / "perf-origin").symlink_to((binaries / "perf-origin").resolve())
    return to


def measured(bench: Path, folder: Path, scenario: str, work: Path) -> dict[str, float]:
    found = work / "found.json"
    ran = subprocess.run(
        [bench, "compare", "--quiet", "--servers", "cleat", "--rounds", "1", "--scenario", scenario,
         "--binaries", folder, "--json", found],
        capture_output=True, text=True,
    )  # fmt: skip
    if ran.returncode != 0:
        sys.exit(f"builds.py: {scenario}: {ran.stderr or ran.stdout}")
    (trial,) = json.loads(found.read_text())["trials"]
    (figures,) = trial["servers"][0]["rounds"]
    failed = sum((figures.get(part) or {}).get("failed", 0) for part in ("load", "beside"))
    if failed:
        print(f"{scenario}: {failed} failed", file=sys.stderr)
    return {key: figures[key] for key in FIGURES if figures.get(key) is not None}


def show(scenario: str, rounds: dict[str, list[dict[str, float]]]) -> None:
    first = next(iter(rounds))
    for key, (words, unit, name) in FIGURES.items():
        for build, figures in rounds.items():
            values = [each[key] for each in figures if key in each]
            if not values:
                continue
            line = f"{scenario:36} {words:7} {build:12} {median(values) / unit:10.2f} {name}"
            if build != first:
                ratios = [a[key] / b[key] for a, b in zip(figures, rounds[first])]
                line += f"   {span(ratios)} of {first}"
            print(line, flush=True)


def main() -> None:
    use = arguments()
    kept = {"command": " ".join(["perf/builds.py", *sys.argv[1:]]), "commit": commit(), "found": {}}
    with tempfile.TemporaryDirectory(prefix="cleat-builds-") as work:
        folders = {
            name: linked(folder, Path(work) / name, use.binaries)
            for name, folder in use.builds.items()
        }
        for scenario in use.scenario:
            rounds: dict[str, list[dict[str, float]]] = {name: [] for name in folders}
            for _ in range(use.rounds):
                for name, folder in folders.items():
                    bench = use.binaries / "cleat-bench"
                    rounds[name].append(measured(bench, folder, scenario, Path(work)))
            kept["found"][scenario] = rounds
            show(scenario, rounds)
    if use.out:
        use.out.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
