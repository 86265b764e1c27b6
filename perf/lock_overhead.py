#!/usr/bin/env python3
"""The cost of cleat-locks for cleat: CPU of the server for each full handshake, recorded and not.

A server for each arm, all there all the time, on one core. Each round has a burst of handshakes to
each, one after the other: what changes on the machine changes slower than that. The figure is the
median of the ratios within a round. What a recorder takes to begin is not in it.
"""

import argparse
import contextlib
import statistics
import sys
import tempfile
from pathlib import Path

from cleat_perf import environment, results, serve
from cleat_perf.results import TREE

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
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


def variables(use: argparse.Namespace, arm: str, folder: Path) -> dict[str, object]:
    """variables of an arm's environment: none where it is not recorded."""
    if ARMS[arm] is None:
        return {}
    trace = folder / f"{arm.replace(' ', '-')}.locks"
    trace.mkdir()
    return {
        "LD_PRELOAD": use.preload.resolve() / "libcleat-locks.so",
        "CLEAT_LOCKS_TRACE": trace,
        "CLEAT_LOCKS_HZ": ARMS[arm],
    }


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


def measure(use: argparse.Namespace) -> list[dict[str, float]]:
    """measure gives each round's microseconds of CPU for a handshake, by the arm."""
    cores = sorted(environment.cores())
    own, others = cores[:1], cores[1:] or cores
    rounds = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="overhead-")))
        servers = {
            arm: stack.enter_context(
                serve.serving(
                    use.binaries, "cleat", server_cores=own, client_cores=others,
                    program=use.cleat_binary, variables=variables(use, arm, folder),
                )
            )
            for arm in ARMS
        }  # fmt: skip
        for number in range(use.rounds + 1):
            order = list(ARMS)[number % len(ARMS) :] + list(ARMS)[: number % len(ARMS)]
            took = {
                arm: serve.cpu_us(servers[arm].handshakes(use.handshakes, 8, others))
                for arm in order
            }
            if number > 0:  # The first round fills caches.
                rounds.append(took)
                print({arm: round(us, 1) for arm, us in took.items()}, flush=True)
    return rounds


def main() -> int:
    use = arguments()
    machine = environment.describe(TREE)
    rounds = measure(use)
    found = medians(rounds)
    for arm, each in found.items():
        print(
            f"{arm:14} {each['us']:7.1f} us a handshake; {each['of_plain']:.3f} of plain "
            f"(half of the rounds: {each['quarters'][0]:.2f} to {each['quarters'][-1]:.2f})"
        )
    if use.out:
        machine |= {"handshakes": use.handshakes, "command": results.command()}
        results.write(use.out, {"environment": machine, "medians": found, "rounds": rounds})
    return 0


if __name__ == "__main__":
    sys.exit(main())
