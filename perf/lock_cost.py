#!/usr/bin/env python3
"""The cost of the locks that two workers share: cleat-locks over servers, for each full handshake.

    scripts/build release-openssl cleat && apps/cleat-bench/compare/peers/install packages
    perf/lock_cost.py --cleat "OpenSSL 3.0=build/release-openssl/bin/cleat" --haproxy

Every hold is timed. Of each lock that more than one thread has touched: how often it is taken, how
often and how long threads waited, and how long it was held exclusively, which is the limit of a
machine with many cores. A run that only starts a server and ends it is subtracted, and figures are
medians of rounds. The nanoseconds are of one machine; the counts are the same on others.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cleat_perf import environment, results, serve
from cleat_perf.results import TREE

# Functions that only take a lock: their callers name it.
WRAPPERS = re.compile(r"CRYPTO_(THREAD|MUTEX|STATIC_MUTEX)_|pthread_|.*\+0x|.*__gthread")
# One lock, though in each round another function may take it most: in a stripped library a frame is
# named after the nearest function with a name.
EX_DATA = re.compile(r"(ossl_)?crypto_(new|free|dup)_ex_data|EVP_PKEY_new$|BIO_new_ex$", re.I)
FIGURES = ("acquisitions", "contended", "wait_ns", "held_ns")
COUNTS_FROM = 0.01  # Acquisitions for each handshake: fewer are of the start, or occasional.


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--binaries", type=Path, default=TREE / "build/release/bin")
    parse.add_argument(
        "--cleat", action="append", default=[], metavar="LABEL=PATH", help="a cleat to measure"
    )
    parse.add_argument("--haproxy", action="store_true", help="measure the system's HAProxy too")
    parse.add_argument("--rounds", type=int, default=3)
    parse.add_argument("--handshakes", type=int, default=10000)
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    use = parse.parse_args()
    use.arms = {}
    for each in use.cleat:
        label, _, path = each.partition("=")
        if not shutil.which(path):
            parse.error(f"--cleat {each}: expected LABEL=PATH, and a program at PATH")
        use.arms[label] = Path(path).resolve()
    if use.haproxy:
        use.arms["HAProxy"] = None
    if not use.arms:
        parse.error("nothing to measure: --cleat LABEL=PATH, or --haproxy")
    return use


def traced(use: argparse.Namespace, name: str, program: Path | None, times: int) -> list[dict]:
    """traced gives a server's locks by cleat-locks after so many handshakes."""
    cores = environment.cores()
    with tempfile.TemporaryDirectory(prefix="lock-cost-") as trace:
        variables = {
            "LD_PRELOAD": use.binaries.resolve().parent / "lib/cleat/libcleat-locks.so",
            "CLEAT_LOCKS_TRACE": trace,
            "CLEAT_LOCKS_HZ": 0,
            "CLEAT_LOCKS_EVERY_HOLD": 1,
        }
        with serve.serving(
            use.binaries, name, workers=2, server_cores=cores, client_cores=cores,
            program=program, variables=variables,
        ) as server:  # fmt: skip
            if times > 0:
                server.handshakes(times)
        said = subprocess.run(
            [use.binaries / "cleat-locks", "report", trace, "--json", "-"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    locks: list[dict] = json.loads(said)["locks"]
    return locks


def taker(lock: dict) -> str:
    names = [name for name in lock["taken_by"] if not WRAPPERS.match(name)]
    name: str = (names or lock["taken_by"] or [lock["name"]])[0]
    return "ex_data" if EX_DATA.match(name) else name


def sums(locks: list[dict]) -> dict[str, dict[str, float]]:
    """sums adds up the locks that threads share, by the function that takes each most."""
    found: dict[str, dict[str, float]] = {}
    for lock in locks:
        if lock["threads"] < 2 or lock["one_threads_own"]:
            continue
        row = found.setdefault(taker(lock), dict.fromkeys((*FIGURES, "locks"), 0.0))
        row["locks"] += 1
        row["acquisitions"] += lock["shared_acquisitions"]
        row["contended"] += lock["contended"]
        row["wait_ns"] += lock["wait_ns"]
        alone = lock["exclusive"]
        row["held_ns"] += (alone["acquisitions"] + alone["taken_again"]) * alone["mean_hold_ns"]
    return found


def price(use: argparse.Namespace, name: str, program: Path | None) -> dict:
    """price is what each handshake costs, by function."""
    start = sums(traced(use, name, program, 0))
    run = sums(traced(use, name, program, use.handshakes))
    nothing = dict.fromkeys((*FIGURES, "locks"), 0.0)
    return {
        function: {
            **{key: max(0.0, row[key] - start.get(function, nothing)[key]) / use.handshakes
               for key in FIGURES},
            "locks": row["locks"],
        }
        for function, row in run.items()
        if row["acquisitions"] - start.get(function, nothing)["acquisitions"]
        >= COUNTS_FROM * use.handshakes
    }  # fmt: skip


def middle(rounds: list[dict]) -> dict[str, dict[str, float]]:
    """middle is the median of the rounds, for each function of any round."""
    names = dict.fromkeys(name for each in rounds for name in each)
    nothing = dict.fromkeys((*FIGURES, "locks"), 0.0)
    rows = {
        name: {key: statistics.median(each.get(name, nothing)[key] for each in rounds)
               for key in (*FIGURES, "locks")}
        for name in names
    }  # fmt: skip
    seldom = [name for name, row in rows.items() if row["acquisitions"] < COUNTS_FROM]
    for name in seldom:  # Most rounds had none.
        del rows[name]
    return dict(sorted(rows.items(), key=lambda row: -row[1]["acquisitions"]))


def show(arm: str, rows: dict[str, dict[str, float]]) -> None:
    total = {key: sum(row[key] for row in rows.values()) for key in FIGURES}
    print(f"\n{arm}: for each handshake {total['acquisitions']:.1f} acquisitions of shared locks")
    print(" acquired   waited   blocked      held  locks  taken by")
    for name, row in rows.items():
        print(
            f"{row['acquisitions']:9.2f} {row['contended']:8.3f} {row['wait_ns']:6.0f} ns "
            f"{row['held_ns']:6.0f} ns {row['locks']:6.0f}  {name}"
        )


def version(path: Path | None) -> str:
    command = [str(path), "--version"] if path else ["haproxy", "-v"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    use = arguments()
    rounds: dict[str, list[dict]] = {arm: [] for arm in use.arms}
    for _ in range(use.rounds):
        for arm, path in use.arms.items():
            rounds[arm].append(price(use, "cleat" if path else "haproxy", path))
    medians = {arm: middle(each) for arm, each in rounds.items()}
    for arm, rows in medians.items():
        show(arm, rows)
    if use.out:
        machine = environment.describe(TREE)
        machine["command"] = results.command()
        machine["servers"] = {arm: version(path) for arm, path in use.arms.items()}
        machine["handshakes"] = use.handshakes
        results.write(use.out, {"environment": machine, "medians": medians, "rounds": rounds})
    return 0


if __name__ == "__main__":
    sys.exit(main())
