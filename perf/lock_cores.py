#!/usr/bin/env python3
"""The effect of shared locks on 1 to 256 cores: an upper bound of handshakes a second.

    for preset in release release-openssl release-openssl-4 release-boringssl; do
        scripts/build $preset cleat perf-asio-relay
    done
    scripts/build release cleat-bench perf-origin perf-one-lock
    perf/lock_cores.py perf/results/*-shared-locks.json --out perf/results/DATE-cores.json

A server's CPU for a handshake limits it by cores. The lock that is taken most (counted by
shared_locks.py) limits it too: each acquisition writes its cache line twice, by one core at a time.
Two threads of perf-one-lock, a core each, measure how long an acquisition and a release of one lock
take them together. By the utilisation law the limit is min(cores / CPU, 1 / (acquisitions * that)).
Both figures are of the machine that measures. Where cores are further apart a line travels longer,
and the curves bend earlier.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from cleat_perf import environment, results, serve
from cleat_perf.chart import Series, lines
from cleat_perf.results import TREE
from cleat_perf.table import table

# The folder of a library's build, and the library's name in pages.
LIBRARIES = {
    "aws-lc": ("release", "AWS-LC"),
    "boringssl": ("release-boringssl", "BoringSSL"),
    "openssl": ("release-openssl", "OpenSSL 3.0"),
    "openssl-4": ("release-openssl-4", "OpenSSL 4"),
}
SERVERS = {"cleat": "cleat", "haproxy": "HAProxy", "asio": "naive Asio"}  # In the table's order.
PROGRAMS = {"cleat": "cleat", "asio": "perf-asio-relay"}
CORES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument(
        "counted", type=Path, nargs="+", help="of shared_locks.py --json; the newest counts"
    )
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--handshakes", type=int, default=3000)
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


def at_most(arm: dict, line_ns: float, cores: float) -> float:
    """at_most is handshakes a second on so many cores."""
    by_cpu = cores / (arm["cpu_us"] / 1e6)
    held_ns = arm["hottest_lock"] * line_ns
    return min(by_cpu, 1e9 / held_ns) if held_ns > 0 else by_cpu


def ends_at(arm: dict, line_ns: float) -> float | None:
    """ends_at is the number of cores beyond which more do not help; None: more always help."""
    held_ns = arm["hottest_lock"] * line_ns
    return arm["cpu_us"] * 1e3 / held_ns if held_ns > 0 else None


def one_lock(*words: str) -> float:
    program = TREE / "build/release/bin/perf-one-lock"
    said = subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout
    return json.loads(said)["ns"]


def cpu_us(label: str, handshakes: int) -> float:
    """CPU of a server with two workers for each handshake, in microseconds."""
    name, library = label.split(", ")
    program = None
    if name in PROGRAMS:
        program = TREE / "build" / LIBRARIES[library][0] / "bin" / PROGRAMS[name]
    cores = environment.cores()
    with serve.serving(
        TREE / "build/release/bin", name, workers=2, server_cores=cores, client_cores=cores,
        program=program,
    ) as server:  # fmt: skip
        server.handshakes(200)
        return serve.cpu_us(server.handshakes(handshakes))


def measure(use: argparse.Namespace) -> dict:
    counted = results.read(results.newest(use.counted))["runs"]
    machine = environment.describe(TREE)
    rounds: dict[str, list[float]] = {label: [] for label in counted}
    shared: list[float] = []
    alone: list[float] = []
    for _ in range(use.rounds):
        shared.append(one_lock("--threads", "2"))
        alone.append(one_lock("--threads", "2", "--apart"))
        for label in counted:
            rounds[label].append(cpu_us(label, use.handshakes))
    arms = {
        label: {
            "cpu_us": statistics.median(rounds[label]),
            "hottest_lock": run["hottest_lock"],
            "acquisitions": sum(row["acquisitions"] for row in run["parts"]["handshake"]),
            "rounds": rounds[label],
        }
        for label, run in counted.items()
    }
    return {
        "environment": machine | {"command": results.command()},
        "handshakes": use.handshakes,
        "line_ns": statistics.median(shared),
        "line_ns_rounds": shared,
        "apart_ns_rounds": alone,
        "arms": arms,
    }


def arms_of(found: dict) -> dict[str, dict]:
    """arms_of a result by their names in pages, in the order of the pages."""
    pairs = [(*label.split(", "), arm) for label, arm in found["arms"].items()]
    pairs.sort(key=lambda pair: [*SERVERS].index(pair[0]))
    return {
        f"{SERVERS[name]}, {LIBRARIES[library][1]}": arm for name, library, arm in pairs
    }


def limits(found: dict) -> str:
    """limits are a table: handshakes a second on so many cores, and where a lock ends them."""
    rows = []
    for label, arm in arms_of(found).items():
        rates = [f"{at_most(arm, found['line_ns'], n) / 1000:,.0f} k/s" for n in (2, 8, 32, 64)]
        end = ends_at(arm, found["line_ns"])
        ends = "never" if end is None else f"{end:,.0f} cores"
        rows.append([label, f"{arm['cpu_us']:.0f}", *rates, ends])
    head = ["server", "CPU, us", "2 cores", "8", "32", "64", "its lock ends it at"]
    return table(head, rows)


def chart(found: dict) -> str:
    return lines(
        "Full handshakes a second on more cores, at most",
        "dots: from the CPU measured with two workers; dashed: computed from it and from the lock "
        "taken most",
        "cores", "thousands per second",
        [
            Series(label, [(n, at_most(arm, found["line_ns"], n) / 1000) for n in CORES], (2,))
            for label, arm in arms_of(found).items()
        ],
        x_log=True, y_log=True,
    )  # fmt: skip


def main() -> int:
    use = arguments()
    found = measure(use)
    print(f"A lock and unlock of one lock by two cores: {found['line_ns']:.1f} ns")
    print(limits(found))
    if use.out:
        results.write(use.out, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
