#!/usr/bin/env python3
"""Ten times as many full handshakes as a server can do, beside clients that are worth more.

    scripts/build release cleat cleat-bench perf-origin
    perf/overload.py --servers cleat,before=cleat:FILE,haproxy,nginx --out FILE

A server has a ration of CPU, so that it is the limit, and not the clients. 200 established
connections send ten requests a second each all the time, and 100 clients a second resume a session.
Three windows: without anything else; with 64 clients that make full handshakes with RSA-2048, one
after the other, which shows how many the server can do; and with ten times as many new connections
a second, half of which give up after 30 ms. A server is named as for `cleat-bench compare`, or
NAME=SERVER:FILE for another build of it.

"Full handshakes" are those that were finished, of as many as it could do. No server has a limit
set: a flood from many addresses, with a few connections each, meets none.
"""

import argparse
import itertools
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Iterator

from cleat_perf.environment import split_cores
from cleat_perf.processes import Process
from cleat_perf.rounds import parser, record
from cleat_perf.serve import Server, Unable, serving

SCENARIO = "full-rsa-2048"
CPU = 0.3
TIMES = 10
ESTABLISHED = 200
REQUESTS = 2000  # a second, over all of them
RESUMED = 100  # a second
WARM_UP = 1.5  # seconds, in which connections and sessions are made
SPARE_SESSIONS = "2000/200ms"  # each serves one connection at a time
PATIENCE_S = 60
FULL = ("--close", "reset", "--tls", "1.3", "--groups", "X25519",
        "--signature-algorithms", "RSA-PSS+SHA256")  # fmt: skip
HEADS = ["server", "can do", "established p50, p99 without", "with", "resumed without", "with",
         "they wait p50, p99", "full handshakes"]  # fmt: skip


def arguments() -> argparse.Namespace:
    parse = parser(__doc__)
    parse.add_argument("--window", type=float, default=8, help="seconds")
    return parse.parse_args()


class Clients:
    """Clients are the generators of one window. `processes` ends them."""

    def __init__(self, server: Server, window: float, folder: Path, processes: ExitStack) -> None:
        self.server, self.window, self.folder = server, window, folder
        self.processes = processes
        self.cores = split_cores()[1]
        self.running: dict[str, Process] = {}

    def start(self, name: str, *words: object, gives_way: bool = False) -> None:
        command = [self.server.bench, "load", "-q", "--no-preflight", "--workers", 1,
                   "--json", self.folder / f"{name}.json", *words,
                   f"https://{self.server.address}/1024"]  # fmt: skip
        first = ["nice", "-n", "10"] if gives_way else []
        process = Process([*first, *map(str, command)], self.cores, self.folder / f"{name}.log")
        self.running[name] = self.processes.enter_context(process)

    def start_guests(self) -> None:
        """start_guests are the clients of every window; it returns when their window begins."""
        length = f"{self.window}s"
        self.start("established", "-r", REQUESTS, "-c", ESTABLISHED, "--keep", "-d", length,
                   "--warm-up", f"{WARM_UP}s", "--answer-timeout", "30s")  # fmt: skip
        phases = f"{SPARE_SESSIONS},20/{WARM_UP - 0.2:g}s,{RESUMED}/{length}"
        self.start("resumed", *FULL, "--phases", phases, "--warm-up", f"{WARM_UP}s", "--reuse",
                   1_000_000, "--source", "127.3.0.1-127.3.0.20", "--connect-timeout", "8s",
                   "--handshake-timeout", "8s", "--answer-timeout", "8s")  # fmt: skip
        time.sleep(WARM_UP)

    def found(self) -> dict[str, dict]:
        """found are the results of all, when they have ended. Raises Unable."""
        for name, process in self.running.items():
            try:
                process.child.wait(self.window + PATIENCE_S)
            except subprocess.TimeoutExpired:
                raise Unable(f"{name} has not ended") from None
        return {
            name: json.loads((self.folder / f"{name}.json").read_text()) for name in self.running
        }


def milliseconds(ns: float | None) -> float | None:
    """milliseconds of a quantile; None where so many failed that there is none."""
    return None if ns is None else ns / 1e6


