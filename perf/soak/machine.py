"""The machine's other work, which takes cores from cleat and its clients."""

import os
import resource
import time
from dataclasses import dataclass, field
from pathlib import Path

from cleat_perf.processes import cpu_ns

TICKS = os.sysconf("SC_CLK_TCK")


def busy_s() -> float:
    """busy_s is the time that all cores have worked, or were given to other machines (steal)."""
    line = Path("/proc/stat").read_text().split("\n", 1)[0]
    user, nice, system, _, _, hard, soft, steal = map(int, line.split()[1:9])
    return (user + nice + system + hard + soft + steal) / TICKS


def own_s() -> float:
    """own_s is that of this process and of all that it has started and that may have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return cpu_ns(os.getpid()) / 1e9 + ended.ru_utime + ended.ru_stime


@dataclass
class OtherWork:
    """OtherWork counts from its start."""

    began: float = field(default_factory=time.monotonic)
    busy: float = field(default_factory=busy_s)
    own: float = field(default_factory=own_s)

    def cores(self) -> float:
        """cores that other work has used so far, on average."""
        took = busy_s() - self.busy - (own_s() - self.own)
        return max(0.0, took) / (time.monotonic() - self.began)
