#!/usr/bin/env python3
"""Compares cleat-locks with OpenSSL's own report of waits for its locks, on the same run.

The program is the naive arm of the Asio study on an OpenSSL 4 that was built to report:

    scripts/build release-openssl-4-contention study-asio cleat-locks
    perf/lock_contention.py

OpenSSL tries a lock; where that fails it waits between two readings of the clock, in whole
microseconds. cleat-locks records the failed try, and times the wait by itself. Every run is a
round; --check fails where they differ by more than 5 %.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cleat_perf import environment, results
from cleat_perf.results import TREE

WITHIN = 0.05
# A line of OpenSSL's report; the stack that follows it is not needed.
BLOCKED = re.compile(r"lock blocked on (READ|WRITE) for (\d+) usec")


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument(
        "--binaries", type=Path, default=TREE / "build/release-openssl-4-contention/bin",
        help="folder of study-asio and cleat-locks",
    )  # fmt: skip
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--threads", type=int, default=8)
    parse.add_argument("--handshakes", type=int, default=20000)
    parse.add_argument("--out", type=Path, help="default: a new file in perf/results; - for none")
    parse.add_argument("--check", action="store_true", help="fail where they do not agree")
    return parse.parse_args()


def openssls(folder: Path) -> dict:
    """openssls is OpenSSL's report, which has a file for each of its threads."""
    logs = sorted(folder.glob("lock-contention-log.*.txt"))
    if not logs:
        sys.exit("OpenSSL wrote no report: it was built without CLEAT_OPENSSL_REPORTS_CONTENTION")
    waits = [int(us) for log in logs for _, us in BLOCKED.findall(log.read_text())]
    return {"waits": len(waits), "wait_us": sum(waits), "longest_us": max(waits, default=0)}


def ours(report: dict) -> dict:
    """ours is cleat-locks' report of the read-write locks, which are all OpenSSL's."""
    locks = [lock for lock in report["locks"] if lock["kind"] == "rwlock"]
    return {
        "waits": sum(lock["failed"] for lock in locks),
        "wait_us": sum(lock["wait_ns"] for lock in locks) / 1000,
        "longest_us": max((lock["max_wait_ns"] for lock in locks), default=0) / 1000,
        "acquisitions": sum(lock["acquisitions"] for lock in locks),
    }


def once(use: argparse.Namespace, pem: Path, folder: Path) -> dict:
    trace = folder / "run.locks"
    words = [use.binaries / "study-asio", "--pem", pem, "--arm", "naive"]
    words += ["--threads", use.threads, "--connections", 20, "--handshakes", use.handshakes]
    recorded = [use.binaries / "cleat-locks", "run", "-o", trace, "--", *words]
    subprocess.run(
        [str(word) for word in recorded], check=True, capture_output=True, timeout=300, cwd=folder
    )
    said = subprocess.run(
        [str(use.binaries / "cleat-locks"), "report", "--json", "-", str(trace)],
        check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return {"openssl": openssls(folder), "cleat_locks": ours(json.loads(said.stdout))}


def main() -> int:
    use = arguments()
    for name in ("study-asio", "cleat-locks"):
        if not (use.binaries / name).exists():
            sys.exit(
                f"{use.binaries / name} is not there: "
                "scripts/build release-openssl-4-contention study-asio cleat-locks"
            )
    facts = environment.describe(TREE)
    rounds = []
    print("            waits              waited [ms]           longest [ms]")
    print("      OpenSSL  cleat-locks  OpenSSL  cleat-locks  OpenSSL  cleat-locks")
    for number in range(use.rounds):
        with tempfile.TemporaryDirectory(prefix="contention-") as name:
            folder = Path(name)
            found = once(use, environment.certificates(folder)["ecdsa"], folder)
        theirs, own = found["openssl"], found["cleat_locks"]
        print(
            f"  {number + 1:>2}  {theirs['waits']:>7,}  {own['waits']:>11,}"
            f"  {theirs['wait_us'] / 1000:>7,.1f}  {own['wait_us'] / 1000:>11,.1f}"
            f"  {theirs['longest_us'] / 1000:>7,.2f}  {own['longest_us'] / 1000:>11,.2f}"
        )
        rounds.append(found)
    if any(not each["openssl"]["waits"] and each["cleat_locks"]["waits"] for each in rounds):
        sys.exit("cleat-locks recorded waits where OpenSSL reports none")
    waited = [each for each in rounds if each["openssl"]["wait_us"]]
    if not waited:
        sys.exit("nothing waited: more --handshakes or --threads")
    ratios = [each["cleat_locks"]["wait_us"] / each["openssl"]["wait_us"] for each in waited]
    counted = [each["cleat_locks"]["waits"] / each["openssl"]["waits"] for each in waited]
    print(
        f"cleat-locks over OpenSSL: waits {statistics.median(counted):.4f}"
        f" ({min(counted):.4f} to {max(counted):.4f}), time {statistics.median(ratios):.4f}"
        f" ({min(ratios):.4f} to {max(ratios):.4f})"
    )
    if str(use.out) != "-":
        path = use.out or TREE / "perf/results" / f"{facts['date'][:10]}-contention.json"
        asked = {"threads": use.threads, "handshakes": use.handshakes}
        results.write(path, {"environment": facts, **asked, "rounds": rounds})
        print(f"written: {path}")
    agree = all(abs(each - 1) <= WITHIN for each in ratios + counted)
    if not agree:
        print(f"They differ by more than {WITHIN:.0%}.")
    return 1 if use.check and not agree else 0


if __name__ == "__main__":
    sys.exit(main())
