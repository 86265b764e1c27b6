"""Asio, SSL and scalability, on today's libraries: the study of docs/studies/asio.md.

Every library, arm and number of threads and connections in turns, round after round; then a lock
profile of each library and arm; then what recording costs. Everything goes into one JSON file,
which perf/show.py reads.
"""

import argparse
import itertools
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from cleat_perf import builds as built
from cleat_perf import environment
from cleat_perf.results import TREE
from cleat_perf.table import spread
from studies.asio import profiles

ARMS = ("naive", "per-core", "cleat")
THREADS = (1, 2, 4, 8)
SIZE = 1 << 20
# Each load, with the numbers of its connections.
LOADS = {"messages": (1, 4, 20), "handshakes": (20,)}
# Threads and connections of the lock profiles, and of what recording costs.
CROWD = (8, 20)
# A profile's long run, in runs of the grid: with so many messages, setting up a connection's lock
# counts little.
LONG_RUNS = {"messages": 15, "handshakes": 3}
OVERHEAD_RUNS = 4


@dataclass(frozen=True)
class Build:
    """Build is one TLS library: its name in the figures, and the program that uses it."""

    name: str
    program: Path


@dataclass(frozen=True)
class Point:
    """Point is one place in the grid."""

    build: str
    load: str
    arm: str
    threads: int
    connections: int


def arguments(words: list[str]) -> argparse.Namespace:
    parse = argparse.ArgumentParser(prog="study.py asio", description=__doc__)
    built.add_arguments(parse)
    parse.add_argument("--rounds", type=built.at_least_one, default=5)
    parse.add_argument("--seconds", type=float, default=0.3, help="of a run")
    parse.add_argument("--overhead-rounds", type=built.at_least_one, default=10)
    parse.add_argument("--locks", type=Path, help="cleat-locks; default: the first build's")
    parse.add_argument(
        "--locks-again",
        type=Path,
        metavar="RESULT",
        help="record the locks only, and take everything else from this result",
    )
    parse.add_argument(
        "--quick", action="store_true", help="one short round: a check that it works, no figures"
    )
    use = parse.parse_args(words)
    if use.quick:
        use.rounds, use.seconds, use.overhead_rounds = 1, 0.1, 2
    return use


def locks_of(use: argparse.Namespace, builds: list[Build]) -> Path:
    beside = [each.program.with_name("cleat-locks") for each in builds]
    places = [use.locks] if use.locks else beside
    found = next((each for each in places if each.exists()), None)
    if found is None:
        sys.exit("cleat-locks is not there: build the target cleat-locks")
    return found


