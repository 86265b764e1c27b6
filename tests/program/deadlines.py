"""How long the tests wait before they give up. No test waits for time to pass: each waits for
something to happen, and fails when it has not happened by then."""

import functools
import os
import time
import warnings
from typing import Callable, TypeVar

T = TypeVar("T")
Test = TypeVar("Test", bound=Callable[..., None])

# A sanitizer makes programs several times slower, and a shared machine does what it wants.
SANITIZED = os.environ.get("CLEAT_SANITIZE", "").strip().lower() not in ("", "off", "none", "0")
DEADLINE = 90.0 if SANITIZED else 30.0


def eventually(what: str, look: Callable[[], T], deadline: float = DEADLINE) -> T:
    """eventually looks again and again until it sees something true, and returns that. For what
    can only be looked at: a file, a process, a counter of the kernel."""
    end = time.monotonic() + deadline
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline:.0f} s: {what}")
        time.sleep(0.005)


# scripts/test describes the variable.
ROUNDS = 1 + int(os.environ.get("CLEAT_RERUNS", "2"))


def in_some_round(test: Test) -> Test:
    """in_some_round is for figures that a neighbour on the machine may spoil: the test is passed
    when it passes in one of three rounds. A defect is there in each of them. scripts/test names the
    tests that did not pass in the first one."""

    @functools.wraps(test)
    def repeated(*arguments: object, **named: object) -> None:
        for number in range(1, ROUNDS + 1):
            try:
                test(*arguments, **named)
            except AssertionError as failure:
                if number == ROUNDS:
                    raise
                print(f"round {number} failed: {failure}")  # Shown if the last one fails too.
                continue
            if number > 1:  # tests/summary/summary.py looks for this line.
                name = f"{test.__module__}.{test.__name__}"
                warnings.warn(f"passed only in round {number}: {name}", stacklevel=1)
            return

    return repeated  # type: ignore[return-value]
