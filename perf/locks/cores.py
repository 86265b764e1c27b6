#!/usr/bin/env python3
"""The effect of shared locks on 1 to 256 cores: an upper bound of handshakes a second.

    for preset in release release-openssl release-openssl-4 release-boringssl; do
        scripts/build $preset cleat perf-asio-relay perf-origin perf-client perf-one-lock
    done
    perf/locks/cores.py perf/results/*-shared-locks.json \\
        --out perf/results/DATE-cores.json --charts docs/charts

A server's CPU for a handshake limits it by cores. The lock that is taken most (counted by run.py)
limits it too: each acquisition writes its cache line twice, by one core at a time. Two threads of
perf-one-lock, a core each, measure how long an acquisition and a release of one lock take them
together. By the utilisation law the limit is min(cores / CPU, 1 / (acquisitions * that)). Both
figures are of the machine that measures. Where cores are further apart a line travels longer, and
the curves bend earlier.
"""

import argparse
import dataclasses
import json
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cleat_perf import environment  # noqa: E402
from cleat_perf.chart import Series, lines  # noqa: E402
from runner import scenarios, servers  # noqa: E402
from runner.stage import laid_out  # noqa: E402

TREE = Path(__file__).resolve().parent.parent.parent
FOLDERS = {
    "aws-lc": "release",
    "boringssl": "release-boringssl",
    "openssl": "release-openssl",
    "openssl-4": "release-openssl-4",
}
CORES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("counted", type=Path, nargs="+", help="of run.py --json; the newest counts")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--handshakes", type=int, default=3000)
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    parse.add_argument("--charts", type=Path, help="the folder to draw the chart into")
    parse.add_argument("--draw", type=Path, metavar="RESULT", help="measure nothing, draw this")
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


def cpu_us(bench: servers.Bench, pem: Path, name: str, handshakes: int) -> float:
    """CPU of a server with two workers for each handshake, in microseconds."""
    server, port = servers.start(name, bench, pem, workers=2)
    try:
        return scenarios.handshake(bench, server, port, handshakes)
    finally:
        server.stop()


def measure(use: argparse.Namespace) -> dict:
    counted = json.loads(max(use.counted, key=lambda each: each.name).read_text())["runs"]
    here = environment.describe(TREE)
    rounds: dict[str, list[float]] = {label: [] for label in counted}
    shared: list[float] = []
    alone: list[float] = []
    with laid_out(TREE / "build/release/bin") as (plain, pem):
        for _ in range(use.rounds):
            shared.append(one_lock("--threads", "2"))
            alone.append(one_lock("--threads", "2", "--apart"))
            for label in counted:
                name, library = label.split(", ")
                there = TREE / "build" / FOLDERS[library] / "bin"
                bench = dataclasses.replace(plain, cleat=there / "cleat")
                if name == "asio":
                    bench = dataclasses.replace(bench, binaries=there)
                rounds[label].append(cpu_us(bench, pem, name, use.handshakes))
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
        "environment": here,
        "handshakes": use.handshakes,
        "line_ns": statistics.median(shared),
        "line_ns_rounds": shared,
        "apart_ns_rounds": alone,
        "arms": arms,
    }


def show(found: dict) -> None:
    line_ns = found["line_ns"]
    print(f"A lock and unlock of one lock by two cores: {line_ns:.1f} ns")
    print("| server | CPU, us | of the hottest lock | 2 cores | 8 | 32 | 64 | ends at, cores |")
    print("|---|---|---|---|---|---|---|---|")
    for label, arm in found["arms"].items():
        rates = " | ".join(f"{at_most(arm, line_ns, n) / 1000:,.0f} k/s" for n in (2, 8, 32, 64))
        end = ends_at(arm, line_ns)
        print(
            f"| {label} | {arm['cpu_us']:.0f} | {arm['hottest_lock']:.0f} | {rates} | "
            f"{'never' if end is None else f'{end:,.0f}'} |"
        )


def chart(found: dict) -> str:
    return lines(
        "Full handshakes a second on more cores, at most",
        "dots: from the CPU measured with two workers; dashed: computed from it and from the lock "
        "taken most",
        "cores", "thousands per second",
        [
            Series(label, [(n, at_most(arm, found["line_ns"], n) / 1000) for n in CORES], (2,))
            for label, arm in found["arms"].items()
        ],
        x_log=True, y_log=True,
    )  # fmt: skip


def main() -> int:
    use = arguments()
    if use.draw:
        found = json.loads(use.draw.read_text())
    else:
        found = measure(use)
    show(found)
    if use.out:
        use.out.parent.mkdir(parents=True, exist_ok=True)
        use.out.write_text(json.dumps(found, indent=1) + "\n")
    if use.charts:
        (use.charts / "locks-cores.svg").write_text(chart(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
