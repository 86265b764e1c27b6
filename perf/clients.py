#!/usr/bin/env python3
"""The cost of a load generator itself: CPU of the client for each full handshake with a 1 KiB
answer and a close, cleat-bench beside a bare epoll client on the same TLS library, wrk and h2load.

The server is nginx (HTTPS, TLS 1.3, no tickets, no keep-alive) on a core of its own. Rounds are
interleaved; ratios are medians within a round. Needs Debian's nginx, wrk and nghttp2-client
(apps/cleat-bench/compare/peers/install packages clients).
"""

import argparse
import os
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cleat_perf import environment, results
from cleat_perf.ports import free_port
from cleat_perf.processes import Process

NGINX = """worker_processes 1; error_log @FOLDER@/error.log; pid @FOLDER@/pid; daemon off;
events { worker_connections 4096; }
http {
    access_log off; keepalive_timeout 0;
    server {
        listen 127.0.0.1:@PORT@ ssl;
        ssl_certificate @PEM@; ssl_certificate_key @PEM@;
        ssl_protocols TLSv1.3; ssl_session_tickets off; ssl_ecdh_curve X25519;
        root @FOLDER@;
    }
}
"""
CONNECTIONS = 16


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--binaries", type=Path, default=results.TREE / "build/release/bin")
    parse.add_argument("--rounds", type=int, default=7)
    parse.add_argument("--count", type=int, default=2000, help="handshakes of a run")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


def commands(use: argparse.Namespace, port: int) -> dict[str, tuple[list[str], str]]:
    """Each client's command, and where in its words it says how many were done."""
    url, count = f"https://127.0.0.1:{port}/1024", str(use.count)
    suite = environment.suite("1.3")
    return {
        "cleat-bench": (
            [str(use.binaries / "cleat-bench"), "load", "-q", "--workers", "1", "--no-preflight"]
            + ["-c", str(CONNECTIONS), "-n", count, "--tls", "1.3", "--groups", "X25519"]
            + ["--ciphersuites", suite, url],
            r"\((\d+) ok in",
        ),
        "epoll client": (
            [str(use.binaries / "perf-epoll-client"), f"127.0.0.1:{port}", "-n", count]
            + ["-c", str(CONNECTIONS), "-b", "1024"],
            r'"ok": (\d+)',
        ),
        "wrk": (
            ["wrk", "-t1", f"-c{CONNECTIONS}", "-d2s", "-H", "Connection: close", url],
            r"(\d+) requests in",
        ),
        "h2load": (
            ["h2load", "--h1", "-n", count, "-c", str(CONNECTIONS), "-t1"]
            + ["--groups=X25519", url],
            r"(\d+) succeeded",
        ),
    }


def cpu_us(command: list[str], done: str) -> float:
    """CPU of the client for each transaction, as the kernel accounts it to a child that ended."""

    def spent() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    before = spent()
    core = {max(environment.cores())}
    ran = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: os.sched_setaffinity(0, core),
    )
    found = re.search(done, ran.stdout)
    if not found or int(found.group(1)) == 0:
        raise RuntimeError(f"{' '.join(command)} did nothing:\n{ran.stdout}{ran.stderr}")
    return (spent() - before) / int(found.group(1)) * 1e6


def versions(use: argparse.Namespace) -> dict[str, str]:
    """The versions of the server and the clients; the epoll client says nothing, and
    has cleat-bench's TLS library."""
    asked = {
        "nginx": ["nginx", "-v"],
        "cleat-bench": [str(use.binaries / "cleat-bench"), "--version"],
        "wrk": ["wrk", "-v"],
        "h2load": ["h2load", "--version"],
    }
    found = {}
    for name, command in asked.items():
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=10)
        except FileNotFoundError:
            sys.exit(
                f"{command[0]} is not here: build, and "
                "apps/cleat-bench/compare/peers/install packages clients"
            )
        found[name] = next(iter((ran.stdout + ran.stderr).strip().splitlines()), "")
    return found


def record(machine: dict, figures: dict[str, list[float]]) -> dict:
    """What --out writes: us of CPU for each transaction, a figure a round."""
    medians = {name: statistics.median(values) for name, values in figures.items()}
    return {
        "environment": machine,
        "medians": {"client-cpu": medians},
        "figures": {"client-cpu": figures},
    }


def main() -> None:
    use = arguments()
    machine = environment.describe(results.TREE)
    machine["programs"] = versions(use)
    machine["command"] = shlex.join(["perf/clients.py", *sys.argv[1:]])
    with tempfile.TemporaryDirectory(prefix="cleat-clients-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        pem = environment.certificates(folder)["ecdsa"]
        (folder / "1024").write_bytes(b"x" * 1024)
        port = free_port()
        text = NGINX
        for key, value in {"FOLDER": folder, "PORT": port, "PEM": pem}.items():
            text = text.replace(f"@{key}@", str(value))
        (folder / "nginx.conf").write_text(text)
        core = {min(environment.cores())}
        server = Process(["nginx", "-c", str(folder / "nginx.conf")], core, folder / "log")
        try:
            if not server.wait_for(port):
                raise RuntimeError(f"nginx does not start:\n{(folder / 'log').read_text()}")
            figures: dict[str, list[float]] = {}
            for _ in range(use.rounds):
                for client, (command, done) in commands(use, port).items():
                    figures.setdefault(client, []).append(cpu_us(command, done))
        finally:
            server.stop()
    ours = figures["cleat-bench"]
    for client, values in figures.items():
        ratios = [a / b for a, b in zip(ours, values)]
        print(
            f"{client:14}{statistics.median(values):8.1f} us   cleat-bench is "
            f"{statistics.median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f}) of it"
        )
    if use.out:
        results.write(use.out, record(machine, figures))
        print(f"written: {use.out}")


if __name__ == "__main__":
    main()
