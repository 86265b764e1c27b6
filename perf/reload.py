#!/usr/bin/env python3
"""Reloads under load: what connections lose, what the process keeps, and what others feel.

    scripts/build release cleat cleat-bench perf-origin
    perf/reload.py --reloads 1000 --certificates 1,10000

The first part reloads again and again (`cleat reload`) beside full and resumed handshakes,
downloads and idle connections; every tenth reload is broken in another way, and must be refused. It
counts transactions that failed, sessions that did not resume, and idle connections that were cut,
and looks at the process's memory and descriptors: the slope is that of a line through the second
half. Then as many reloads follow without any load.

The second part compares latencies with renewals and without, in turn: every ten milliseconds a
certificate is renewed, another one each time where there are many, and a reload asked for by
SIGHUP. It looks at one request after the other on an established connection, and at full handshakes
in an open loop. Each round has a window of each kind; the ratio is the median of the rounds'. One
core is cleat's, with one worker and the reload's thread; the clients and the upstream have the
others. So a delay is one of cleat's: on a core that they shared, the kernel would let a client wait
for the reload, or a worker for a client.
"""

import argparse
import itertools
import json
import multiprocessing
import os
import signal
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from certificates import Issuer, make_certificates, path_of, replace
from cleat_perf import results
from cleat_perf.environment import cores, describe
from cleat_perf.established import ask, connect, lives
from cleat_perf.ports import free_port
from cleat_perf.processes import Process, anonymous_bytes
from cleat_perf.results import TREE
from cleat_perf.site_files import SiteFiles
from cleat_perf.table import table

BIN = TREE / "build/release/bin"
IDLE = 200
ALL_CORES = cores()
PROBE_GAP_S = 0.002
RENEWAL_GAP_S = 0.01
RENEWED = 50  # of many certificates, one after the other
LATENCY_HEADS = ["certificates", "p99 of", "without", "during reloads", "ratio", "reloads"]


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--reloads", type=int, default=1000, help="of the first part; 0: none")
    parse.add_argument("--certificates", default="1,10000", help="of the second part, by comma")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--window", type=float, default=10, help="seconds")
    parse.add_argument("--rate", type=int, default=100, help="full handshakes a second")
    parse.add_argument("--cleat", type=Path, default=BIN / "cleat")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


