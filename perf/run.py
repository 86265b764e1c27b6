#!/usr/bin/env python3
"""Lays TLS servers side by side: CPU per operation, memory and system calls.

perf/README.md explains it.
"""

import argparse
import os
import resource
import shlex
import statistics
import sys
import tempfile
from pathlib import Path

from cleat_perf import environment
from cleat_perf.processes import Process
from cleat_perf.results import RESULTS
from cleat_perf.results import write as write_result
from runner import report, servers
from runner.scenarios import ONCE, SCENARIOS, run_once

TREE = Path(__file__).resolve().parent.parent
PIPE_READY_S = 10


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument(
        "--servers",
        default="cleat,epoll,asio,nginx,hitch",
        help="of cleat, epoll, asio, epoll-openssl, asio-openssl, nginx, hitch, haproxy",
    )
    parse.add_argument(
        "--scenario", action="append", choices=[*SCENARIOS, "all"], help="may be given again"
    )
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument(
        "--binaries",
        type=Path,
        default=TREE / "build/release/bin",
        help="folder of perf-client, perf-origin and the control arms",
    )
    parse.add_argument(
        "--openssl-binaries", type=Path, help="the same, built with -DCLEAT_TLS=openssl"
    )
    parse.add_argument(
        "--cleat-binary", type=Path, help="default: cleat in the folder of the binaries"
    )
    parse.add_argument("--groups", default="X25519", help="the one key exchange group")
    parse.add_argument("--tls", default="1.3", choices=["1.2", "1.3"])
    parse.add_argument(
        "--suite", help="the one cipher suite that the client offers; default: AES-128-GCM"
    )
    parse.add_argument(
        "--asio-buffer", type=int, default=16384, help="bytes of a direction's buffer in asio"
    )
    parse.add_argument("--server-core", type=int, default=min(environment.cores()))
    parse.add_argument("--client-core", type=int, default=max(environment.cores()))
    parse.add_argument(
        "--out", type=Path, help="default: a new file in perf/results; - writes none"
    )
    parse.add_argument("--check", action="store_true", help="hold the figures against the targets")
    return parse.parse_args()


def measure(
    use: argparse.Namespace, bench: servers.Bench, pems: dict[str, Path]
) -> tuple[dict, dict]:
    """All scenarios, A B C A B C: a round has a figure for every server, or it is worth nothing."""
    names = use.servers.split(",")
    chosen = use.scenario or ["handshake-ecdsa"]
    results, details = {}, {}
    for scenario in SCENARIOS if "all" in chosen else dict.fromkeys(chosen):
        # The control arms have one worker, so there is nothing to hold two against.
        here = [name for name in names if scenario != "two-workers" or name not in servers.CONTROLS]
        if not here:
            continue
        figures = {name: [] for name in here}
        for turn in range(min(use.rounds, ONCE.get(scenario, use.rounds))):
            for name in here:
                figure, detail = run_once(scenario, name, bench, pems)
                figures[name].append(figure)
                if detail:
                    details.setdefault(scenario, {})[name] = detail
                print(f"  {scenario} {turn + 1}: {name} {figure:.3f}", file=sys.stderr)
        results[scenario] = figures
        print(report.table(*SCENARIOS[scenario][:2], figures))
        for name, calls in details.get(scenario, {}).items():
            print(
                f"  {name:14}"
                + ", ".join(f"{call} {count:.2f}" for call, count in calls.items() if count >= 0.01)
            )
        print(flush=True)
    return results, details


def write(path: Path | None, record: dict) -> None:
    if path is None:
        stamp = record["environment"]["date"].replace(":", "").replace("+0000", "Z")
        path = RESULTS / f"{stamp}.json"
    write_result(path, record)
    print(f"written: {path}")


def main() -> int:
    use = arguments()
    # Now, and not at its turn: what was measured until then would be lost.
    if lack := servers.what_is_not_there(use.servers.split(",")):
        print(lack, file=sys.stderr)
        return 1
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if use.server_core == use.client_core:
        print("one core only: server and client share it, and the figures suffer", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="cleat-perf-") as folder:
        os.chmod(folder, 0o755)  # peers that drop privileges read their certificate here
        pems = environment.certificates(Path(folder))
        origin = Process(
            [str(use.binaries / "perf-origin")], {use.client_core}, Path(folder) / "origin.log"
        )
        try:
            bench = servers.Bench(
                binaries=use.binaries,
                cleat=use.cleat_binary or use.binaries / "cleat",
                openssl_binaries=use.openssl_binaries,
                folder=Path(folder),
                origin_port=origin.ready_port(PIPE_READY_S),
                groups=use.groups,
                tls=use.tls,
                server_cores=frozenset({use.server_core}),
                client_cores=frozenset({use.client_core}),
                suite=use.suite or environment.suite(use.tls),
                asio_buffer=use.asio_buffer,
            )
            here = environment.describe(TREE)
            here["servers"] = {
                name: servers.version(name, bench) for name in use.servers.split(",")
            }
            here["command"] = shlex.join(["perf/run.py", *sys.argv[1:]])
            results, details = measure(use, bench, pems)
        finally:
            origin.stop()
    medians = {
        scenario: {name: statistics.median(values) for name, values in figures.items()}
        for scenario, figures in results.items()
    }
    if str(use.out) != "-":
        write(
            use.out,
            {"environment": here, "medians": medians, "figures": results, "details": details},
        )
    if not use.check:
        return 0
    lines, held = report.check(results, here["servers"].get("cleat", ""))
    print("\n".join(lines) or "no target was measured")
    return 0 if held and lines else 1


if __name__ == "__main__":
    sys.exit(main())