def command(
    build: Build, pem: Path, load: str, arm: str, threads: int, connections: int, operations: int
) -> list[str]:
    """command makes about `operations`, as many on each connection."""
    words = [build.program, "--pem", pem, "--arm", arm, "--threads", threads]
    words += ["--connections", connections]
    if load == "handshakes":
        words += ["--handshakes", operations]
    else:
        words += ["--messages", max(1, operations // connections), "--size", SIZE]
    return [str(word) for word in words]


def figure(output: str) -> dict:
    """figure is one run: its operations, their rate, and the CPU of each."""
    run = json.loads(output)
    if run["messages"]:
        count, seconds, cpu = run["messages"], run["seconds"], run["cpu_seconds"]
    else:
        count, seconds = run["handshakes"], run["handshake_seconds"]
        cpu = run["handshake_cpu_seconds"]
    return {
        "library": run["library"],
        "operations": count,
        "per_second": count / seconds,
        "cpu_us": cpu / count * 1e6,
    }


def once(words: list[str]) -> dict:
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(words)}:\n{done.stderr}")
    return figure(done.stdout)


def grid(names: list[str]) -> list[Point]:
    return [
        Point(build, load, arm, threads, connections)
        for load, several in LOADS.items()
        for connections in several
        for threads in THREADS
        for build in names
        for arm in ARMS
    ]


def calibrate(build: Build, pem: Path, seconds: float) -> tuple[str, dict[str, int]]:
    """calibrate gives the library's version, and how many operations two threads make in that time.

    All arms of a library make as many.
    """
    operations = {}
    for load, few in (("messages", 80), ("handshakes", 100)):
        found = once(command(build, pem, load, "naive", 2, 4, few))
        operations[load] = max(20, round(found["per_second"] * seconds))
    return found["library"], operations


def measure(
    builds: list[Build], pem: Path, operations: dict[str, dict[str, int]], rounds: int
) -> list[dict]:
    """measure runs the grid. Neighbours in it are compared, so they run one after the other."""
    by_name = {build.name: build for build in builds}
    points = grid(list(by_name))
    figures = {point: [] for point in points}
    for number in range(rounds):
        begun = time.monotonic()
        for point in points if number % 2 == 0 else reversed(points):
            figures[point].append(
                once(
                    command(
                        by_name[point.build], pem, point.load, point.arm, point.threads,
                        point.connections, operations[point.build][point.load],
                    )
                )
            )  # fmt: skip
        took = time.monotonic() - begun
        print(f"  round {number + 1}: {len(points)} runs, {took:.0f} s", file=sys.stderr)
    return [
        vars(point)
        | {key: [each[key] for each in found] for key in ("per_second", "cpu_us")}
        | {"operations": found[0]["operations"]}
        for point, found in figures.items()
    ]


def profile_all(
    builds: list[Build], pem: Path, operations: dict[str, dict[str, int]], locks: Path,
    points: list[dict], folder: Path,
) -> list[dict]:  # fmt: skip
    """profile_all records every library and arm with CROWD, and computes how many cores saturate
    its hottest lock, from the CPU of an operation without recording."""
    threads, connections = CROWD
    found = []
    for build, load, arm in itertools.product(builds, LOADS, ARMS):
        point = {"build": build.name, "load": load, "arm": arm}
        # As many for each connection, so that the division is by what was done.
        many = operations[build.name][load] * LONG_RUNS[load] // connections * connections

        def words(count: int) -> list[str]:
            return command(build, pem, load, arm, threads, connections, count)

        made = profiles.profile(locks, words, connections, max(many, 4 * connections), folder)
        plain = next(
            each
            for each in points
            if all(each[key] == value for key, value in point.items())
            and (each["threads"], each["connections"]) == CROWD
        )
        cpu_us = statistics.median(plain["cpu_us"])
        for hot in filter(None, made["hottest"].values()):
            hot["cores_max"] = hot["operations_per_second_max"] * cpu_us / 1e6
        found.append(point | {"cpu_us": cpu_us} | made)
        print(
            f"  locks: {build.name} {load} {arm}: "
            f"{made['shared_acquisitions']:.1f} shared acquisitions",
            file=sys.stderr,
        )
    return found


def overhead(
    build: Build, pem: Path, operations: dict[str, int], locks: Path, rounds: int, folder: Path
) -> list[dict]:
    """overhead is what recording costs the naive arm: CPU for each operation, with and without."""
    threads, connections = CROWD
    found = []
    for load in LOADS:
        many = OVERHEAD_RUNS * operations[load]
        words = command(build, pem, load, "naive", threads, connections, many)
        trace = folder / "overhead.locks"
        recorded = [str(locks), "run", "-o", str(trace), "--", *words]
        runs = {"plain": words, "recorded": recorded}
        cpu_us = {name: [] for name in runs}
        for number in range(rounds):
            for name in runs if number % 2 == 0 else list(runs)[::-1]:
                shutil.rmtree(trace, ignore_errors=True)
                cpu_us[name].append(once(runs[name])["cpu_us"])
        ratios = [a / b for a, b in zip(cpu_us["recorded"], cpu_us["plain"])]
        print(f"  recording costs: {load} {spread(ratios)} of plain", file=sys.stderr)
        found.append(
            {"build": build.name, "load": load, "arm": "naive", "cpu_us": cpu_us, "ratios": ratios}
        )
    return found


def main(words: list[str]) -> int:
    use = arguments(words)
    builds = [Build(*each) for each in built.find(use, "study-asio").items()]
    locks = locks_of(use, builds)
    facts = environment.describe(TREE)
    facts["usable_cores"] = len(environment.cores())
    with tempfile.TemporaryDirectory(prefix="study-asio-") as name:
        folder = Path(name)
        pem = environment.certificates(folder)["ecdsa"]
        operations, facts["libraries"] = {}, {}
        for build in builds:
            library, counts = calibrate(build, pem, use.seconds)
            facts["libraries"][build.name] = library
            operations[build.name] = counts
        if use.locks_again:
            earlier = json.loads(use.locks_again.read_text())
            profiled = profile_all(builds, pem, operations, locks, earlier["points"], folder)
            facts["load_after"] = os.getloadavg()[0]
            built.keep(
                use, "asio", earlier | {"profiles": profiled, "profiles_environment": facts}
            )
            return 0
        points = measure(builds, pem, operations, use.rounds)
        profiled = profile_all(builds, pem, operations, locks, points, folder)
        # OpenSSL takes the most locks, so recording costs it the most.
        dear = next((b for b in builds if "OpenSSL" in facts["libraries"][b.name]), builds[0])
        cost = overhead(dear, pem, operations[dear.name], locks, use.overhead_rounds, folder)
    facts["load_after"] = os.getloadavg()[0]
    built.keep(
        use,
        "asio",
        {
            "quick": use.quick,
            "environment": facts,
            "size": SIZE,
            "crowd": {"threads": CROWD[0], "connections": CROWD[1]},
            "points": points,
            "profiles": profiled,
            "overhead": cost,
        },
    )
    return 0
