"""Gather writes on each TLS library: the study of docs/studies/gather.md.

Runs ssl_writev_bench of every build in turns, round after round, with the 12 cases and with 64 KiB
in pieces.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from cleat_perf import builds, environment
from cleat_perf.results import TREE

WAYS = ("separate", "copied", "writev")
FIGURES = ("min", "p50", "p90", "p99", "p99.9")


def arguments(words: list[str]) -> argparse.Namespace:
    parse = argparse.ArgumentParser(prog="study.py gather", description=__doc__)
    builds.add_arguments(parse)
    parse.add_argument("--rounds", type=builds.at_least_one, default=3)
    parse.add_argument(
        "--iterations", type=builds.at_least_one, default=200_000, help="of each of the 12 cases"
    )
    parse.add_argument(
        "--large-iterations", type=builds.at_least_one, default=20_000, help="of 64 KiB each"
    )
    return parse.parse_args(words)


def once(program: Path, folder: Path, core: int, iterations: int, *words: str) -> dict:
    """once runs the program on one core. Its exit code counts for nothing: a promise that does not
    hold is in the report."""
    report = folder / "report.json"
    subprocess.run(
        ["taskset", "-c", str(core), program, "--json", report, "--iterations", str(iterations),
         "--left-out", str(iterations // 20), *words],
        check=False,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return json.loads(report.read_text())


def add(cases: dict, report: dict) -> None:
    """add one run's figures behind those of the rounds before."""
    for case in report["cases"]:
        ways = cases.setdefault(case["message"], {way: {} for way in WAYS})
        for way, figures in ways.items():
            figures["wire_bytes"] = case[way]["wire_bytes"]
            for name in FIGURES:
                figures.setdefault(name, []).append(case[way][name])


def main(words: list[str]) -> None:
    use = arguments(words)
    programs = builds.find(use, "ssl_writev_bench")
    core = max(environment.cores())
    found = {name: {"library": "", "cases": {}, "large": {}} for name in programs}
    about = environment.describe(TREE)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(use.rounds):
            for name, program in programs.items():
                report = once(program, Path(folder), core, use.iterations)
                found[name]["library"] = report["library"]
                add(found[name]["cases"], report)
                large = once(program, Path(folder), core, use.large_iterations, "--large")
                add(found[name]["large"], large)
            print(f"  round {number + 1} of {use.rounds}", file=sys.stderr)
    document = {"environment": about, "rounds": use.rounds, "iterations": use.iterations}
    builds.keep(use, "gather", {**document, "libraries": found})
