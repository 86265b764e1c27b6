#!/usr/bin/env python3
"""Counts the acquisitions of locks that two threads share, per handshake and per MB, by name.

Runs a server with two workers under shared_locks, and leaves its start-up and first handshakes out.
"""

import argparse
import collections
import json
import os
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

from cleat_perf import environment, results, serve
from cleat_perf.results import TREE
from cleat_perf.symbols import Names

# Functions that only take a lock: their callers name it.
WRAPPERS = re.compile(
    r"CRYPTO_(THREAD|MUTEX|STATIC_MUTEX)_|pthread_|__gthread|std::(mutex|lock_guard|unique_lock|"
    r"scoped_lock|shared_)|.*posix_(mutex|event)|.*conditionally_enabled_mutex|.*MutexWriteLock|"
    r".*MutexReadLock|.*MutexLockBase|bssl::(Static)?Mutex::"
)
MB = 1_000_000
CONNECTIONS = 4


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument(
        "--server",
        default="cleat",
        help="cleat, haproxy, or asio (naive: two threads of one io_context): servers whose "
        "workers are threads",
    )
    parse.add_argument("--binaries", type=Path, default=TREE / "build/release/bin")
    parse.add_argument("--cleat-binary", type=Path, help="another build of the server")
    parse.add_argument(
        "--preload", type=Path, help="default: perf-shared-locks.so beside the binaries, in lib"
    )
    parse.add_argument(
        "--scenario", default=serve.DEFAULT,
        help="of cleat-bench compare: its certificate, group and version of TLS",
    )  # fmt: skip
    parse.add_argument("--handshakes", type=int, default=1000)
    parse.add_argument(
        "--megabytes", type=int, default=256, help="moved over 4 connections, each way"
    )
    parse.add_argument(
        "--allow",
        action="append",
        default=[],
        help="pattern of a function whose shared locks are known and do not count",
    )
    parse.add_argument(
        "--at-most",
        type=float,
        help="fail above so many acquisitions per handshake, allowed or not",
    )
    parse.add_argument(
        "--check",
        action="store_true",
        help="fail when a shared lock is touched that is not allowed",
    )
    parse.add_argument(
        "--json",
        type=Path,
        help="write the figures here too, and where and how they were counted, beside what other "
        "runs have written there",
    )
    parse.add_argument("--label", help="the run's name in that file; default: the server")
    return parse.parse_args()


class Counted:
    """One server with the counter preloaded; each part of the traffic is counted alone."""

    def __init__(self, server: serve.Server, dumps: Path):
        self.server = server
        self.dumps = dumps
        self.number = 0

    def take(self) -> list[dict]:
        """The counts since the last take, by call chain."""
        self.number += 1
        # Each process of the server has the counter; the first process has the threads.
        os.kill(self.server.pid, signal.SIGRTMIN + 5)
        path = Path(f"{self.dumps}.{self.number}")
        until = time.monotonic() + 10
        while not (path.exists() and path.read_text().endswith("end\n")):
            if time.monotonic() > until:
                raise RuntimeError(
                    "no dump: is the counter preloaded, and does the program keep its signal?"
                )
            time.sleep(0.05)
        lines = path.read_text().splitlines()
        names = Names([line for line in lines if "-" in line.split(" ", 1)[0]])
        found = []
        for line in lines:
            words = line.split()
            if words[0] == "dropped" and int(words[1]):
                print(f"{words[1]} acquisitions found the tables full", file=sys.stderr)
            if words[0] == "site":
                chain = [names.function_at(int(frame, 16)) for frame in words[4:]]
                found.append(
                    {
                        "lock": words[1],
                        "count": int(words[2]),
                        "contended": int(words[3]),
                        "chain": [name for name in chain if not WRAPPERS.match(name)] or chain,
                    }
                )
        return found


def summary(found: list[dict], units: float, allowed: list[re.Pattern]) -> list[tuple]:
    """A row for each function that takes shared locks, the most often first.

    Acquisitions per unit, contended ones, locks, the function, its caller, whether it is allowed.
    """
    by_name = collections.defaultdict(lambda: [0, 0, set(), collections.Counter()])
    for entry in found:
        row = by_name[entry["chain"][0]]
        row[0] += entry["count"]
        row[1] += entry["contended"]
        row[2].add(entry["lock"])
        row[3][" < ".join(entry["chain"][1:4])] += entry["count"]
    rows = [
        (
            count / units,
            contended / units,
            len(locks),
            name,
            callers.most_common(1)[0][0],
            any(pattern.search(name) for pattern in allowed),
        )
        for name, (count, contended, locks, callers) in by_name.items()
    ]
    return sorted(rows, reverse=True)


