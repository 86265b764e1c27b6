"""Lock profiles of study-asio: how often an operation takes locks that threads share, by function.

Setting up (contexts, threads, first handshakes) takes locks too, and more of them than a thousand
messages. So each profile is of two runs, a short and a long one, and what an operation costs is
their difference over the operations that the long one has more.
"""

import json
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Callable

# Frames that say that a lock was taken, and not which.
WRAPPERS = re.compile(
    r"_*pthread_|CRYPTO_(THREAD|MUTEX|STATIC_MUTEX)_|(std|bssl)::.*[Mm]utex|bssl::Mutex|"
    r"boost::asio::detail::(posix_mutex|scoped_lock|conditionally_enabled_mutex)"
)
UNNAMED = re.compile(r"\+0x|^0x|^\[")
# The function whose global lock held up every thread in 2015, by the names that it had since.
ERROR_STATE = re.compile(r"(ossl_)?err_get_state", re.IGNORECASE)
ERRORS = re.compile(r"(ERR|err|ossl_err)_")
TREE_LINES = 16
ASIO = "boost::asio::"
# A lock that is taken less often belongs to setting up and ending.
TAKEN_AT_LEAST = 0.05


def short(name: str) -> str:
    """short is a function's name without its parameters and template arguments."""
    name = name.replace("(anonymous namespace)::", "")
    while (cut := re.sub(r"<[^<>]*>", "", name)) != name:
        name = cut
    return name.split("(")[0].split(" ")[-1] or name


def taker(lock: dict) -> str:
    """taker is the function that takes a lock most, behind those that only wrap the taking.

    Where several do, cleat-locks says what they have in common, and that may be a wrapper.
    """
    names = [short(name) for name in lock["taken_by"]]
    inner = [name for name in names if not WRAPPERS.match(name)]
    named = [name for name in inner if not UNNAMED.search(name)]
    if named:
        return named[0]
    return f"several in {inner[0].split('+')[0]}" if inner else "several functions"


def is_shared(lock: dict) -> bool:
    """is_shared leaves conditions and the like out, where threads wait for work."""
    return lock["kind"] in ("mutex", "rwlock", "spin") and lock["shared_acquisitions"] > 0


def in_functions(run: dict, pattern: re.Pattern) -> Counter:
    """in_functions adds up the stacks that have a function of such a name in them."""
    wanted = {i for i, name in enumerate(run["functions"]) if pattern.match(short(name))}
    found = Counter()
    for stack in run["stacks"]:
        if wanted.intersection(stack["functions"]):
            for key in ("acquisitions", "contended", "blocked_ns", "cpu_samples"):
                found[key] += stack.get(key, 0)
    return found


def with_errors(long: dict, short_run: dict, pattern: re.Pattern) -> dict:
    """with_errors is what such functions cost all operations together. `seen` is false where a
    function was inlined, or has no name in the file."""
    found = in_functions(long, pattern)
    found.subtract(in_functions(short_run, pattern))
    seen = any(pattern.match(short(name)) for name in long["functions"])
    return {"seen": seen} | {key: max(0, each) for key, each in found.items()}


def takers(report: dict) -> Counter:
    """takers are acquisitions of shared locks, by the function that takes them most."""
    found = Counter()
    for lock in filter(is_shared, report["locks"]):
        found[taker(lock)] += lock["shared_acquisitions"]
    return found


def holds(lock: dict) -> int:
    """holds count acquisitions, and those after a wait for a condition."""
    return lock["exclusive"]["acquisitions"] + lock["exclusive"].get("taken_again", 0)


def mean_hold_ns(locks: list[dict]) -> float:
    """mean_hold_ns is that of like locks together. Each of a hundred has a handful of timed holds,
    and the one whose handful has the greatest mean is the one whose thread a neighbour of this
    virtual machine has stopped, which the kernel in it does not see. So each lock's longest is left
    out too, where it is not one of those that are left out already."""
    time, holds_timed = 0.0, 0
    for held in (lock["exclusive"] for lock in locks):
        interrupted = held.get("interrupted_holds", 0)
        timed = held["timed_holds"] - interrupted
        longest = held["max_hold_ns"] if interrupted == 0 and timed > 1 else 0
        time += held["mean_hold_ns"] * timed - longest
        holds_timed += timed - (longest > 0)
    return max(0.0, time / holds_timed) if holds_timed > 0 else 0.0


