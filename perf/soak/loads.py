"""The loads that cleat-bench makes: honest clients, a quiet stream of requests, and the flood."""

import json
import subprocess
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from cleat_perf import environment
from cleat_perf.processes import Process
from cleat_perf.serve import Unable

from soak.sites import BOTH, Site

PATIENCE_S = 120
# Honest clients wait for a machine that has other work: their failures are what a run looks for.
WAIT = ("--connect-timeout", "20s", "--handshake-timeout", "20s", "--answer-timeout", "30s")
# Handshakes with RSA cost cleat the most in relation to their cost for the flood's clients.
RSA = ("--path", "/1", "--signature-algorithms", "RSA-PSS+SHA256", "--groups", "X25519",
       "--tls", "1.3", "--close", "reset", "--source", "127.2.0.1-127.2.0.100")  # fmt: skip
FLOOD_TIMES = 3  # of what cleat can do
CAPACITY_S = 2
# Some of these connections are to the killed server.
LONG = {
    "long downloads": ("-c", 4, "--path", "/30000000", "--expect-size", 30000000, *WAIT),
    "long uploads": ("-c", 4, "--method", "POST", "--path", "/", "--body-size", "30M", *WAIT),
}  # fmt: skip


class Rates:
    """Rates are of open loops: new connections, or requests, a second, whatever cleat does. Those
    of honest clients are a small part of what cleat can do on this machine: calm is calm."""

    def __init__(self, capacity: float) -> None:
        def share(divisor: int, most: int) -> int:
            return max(1, min(most, round(capacity / divisor)))

        small = ("--path", "/1000", "--expect-size", 1000, *WAIT)
        large = share(150, 5)
        self.honest = {
            "full handshakes": ("-r", share(20, 40), *small),
            "resumed handshakes": ("-r", share(20, 40), "--resume-ratio", 0.9, *small),
            "downloads": ("-r", large, "--path", "/1000000", "--expect-size", 1000000, *WAIT),
            "uploads": (
                "-r", large, "--method", "POST", "--path", "/", "--body-size", "1M", *WAIT,
            ),
        }  # fmt: skip
        self.quiet = (
            "-r", share(4, 200), "-c", 4, "--keep", "--path", "/1",
            "--expect-size", 1, *WAIT,
        )  # fmt: skip
        self.flood_at(capacity)

    def flood_at(self, capacity: float) -> None:
        """flood_at sets the flood for what cleat can do now: on a machine whose other work has
        grown, an earlier figure would make a flood that lasts for minutes."""
        self.flood = ("-r", max(1, round(capacity * FLOOD_TIMES)), *RSA)


def waits_of(pid: int) -> str:
    """waits_of a process is what its threads wait for, and all connections of the machine with
    their queues and timers: for a hang that cannot be made again."""
    lines = []
    for task in sorted(Path(f"/proc/{pid}/task").iterdir()):
        with suppress(OSError):  # It has ended.
            fields = [(task / each).read_text().strip() for each in ("comm", "wchan", "syscall")]
            lines.append(" ".join(fields))
    connections = subprocess.run(["ss", "-tnopH"], capture_output=True, text=True)
    return "\n".join([*lines, connections.stdout])


@dataclass
class Load:
    """Load is a cleat-bench that runs."""

    name: str
    process: Process
    out: Path

    def result(self) -> dict:
        """result waits for the end. Raises Unable where there is no result."""
        child = self.process.child
        try:
            child.wait(PATIENCE_S)
            document: dict = json.loads(self.out.read_text())
        except subprocess.TimeoutExpired:
            raise Unable(f"{self.name}: does not end:\n{waits_of(child.pid)}") from None
        except (OSError, ValueError):
            said = self.process.log.read_text(errors="replace")[-1000:]
            raise Unable(f"{self.name}: no result, exit code {child.poll()}:\n{said}") from None
        self.out.unlink()
        return document


def start(site: Site, name: str, words: tuple, seconds: float, processes: ExitStack) -> Load:
    out = site.folder / f"{name}.json"
    command = [site.binaries / "cleat-bench", "load", "-q", "--no-preflight", "--workers", 1,
               "-d", f"{seconds}s", "--json", out, *words,
               f"https://127.0.0.1:{site.ports[BOTH]}"]  # fmt: skip
    process = Process([*map(str, command)], environment.cores(), site.folder / f"{name}.log")
    return Load(name, processes.enter_context(process), out)


def capacity(site: Site) -> float:
    """capacity is how many full handshakes with RSA cleat makes in a second beside its clients."""
    with ExitStack() as processes:
        found = start(site, "capacity", ("-c", 64, *RSA), CAPACITY_S, processes).result()
    if found["failed"] or not found["ok"]:
        raise Unable(f"full handshakes failed: {found['failures']}")
    return float(found["ok"]) / CAPACITY_S