def hottest(found: list[dict]) -> int:
    """hottest is the number of acquisitions of the lock with the most."""
    times = collections.Counter()
    for entry in found:
        times[entry["lock"]] += entry["count"]
    return max(times.values(), default=0)


def show(title: str, rows: list[tuple]) -> None:
    print(f"{title}: {sum(row[0] for row in rows):.2f} acquisitions of shared locks")
    for count, contended, locks, name, caller, allowed in rows:
        if count >= 0.005:
            plural = "s" if locks > 1 else ""
            print(
                f"  {count:9.2f}  ({contended:.2f} waited, {locks} lock{plural})  "
                f"{name}{'  [allowed]' if allowed else ''}"
            )
            if caller:
                print(f"             < {caller}")


def record(
    machine: dict, use: argparse.Namespace, parts: dict[str, list[tuple]], hottest_lock: float
) -> dict:
    """record is the document of --json: the environment, the amount of traffic, and every row."""
    keys = ("acquisitions", "contended", "locks", "function", "caller", "allowed")
    asked = {key: getattr(use, key) for key in ("scenario", "handshakes", "megabytes")}
    return {
        "environment": {**machine, **asked},
        "hottest_lock": hottest_lock,
        "parts": {part: [dict(zip(keys, row)) for row in rows] for part, rows in parts.items()},
    }


def keep(path: Path, label: str, run: dict) -> None:
    document = json.loads(path.read_text()) if path.exists() else {"runs": {}}
    if not isinstance(document.get("runs"), dict):
        sys.exit(f"{path}: it is not of shared_locks.py --json; name another file")
    document["runs"][label] = run
    results.write(path, document)


def main() -> int:
    use = arguments()
    machine = environment.describe(TREE) if use.json else {}
    preload = use.preload or use.binaries.parent / "lib/perf-shared-locks.so"
    if not preload.exists():
        print(f"{preload} is not there: build the target perf-shared-locks", file=sys.stderr)
        return 2
    cores = environment.cores()
    with tempfile.TemporaryDirectory(prefix="shared-locks-") as folder:
        counts = Path(folder) / "locks"
        variables = {"LD_PRELOAD": preload.resolve(), "SHARED_LOCKS_FILE": counts}
        with serve.serving(
            use.binaries, use.server, scenario=use.scenario, workers=2, server_cores=cores,
            client_cores=cores, program=use.cleat_binary, variables=variables,
        ) as server:  # fmt: skip
            machine["servers"] = {use.server: server.version}
            parts, most = traffic(use, Counted(server, counts))
    handshakes = parts["handshake"]
    bad = [row for rows in parts.values() for row in rows if row[0] >= 0.01 and not row[5]]
    for part, rows in parts.items():
        show(f"{use.server}, per {part}", rows)
    if use.json:
        keep(use.json, use.label or use.server, record(machine, use, parts, most))
    if use.check and bad:
        print(f"FAIL: {len(bad)} functions take shared locks that are not allowed")
        return 1
    if use.at_most is not None and sum(row[0] for row in handshakes) > use.at_most:
        print(f"FAIL: more than {use.at_most} acquisitions of shared locks per handshake")
        return 1
    return 0


def traffic(
    use: argparse.Namespace, counted: Counted
) -> tuple[dict[str, list[tuple]], float]:
    """traffic gives the rows of each part, and the acquisitions for each handshake of the lock with
    the most."""
    allowed = [re.compile(pattern) for pattern in use.allow]
    server = counted.server
    server.handshakes(400)
    counted.take()
    server.handshakes(use.handshakes)
    found = counted.take()
    most = hottest(found) / use.handshakes
    parts = {"handshake": summary(found, use.handshakes, allowed)}
    per_handshake = {row[3]: row[0] for row in parts["handshake"]}
    for direction in ("down", "up"):
        server.move(direction, use.megabytes * MB // CONNECTIONS, CONNECTIONS)
        # The transfers' own handshakes are no part of the price of a MB.
        rows = [
            (
                max(0.0, row[0] - per_handshake.get(row[3], 0.0) * CONNECTIONS / use.megabytes),
                *row[1:],
            )
            for row in summary(counted.take(), use.megabytes, allowed)
        ]
        parts[f"MB of {direction}load"] = sorted(rows, reverse=True)
    return parts, most


if __name__ == "__main__":
    sys.exit(main())
