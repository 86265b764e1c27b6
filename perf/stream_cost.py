#!/usr/bin/env python3
"""The cost of a stream's operations: asio::ssl::stream, cleat's drop-in, and net::server.

    scripts/build release perf-echo-asio perf-echo-cleat perf-echo-server perf-echo-client
    perf/stream_cost.py --rounds 7 --out perf/results/DATE-stream-cost.json

Three servers echo, on one thread: the same coroutine on the same TLS library, on another stream
(perf/echo/). One client asks them in turn, a short run each, so that the machine's other work meets
all of them; a server has one core, and the client another. Figures are the server's CPU for each
message or handshake, and the memory of the process for each idle connection. A message of 1 MiB is
sent on at most 100 connections at the same time. The ratio is to the first server of the same
round; a second process of it ("again") shows how much a ratio means.

A server is NAME, or NAME=SERVER:FILE for another build or process of it: `before=cleat:FILE`.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Iterator

from cleat_perf.environment import certificates, split_cores
from cleat_perf.processes import Process, anonymous_bytes
from cleat_perf.results import TREE
from cleat_perf.rounds import named, record
from cleat_perf.serve import Unable
from cleat_perf.table import microseconds, spread

BIN = TREE / "build/release/bin"
SERVERS = "asio,cleat,server,again=asio"
TITLES = {"asio": "asio::ssl", "cleat": "cleat is", "server": "net::server is",
          "again": "asio::ssl again"}  # fmt: skip
SIZES = {64: "64 B", 1024: "1 KiB", 16 * 1024: "16 KiB", 1024 * 1024: "1 MiB"}
MESSAGES = {64: 40_000, 1024: 40_000, 16 * 1024: 20_000, 1024 * 1024: 600}
AIMS = {64: "0.7", 1024: "0.7", 1024 * 1024: "0.5"}
CONNECTIONS = (1, 100, 5_000)
LARGE_AT_ONCE = 100
WEBSOCKET_SIZES = (64, 16 * 1024)
HANDSHAKES = 2_000
HANDSHAKES_AT_ONCE = 16
FIRST_IDLE, IDLE = 1_000, 5_000
IDLE_MEMORY = "memory of an idle connection"


@dataclass(frozen=True)
class Work:
    """Work is one row: a command of the client, `count` operations of it in all."""

    name: str
    command: str
    count: int
    aim: str = ""


@dataclass(frozen=True)
class Group:
    """Group is what is done on the same connections."""

    opened: int
    works: tuple[Work, ...]
    server: tuple[str, ...] = ()
    client: tuple[str, ...] = ()


def echoes(kind: str, sizes: tuple[int, ...], connections: int) -> tuple[Work, ...]:
    many = "1 connection" if connections == 1 else f"{connections:,} connections"
    return tuple(
        Work(
            f"{kind}{SIZES[size]}, {many}",
            f"echo {size} {{}} {min(connections, LARGE_AT_ONCE if size > 1e6 else connections)}",
            MESSAGES[size],
            "" if kind else AIMS.get(size, ""),
        )
        for size in sizes
    )


def handshakes(name: str) -> tuple[Work, ...]:
    return (Work(name, f"handshakes {{}} {HANDSHAKES_AT_ONCE}", HANDSHAKES, "0.7"),)


GROUPS = (
    *(Group(count, echoes("", tuple(SIZES), count)) for count in CONNECTIONS),
    Group(100, echoes("WebSocket, ", WEBSOCKET_SIZES, 100), ("--websocket",), ("--websocket",)),
    Group(0, handshakes("full handshake, ECDSA P-256")),
    Group(0, handshakes("resumed handshake"), ("--tickets",), ("--resume",)),
)
AIM_OF = {work.name: work.aim for group in GROUPS for work in group.works}


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--servers", default=SERVERS, help="by comma; default: %(default)s")
    parse.add_argument("--rounds", type=int, default=7)
    parse.add_argument("--part", type=float, default=1, help="of the operations of each run")
    parse.add_argument("--binaries", type=Path, default=BIN)
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


class Arm:
    """Arm is a server with its client, which has connections to it. `held` ends both."""

    def __init__(
        self, program: Path, client: Path, pem: Path, group: Group, folder: Path, held: ExitStack
    ) -> None:
        core, others = split_cores()
        command = [str(program), "--pem", str(pem), *group.server]
        self.server = held.enter_context(Process(command, core, folder / "server.log"))
        address = f"127.0.0.1:{self.server.ready_port()}"
        self.log = folder / "client.log"
        self.client = held.enter_context(
            Process(
                [str(client), *group.client, address], others, self.log,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
        )  # fmt: skip

    def ask(self, command: str) -> dict:
        """ask gives the client's answer to a command. Raises Unable."""
        pipes = self.client.child
        try:
            pipes.stdin.write(f"{command}\n")
            pipes.stdin.flush()
            answer = pipes.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise Unable(f"{command}: {self.log.read_text().strip() or 'the client has ended'}")
        found: dict = json.loads(answer)
        return found

    def us_each(self, command: str, count: int) -> float:
        """us_each is the server's CPU for each operation."""
        before = self.server.cpu_ns()
        found = self.ask(command.format(count))
        if found["messages"] != count:
            raise Unable(f"{command}: {found}")
        return (self.server.cpu_ns() - before) / count / 1000

    def idle_bytes(self) -> float:
        """idle_bytes are those of a connection on which a message has been echoed."""
        used = []
        for count in (FIRST_IDLE, IDLE):
            self.ask(f"open {count}")
            self.ask(f"echo 64 {count} {count}")
            used.append(anonymous_bytes(self.server.child.pid))
        return (used[1] - used[0]) / (IDLE - FIRST_IDLE)


