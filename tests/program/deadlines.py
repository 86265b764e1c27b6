"""How long the tests wait before they give up. No test waits for time to pass: each waits for
something to happen, and fails when it has not happened by then."""

import os
import time
from typing import Callable, TypeVar

T = TypeVar("T")

SANITIZED = os.environ.get("CLEAT_SANITIZE", "").strip().lower() not in ("", "off", "none", "0")
# Seconds. A sanitizer makes programs several times slower, and a shared machine may stop for a
# minute: only a program that hangs is to take longer.
DEADLINE = 240.0


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
