#!/usr/bin/env python3
"""Measures builds of cleat side by side: a change and the commit before it, or several ways.

    perf/side_by_side.py before=FOLDER after=FOLDER --scenario full-ecdsa-p256 --out FILE.json

A FOLDER holds a program `cleat`. Everything else, cleat-bench and the origin, is of --binaries, so
that all builds have the same clients. Builds take turns, A B A B; a ratio to the first is taken
within a round, and what is printed is the median of the ratios and their range. show.py makes
tables of the files, each by its name.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from cleat_perf import results, table
from studies.compare.comparison import span

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
    parse.add_argument("--scenario", action="append", default=[], help="of cleat-bench compare")
    parse.add_argument("--rounds", type=int, default=7)
    parse.add_argument("--binaries", type=Path, default=Path("build/release/bin"))
    parse.add_argument("--out", type=Path, help="write all figures of all rounds to this file")
    use = parse.parse_args()
    if not use.scenario:
        parse.error("name a scenario: --scenario full-ecdsa-p256")
    if len(use.builds) < 2 or not all("=" in each for each in use.builds):
        parse.error("name two builds at least, as NAME=FOLDER")
    pairs = (each.split("=", 1) for each in use.builds)
    use.builds = {name: Path(folder) for name, folder in pairs}
    for name, folder in use.builds.items():
        if not (folder / "cleat").exists():
            parse.error(f"{name}={folder}: there is no program cleat in that folder")
    return use


def linked(build: Path, folder: Path, binaries: Path) -> Path:
    """linked is a new folder with that build's cleat and the origin of --binaries."""
    folder.mkdir()
    (folder / "cleat").symlink_to((build / "cleat").resolve())
    (folder / "perf-origin").symlink_to((binaries / "perf-origin").resolve())
    return folder


def measured(bench: Path, folder: Path, scenario: str, work: Path) -> dict[str, float]:
    found = work / "found.json"
    ran = subprocess.run(
        [bench, "compare", "--quiet", "--servers", "cleat", "--rounds", "1", "--scenario", scenario,
         "--binaries", folder, "--json", found],
        capture_output=True, text=True,
    )  # fmt: skip
    if ran.returncode != 0:
        sys.exit(f"side_by_side.py: {scenario}: {ran.stderr or ran.stdout}")
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


def waits(figures: list[dict[str, float]]) -> str:
    """waits of established connections: p50 and p99 of their requests, and what others get done."""
    p50, p99, rate = (median(each[key] for each in figures) for key in ("p50_ns", "p99_ns", "rate"))
    done = f"{rate / 1e6:.0f} MB/s" if rate > 1e6 else f"{rate:.0f}/s"
    return f"{p50 / 1e6:.1f} and {p99 / 1e6:.1f} ms, {done}"


def cost(figures: list[dict[str, float]], first: list[dict[str, float]]) -> str:
    """cost is the CPU for an operation, and its ratio to the first build's."""
    ns = median(each["cpu_ns"] for each in figures)
    text = f"{ns / 1e3:.1f} us" if ns < 1e7 else f"{ns / 1e6:.0f} ms"
    if figures is first:
        return text
    return f"{text}, {span([a['cpu_ns'] / b['cpu_ns'] for a, b in zip(figures, first)])}"


def table_of_builds(found: dict[str, dict[str, list[dict[str, float]]]]) -> str:
    """table_of_builds has a row for each scenario, and a column for each build."""
    builds = list(next(iter(found.values())))
    established = all(scenario.startswith("established") for scenario in found)
    head = "p50 and p99, done beside" if established else "CPU"
    rows = []
    for scenario, rounds in found.items():
        cells = [
            waits(rounds[build]) if established else cost(rounds[build], rounds[builds[0]])
            for build in builds
        ]
        rows.append([scenario, *cells])
    return table.table([head, *builds], rows)


def tables(documents: dict[Path, dict]) -> dict[str, str]:
    """tables of recorded files, by their names."""
    found = {}
    for path, document in documents.items():
        with results.whole(path):
            found[path.name] = table_of_builds(document["found"])
    return found


def charts(documents: dict[Path, dict]) -> dict[str, str]:
    """charts are none: the tables have all."""
    return {}


def main() -> None:
    use = arguments()
    words = [re.sub(r"^([\w-]+)=.*", r"\1=FOLDER", each) for each in sys.argv[1:]]
    command = " ".join(["perf/side_by_side.py", *words])
    kept: dict = {"command": command, "commit": results.commit(), "found": {}}
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
        results.write(use.out, kept)


if __name__ == "__main__":
    main()