def hottest(long: dict, short_run: dict, operations: int, asios: bool) -> dict | None:
    """hottest is the lock that is held longest for each operation, and so saturates first: of
    Asio's, or else of all others, which are the TLS library's."""

    def ours(run: dict) -> list[dict]:
        return [
            lock
            for lock in filter(is_shared, run["locks"])
            if any(name.startswith(ASIO) for name in lock["taken_by"]) == asios
        ]

    def taken_in(locks: list[dict]) -> int:
        return sum(holds(lock) for lock in locks)

    before = Counter()
    for lock in ours(short_run):
        before[taker(lock)] = max(before[taker(lock)], holds(lock))
    # A lock may have another taker's name in the other run. No lock is taken more than all are.
    of_all = taken_in(ours(long)) - taken_in(ours(short_run))
    alike = defaultdict(list)
    for lock in ours(long):
        alike[taker(lock)].append(lock)
    mean_ns = {name: mean_hold_ns(locks) for name, locks in alike.items()}
    best = None
    for lock in ours(long):
        if lock.get("one_threads_own", False):  # It keeps no thread out.
            continue
        taken = min(holds(lock) - before[taker(lock)], of_all) / operations
        held_ns = taken * mean_ns[taker(lock)]
        if taken >= TAKEN_AT_LEAST and held_ns > 0 and (not best or held_ns > best["held_ns"]):
            best = {
                "taken_by": taker(lock),
                "kind": lock["kind"],
                "acquisitions": taken,
                "held_ns": held_ns,
                "operations_per_second_max": 1e9 / held_ns,
            }
    return best


def tree(text: str) -> list[str]:
    """tree is the top of the report's inverted call tree."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith("The inverted call")), None)
    if begin is None:
        return []
    found = []
    for line in lines[begin + 2 :]:
        if not line.strip():
            break
        found.append(line.rstrip().replace("boost::asio::", "asio::"))
    return found[:TREE_LINES]


def reduced(long: dict, short_run: dict, operations: int, text: str) -> dict:
    """reduced is what is kept of a profile; counts are for one operation."""

    def each(count: Callable[[dict], float]) -> float:
        return max(0.0, (count(long) - count(short_run)) / operations)

    found = takers(long)
    found.subtract(takers(short_run))
    return {
        "operations": operations,
        "blocked_percent": long["blocked_percent"],
        "lock_cpu_percent": long["lock_cpu_percent"],
        "reference_cpu_percent": long["reference_cpu_percent"],
        "acquisitions": each(lambda run: run["total"]["acquisitions"]),
        "contended": each(lambda run: run["total"]["contended"]),
        "blocked_ns": each(lambda run: run["total"]["blocked_ns"]),
        "shared_acquisitions": each(lambda run: sum(takers(run).values())),
        "taken_by": {name: n / operations for name, n in found.most_common(6) if n > 0},
        "hottest": {
            "asio": hottest(long, short_run, operations, asios=True),
            "library": hottest(long, short_run, operations, asios=False),
        },
        "error_state": with_errors(long, short_run, ERROR_STATE),
        "errors": with_errors(long, short_run, ERRORS),
        "cpu_samples": long["total"]["cpu_samples"],
        "tree": tree(text),
    }


def record(locks: Path, command: list[str], trace: Path) -> tuple[dict, str]:
    """record gives the report on one run, as JSON and as text."""
    shutil.rmtree(trace, ignore_errors=True)
    subprocess.run(
        [str(locks), "run", "-o", str(trace), "--", *command],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    written = trace.parent / "report.json"
    ran = subprocess.run(
        [str(locks), "report", "--json", str(written), str(trace)],
        check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return json.loads(written.read_text()), ran.stdout


def per_operation(locks: Path, trace: Path, operations: int) -> dict:
    """per_operation is cleat-locks' own account of the long run, its set-up included."""
    ran = subprocess.run(
        [str(locks), "per-operation", "-n", str(operations), "--json", "-", str(trace)],
        check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    found = json.loads(ran.stdout)
    found["locks"] = found["locks"][:3]
    return found


def profile(
    locks: Path, command: Callable[[int], list[str]], few: int, many: int, folder: Path
) -> dict:
    """profile records a program; `command` gives its command for a number of operations."""
    trace = folder / "profile.locks"
    short_run, _ = record(locks, command(few), trace)
    long, text = record(locks, command(many), trace)
    found = reduced(long, short_run, many - few, text)
    found["per_operation"] = per_operation(locks, trace, many)
    shutil.rmtree(trace)
    return found
