#!/usr/bin/env python3
"""Clients' losses when one of three servers behind cleat fails, at a fixed rate of connections.

    scripts/build release cleat cleat-bench perf-origin
    perf/server_faults.py --out FILE

Clients open 500 connections a second to a cleat with two workers, each with a full handshake, a
request and a small answer, whether the ones before have ended or not. In each round one of the
three servers fails for a part of the window:

    killed    SIGKILL: its connections are reset, and new ones refused, until it is started again
    frozen    SIGSTOP: the kernel accepts connections for it, and nobody answers, until SIGCONT
    refusing  it is not there before the load begins, and is started in the same window

The upstream has an active check (a request each second). "In flight" is how many connections the
server had when it failed, or when that was noticed: their bytes had been passed on. A killed server
takes them with it, and those of a frozen one wait for it, so that the longest answer takes as long
as the server is frozen. No other client may be lost. "Noticed" and "back" are the times until cleat
has taken the server out, and in again. Connections, lost and in flight are the sums of all rounds,
and times the longest.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from certificates import Issuer, make_certificates
from cleat_perf import metrics, results
from cleat_perf.environment import cores, describe
from cleat_perf.ports import free_port
from cleat_perf.processes import Process
from cleat_perf.results import TREE
from cleat_perf.table import table

BIN = TREE / "build/release/bin"
HARMS = ("killed", "frozen", "refusing")
SERVERS = 3
FAILS_AT_S, MENDED_AT_S, WINDOW_S = 3, 8, 14
HEADS = ["a server is", "connections", "lost", "in flight", "p50", "longest", "noticed", "back"]


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--rate", type=int, default=500, help="connections a second")
    parse.add_argument("--rounds", type=int, default=3)
    parse.add_argument("--harms", default=",".join(HARMS), help="by comma")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


def origin(port: int, log: Path) -> Process:
    return Process([str(BIN / "perf-origin"), "--listen", f"127.0.0.1:{port}"], cores(), log)


@dataclass
class Site:
    """Three servers, and the cleat before them. `processes` ends them."""

    folder: Path
    processes: ExitStack

    def __post_init__(self) -> None:
        self.ports = [free_port() for _ in range(SERVERS)]
        self.origins = {port: self.start_origin(port) for port in self.ports}
        self.port, self.admin = free_port(), free_port()
        make_certificates(self.folder / "pems", 1, Issuer())
        servers = "\n".join(f'server = "[127.0.0.1]:{port}"' for port in self.ports)
        config = self.folder / "cleat.conf"
        config.write_text(f"""
            workers = 2
            log-level = 0
            pem-file = "{self.folder / "pems/0/0.pem"}"
            frontend = "[127.0.0.1]:{self.port}"
            admin = "[127.0.0.1]:{self.admin}"
            upstream = "app"
            upstream = {{ name = "app" {servers} check = tcp check-interval = 1
                check-send = "GET /1 HTTP/1.0\\r\\n\\r\\n" check-expect = "200" }}
        """)
        command = [str(BIN / "cleat"), "--config", str(config)]
        server = self.processes.enter_context(Process(command, cores(), self.folder / "cleat.log"))
        if not server.wait_for(self.port, 30):
            sys.exit(f"cleat does not serve:\n{server.log.read_text()[-2000:]}")

    def start_origin(self, port: int) -> Process:
        started = origin(port, self.folder / f"origin-{port}.log")
        self.processes.enter_context(started)
        started.ready_port()
        return started

    @property
    def first(self) -> str:
        return f"[127.0.0.1]:{self.ports[0]}"

    def is_serving(self) -> bool:
        labels = {"upstream": "app", "server": self.first, "state": "serving"}
        return metrics.scrape(self.admin).value("cleat_upstream_server_state", **labels) == 1

    def in_flight(self) -> int:
        labels = {"upstream": "app", "server": self.first}
        name = "cleat_upstream_server_connections_open"
        return int(metrics.scrape(self.admin).value(name, **labels))

    def signal_first(self, number: signal.Signals) -> None:
        os.kill(self.origins[self.ports[0]].child.pid, number)

    def kill_first(self) -> None:
        self.signal_first(signal.SIGKILL)
        self.origins[self.ports[0]].child.wait()

    def restart_first(self) -> None:
        self.origins[self.ports[0]] = self.start_origin(self.ports[0])

    def time_until(self, condition: Callable[[], bool]) -> float:
        """time_until the condition holds, in seconds."""
        began = time.monotonic()
        while not condition():
            if time.monotonic() - began > 30:
                sys.exit("cleat has not noticed it within 30 s")
            time.sleep(0.02)
        return time.monotonic() - began

    def load(self, rate: int, out: Path) -> Process:
        command = [
            BIN / "cleat-bench", "load", f"https://127.0.0.1:{self.port}", "--json", out,
            "--no-preflight", "-q", "--path", "/1", "--tls", "1.3", "--close", "reset",
            "--answer-timeout", "30s", "-r", rate, "-d", f"{WINDOW_S}s",
        ]  # fmt: skip
        words = [str(each) for each in command]
        log = out.with_suffix(".log")
        return self.processes.enter_context(Process(words, cores(), log))


def measured(site: Site, harm: str, rate: int) -> dict:
    """measured is a window in which the first server fails and is mended."""
    out = site.folder / "load.json"
    if harm == "refusing":
        site.kill_first()
        site.time_until(lambda: not site.is_serving())
    load, in_flight, noticed = site.load(rate, out), 0, 0.0
    time.sleep(FAILS_AT_S)
    if harm != "refusing":
        in_flight = site.in_flight()
        site.kill_first() if harm == "killed" else site.signal_first(signal.SIGSTOP)
        noticed = site.time_until(lambda: not site.is_serving())
        in_flight = max(in_flight, site.in_flight())
    time.sleep(max(0.0, MENDED_AT_S - FAILS_AT_S - noticed))
    site.signal_first(signal.SIGCONT) if harm == "frozen" else site.restart_first()
    back = site.time_until(site.is_serving)
    load.child.wait(WINDOW_S + 60)
    return {**losses(json.loads(out.read_text())), "in_flight": in_flight, "noticed_s": noticed,
            "back_s": back}  # fmt: skip


def losses(found: dict) -> dict:
    """losses are what a document of cleat-bench has of clients that failed, and of answers."""
    return {
        "connections": found["attempts"],
        "lost": found["failed"],
        "kinds": {f"{each['kind']} in {each['stage']}": each["count"]
                  for each in found["failures"]},
        "p50_s": found["latency"]["response"]["p50_ns"] / 1e9,
        "longest_s": found["latency"]["response"]["max_ns"] / 1e9,
    }  # fmt: skip


def rows(rounds: list[dict]) -> list[list[str]]:
    shown = []
    for harm in dict.fromkeys(each["harm"] for each in rounds):
        own = [each for each in rounds if each["harm"] == harm]
        total = {key: sum(each[key] for each in own)
                 for key in ("connections", "lost", "in_flight")}  # fmt: skip
        longest = {key: max(each[key] for each in own)
                   for key in ("p50_s", "longest_s", "noticed_s", "back_s")}  # fmt: skip
        shown.append([
            harm,
            f"{total['connections']:,}",
            str(total["lost"]),
            str(total["in_flight"]),
            f"{longest['p50_s'] * 1e3:.1f} ms",
            f"{longest['longest_s']:.2f} s",
            f"{longest['noticed_s']:.1f} s" if harm != "refusing" else "",
            f"{longest['back_s']:.1f} s",
        ])
    return shown


def main() -> None:
    options = arguments()
    harms = options.harms.split(",")
    if unknown := set(harms) - set(HARMS):
        sys.exit(f"--harms: {unknown.pop()} is none of {', '.join(HARMS)}")
    document = {"command": results.command(), "environment": describe(TREE), "rounds": []}
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(options.rounds):
            for harm in harms:
                folder = Path(scratch) / f"{number}-{harm}"
                folder.mkdir()
                with ExitStack() as processes:
                    found = measured(Site(folder, processes), harm, options.rate)
                document["rounds"].append({"harm": harm, **found})
    print(table(HEADS, rows(document["rounds"])))
    if options.out:
        results.write(options.out, document)


if __name__ == "__main__":
    main()
