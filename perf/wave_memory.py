#!/usr/bin/env python3
"""The memory of a wave of connections: how much a server keeps once they have gone.

    scripts/build release cleat cleat-bench perf-origin
    perf/wave_memory.py --servers cleat,before=cleat:FILE,cleat+jemalloc,nginx --out FILE

Two kinds of waves, each in a server of its own with one worker: clients that send 15 KB of a
ClientHello and no more, and clients that get 100 kB each. A wave is --connections at one time, and
comes twice. The memory of the server (PSS) is shown before the waves, and --wait seconds after
each. One established connection makes requests from the end of a wave on, and the longest answer is
shown: memory that goes back to the kernel may stop a server.

A server is named as for `cleat-bench compare`, or NAME=SERVER:FILE for another build of it, or
SERVER+ALLOCATOR for another allocator: jemalloc, jemalloc-thread (which gives memory back on a
thread of its own) or mimalloc, Debian's packages libjemalloc2 and libmimalloc2.0.
"""

import argparse
import itertools
import socket
import statistics
import sys
import time
from contextlib import ExitStack
from typing import Iterator

from cleat_perf import established
from cleat_perf.environment import split_cores
from cleat_perf.rounds import parser, record
from cleat_perf.serve import Server, Unable, serving

KINDS = {"hellos": "15 KB of a ClientHello", "answers": "100 kB for each"}
WAVES = 2
JEMALLOC = {"LD_PRELOAD": "libjemalloc.so.2"}
ALLOCATORS = {
    "": {},
    "jemalloc": JEMALLOC,
    "jemalloc-thread": JEMALLOC | {"MALLOC_CONF": "background_thread:true"},
    "mimalloc": {"LD_PRELOAD": "libmimalloc.so.2"},
}
HEADS = ["server", "before", *(f"after {shown}" for shown in KINDS.values()),
         "longest answer after a wave"]  # fmt: skip


def arguments() -> argparse.Namespace:
    parse = parser(__doc__)
    parse.add_argument("--connections", type=int, default=2_000)
    parse.add_argument("--wait", type=float, default=14, help="seconds after a wave")
    return parse.parse_args()


def long_hello() -> bytes:
    """long_hello is a record with the first 15 KB of a ClientHello of 16 KB."""
    part = b"\x01\x00\x3f\x00\x03\x03" + bytes(15_000)
    return b"\x16\x03\x01" + len(part).to_bytes(2, "big") + part


def send_hellos(server: Server, count: int) -> None:
    """send_hellos returns when all clients have gone again."""
    address, _, port = server.address.rpartition(":")
    hello = long_hello()
    with ExitStack() as held:
        for number in range(count):
            source = (f"127.5.0.{1 + number % 200}", 0)
            client = held.enter_context(
                socket.create_connection((address, int(port)), 30, source_address=source)
            )
            client.sendall(hello)
        time.sleep(1)  # A server reads what has come.


def get_answers(server: Server, count: int, cores: set[int]) -> None:
    server.ask("load", "100000", "-c", count, "--keep", "-d", "3s", "--no-preflight", cores=cores)


def longest_answer_ms(server: Server, seconds: float) -> float:
    """longest_answer_ms is that of requests on one established connection."""
    port = int(server.address.rpartition(":")[2])
    longest = 0.0
    with established.connect(port, "localhost") as client:
        until = time.monotonic() + seconds
        while (began := time.monotonic()) < until:
            established.ask(client)
            longest = max(longest, time.monotonic() - began)
            time.sleep(0.002)
    return longest * 1000


def measured(server: Server, kind: str, options: argparse.Namespace, cores: set[int]) -> dict:
    """measured is one round of a server and a kind. Raises Unable."""
    server.handshakes(100, cores=cores)  # For allocations that are made once.
    found = {"before_kib": server.pss_kib(), "after_kib": [], "longest_ms": []}
    for _ in range(WAVES):
        if kind == "hellos":
            send_hellos(server, options.connections)
        else:
            get_answers(server, options.connections, cores)
        found["longest_ms"].append(longest_answer_ms(server, options.wait))
        found["after_kib"].append(server.pss_kib())
    return found


def rows(rounds: list[dict]) -> list[list[str]]:
    """rows have the medians of the rounds; the memory is that after the last wave."""
    shown = []
    for name in dict.fromkeys(each["server"] for each in rounds):
        own = [each for each in rounds if each["server"] == name]
        cells = [name, mib(each["before_kib"] for each in own)]
        for kind in KINDS:
            cells.append(mib(each["after_kib"][-1] for each in own if each["kind"] == kind))
        longest = statistics.median(max(each["longest_ms"]) for each in own)
        shown.append([*cells, f"{longest:.1f} ms"])
    return shown


def mib(sizes_kib: Iterator[int]) -> str:
    return f"{statistics.median(sizes_kib) / 1024:.1f} MiB"


def main() -> int:
    options = arguments()
    core, others = split_cores()

    def measure(servers: list, versions: dict[str, str]) -> Iterator[dict]:
        for _, (name, word, program), kind in itertools.product(
            range(options.rounds), servers, KINDS
        ):
            server, _, allocator = word.partition("+")
            if allocator not in ALLOCATORS:
                raise Unable(f"{allocator}: none of {', '.join(filter(None, ALLOCATORS))}")
            with serving(
                options.binaries, server, server_cores=core, client_cores=others, program=program,
                variables=ALLOCATORS[allocator],
            ) as running:  # fmt: skip
                versions[name] = running.version
                yield {"server": name, "kind": kind, **measured(running, kind, options, others)}

    return record(options, measure, HEADS, rows)


if __name__ == "__main__":
    sys.exit(main())
