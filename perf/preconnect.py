#!/usr/bin/env python3
"""What `preconnect` takes from a client's time to the first byte, with a server that is far away.

    scripts/build release cleat cleat-bench perf-origin
    sudo perf/preconnect.py --out FILE

Clients open 50 connections a second to a cleat of their own machine, each with a full handshake, a
request and a small answer. The server behind is a round trip of 10 ms away, in a network of its
own, where a thread of this program carries each packet when it is due. It speaks plain TCP, or TLS
1.3: then it is another cleat, before an origin on its own loopback.

Four windows in each round, in turn: both with `preconnect` and without. "First byte" counts from
the client's request, which cleat gets together with the end of the handshake. "Ready" is the share
of clients that got a connection which was ready, by cleat's metrics; CPU is that of the cleat that
is measured, for each connection. Saved is the difference to the window without, of the medians of
the same round. What is printed is the median of the rounds, and the range of what was saved.

Everything has a priority above other work of the machine (chrt -r): a packet is due in time.
"""

import argparse
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Callable

from certificates import Issuer, make_certificates
from cleat_perf import metrics, results
from cleat_perf.environment import describe, split_cores
from cleat_perf.far_network import THERE, far_network, move_to_own_network
from cleat_perf.ports import free_port
from cleat_perf.processes import Process
from cleat_perf.results import TREE
from cleat_perf.table import table

BIN = TREE / "build/release/bin"
UPSTREAMS = ("tcp", "tls")
NAMES = {"tcp": "TCP", "tls": "TLS 1.3"}
WARM_UP_S = 2
HEADS = ["upstream", "preconnect", "first byte p50", "p99", "saved", "ready", "CPU"]


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--round-trip", type=float, default=10, help="milliseconds")
    parse.add_argument("--preconnect", type=int, default=8, help="connections that are ready")
    parse.add_argument("--clients", type=int, default=50, help="connections a second")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--window", type=float, default=8, help="seconds")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


class Site:
    """A cleat, and its server in the far network. `processes` ends them."""

    def __init__(
        self, folder: Path, upstream: str, ready: int, call_there: Callable[..., Any],
        processes: ExitStack,
    ) -> None:  # fmt: skip
        self.folder, self.processes = folder, processes
        core, self.others = split_cores()
        make_certificates(folder / "pems", 2, Issuer())
        self.pem = folder / "pems" / "0" / "0.pem"
        is_tls = upstream == "tls"
        behind = call_there(lambda: self.far_tls() if is_tls else self.far_origin(THERE))
        self.port, self.admin = free_port(), free_port()
        tls = "tls = on tls-verify = off" if is_tls else ""
        self.server = self.start_cleat("server", core, f"""
            frontend = "[127.0.0.1]:{self.port}"
            admin = "[127.0.0.1]:{self.admin}"
            upstream = "far"
            upstream = {{ name = "far" server = "[{THERE}]:{behind}" preconnect = {ready} {tls} }}
        """)  # fmt: skip
        if not self.server.wait_for(self.port, 30):
            sys.exit(f"cleat does not serve:\n{self.server.log.read_text()[-2000:]}")

    def start(self, command: list[object], cores: set[int], name: str) -> Process:
        words = [*map(str, command)]
        return self.processes.enter_context(Process(words, cores, self.folder / f"{name}.log"))

    def start_cleat(self, name: str, cores: set[int], settings: str) -> Process:
        path = self.folder / f"{name}.conf"
        path.write_text(f'workers = 1\nlog-level = 0\npem-file = "{self.pem}"\n{settings}')
        return self.start([BIN / "cleat", "--config", path], cores, name)

    def far_origin(self, host: str) -> int:
        command = [BIN / "perf-origin", "--listen", f"{host}:0"]
        return self.start(command, self.others, "origin").ready_port()

    def far_tls(self) -> int:
        origin, port = self.far_origin("127.0.0.1"), free_port()
        far = self.start_cleat("far", self.others, f"""
            frontend = "[*]:{port}"
            backend = "[127.0.0.1]:{origin}"
        """)  # fmt: skip
        if not far.wait_for(port, 30):
            sys.exit(f"the far cleat does not serve:\n{far.log.read_text()[-2000:]}")
        return port

    def load(self, options: argparse.Namespace, seconds: float, name: str) -> dict:
        out = self.folder / f"{name}.json"
        client = self.start(
            [BIN / "cleat-bench", "load", f"https://127.0.0.1:{self.port}", "--json", out,
             "--no-preflight", "-q", "--workers", 1, "--path", "/1", "--tls", "1.3", "--groups",
             "X25519", "-r", options.clients, "-d", f"{seconds}s"], self.others, name,
        )  # fmt: skip
        client.child.wait(seconds + 60)
        found = json.loads(out.read_text())
        if found["failed"]:
            sys.exit(f"{found['failed']} of {found['attempts']} clients failed")
        return found

    def wait_until_ready(self, count: int) -> None:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            name = "cleat_upstream_server_connections_ready"
            if metrics.scrape(self.admin).sum(name) >= count:
                return
            time.sleep(0.05)
        sys.exit(f"there are no {count} connections ready after 30 s")


