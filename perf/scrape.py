#!/usr/bin/env python3
"""The time of a scrape of /metrics, with many certificates.

    scripts/build release cleat
    perf/scrape.py --count 100000

Certificates are those of perf/certificates.py. cleat serves with two workers on loopback. Each
scrape is a GET /metrics on one connection, from the request to the last byte. In each round cleat
has certificate-metrics = 0, and then 1000, which is the most. "Bytes" is the length of the page.
"""

import argparse
import http.client
import statistics
import tempfile
import time
from pathlib import Path

from certificates import (
    Issuer, cleat_serves_s, end, make_certificates, name_of, report,
)  # fmt: skip
from cleat_perf.environment import cores
from cleat_perf.processes import Process, free_port
from cleat_perf.results import TREE
from cleat_perf.table import table

SETTLED_S = 2


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--cleat", type=Path, default=TREE / "build/release/bin/cleat")
    parse.add_argument("--count", type=int, default=100_000, help="certificates")
    parse.add_argument("--scrapes", type=int, default=200, help="in each round")
    parse.add_argument("--rounds", type=int, default=3)
    parse.add_argument("--folder", type=Path, help="made certificates stay here (default: none)")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


def scrape_ms(client: http.client.HTTPConnection) -> tuple[float, int]:
    began = time.perf_counter()
    client.request("GET", "/metrics")
    page = client.getresponse().read()
    return (time.perf_counter() - began) * 1e3, len(page)


def measure(options: argparse.Namespace, folder: Path, scratch: Path, named: int) -> dict:
    port, admin = free_port(), free_port()
    (scratch / "conf").write_text(
        f'frontend = "[127.0.0.1]:{port}"\nbackend = "[127.0.0.1]:9"\nworkers = 2\n'
        f'pem-dir = "{folder}"\npem-dir-recursive = on\n'
        f'admin = "[127.0.0.1]:{admin}"\ncertificate-metrics = {named}\n'
    )
    command = [str(options.cleat), "--config", str(scratch / "conf")]
    cleat = Process(command, cores(), scratch / "cleat.log")
    try:
        cleat_serves_s(cleat, port, name_of(0), time.perf_counter())
        time.sleep(SETTLED_S)
        client = http.client.HTTPConnection("127.0.0.1", admin, timeout=10)
        scrapes = [scrape_ms(client) for _ in range(options.scrapes)]
    finally:
        end(cleat)
    times = [took for took, _ in scrapes]
    return {
        "certificates": options.count,
        "certificate_metrics": named,
        "median_ms": statistics.median(times),
        "p99_ms": statistics.quantiles(times, n=100)[98],
        "max_ms": max(times),
        "bytes": scrapes[-1][1],
    }


HEADS = ["certificates", "certificate-metrics", "median", "p99", "longest", "bytes"]


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


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.folder or Path(scratch)) / str(options.count)
        make_certificates(folder, options.count, Issuer())
        rounds = [
            measure(options, folder, Path(scratch), named)
            for _ in range(options.rounds)
            for named in (0, 1000)
        ]
    report(table(HEADS, rows(rounds)), rounds, options.out)


if __name__ == "__main__":
    main()
