#!/usr/bin/env python3
"""The time of a scrape of /metrics with many certificates, and the effect of scrapes on requests.

    scripts/build release cleat cleat-bench perf-origin
    perf/scrape.py --count 100000

Certificates are those of perf/certificates.py. In each round cleat has certificate-metrics = 0, and
then 1000, which is the most.

The first part: cleat serves with two workers on loopback. Each scrape is a GET /metrics on one
connection, from the request to the last byte. "Bytes" is the length of the page.

The second part has requests on established connections, at a fixed rate, from the moment at which
each was due. Windows without scrapes, with one a second, and with ten take turns. One core is
cleat's, with one worker and the thread that answers scrapes; the load, the upstream and the program
that scrapes have the others. So a last kind of window has the same program get as many bytes as
often from the upstream, not from cleat: what that costs is no cost of cleat's. The ratio is the
median of the rounds', each to the window without scrapes of its round.
"""

import argparse
import http.client
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from certificates import Issuer, cleat_serves_s, end, make_certificates, name_of
from cleat_perf import results
from cleat_perf.environment import cores, describe, split_cores
from cleat_perf.ports import free_port
from cleat_perf.processes import Process
from cleat_perf.results import TREE
from cleat_perf.table import table

SETTLED_S = 2
NAMED = (0, 1000)  # certificate-metrics
REQUESTS = 1000  # a second
ESTABLISHED = 200
WARM_UP_S = 1.5
PATIENCE_S = 60


@dataclass(frozen=True)
class Kind:
    """Kind of window: how often a page is asked for, and of whom."""

    name: str
    per_second: int
    of_cleat: bool = True


KINDS = (
    Kind("without", 0),
    Kind("one a second", 1),
    Kind("ten a second", 10),
    Kind("ten a second of the upstream", 10, of_cleat=False),
)


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--binaries", type=Path, default=TREE / "build/release/bin")
    parse.add_argument("--count", type=int, default=100_000, help="certificates")
    parse.add_argument("--scrapes", type=int, default=200, help="in each round of the first part")
    parse.add_argument("--rounds", type=int, default=7)
    parse.add_argument("--window", type=float, default=6, help="seconds, in the second part")
    parse.add_argument("--folder", type=Path, help="made certificates stay here (default: none)")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


def get_ms(client: http.client.HTTPConnection, path: str = "/metrics") -> tuple[float, int]:
    began = time.perf_counter()
    client.request("GET", path)
    page = client.getresponse().read()
    return (time.perf_counter() - began) * 1e3, len(page)


class Site:
    """Site is a cleat that has the certificates of a folder. `processes` ends it."""

    def __init__(
        self, options: argparse.Namespace, folder: Path, scratch: Path, named: int, upstream: int,
        own_cores: set[int], processes: ExitStack,
    ) -> None:  # fmt: skip
        self.port, admin = free_port(), free_port()
        config = scratch / "conf"
        config.write_text(
            f'frontend = "[127.0.0.1]:{self.port}"\nbackend = "[127.0.0.1]:{upstream}"\n'
            f'workers = {len(own_cores)}\npem-dir = "{folder}"\npem-dir-recursive = on\n'
            f'admin = "[127.0.0.1]:{admin}"\ncertificate-metrics = {named}\n'
        )
        command = [str(options.binaries / "cleat"), "--config", str(config)]
        cleat = Process(command, own_cores, scratch / "cleat.log")
        processes.callback(end, cleat)
        cleat_serves_s(cleat, self.port, name_of(0), time.perf_counter())
        time.sleep(SETTLED_S)
        self.admin = http.client.HTTPConnection("127.0.0.1", admin, timeout=10)


def scrapes(options: argparse.Namespace, folder: Path, scratch: Path, named: int) -> dict:
    """One round of the first part."""
    with ExitStack() as processes:
        site = Site(options, folder, scratch, named, 9, cores(), processes)
        found = [get_ms(site.admin) for _ in range(options.scrapes)]
    times = [took for took, _ in found]
    return {
        "certificates": options.count,
        "certificate_metrics": named,
        "median_ms": statistics.median(times),
        "p99_ms": statistics.quantiles(times, n=100)[98],
        "max_ms": max(times),
        "bytes": found[-1][1],
    }


class Scraper:
    """Scraper asks for a page so many times a second, until it is left. It runs at low priority,
    because a real scraper is another machine."""

    def __init__(self, client: http.client.HTTPConnection, path: str, per_second: int) -> None:
        self.times_ms: list[float] = []
        self._client, self._path, self._per_second = client, path, per_second
        self._ended = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._scrape)

    def _scrape(self) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.nice(0) + 10)
        due = time.monotonic() + 1 / self._per_second
        while not self._ended.wait(max(0.0, due - time.monotonic())):
            due += 1 / self._per_second
            try:
                self.times_ms.append(get_ms(self._client, self._path)[0])
            except (OSError, http.client.HTTPException) as failure:
                self._failure = failure
                return

    def __enter__(self) -> "Scraper":
        if self._per_second:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._per_second:
            self._thread.join()
        if self._failure:
            raise self._failure


