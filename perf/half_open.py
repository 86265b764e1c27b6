#!/usr/bin/env python3
"""The cost of clients that begin a handshake and do not end it.

    scripts/build release cleat cleat-bench perf-origin
    perf/half_open.py --servers cleat,before=cleat:FILE,haproxy,nginx,hitch --out FILE

Three kinds of clients, each in a server of its own with one worker: they send nothing, or half of a
ClientHello, or a ClientHello and nothing after it. First so many that the server has what it
allocates once, then --connections more, whose memory is shown for each. Beside them the same
clients as before make full handshakes; the ratio of the server's CPU for each is shown, and that of
the p99 of requests on established connections.

A server is named as for `cleat-bench compare`, or NAME=SERVER:FILE for another build of it.
"""

import argparse
import itertools
import socket
import ssl
import statistics
import sys
from contextlib import ExitStack
from typing import Iterator

from cleat_perf.environment import split_cores
from cleat_perf.rounds import parser, record
from cleat_perf.serve import Server, Unable, cpu_us, serving
from cleat_perf.table import spread

KINDS = {"silent": "send nothing", "part": "half a ClientHello", "unfinished": "no Finished"}
FIRST = 1_000  # connections, before the others
HANDSHAKES = 2_000
HEADS = ["server", *(f"bytes each: {shown}" for shown in KINDS.values()),
         "CPU of other handshakes", "p99 of established requests"]  # fmt: skip


def arguments() -> argparse.Namespace:
    parse = parser(__doc__)
    parse.add_argument("--connections", type=int, default=4_000)
    return parse.parse_args()


def client_hello() -> bytes:
    """client_hello is a browser's size, with a key share that every server takes."""
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    settings.check_hostname = False
    settings.verify_mode = ssl.CERT_NONE
    sent = ssl.MemoryBIO()
    client = settings.wrap_bio(ssl.MemoryBIO(), sent, server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return sent.read()


def beginning(kind: str) -> bytes:
    """beginning is all that a client of this kind sends."""
    hello = client_hello()
    return {"silent": b"", "part": hello[: len(hello) // 2], "unfinished": hello}[kind]


class HalfOpen:
    """HalfOpen are clients of one kind, from several addresses of loopback."""

    def __init__(self, server: Server, kind: str, held: ExitStack) -> None:
        address, _, port = server.address.rpartition(":")
        self.address = (address, int(port))
        self.sent = beginning(kind)
        self.is_answered = kind == "unfinished"
        self.held = held
        self.all: list[socket.socket] = []

    def grow(self, count: int) -> None:
        """grow until there are so many, and the server has read what they sent."""
        while len(self.all) < count:
            source = f"127.5.0.{1 + len(self.all) % 200}"
            client = self.held.enter_context(
                socket.create_connection(self.address, timeout=30, source_address=(source, 0))
            )
            client.sendall(self.sent)
            self.all.append(client)
            if self.is_answered:
                client.recv(1, socket.MSG_PEEK)

    def are_held(self) -> bool:
        """are_held: the server has closed none of them."""
        for client in self.all:
            client.setblocking(False)
            try:
                while part := client.recv(1 << 16):
                    del part
            except BlockingIOError:
                continue
            except ConnectionError:
                pass
            return False
        return True


def settled_kib(server: Server) -> int:
    """settled_kib is the memory of a server that has served one more client since."""
    server.handshakes(1, connections=1)
    return server.pss_kib()


def felt(server: Server, cores: set[int]) -> dict:
    """felt is what clients with honest intentions feel, and cost."""
    made = server.handshakes(HANDSHAKES, cores=cores)
    asked = server.ask("load", "1024", "-r", 500, "-c", 100, "--keep", "-d", "2s", "--workers", 1,
                       "--no-preflight", cores=cores)  # fmt: skip
    return {
        "handshake_us": cpu_us(made),
        "p99_ms": asked["latency"]["response"]["p99_ns"] / 1e6,
        "requests": asked["attempts"],
        "requests_failed": asked["failed"],
    }


def measured(server: Server, kind: str, count: int, cores: set[int]) -> dict:
    """measured is one round of a server and a kind. Raises Unable."""
    with ExitStack() as held:
        clients = HalfOpen(server, kind, held)
        felt(server, cores)  # The server allocates much once.
        clients.grow(FIRST)
        alone = felt(server, cores)
        before = settled_kib(server)
        clients.grow(FIRST + count)
        after = settled_kib(server)
        beside = felt(server, cores)
        if not clients.are_held():
            raise Unable(f"{kind}: the server has ended connections before the end")
    return {"bytes_each": (after - before) * 1024 / count, "alone": alone, "beside": beside}


def rows(rounds: list[dict]) -> list[list[str]]:
    """rows have the medians of the rounds, and what all kinds together did to others."""
    shown = []
    for name in dict.fromkeys(each["server"] for each in rounds):
        own = [each for each in rounds if each["server"] == name]
        cells = [name]
        for kind in KINDS:
            sizes = [each["bytes_each"] for each in own if each["kind"] == kind]
            cells.append(f"{statistics.median(sizes):,.0f}")
        for figure in ("handshake_us", "p99_ms"):
            ratios = [each["beside"][figure] / each["alone"][figure] for each in own]
            cells.append(spread(ratios, between=".."))
        shown.append(cells)
    return shown


def main() -> int:
    options = arguments()
    core, others = split_cores()

    def measure(servers: list, versions: dict[str, str]) -> Iterator[dict]:
        for _, (name, server, program), kind in itertools.product(
            range(options.rounds), servers, KINDS
        ):
            with serving(
                options.binaries, server, server_cores=core, client_cores=others, program=program
            ) as running:
                versions[name] = running.version
                try:
                    found = measured(running, kind, options.connections, others)
                except Unable as error:
                    raise Unable(f"{name}, {KINDS[kind]}: {error}") from None
            yield {"server": name, "kind": kind, **found}

    return record(options, measure, HEADS, rows)


if __name__ == "__main__":
    sys.exit(main())
