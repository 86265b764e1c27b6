#!/usr/bin/env python3
"""tests/summary/summary.py PRESET JUNIT: the last lines of scripts/test.

JUNIT is the file of ctest's --output-junit. The output is one line, "N passed, N failed,
N skipped", and below it each reason of a skip. The numbers count test cases where a program says
how many it has run (pytest and doctest), and one for each other test of ctest.

The exit code is 1 where a test has failed. With CLEAT_STRICT it is 1 as well where a test was
skipped for a reason that tests/skips does not list.
"""

import fnmatch
import os
import re
import sys
import xml.etree.ElementTree
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

LISTED = Path(__file__).resolve().parents[1] / "skips"

# "1 failed, 3 passed, 2 skipped in 0.25s": the last line of pytest -q.
PYTEST = re.compile(r"^((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s", re.MULTILINE)
# "SKIPPED [2] program/test_names.py:12: the reason": a line of pytest -rs.
SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] \S+: (.*)$", re.MULTILINE)
# "[doctest] test cases: 7 | 6 passed | 1 failed | 0 skipped"
DOCTEST = re.compile(
    r"^\[doctest\] test cases: +\d+ \| +(\d+) passed \| +(\d+) failed \| +(\d+) skipped",
    re.MULTILINE,
)


@dataclass
class Outcome:
    """Outcome is what one test of ctest has come to: numbers of its cases."""

    passed: int = 0
    failed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # By reason.


def outcome(test: xml.etree.ElementTree.Element) -> Outcome:
    """outcome reads a <testcase>."""
    output = test.findtext("system-out") or ""
    status = test.get("status")
    skip = test.find("skipped")
    found = Outcome()
    if counts := PYTEST.findall(output):
        numbers = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", counts[-1])}
        found.passed = numbers.get("passed", 0)
        found.failed = sum(numbers.get(word, 0) for word in ("failed", "error", "errors"))
        for number, reason in SKIPPED.findall(output):
            found.skipped[reason] += int(number)
        unexplained = numbers.get("skipped", 0) - found.skipped.total()
    elif counts := DOCTEST.findall(output):
        found.passed, found.failed, unexplained = map(int, counts[-1])
    else:
        found.passed = int(status == "run")
        unexplained = 0
    # ctest gives this status also to a program that is not there, which is a failure.
    if status == "notrun" and skip is not None and "SKIP_" in skip.get("message", ""):
        unexplained = max(unexplained, int(not found.skipped))
    elif status != "run":
        found.failed = max(found.failed, 1)
    if unexplained > 0:
        found.skipped["no reason was given"] += unexplained
    return found


def read(path: Path) -> dict[str, Outcome]:
    """read returns the outcome of each test."""
    tests = xml.etree.ElementTree.parse(path).iter("testcase")
    return {test.get("name", ""): outcome(test) for test in tests}


def system() -> str:
    """system is the name that scripts/setup uses, such as debian-12."""
    try:
        lines = Path("/etc/os-release").read_text().splitlines()
    except OSError:
        return "unknown"
    about = dict(line.split("=", 1) for line in lines if "=" in line)
    release = {key: value.strip('"') for key, value in about.items()}
    return f"{release.get('ID', 'unknown')}-{release.get('VERSION_ID', '').split('.')[0]}"


def listed(path: Path) -> list[tuple[str, str, str]]:
    """listed are the lines of tests/skips: where, which test, and for which reason."""
    lines = [line for line in path.read_text().splitlines() if line and line[0] != "#"]
    return [(where, test, reason) for where, test, reason in (x.split(None, 2) for x in lines)]


def is_listed(lines: list[tuple[str, str, str]], places: set[str], test: str, reason: str) -> bool:
    return any(
        any(fnmatch.fnmatchcase(place, each) for place in places for each in where.split(","))
        and fnmatch.fnmatchcase(test, tests)
        and fnmatch.fnmatchcase(reason, reasons)
        for where, tests, reasons in lines
    )


def main(arguments: list[str]) -> int:
    preset, path = arguments
    tests = read(Path(path))
    lines = listed(LISTED)
    places = {preset, system()}
    passed = sum(each.passed for each in tests.values())
    failed = sum(each.failed for each in tests.values())
    skipped = sum(each.skipped.total() for each in tests.values())
    print(f"{passed} passed, {failed} failed, {skipped} skipped")

    unlisted = 0
    for name, each in sorted(tests.items()):
        for reason, count in sorted(each.skipped.items()):
            is_known = is_listed(lines, places, name, reason)
            unlisted += not is_known
            note = "" if is_known else " (not listed in tests/skips)"
            print(f"skipped: {count} of {name}: {reason}{note}")
    if unlisted and os.environ.get("CLEAT_STRICT"):
        print("CLEAT_STRICT: a skip that is not listed in tests/skips is a failure")
        return 1
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