def window(
    options: argparse.Namespace, port: int, page: Scraper, clients: set[int], scratch: Path
) -> dict:
    """window is how long requests on established connections wait, beside the scraper."""
    out = scratch / "load.json"
    out.unlink(missing_ok=True)  # A load that fails must not leave an earlier one's result.
    command = [options.binaries / "cleat-bench", "load", "-q", "--no-preflight", "--workers", 1,
               "--json", out, "-r", REQUESTS, "-c", ESTABLISHED, "--keep",
               "-d", f"{options.window}s", "--warm-up", f"{WARM_UP_S}s",
               f"https://127.0.0.1:{port}/1024"]  # fmt: skip
    with Process([*map(str, command)], clients, scratch / "load.log") as load:
        time.sleep(WARM_UP_S)
        with page:
            load.child.wait(options.window + PATIENCE_S)
    found = json.loads(out.read_text())
    response = found["latency"]["response"]
    if response["p99_ns"] is None:
        sys.exit(f"requests failed: {found['failures']}")
    return {
        "requests": found["attempts"],
        "failed": found["failed"],  # Those due in the last moment may be.
        "p50_ms": response["p50_ns"] / 1e6,
        "p99_ms": response["p99_ns"] / 1e6,
        "scrapes_ms": page.times_ms,
    }


def beside(
    options: argparse.Namespace, folder: Path, scratch: Path, named: int, number: int
) -> dict:
    """One round of the second part. Each round begins with another kind."""
    own, clients = split_cores()
    with ExitStack() as processes:
        origin = Process(
            [str(options.binaries / "perf-origin")], clients, scratch / "origin.log"
        )  # fmt: skip
        upstream = processes.enter_context(origin).ready_port()
        site = Site(options, folder, scratch, named, upstream, own, processes)
        size = get_ms(site.admin)[1]
        plain = http.client.HTTPConnection("127.0.0.1", upstream, timeout=10)
        found = {}
        turn = number % len(KINDS)
        for kind in KINDS[turn:] + KINDS[:turn]:
            client, path = (site.admin, "/metrics") if kind.of_cleat else (plain, f"/{size}")
            page = Scraper(client, path, kind.per_second)
            found[kind.name] = window(options, site.port, page, clients, scratch)
    return {"certificates": options.count, "certificate_metrics": named, "windows": found}


HEADS = ["certificates", "certificate-metrics", "median", "p99", "longest", "bytes"]
BESIDE_HEADS = ["certificate-metrics", "pages", "p50", "of that without", "p99", "of that without"]


def rows(rounds: list[dict]) -> list[list[str]]:
    """rows have the medians of the rounds, and the longest of all."""
    shown = []
    for named in sorted({each["certificate_metrics"] for each in rounds}):
        found = [each for each in rounds if each["certificate_metrics"] == named]
        shown.append([
            f"{found[0]['certificates']:,}",
            str(named),
            f"{statistics.median(each['median_ms'] for each in found):.2f} ms",
            f"{statistics.median(each['p99_ms'] for each in found):.2f} ms",
            f"{max(each['max_ms'] for each in found):.2f} ms",
            f"{found[0]['bytes']:,}",
        ])
    return shown


def beside_rows(rounds: list[dict]) -> list[list[str]]:
    """beside_rows have the medians of the rounds, and of their ratios."""
    shown = []
    for named in sorted({each["certificate_metrics"] for each in rounds}):
        windows = [each["windows"] for each in rounds if each["certificate_metrics"] == named]
        for kind in KINDS:
            cells = [str(named), kind.name]
            for key in ("p50_ms", "p99_ms"):
                middle = statistics.median(each[kind.name][key] for each in windows)
                cells += [f"{middle:.2f} ms", ratio(windows, kind, key)]
            shown.append(cells)
    return shown


def ratio(windows: list[dict], kind: Kind, key: str) -> str:
    if kind.per_second == 0:
        return ""
    ratios = [each[kind.name][key] / each["without"][key] for each in windows]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f})"


def main() -> None:
    options = arguments()
    document = {"command": results.command(), "environment": describe(TREE)}
    with tempfile.TemporaryDirectory() as temporary:
        scratch = Path(temporary)
        folder = (options.folder or scratch) / str(options.count)
        make_certificates(folder, options.count, Issuer())
        document["rounds"] = [
            scrapes(options, folder, scratch, named)
            for _ in range(options.rounds)
            for named in NAMED
        ]
        document["beside"] = [
            beside(options, folder, scratch, named, number)
            for number in range(options.rounds)
            for named in NAMED
        ]
    print(table(HEADS, rows(document["rounds"])))
    print()
    print(table(BESIDE_HEADS, beside_rows(document["beside"])))
    if options.out:
        results.write(options.out, document)


if __name__ == "__main__":
    main()