def in_turn(arms: dict[str, Arm], group: Group, part: float) -> Iterator[dict]:
    """in_turn does each work of a group on every arm. Raises Unable."""
    for arm in arms.values():
        arm.ask(f"open {group.opened}")
    for work in group.works:
        count = max(1, round(work.count * part))
        for arm in arms.values():
            arm.us_each(work.command, max(1, count // 10))  # Warm up.
        for name, arm in arms.items():
            us = arm.us_each(work.command, count)
            yield {"server": name, "work": work.name, "us": us}


def heads(names: Iterable[str]) -> list[str]:
    return ["", *(TITLES.get(name, f"{name} is") for name in names), "aim"]


def shown(work: str, value: float) -> str:
    return f"{value / 1000:.2f} kB" if work == IDLE_MEMORY else f"{microseconds(value)} µs"


def rows(rounds: list[dict]) -> list[list[str]]:
    """rows have the median of the first server, and the others' ratios to it within a round."""
    by_work: dict[str, dict[str, list[float]]] = {}
    for each in rounds:
        value = each["bytes"] if each["work"] == IDLE_MEMORY else each["us"]
        by_work.setdefault(each["work"], {}).setdefault(each["server"], []).append(value)
    made = []
    for work, found in by_work.items():
        base, *others = found.values()
        ratios = [spread([a / b for a, b in zip(each, base)], between="..") for each in others]
        made.append([work, shown(work, statistics.median(base)), *ratios, AIM_OF.get(work, "")])
    return made


def main() -> int:
    options = arguments()

    def measure(servers: list, versions: dict[str, str]) -> Iterator[dict]:
        with tempfile.TemporaryDirectory(prefix="stream-cost-") as scratch:
            pem = certificates(Path(scratch))["ecdsa"]
            programs = {
                name: program or options.binaries / f"perf-echo-{server}"
                for name, server, program in servers
            }
            for name, program in programs.items():
                versions[name] = subprocess.check_output([program, "--version"], text=True).strip()

            def arms(group: Group, held: ExitStack) -> dict[str, Arm]:
                made = {}
                for name, program in programs.items():
                    folder = Path(held.enter_context(tempfile.TemporaryDirectory(dir=scratch)))
                    client = options.binaries / "perf-echo-client"
                    made[name] = Arm(program, client, pem, group, folder, held)
                return made

            for _ in range(options.rounds):
                for group in GROUPS:
                    with ExitStack() as held:
                        yield from in_turn(arms(group, held), group, options.part)
                with ExitStack() as held:
                    for name, arm in arms(Group(0, (), ("--block", "1024")), held).items():
                        yield {"server": name, "work": IDLE_MEMORY, "bytes": arm.idle_bytes()}

    names = [named(word)[0] for word in options.servers.split(",")]
    return record(options, measure, heads(names), rows)


if __name__ == "__main__":
    sys.exit(main())