def measured(options: argparse.Namespace, site: Site, ready: int) -> dict:
    site.load(options, WARM_UP_S, "warm-up")
    site.wait_until_ready(ready)
    before, cpu = metrics.scrape(site.admin), site.server.cpu_ns()
    found = site.load(options, options.window, "load")
    cpu = site.server.cpu_ns() - cpu
    after = metrics.scrape(site.admin)
    name = "cleat_upstream_server_ready_taken_total"
    first = found["latency"]["first_byte"]
    return {
        "connections": found["attempts"],
        "p50_s": first["p50_ns"] / 1e9,
        "p99_s": first["p99_ns"] / 1e9,
        "ready": (after.sum(name) - before.sum(name)) / found["attempts"],
        "cpu_s": cpu / 1e9 / found["attempts"],
    }


def rows(rounds: list[dict]) -> list[list[str]]:
    """rows have the medians of the rounds."""

    def of(upstream: str, has_ready: bool) -> list[dict]:
        return [
            each
            for each in rounds
            if each["upstream"] == upstream and (each["preconnect"] != 0) == has_ready
        ]

    shown = []
    for upstream, has_ready in itertools.product(UPSTREAMS, (False, True)):
        own = of(upstream, has_ready)
        if not own:
            continue
        saved = [
            (other["p50_s"] - each["p50_s"]) * 1e3
            for each, other in zip(own, of(upstream, False))
        ]

        def middle(key: str) -> float:
            return statistics.median(each[key] for each in own)

        shown.append([
            NAMES[upstream],
            str(own[0]["preconnect"] or "none"),
            f"{middle('p50_s') * 1e3:.2f} ms",
            f"{middle('p99_s') * 1e3:.2f} ms",
            f"{statistics.median(saved):.2f} ms ({min(saved):.2f}..{max(saved):.2f})"
            if has_ready else "",
            f"{middle('ready'):.1%}" if has_ready else "",
            f"{middle('cpu_s') * 1e6:.0f} us",
        ])
    return shown


def main() -> None:
    options = arguments()
    document = {"command": results.command(), "environment": describe(TREE), "rounds": []}
    if os.geteuid() == 0:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(20))  # Also for all that it starts.
    kinds = list(itertools.product(UPSTREAMS, (0, options.preconnect)))
    move_to_own_network()
    with tempfile.TemporaryDirectory() as scratch, far_network(
        options.round_trip / 1e3
    ) as call_there:
        for number in range(options.rounds):
            for upstream, ready in kinds if number % 2 == 0 else kinds[::-1]:
                folder = Path(scratch) / f"{number}-{upstream}-{ready}"
                folder.mkdir()
                with ExitStack() as processes:
                    site = Site(folder, upstream, ready, call_there, processes)
                    found = measured(options, site, ready)
                document["rounds"].append({"upstream": upstream, "preconnect": ready, **found})
    print(table(HEADS, rows(document["rounds"])))
    if options.out:
        results.write(options.out, document)


if __name__ == "__main__":
    main()
