#!/usr/bin/env python3
"""The cost of cleat-locks for cleat: CPU of the server for each full handshake, recorded and not.

A server for each arm, all there all the time, on one core. Each round has a burst of handshakes to
each, one after the other: what changes on the machine changes slower than that. The figure is the
median of the ratios within a round. What a recorder takes to begin is not in it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from cleat_perf import environment  # noqa: E402
from cleat_perf.processes import Process  # noqa: E402
from runner import servers  # noqa: E402
from runner.stage import laid_out  # noqa: E402

TREE = Path(__file__).resolve().parent.parent.parent
# By name: CPU samples for each second; None: not recorded.
ARMS = {"plain": None, "locks": 0, "locks and CPU": 199}
PLAIN = "plain"


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--binaries", type=Path, default=TREE / "build/release/bin")
    parse.add_argument("--cleat-binary", type=Path)
    parse.add_argument("--preload", type=Path, default=TREE / "build/release/lib/cleat")
    parse.add_argument("--rounds", type=int, default=200)
    parse.add_argument("--handshakes", type=int, default=400, help="of each burst")
    parse.add_argument("--groups", default="X25519")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


def start(use: argparse.Namespace, bench: servers.Bench, pem: Path, arm: str) -> tuple:
    """start gives an arm's server and its port."""
    env = {}
    if ARMS[arm] is not None:
        trace = bench.folder / f"{arm}.locks"
        trace.mkdir()
        env = {
            "LD_PRELOAD": str(use.preload / "libcleat-locks.so"),
            "CLEAT_LOCKS_TRACE": str(trace),
            "CLEAT_LOCKS_HZ": str(ARMS[arm]),
        }
    return servers.start("cleat", bench, pem, workers=1, env=env)


def cpu_us(use: argparse.Namespace, bench: servers.Bench, server: Process, port: int) -> float:
    """CPU of a server for each handshake of a burst, in microseconds."""
    command = [
        use.binaries / "cleat-bench", "load", "-c", "8", "-d", "60s", "--no-preflight",
        "-n", str(use.handshakes), "--tls", "1.3", "--groups", use.groups, "--workers", "1",
        "--server-pid", str(server.child.pid), "--json", str(bench.folder / "result.json"),
        f"https://127.0.0.1:{port}/",
    ]  # fmt: skip
    client = sorted(bench.client_cores)
    subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, client),
    )
    found = json.loads((bench.folder / "result.json").read_text())
    return found["server"]["cpu_ns"] / found["ok"] / 1000


def medians(rounds: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """medians are each arm's microseconds, and its ratios to the plain arm."""
    found = {}
    for arm in ARMS:
        ratios = sorted(each[arm] / each[PLAIN] for each in rounds)
        quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios
        found[arm] = {
            "us": statistics.median(each[arm] for each in rounds),
            "of_plain": statistics.median(ratios),
            "least": ratios[0],
            "most": ratios[-1],
            "quarters": [quartiles[0], quartiles[-1]],
        }
    return found


def main() -> int:
    use = arguments()
    here = environment.describe(TREE)
    cores = sorted(environment.cores())
    rounds = []
    started: dict[str, tuple] = {}
    settings = {
        "cleat": use.cleat_binary or use.binaries / "cleat",
        "groups": use.groups,
        "server_cores": frozenset(cores[:1]),
        "client_cores": frozenset(cores[1:] or cores),
    }
    with laid_out(use.binaries, **settings) as (bench, pem):
        try:
            for arm in ARMS:
                started[arm] = start(use, bench, pem, arm)
            for number in range(use.rounds + 1):
                order = list(ARMS)[number % len(ARMS) :] + list(ARMS)[: number % len(ARMS)]
                took = {arm: cpu_us(use, bench, *started[arm]) for arm in order}
                if number > 0:  # The first round fills caches.
                    rounds.append(took)
                    print({arm: round(us, 1) for arm, us in took.items()}, flush=True)
        finally:
            for server, _ in started.values():
                server.stop()
    found = medians(rounds)
    for arm, each in found.items():
        print(
            f"{arm:14} {each['us']:7.1f} us a handshake; {each['of_plain']:.3f} of plain "
            f"(half of the rounds: {each['quarters'][0]:.2f} to {each['quarters'][-1]:.2f})"
        )
    if use.out:
        here["handshakes"] = use.handshakes
        use.out.parent.mkdir(parents=True, exist_ok=True)
        document = {"environment": here, "medians": found, "rounds": rounds}
        use.out.write_text(json.dumps(document, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
