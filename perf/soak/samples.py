"""Samples of what should not grow, once a second, with the phase that they were taken in."""

import threading
import time
from contextlib import contextmanager
from typing import Iterator

from soak.sites import Site

EVERY_S = 1.0
REST = "rest"


class Samples:
    """Samples are taken in a thread of their own, while it lasts. A sample at rest is asked for."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.began = time.monotonic()
        self.rows: list[dict] = []
        self.cycle, self.phase = 0, ""
        self.is_over = threading.Event()
        self.failure: Exception | None = None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self) -> "Samples":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.thread.join()

    @contextmanager
    def during(self, phase: str) -> Iterator[None]:
        """during names the phase of the samples that are taken meanwhile."""
        self.phase = phase
        try:
            yield
        finally:
            self.phase = ""

    def seconds(self) -> float:
        return time.monotonic() - self.began

    def take(self, phase: str) -> None:
        cycle = self.cycle
        row = {"seconds": self.seconds(), "cycle": cycle, "phase": phase, **self.site.sample()}
        self.rows.append(row)

    def run(self) -> None:
        while not self.is_over.wait(EVERY_S):
            try:
                self.take(self.phase)
            except Exception as failure:  # The run reports it, and ends.
                self.failure = failure
                return

    def at_rest(self, name: str, first_cycle: int) -> tuple[list[float], list[float]]:
        """at_rest are the times and values of a series, from a cycle on."""
        rows = [each for each in self.rows if each["phase"] == REST]
        rows = [each for each in rows if each["cycle"] >= first_cycle]
        return [each["seconds"] for each in rows], [each[name] for each in rows]

    def least(self, name: str, first_cycle: int) -> tuple[list[float], list[float]]:
        """least are the times and the values of the smallest sample of each cycle."""
        smallest: dict[int, dict] = {}
        for each in self.rows:
            if each["cycle"] >= first_cycle:
                before = smallest.setdefault(each["cycle"], each)
                smallest[each["cycle"]] = min(before, each, key=lambda row: row[name])
        found = smallest.values()
        return [each["seconds"] for each in found], [each[name] for each in found]

    def columns(self) -> dict[str, list]:
        return {key: [each[key] for each in self.rows] for key in self.rows[0]}
