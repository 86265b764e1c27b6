"""Locks and stacks of the study's programs, as cleat-locks sees them."""

import json
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from studies.libraries.programs import Case, ask

STACKS = 10
DEPTH = 6  # innermost functions of a stack
FIRST_S = 1.0
SAMPLES = 400  # of CPU time, at least: one of 5 % is known to a quarter or so then


# Rust's spelling, in symbols, of characters that a linker does not accept.
RUST = {"$LT$": "<", "$GT$": ">", "$u20$": " ", "$RF$": "&", "$BP$": "*", "..": "::", "_<": "<"}


def shortest(name: str) -> str:
    """shortest leaves a function its name: its types and Rust's digest would fill the page."""
    name = re.sub(r"::h[0-9a-f]{16}$", "", name)
    if "$" in name:
        for written, meant in RUST.items():
            name = name.replace(written, meant)
    name = name.replace("(anonymous namespace)::", "")
    while (shorter := re.sub(r"<[^<>]*>", "<>", name.replace("<>", ""))) != name:
        name = shorter
    name = name.replace("<>", "").replace("::::", "::").split("(")[0].removeprefix("::")
    return name if "operator" in name else name.split(" ")[-1]


def stacks(report: dict, weight: str, counted: str) -> list[dict]:
    """stacks are those with most of a weight, with their parts of all of it, and `count`: how many
    samples or waits a part rests on.

    They are added up by their innermost functions: the callers in the test bench are the same for
    all, and one function is one place, wherever in it a sample was.
    """
    sums, counts = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for each in report["stacks"]:
        if each[weight] > 0:
            innermost = each["functions"][:DEPTH]
            names = tuple(shortest(report["functions"][index]) for index in innermost)
            sums[names] += each[weight]
            counts[names] += each[counted]
    whole = sum(sums.values())
    return [
        {
            "percent": round(100 * value / whole, 1),
            "count": counts[functions],
            "innermost_first": " < ".join(functions),
        }
        for functions, value in sums.most_common(STACKS)
    ]


def recorded(
    cleat_locks: Path, program: Path, case: Case, pems: dict[str, Path], seconds: float
) -> tuple[dict, dict]:
    """recorded runs a program once more, and gives its figures and cleat-locks' report."""
    with tempfile.TemporaryDirectory(prefix="cleat-study-") as name:
        trace, document = Path(name, "study.locks"), Path(name, "report.json")
        before = [str(cleat_locks), "run", "-o", str(trace), "--"]
        figures = ask(program, case, pems, seconds, *before)
        command = [str(cleat_locks), "report", str(trace), "--json", str(document)]
        subprocess.run(command, check=True, capture_output=True)
        return figures, json.loads(document.read_text())


def profile(
    cleat_locks: Path, program: Path, case: Case, pems: dict[str, Path], longest_s: float
) -> dict:
    """profile is what cleat-locks sees of a case, in a run that is long enough for SAMPLES, and at
    most `longest_s`. The speed of a recorded run is not kept."""
    first, set_up = recorded(cleat_locks, program, case, pems, 0)
    if "unsupported" in first:
        return first
    seconds = min(FIRST_S, longest_s)
    figures, report = recorded(cleat_locks, program, case, pems, seconds)
    while (samples := report["total"]["cpu_samples"]) < SAMPLES and seconds < longest_s:
        # A quarter more than needed: other programs may use the cores, too.
        seconds = min(longest_s, seconds * max(1.25 * SAMPLES / max(1, samples), 1.25))
        figures, report = recorded(cleat_locks, program, case, pems, seconds)
    # The locks of a run with one handshake on each thread are subtracted: setting up contexts takes
    # more of them than many a handshake.
    shared = sum(each["shared_acquisitions"] for each in report["locks"]) - sum(
        each["shared_acquisitions"] for each in set_up["locks"]
    )
    more = max(1, figures["handshakes"] - first["handshakes"])
    return {
        "blocked_percent": report["blocked_percent"],
        "lock_cpu_percent": report["lock_cpu_percent"],
        "reference_cpu_percent": report["reference_cpu_percent"],
        "cpu_samples": samples,
        "profiled_seconds": round(seconds, 1),
        "shared_acquisitions_per_handshake": round(max(0, shared) / more, 2),
        "stacks_by_cpu": stacks(report, "cpu_samples", "cpu_samples"),
        "stacks_by_blocked": stacks(report, "blocked_ns", "contended"),
    }