class Site:
    """A cleat with a worker for each of its cores, its upstream, and its files, which can be
    broken. This process and its clients run on the other cores, as far as there are any.
    `processes` ends all of them."""

    def __init__(
        self, cleat: Path, folder: Path, certificates: int, own_cores: set[int],
        processes: ExitStack,
    ) -> None:  # fmt: skip
        self.folder, self.processes = folder, processes
        self.pems = folder / f"pems-{certificates}"
        issuer = Issuer()
        make_certificates(self.pems, max(certificates, 2), issuer)
        others = ALL_CORES - own_cores or own_cores
        os.sched_setaffinity(0, others)
        origin = Process([str(BIN / "perf-origin")], others, folder / "origin.log")
        self.origin = processes.enter_context(origin)
        self.port = free_port()
        # Sessions do not resume under a certificate with other names.
        self.files = SiteFiles(folder, [issuer.pem(0).decode() for _ in range(2)])
        self.renewals = {self.files.pem: [each.encode() for each in self.files.good]}
        if certificates > 1:
            self.renewals = {
                path_of(self.pems, number): [issuer.pem(number) for _ in range(2)]
                for number in range(min(certificates, RENEWED))
            }
        many = f'pem-dir = "{self.pems}"\npem-dir-recursive = on\n' if certificates > 1 else ""
        self.files.configure(
            f'frontend = "[127.0.0.1]:{self.port}"\nworkers = {len(own_cores)}\n'
            f'{many}pem-file = "{self.files.pem}"\n'
            f'backend = "[127.0.0.1]:{self.origin.ready_port()}"\n'
            "log-level = 2\n"
        )
        command = [str(cleat), "--config", str(self.files.config)]
        self.cleat = Process(command, own_cores, folder / "cleat.log")
        processes.enter_context(self.cleat)
        self.pid = self.cleat.child.pid
        if not self.cleat.wait_for(self.port, 60):
            sys.exit(f"cleat does not serve:\n{self.cleat.log.read_text()[-2000:]}")

    def reload(self) -> bool:
        command = [BIN / "cleat", "reload", str(self.pid)]
        return subprocess.run(command, capture_output=True, timeout=120).returncode == 0

    def renew_without_end(self) -> multiprocessing.Process:
        """renew_without_end is a process that starts no other: to load `cleat reload` takes as much
        of a CPU as the reload itself."""
        renewing = multiprocessing.get_context("fork").Process(
            target=renew_again_and_again, args=(self.pid, self.renewals), daemon=True
        )
        renewing.start()
        self.processes.callback(renewing.join)
        self.processes.callback(renewing.kill)
        return renewing

    def start(self, command: list, **options: object) -> subprocess.Popen:
        child = subprocess.Popen(command, **options)
        self.processes.callback(child.wait)
        self.processes.callback(child.kill)  # The last is the first.
        return child

    def reloads(self) -> int:
        return (self.folder / "cleat.log").read_text().count("event=reloaded")

    def client(self) -> ssl.SSLSocket:
        return connect(self.port, "site-0.example")

    def load(self, out: Path, *words: object) -> subprocess.Popen:
        out.unlink(missing_ok=True)  # A load that fails must not leave an earlier one's result.
        command = [BIN / "cleat-bench", "load", f"https://127.0.0.1:{self.port}", "--json", out]
        command = [*map(str, [*command, *words])]
        return self.start(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def renew_again_and_again(pid: int, renewals: dict[Path, list[bytes]]) -> None:
    """renew_again_and_again replaces one file after the other by its other content, and asks for a
    reload each time."""
    for turn in itertools.count():
        for path, contents in renewals.items():
            replace(path, contents[turn % 2])
            os.kill(pid, signal.SIGHUP)
            time.sleep(RENEWAL_GAP_S)


def slope(values: list[float]) -> float:
    """Of the line through the values, for each step."""
    return statistics.linear_regression(range(len(values)), values).slope


def storm(options: argparse.Namespace, scratch: Path) -> dict:
    """The first part."""
    with ExitStack() as processes:
        return storm_of(Site(options.cleat, scratch, 1, ALL_CORES, processes), options, scratch)


def storm_of(site: Site, options: argparse.Namespace, scratch: Path) -> dict:
    out = [scratch / "handshakes.json", scratch / "downloads.json"]
    idle = [site.client() for _ in range(IDLE)]
    for each in idle:
        ask(each)
    hours = ("-d", "10h")
    loads = [
        site.load(out[0], "-r", options.rate, "--resume-ratio", 0.9, "--path", "/1000", *hours),
        site.load(out[1], "-c", 2, "--path", "/10000000", *hours),
    ]
    found = reload_again_and_again(site, options.reloads)
    for each in loads:
        each.send_signal(signal.SIGINT)
        each.wait(60)
    found |= {"idle": IDLE, "idle_cut": sum(not lives(each) for each in idle)}
    # The heap of a busy process grows in steps. Without other work a loss for each reload shows.
    quiet = reload_again_and_again(site, options.reloads)
    found["quiet_memory_slope_bytes"] = quiet["memory_slope_bytes"]
    handshakes, downloads = (json.loads(each.read_text()) for each in out)
    # The end of the loads leaves transactions unfinished.
    failures = [
        each
        for each in handshakes["failures"] + downloads["failures"]
        if each["kind"] != "unfinished"
    ]
    return found | {
        "transactions": handshakes["attempts"] + downloads["attempts"],
        "failures": failures,
        "failed": sum(each["count"] for each in failures),
        "offered": handshakes["handshakes"]["offered"],
        "resumed": handshakes["handshakes"]["resumed"],
    }


def reload_again_and_again(site: Site, count: int) -> dict:
    broken = itertools.cycle(site.files.breakages(site.origin.ready_port()))
    refused = 0
    memory: list[float] = []
    descriptors: list[float] = []
    began = time.monotonic()
    for number in range(1, count + 1):
        site.files.mend(number)
        if number % 10 == 0:
            next(broken)()
        done = site.reload()
        if done != (number % 10 != 0):
            sys.exit(f"reload {number} was {'done' if done else 'refused'}")
        refused += not done
        memory.append(anonymous_bytes(site.pid))
        descriptors.append(len(os.listdir(f"/proc/{site.pid}/fd")))
    return {
        "reloads": count,
        "refused": refused,
        "seconds": time.monotonic() - began,
        "memory_first_bytes": statistics.median(memory[:10]),
        "memory_last_bytes": statistics.median(memory[-10:]),
        "memory_slope_bytes": slope(memory[count // 2 :]),
        "descriptors_slope": slope(descriptors[count // 2 :]),
    }


def window(site: Site, options: argparse.Namespace, with_reloads: bool, out: Path) -> dict:
    """The latencies of one window, in seconds."""
    load = site.load(out, "-r", options.rate, "--path", "/1", "-d", f"{options.window}s")
    until = time.monotonic() + options.window
    took: list[float] = []

    def probe() -> None:
        with site.client() as client:
            while time.monotonic() < until:
                began = time.perf_counter()
                ask(client)
                took.append(time.perf_counter() - began)
                time.sleep(PROBE_GAP_S)

    before = site.reloads()
    renewing = site.renew_without_end() if with_reloads else None
    probe()
    if renewing:
        renewing.kill()
        renewing.join()
    load.wait(60)
    result = json.loads(out.read_text())
    return {
        "reloads": site.reloads() - before,
        "established_p99_s": statistics.quantiles(took, n=100)[98],
        "handshake_p99_s": result["latency"]["tls"]["p99_ns"] / 1e9,
        "failed": result["failed"],
    }


def latencies(options: argparse.Namespace, certificates: int, scratch: Path) -> list[dict]:
    """The second part."""
    rounds = []
    with ExitStack() as processes:
        site = Site(options.cleat, scratch, certificates, {max(ALL_CORES)}, processes)
        for number in range(options.rounds):
            kinds = (False, True) if number % 2 == 0 else (True, False)
            found = {kind: window(site, options, kind, scratch / "window.json") for kind in kinds}
            rounds.append({"certificates": certificates, "without": found[False],
                           "during": found[True]})
    return rounds


def quiet_rows(found: dict) -> list[list[str]]:
    """quiet_rows are empty for a result from before there was this part."""
    if "quiet_memory_slope_bytes" not in found:
        return []
    slope_bytes = found["quiet_memory_slope_bytes"]
    return [["the same of as many reloads without load", f"{slope_bytes:,.0f} bytes a reload"]]


def storm_rows(found: dict) -> list[list[str]]:
    resumed = found["resumed"] / max(found["offered"], 1)
    return [
        ["reloads, of which refused", f"{found['reloads']:,}, {found['refused']:,}"],
        ["transactions, of which failed", f"{found['transactions']:,}, {found['failed']:,}"],
        ["idle connections, of which cut", f"{found['idle']}, {found['idle_cut']}"],
        ["sessions that resumed", f"{resumed:.2%} of {found['offered']:,}"],
        ["memory after the first ten and the last ten",
         f"{found['memory_first_bytes'] / 2**20:.1f} and "
         f"{found['memory_last_bytes'] / 2**20:.1f} MiB"],
        ["slope of memory over the second half",
         f"{found['memory_slope_bytes']:,.0f} bytes a reload"],
        *quiet_rows(found),
        ["slope of descriptors over the second half",
         f"{found['descriptors_slope']:.4f} a reload"],
    ]


def latency_rows(rounds: list[dict]) -> list[list[str]]:
    rows = []
    for count in sorted({each["certificates"] for each in rounds}):
        own = [each for each in rounds if each["certificates"] == count]
        for name, key in (("established connection", "established_p99_s"),
                          ("full handshake", "handshake_p99_s")):
            without, during = (
                statistics.median(each[kind][key] for each in own) * 1e3
                for kind in ("without", "during")
            )
            ratios = [each["during"][key] / each["without"][key] for each in own]
            rows.append([
                f"{count:,}", name, f"{without:.2f} ms", f"{during:.2f} ms",
                f"{statistics.median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f})",
                str(sum(each["during"]["reloads"] for each in own)),
            ])
    return rows


def main() -> None:
    options = arguments()
    document = {"command": results.command(), "environment": describe(TREE)}
    with tempfile.TemporaryDirectory() as scratch:
        if options.reloads:
            document["storm"] = storm(options, Path(scratch))
            print(table(["reloads under load", ""], storm_rows(document["storm"])))
            print()
        document["rounds"] = [
            each
            for word in options.certificates.split(",") if word
            for each in latencies(options, int(word), Path(scratch))
        ]
    print(table(LATENCY_HEADS, latency_rows(document["rounds"])))
    for each in document.get("storm", {}).get("failures", []):
        print(f"failed: {each['count']} in {each['stage']}: {each['kind']}")
    if options.out:
        results.write(options.out, document)


if __name__ == "__main__":
    main()
