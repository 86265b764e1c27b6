#!/usr/bin/env python3
"""The memory of a configuration that a connection keeps after a reload.

    scripts/build release cleat
    perf/old_configurations.py --certificates 1,100,1000,10000

An idle connection is opened, a certificate renewed, and a reload asked for, again and again: each
connection keeps its own configuration. The figure is what each of these rounds adds to the
process's anonymous memory, less what as many connections add without reloads.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from certificates import Issuer, make_certificates, name_of, path_of, replace
from cleat_perf.environment import cores
from cleat_perf.established import connect
from cleat_perf.ports import free_port
from cleat_perf.processes import Process, anonymous_bytes
from cleat_perf.results import TREE
from cleat_perf.table import table

WARM = 10  # Rounds before the first look: the allocator has grown by then.


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--certificates", default="1,100,1000,10000", help="their numbers")
    parse.add_argument("--cache", type=int, help="certificate-cache; unset: cleat's default")
    parse.add_argument("--rounds", type=int, default=40)
    parse.add_argument("--workers", type=int, default=2)
    parse.add_argument("--cleat", type=Path, default=TREE / "build/release/bin/cleat")
    return parse.parse_args()


class Site:
    """Site is a running cleat with so many certificates, and its open connections."""

    def __init__(self, use: argparse.Namespace, count: int, stack: ExitStack) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.issuer, self.pems, self.use = Issuer(), folder / "pems", use
        make_certificates(self.pems, count, self.issuer)
        backend = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.port = free_port()
        flags = ["--pem-dir", self.pems, "--pem-dir-recursive", "--workers", use.workers]
        flags += ["-f", f"[127.0.0.1]:{self.port}", "--backend-connect-timeout", 60]
        flags += ["-b", f"[127.0.0.1]:{backend.getsockname()[1]}", "--idle-timeout", 0]
        flags += ["--certificate-cache", use.cache] if use.cache is not None else []
        command = [str(each) for each in [use.cleat, *flags]]
        self.cleat = stack.enter_context(Process(command, cores(), folder / "cleat.log"))
        if not self.cleat.wait_for(self.port, 60):
            sys.exit(f"cleat does not serve:\n{self.cleat.log.read_text()[-2000:]}")
        self.pid = self.cleat.child.pid
        self.stack = stack
        self.rounds = 0

    def open(self) -> None:
        self.stack.enter_context(connect(self.port, name_of(0)))

    def reload(self) -> None:
        self.rounds += 1
        replace(path_of(self.pems, 0), self.issuer.pem(0))
        command = [self.use.cleat, "reload", str(self.pid)]
        subprocess.run(command, check=True, capture_output=True)

    def growth(self, reloads: bool) -> float:
        """growth is the bytes that each round adds."""
        for number in range(WARM + self.use.rounds):
            if number == WARM:
                before = anonymous_bytes(self.pid)
            self.open()
            if reloads:
                self.reload()
        return (anonymous_bytes(self.pid) - before) / self.use.rounds


def measured(use: argparse.Namespace, count: int) -> list[str]:
    found = []
    for reloads in (False, True):
        with ExitStack() as stack:
            found.append(Site(use, count, stack).growth(reloads))
    alone, kept = found
    return [f"{count:,}", f"{alone / 1e3:.1f} kB", f"{(kept - alone) / 1e3:,.0f} kB"]


def main() -> None:
    use = arguments()
    os.nice(5)
    rows = [measured(use, int(count)) for count in use.certificates.split(",")]
    print(table(["certificates", "a connection", "its old configuration"], rows))


if __name__ == "__main__":
    main()