def guests(found: dict[str, dict]) -> dict:
    """guests is what the clients of every window felt."""
    response = found["established"]["latency"]["response"]
    wait = found["resumed"]["latency"]["tls_resumed"]
    return {
        "requests": found["established"]["attempts"],
        "requests_failed": found["established"]["failed"],
        "p50_ms": milliseconds(response["p50_ns"]),
        "p99_ms": milliseconds(response["p99_ns"]),
        "resumptions": found["resumed"]["attempts"],
        "resumed": found["resumed"]["handshakes"]["resumed"],
        "resumed_p50_ms": milliseconds(wait["p50_ns"]),
        "resumed_p99_ms": milliseconds(wait["p99_ns"]),
    }


def quiet(clients: Clients) -> dict:
    clients.start_guests()
    return guests(clients.found())


def capacity(clients: Clients) -> float:
    """capacity is how many full handshakes a second the server finishes beside the guests."""
    clients.start_guests()
    clients.start("full", *FULL, "-c", 64, "-d", f"{clients.window}s")
    rate: float = clients.found()["full"]["rate"]
    return rate


def flooded(clients: Clients, rate: float) -> dict:
    clients.start_guests()
    half = ("-r", max(1, round(rate * TIMES / 2)), *FULL, "-d", f"{clients.window}s",
            "--connect-timeout", "2s")  # fmt: skip
    clients.start("full", *half, "--handshake-timeout", "4s", "--source",
                  "127.2.0.1-127.2.0.200", gives_way=True)  # fmt: skip
    clients.start("leaving", *half, "--handshake-timeout", "30ms", "--source",
                  "127.4.0.1-127.4.0.200", gives_way=True)  # fmt: skip
    found = clients.found()
    return guests(found) | {
        "flood": found["full"]["attempts"] + found["leaving"]["attempts"],
        "full_per_s": found["full"]["rate"] + found["leaving"]["rate"],
    }


def measured(server: Server, window: float, folder: Path) -> dict:
    """measured is one round of a server. Raises Unable."""

    def with_clients(name: str, measure, *words: object):
        (folder / name).mkdir()
        with ExitStack() as processes:
            return measure(Clients(server, window, folder / name, processes), *words)

    alone = with_clients("quiet", quiet)
    rate = with_clients("capacity", capacity)
    return {"alone": alone, "capacity": rate, "flood": with_clients("flood", flooded, rate)}


def middle(rounds: list[dict], *path: str) -> float:
    """middle is the median of a figure; a quantile that so many failures hide is infinite."""

    def at_path(found: dict) -> float:
        for key in path:
            found = found[key]
        return math.inf if found is None else float(found)  # type: ignore[arg-type]

    return statistics.median(map(at_path, rounds))


def shown_ms(value: float) -> str:
    return "too many failed" if math.isinf(value) else f"{value:.1f} ms"


def rows(rounds: list[dict]) -> list[list[str]]:
    """rows have the medians of the rounds, and all resumptions of all rounds."""
    shown = []
    for name in dict.fromkeys(each["server"] for each in rounds):
        own = [each for each in rounds if each["server"] == name]

        def wait(*path: str) -> str:
            p50, p99 = (middle(own, path[0], path[1] + each) for each in ("p50_ms", "p99_ms"))
            return f"{shown_ms(p50)}, {shown_ms(p99)}"

        def resumed(window: str) -> str:
            all_of = [sum(each[window][key] for each in own) for key in ("resumed", "resumptions")]
            return f"{all_of[0]:,} of {all_of[1]:,}"

        parts = [each["flood"]["full_per_s"] / each["capacity"] for each in own]
        shown.append([
            name,
            f"{middle(own, 'capacity'):.0f}/s",
            wait("alone", ""),
            wait("flood", ""),
            resumed("alone"),
            resumed("flood"),
            wait("flood", "resumed_"),
            f"{statistics.median(parts):.2f} ({min(parts):.2f}..{max(parts):.2f})",
        ])  # fmt: skip
    return shown


def main() -> int:
    options = arguments()
    core, others = split_cores()

    def measure(servers: list, versions: dict[str, str]) -> Iterator[dict]:
        with tempfile.TemporaryDirectory(prefix="overload-") as scratch:
            for number, (name, server, program) in itertools.product(
                range(options.rounds), servers
            ):
                folder = Path(scratch) / f"{number}-{name}"
                folder.mkdir()
                with serving(
                    options.binaries, server, scenario=SCENARIO, server_cores=core,
                    client_cores=others, program=program, cpu=CPU,
                ) as running:  # fmt: skip
                    versions[name] = running.version
                    found = measured(running, options.window, folder)
                yield {"server": name, **found}

    return record(options, measure, HEADS, rows)


if __name__ == "__main__":
    sys.exit(main())
