#!/usr/bin/env python3
"""Many certificates with other terminators: the start, memory, and a name's first handshake.

    scripts/build release cleat
    apps/cleat-bench/compare/peers/install packages haproxy-awslc
    perf/certificate_peers.py --counts 5000,20000,100000

Every server is given the same files, which perf/certificates.py describes, and two workers or
threads on loopback. cleat is measured without an index and with the one that its start before has
written. HAProxy reads a list of all files (crt-list), hitch a pem-file line for each. nginx is
given a file's name made from the client's (ssl_certificate with a variable), and reads it in each
handshake: Debian 12's has no ssl_certificate_cache yet. "First handshake" is the time from the
start of the process until a client has shaken hands with a name chosen at random. "Cold" and
"warm" are medians of a client's time for TCP and TLS with 50 names, and with the same names
again. PSS is of all processes, after that; "each" is its growth from the smallest number of
certificates to this one, by their difference. A server that does not serve within two minutes is
not started again with that many.
"""

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Callable

from certificates import (
    READY_S,
    STAMPS_COUNT_AFTER_S,
    Issuer,
    end,
    first_handshake_s,
    handshake_s,
    make_certificates,
    name_of,
    path_of,
    report,
)
from cleat_perf.environment import INSTALLED, cores
from cleat_perf.ports import free_port
from cleat_perf.processes import Process
from cleat_perf.results import TREE
from cleat_perf.table import table

ASKED = 50
HAPROXY = INSTALLED / "haproxy-awslc"

# A server's configuration for these many certificates in a folder, and the command that runs it.
Maker = Callable[[Path, int, int, Path], list[str]]


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--cleat", default=str(TREE / "build/release/bin/cleat"))
    parse.add_argument("--haproxy", default=str(HAPROXY))
    parse.add_argument("--counts", default="5000,20000,100000", help="certificates, by comma")
    parse.add_argument("--servers", help="by comma; default: all")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--folder", type=Path, help="made certificates stay here (default: none)")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


def makers(options: argparse.Namespace) -> dict[str, Maker]:
    def cleat(folder: Path, count: int, port: int, scratch: Path) -> list[str]:
        file = scratch / "cleat.conf"
        file.write_text(
            f'frontend = "[127.0.0.1]:{port}"\nbackend = "[127.0.0.1]:9"\nworkers = 2\n'
            f'pem-dir = "{folder}"\npem-dir-recursive = on\n'
        )
        return [options.cleat, "--config", str(file)]

    def cleat_again(folder: Path, count: int, port: int, scratch: Path) -> list[str]:
        command = cleat(folder, count, port, scratch)
        return [*command, "--certificate-index", str(scratch / f"index-{count}")]

    def haproxy(folder: Path, count: int, port: int, scratch: Path) -> list[str]:
        files, file = scratch / "crt-list", scratch / "haproxy.conf"
        files.write_text("".join(f"{path_of(folder, n)}\n" for n in range(count)))
        file.write_text(
            "global\n nbthread 2\n tune.ssl.cachesize 0\ndefaults\n mode tcp\n"
            " timeout connect 5s\n timeout client 1h\n timeout server 1h\n"
            f"frontend tls\n bind 127.0.0.1:{port} ssl crt-list {files}\n"
            " default_backend origin\nbackend origin\n server origin 127.0.0.1:9\n"
        )
        return [options.haproxy, "-db", "-f", str(file)]

    def hitch(folder: Path, count: int, port: int, scratch: Path) -> list[str]:
        file = scratch / "hitch.conf"
        lines = [f'frontend = "[127.0.0.1]:{port}"', 'backend = "[127.0.0.1]:9"']
        lines += ["workers = 2", "daemon = off", 'user = "nobody"', "log-level = 0"]
        lines += [f'pem-file = "{path_of(folder, n)}"' for n in range(count)]
        file.write_text("\n".join(lines) + "\n")
        return ["hitch", f"--config={file}"]

    def nginx(folder: Path, count: int, port: int, scratch: Path) -> list[str]:
        file = scratch / "nginx.conf"
        file.write_text(
            "load_module /usr/lib/nginx/modules/ngx_stream_module.so;\nuser root;\ndaemon off;\n"
            f"worker_processes 2;\npid {scratch}/nginx.pid;\nerror_log stderr error;\n"
            "events { worker_connections 1000; }\nstream {\n map $ssl_server_name $file {\n"
            '  "~^(www[.])?site-(?<n>[0-9]{1,2})[.]example$" 0/$n;\n'
            '  "~^(www[.])?site-(?<folder>[0-9]+)(?<n>[0-9][0-9])[.]example$"'
            f" $folder/$folder$n;\n }}\n server {{\n  listen 127.0.0.1:{port} ssl reuseport;\n"
            f"  ssl_certificate {folder}/$file.pem;\n  ssl_certificate_key {folder}/$file.pem;\n"
            "  proxy_pass 127.0.0.1:9;\n }\n}\n"
        )
        return ["nginx", "-c", str(file), "-e", "stderr"]

    return {
        "cleat": cleat, "cleat, second start": cleat_again, "HAProxy": haproxy, "hitch": hitch,
        "nginx": nginx,
    }  # fmt: skip


