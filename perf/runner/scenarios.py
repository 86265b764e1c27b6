"""Scenarios: each gives one figure for one server, from one run."""

import json
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cleat_perf.processes import Process

from .servers import Bench, start

GIB = 1 << 30
KIB = 1024
IDLE_CONNECTIONS = 4000


class Wrong(RuntimeError):
    """An answer that was not right: its figure is worth nothing."""


def client(bench: Bench, port: int, mode: str, *options, cores: set[int] | None = None) -> dict:
    """Runs the client to its end; gives what it counted, or raises Wrong."""
    command = [
        str(bench.binaries / "perf-client"),
        mode,
        f"127.0.0.1:{port}",
        "--tls",
        bench.tls,
        "--groups",
        bench.groups,
        "--suite",
        bench.suite,
        *map(str, options),
    ]
    process = Process(
        command,
        set(cores or bench.client_cores),
        bench.folder / "client.log",
        stdout=subprocess.PIPE,
    )
    try:
        said, _ = process.child.communicate(timeout=120)
    finally:
        process.stop()
    result = json.loads(said) if said.strip() else {"failures": {"client": process.log.read_text()}}
    if result["failures"]:
        raise Wrong(f"{' '.join(process.command)}: {result['failures']}")
    return result


def handshake(bench: Bench, server: Process, port: int, count: int = 3000) -> float:
    """CPU per full handshake with a 1 KiB answer, in microseconds."""
    client(bench, port, "handshakes", "-n", 200)
    before = server.cpu_ns()
    client(bench, port, "handshakes", "-n", count)
    return (server.cpu_ns() - before) / count / 1000


def transfer(bench: Bench, server: Process, port: int, mode: str) -> float:
    """CPU per GB (10^9 bytes) over four connections, in seconds."""
    client(bench, port, mode, "-n", 4, "-c", 4, "-b", 16 << 20)
    before = server.cpu_ns()
    client(bench, port, mode, "-n", 4, "-c", 4, "-b", GIB // 4)
    return (server.cpu_ns() - before) / GIB


def idle_memory(bench: Bench, server: Process, port: int) -> float:
    """PSS per idle connection with its upstream connected, in KiB."""
    client(bench, port, "handshakes", "-n", 100)
    before = server.pss_kib()
    command = [
        str(bench.binaries / "perf-client"),
        "idle",
        f"127.0.0.1:{port}",
        "-n",
        str(IDLE_CONNECTIONS),
        "--tls",
        bench.tls,
        "--groups",
        bench.groups,
        "--suite",
        bench.suite,
    ]
    idle = Process(
        command,
        set(bench.client_cores),
        bench.folder / "idle.log",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        result = json.loads(idle.child.stdout.readline())
        if result["failures"] or result["ok"] != IDLE_CONNECTIONS:
            raise Wrong(f"{' '.join(command)}: {result}")
        time.sleep(0.5)
        return (server.pss_kib() - before) / IDLE_CONNECTIONS
    finally:
        idle.child.stdin.close()
        idle.stop()


def system_calls(
    bench: Bench, server: Process, port: int, concurrency: int, count: int = 200
) -> tuple[float, dict]:
    """System calls per full handshake with one small request and answer, and their names."""
    client(bench, port, "handshakes", "-n", 100)
    table = bench.folder / "strace.txt"
    pids = [word for pid in server.pids() for word in ("-p", str(pid))]
    trace = Process(
        ["strace", "-c", "-f", "-o", str(table), *pids],
        set(bench.client_cores),
        bench.folder / "strace.log",
    )
    try:
        until = time.monotonic() + 10
        while trace.log.read_text().count("attached") < len(pids) // 2 and time.monotonic() < until:
            time.sleep(0.05)
        client(bench, port, "handshakes", "-n", count, "-c", concurrency)
        time.sleep(0.1)
    finally:
        trace.child.send_signal(signal.SIGTERM)
        trace.child.wait(10)
        trace.stop()
    names = {}
    for line in table.read_text().splitlines():
        words = line.split()
        if (
            len(words) >= 5
            and words[0][0].isdigit()
            and words[3].isdigit()
            and words[-1] != "total"
        ):
            names[words[-1]] = int(words[3]) / count
    return sum(names.values()), dict(sorted(names.items(), key=lambda item: -item[1]))


# The scenarios by name: what is measured, its unit, and the certificate that it needs.
SCENARIOS = {
    "handshake-ecdsa": ("CPU per full handshake, ECDSA P-256, 1 KiB answer", "us", "ecdsa"),
    "handshake-rsa": ("CPU per full handshake, RSA-2048, 1 KiB answer", "us", "rsa"),
    "download": ("CPU per GB downloaded over 4 connections", "s", "ecdsa"),
    "upload": ("CPU per GB uploaded over 4 connections", "s", "ecdsa"),
    "idle-memory": (f"PSS per idle connection of {IDLE_CONNECTIONS}", "KiB", "ecdsa"),
    "syscalls": ("System calls per full handshake, one connection at a time", "", "ecdsa"),
    "syscalls-busy": ("System calls per full handshake, 16 connections at once", "", "ecdsa"),
    "two-workers": ("CPU per full handshake with two workers over one worker", "", "ecdsa"),
}
# A count does not get better by being repeated.
ONCE = {"idle-memory": 1, "syscalls": 1, "syscalls-busy": 1}


def run_once(
    name: str, server_name: str, bench: Bench, pems: dict[str, Path]
) -> tuple[float, dict]:
    """Starts a server, runs a scenario against it, ends it; gives the figure and its details."""
    pem = pems[SCENARIOS[name][2]]
    if name == "two-workers":
        return two_workers(server_name, bench, pem), {}
    server, port = start(server_name, bench, pem)
    try:
        match name:
            case "handshake-ecdsa" | "handshake-rsa":
                return handshake(bench, server, port), {}
            case "download" | "upload":
                return transfer(bench, server, port, name), {}
            case "idle-memory":
                return idle_memory(bench, server, port), {}
            case "syscalls":
                return system_calls(bench, server, port, 1)
            case "syscalls-busy":
                return system_calls(bench, server, port, 16)
    finally:
        server.stop()
    raise ValueError(f"no scenario is called {name}")


def two_workers(server_name: str, bench: Bench, pem: Path) -> float:
    """The ratio of CPU per handshake of two workers to one, A B B A.

    A worker is pinned in both arms, and two clients roam all cores in both, so what a client
    disturbs by sharing a worker's core, it disturbs in both: one worker left free to flee to the
    idle core would be 7 % cheaper for that alone.
    """
    everywhere = set(bench.server_cores | bench.client_cores)
    spent = {1: 0, 2: 0}
    for workers in (1, 2, 2, 1):
        cores = everywhere if workers == 2 else set(bench.server_cores)
        server, port = start(server_name, bench, pem, workers=workers, cores=cores)
        try:
            two_clients(bench, port, 100, everywhere)
            before = server.cpu_ns()
            two_clients(bench, port, 1500, everywhere)
            spent[workers] += server.cpu_ns() - before
        finally:
            server.stop()
    return spent[2] / spent[1]


def two_clients(bench: Bench, port: int, count: int, cores: set[int]) -> None:
    """Full handshakes of two clients at once, so many of each."""
    with ThreadPoolExecutor(2) as clients:
        runs = [
            clients.submit(client, bench, port, "handshakes", "-n", count, cores=cores)
            for _ in range(2)
        ]
    for run in runs:
        run.result()
