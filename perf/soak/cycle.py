"""A cycle: calm, backend faults, reloads, a flood and rest, one after the other, beside honest
clients.

Reloads come after the faults: they begin with fresh counts of a server's failures, so that both
servers serve in the next calm phase.
"""

import time
from contextlib import ExitStack
from typing import Callable

from cleat_perf.serve import Unable

from soak import loads
from soak.failures import IN_FLOOD, WITH_SERVER, Phase
from soak.idlers import EACH, Idlers
from soak.machine import OtherWork
from soak.samples import REST, Samples
from soak.sites import Site

CALM_S, FAULTS_S, RELOADS_S, FLOOD_S = 4, 2.5, 2, 2
RELOADS = 4  # of which the last but one is broken, and must be refused
IDLE = 2 * EACH


class Cycle:
    """Cycle is one of a run, and what became of it."""

    def __init__(
        self, site: Site, idlers: Idlers, samples: Samples, number: int, rates: loads.Rates
    ) -> None:
        self.site, self.idlers, self.samples, self.number = site, idlers, samples, number
        self.rates = rates
        self.phases: list[Phase] = []
        self.faults: list[str] = []  # beside those of the phases
        self.seconds = 0.0
        self.p99_ms: float | None = None
        self.other_cores = 0.0
        self.flood: dict = {}

    def run(self) -> None:
        self.samples.cycle = self.number
        self.seconds = self.samples.seconds()
        other_work = OtherWork()
        quiet = self.phase("calm", CALM_S, {"quiet": self.rates.quiet}, lambda _: None)["quiet"]
        self.other_cores = other_work.cores()
        p99_ns = quiet["latency"]["response"]["p99_ns"]  # Null where more than 1 % failed.
        self.p99_ms = None if p99_ns is None else p99_ns / 1e6
        self.phase("backend faults", FAULTS_S, loads.LONG, self.fail_servers)
        self.idlers.return_to_server()
        self.phase("reloads", RELOADS_S, {}, self.reload)
        flood = {"flood": self.rates.flood}
        found = self.phase("flood", FLOOD_S, flood, self.expect_timeouts)["flood"]
        self.flood = {key: found[key] for key in ("attempts", "ok", "failed", "rate", "rate_asked")}
        self.rates.flood_at(found["rate"])
        self.rest()

    def rest(self) -> None:
        """rest waits until only idle clients are connected, and takes a sample."""
        if not self.site.settles(IDLE):
            self.faults.append(f"cycle {self.number}: connections stay open without clients")
        self.samples.take(REST)

    def phase(
        self, name: str, seconds: float, others: dict[str, tuple],
        disturb: Callable[[Phase], None],
    ) -> dict[str, dict]:  # fmt: skip
        """phase runs the honest clients, and other loads beside them; it returns the results."""
        found = Phase(f"cycle {self.number}, {name}")
        every = self.rates.honest | others
        with self.samples.during(name), ExitStack() as processes:
            running = [
                loads.start(self.site, each, words, seconds, processes)
                for each, words in every.items()
            ]
            disturb(found)
            results = {each.name: each.result() for each in running}
        for each in results:
            if each != "flood":
                found.add(results[each])
        self.phases.append(found)
        self.check_life()
        return results

    def check_life(self) -> None:
        if self.site.cleat.child.poll() is not None:
            log = self.site.cleat.log.read_text(errors="replace")[-2000:]
            raise Unable(f"cleat has ended:\n{log}")
        if self.samples.failure:
            raise Unable(f"cleat's admin server: {self.samples.failure!r}")

    def fail_servers(self, phase: Phase) -> None:
        """fail_servers kills a server and starts it again, and stops the other one for a time."""
        time.sleep(0.5)
        self.idlers.expect_cut()
        open_before, total_before = self.site.on_killed_server()
        self.site.killed.kill()
        time.sleep(0.7)
        _, total = self.site.on_killed_server()
        phase.expected = WITH_SERVER
        phase.expected_max = open_before + total - total_before
        self.site.killed.start()
        self.site.stopped.halt()
        time.sleep(0.5)
        self.site.stopped.resume()

    def reload(self, _: Phase) -> None:
        """reload changes the certificate each time, and breaks a file in another way each cycle."""
        breakages = self.site.breakages
        for number in range(RELOADS):
            self.site.files.mend(number)
            is_broken = number == RELOADS - 2
            if is_broken:
                breakages[self.number % len(breakages)]()
            if self.site.reload() == is_broken:
                said = "a broken reload was done" if is_broken else "a reload was refused"
                self.faults.append(f"cycle {self.number}: {said}")
            time.sleep(RELOADS_S / RELOADS / 2)

    @staticmethod
    def expect_timeouts(phase: Phase) -> None:
        phase.expected = IN_FLOOD