def run(command: list[str], port: int, count: int, log: Path) -> dict:
    names = [name_of(n) for n in random.sample(range(count), ASKED + 1)]
    began = time.perf_counter()
    server = Process(command, cores(), log)
    try:
        took = first_handshake_s(server, port, names[0], began, OSError)
        found: dict = {"first_handshake_s": took}
        if took is None:
            return found | {"said": log.read_text(errors="replace")[-300:]}
        cold = [handshake_s(port, name) for name in names[1:]]
        warm = [handshake_s(port, name) for name in names[1:]]
        return found | {
            "cold_ms": statistics.median(cold) * 1e3,
            "warm_ms": statistics.median(warm) * 1e3,
            "pss_kib": server.pss_kib(),
        }
    finally:
        end(server)


def measure(options: argparse.Namespace, counts: list[int], scratch: Path) -> list[dict]:
    issuer = Issuer()
    folders = {count: (options.folder or scratch) / str(count) for count in counts}
    for count in counts:
        make_certificates(folders[count], count, issuer)
    time.sleep(STAMPS_COUNT_AFTER_S)
    rounds: list[dict] = []
    given_up: set[tuple[str, int]] = set()
    wanted = options.servers.split(",") if options.servers else list(makers(options))
    for number in range(options.rounds):
        for count in counts:
            for name in wanted:
                if (name, count) in given_up:
                    continue
                port = free_port()
                command = makers(options)[name](folders[count], count, port, scratch)
                if name == "cleat, second start" and number == 0:
                    run(command, port, count, scratch / "log")  # It writes the index.
                found = run(command, port, count, scratch / "log")
                rounds.append({"server": name, "certificates": count, **found})
                print(rounds[-1], flush=True)
                if found["first_handshake_s"] is None:
                    given_up.add((name, count))
    return rounds


HEADS = ["server", "certificates", "first handshake", "PSS", "each", "cold", "warm"]


def rows(rounds: list[dict]) -> list[list[str]]:
    """rows have the medians of each server with each number of certificates."""
    counts = sorted({each["certificates"] for each in rounds})
    shown = []
    for name in dict.fromkeys(each["server"] for each in rounds):
        least: float | None = None
        for count in counts:
            found = [
                each for each in rounds if (each["server"], each["certificates"]) == (name, count)
            ]
            if any(each["first_handshake_s"] is None for each in found):
                shown.append([name, f"{count:,}", f"not within {READY_S} s", "", "", "", ""])
                continue
            middle = {
                key: statistics.median(each[key] for each in found)
                for key in ("first_handshake_s", "pss_kib", "cold_ms", "warm_ms")
            }
            each_kib = ""
            if least is not None:
                each_kib = f"{(middle['pss_kib'] - least) / (count - counts[0]):.2f} KiB"
            else:
                least = middle["pss_kib"]
            shown.append([
                name, f"{count:,}", f"{middle['first_handshake_s']:.2f} s",
                f"{middle['pss_kib'] / 1024:.0f} MiB", each_kib,
                f"{middle['cold_ms']:.1f} ms", f"{middle['warm_ms']:.1f} ms",
            ])  # fmt: skip
    return shown


def main() -> None:
    options = arguments()
    counts = [int(word) for word in options.counts.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        rounds = measure(options, counts, Path(scratch))
    report(table(HEADS, rows(rounds)), rounds, options.out)


if __name__ == "__main__":
    main()
