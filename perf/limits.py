#!/usr/bin/env python3
"""A flood of handshakes from many addresses beside honest clients, with limits and without.

    scripts/build release cleat cleat-bench perf-origin perf-flood
    perf/limits.py --addresses 1000 --rate 1 --servers cleat,haproxy,nginx,envoy

Honest clients open 200 connections a second, each with a full handshake and a small answer, from so
many addresses that each keeps to half of the limit. The flood (perf-flood) opens ten times as many
from each of its addresses as the limit allows: a connection sends a ClientHello, and leaves with a
reset at the first byte of an answer. Three windows in each round, in turn: without the flood, with
flood and limits, and with the flood alone, which shows what the limits are for. The ratio is that
of the honest clients' 99th percentile, the median of the rounds'. "Flood" is what it has really
sent.

HAProxy has a stick table with the same rate. nginx (stream) has no limit of a rate: its limit_conn
lets one connection of an address be open at a time. Envoy's limits are of a listener: its bucket
has the rate of the honest clients and of all addresses of the flood together. It comes from
apps/cleat-bench/compare/peers/install envoy.

The server has one worker, on a core of its own; the clients and the upstream have the others, where
the flood's client gives way to them (chrt -r, as root): a real flood comes from other machines, and
takes no CPU from the honest clients'. All addresses are of loopback, 127.0.0.0/8.
"""

import argparse
import contextlib
import ipaddress
import itertools
import json
import math
import os
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from certificates import Issuer, make_certificates
from cleat_perf import results
from cleat_perf.environment import INSTALLED, describe, split_cores
from cleat_perf.ports import free_port
from cleat_perf.processes import Process
from cleat_perf.results import TREE
from cleat_perf.table import table

BIN = TREE / "build/release/bin"
ENVOY = INSTALLED / "envoy"
KINDS = ("alone", "limited", "unlimited")
HONEST_FIRST = ipaddress.ip_address("127.1.0.1")
FLOOD_FIRST = ipaddress.ip_address("127.2.0.1")
TIMES = 10
BEGINNING_S = 0.5  # The flood's addresses begin one after another in its first second.
HEADS = ["server", "", "honest, failed", "p99", "ratio", "flood", "let in", "CPU"]
NAMES = {
    "alone": "without the flood",
    "limited": "flood, with limits",
    "unlimited": "flood, no limits",
}


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--addresses", type=int, default=1000, help="of the flood")
    parse.add_argument("--rate", type=int, default=1, help="of each address, a second")
    parse.add_argument("--honest", type=int, default=200, help="connections a second")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--window", type=float, default=10, help="seconds")
    parse.add_argument("--servers", default="cleat", help=f"{', '.join(SERVERS)}, by comma")
    parse.add_argument("--kinds", default=",".join(KINDS), help="of windows, by comma")
    parse.add_argument("--cleat", type=Path, default=BIN / "cleat")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


def before_others(command: list[str], priority: int = 20) -> list[str]:
    """The command with a priority above everything else, where this user may give it."""
    return ["chrt", "-r", str(priority), *command] if os.geteuid() == 0 else command


def client_hello() -> bytes:
    """A ClientHello of TLS 1.3, as OpenSSL makes it."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def sources(first: ipaddress.IPv4Address, count: int) -> str:
    return f"{first}-{first + count - 1}"


def cleat_command(options: argparse.Namespace, site: "Site", has_limits: bool) -> list[str]:
    rate = (
        f"client-handshake-rate = {options.rate}\nclient-handshake-burst = {2 * options.rate}\n"
    )
    (site.folder / "cleat.conf").write_text(
        f'frontend = "[127.0.0.1]:{site.port}"\nworkers = 1\n'
        f'pem-file = "{site.pem}"\nbackend = "[127.0.0.1]:{site.origin.ready_port()}"\n'
        f"{rate if has_limits else ''}"
    )
    return [str(options.cleat), "--config", str(site.folder / "cleat.conf")]


def haproxy_command(options: argparse.Namespace, site: "Site", has_limits: bool) -> list[str]:
    """It counts whole connections, in a sliding second: there is no bucket to give a burst."""
    rate = (
        "  stick-table type ip size 100k expire 10s store conn_rate(1s)\n"
        "  tcp-request connection track-sc0 src\n"
        f"  tcp-request connection reject if {{ sc0_conn_rate gt {options.rate} }}\n"
    )
    (site.folder / "haproxy.cfg").write_text(
        "global\n  nbthread 1\n  maxconn 8000\n"
        "defaults\n  mode tcp\n  timeout connect 5s\n  timeout client 30s\n"
        "  timeout server 30s\n"
        f"frontend in\n  bind 127.0.0.1:{site.port} ssl crt {site.pem}\n"
        f"{rate if has_limits else ''}  default_backend out\n"
        f"backend out\n  server one 127.0.0.1:{site.origin.ready_port()}\n"
    )
    return ["haproxy", "-db", "-f", str(site.folder / "haproxy.cfg")]


def nginx_command(_: argparse.Namespace, site: "Site", has_limits: bool) -> list[str]:
    zone = "limit_conn_zone $binary_remote_addr zone=clients:10m; limit_conn clients 1;"
    (site.folder / "nginx.conf").write_text(
        "load_module /usr/lib/nginx/modules/ngx_stream_module.so;\n"
        "daemon off; worker_processes 1; worker_rlimit_nofile 20000;\n"
        f"pid {site.folder}/nginx.pid; error_log stderr crit;\n"
        "events { worker_connections 8000; }\n"
        f"stream {{ {zone if has_limits else ''}\n"
        f"server {{ listen 127.0.0.1:{site.port} ssl backlog=4096;\n"
        f"ssl_certificate {site.pem}; ssl_certificate_key {site.pem}; ssl_protocols TLSv1.3;\n"
        f"proxy_pass 127.0.0.1:{site.origin.ready_port()}; }} }}\n"
    )
    return ["nginx", "-p", str(site.folder), "-e", "stderr", "-c", str(site.folder / "nginx.conf")]


def envoy_command(options: argparse.Namespace, site: "Site", has_limits: bool) -> list[str]:
    """Its filter of a listener refuses a connection before TLS."""
    tls = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"
    proxy = "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy"
    filters = "type.googleapis.com/envoy.extensions.filters.listener"
    limit = f"{filters}.local_ratelimit.v3.LocalRateLimit"
    a_second = options.honest + options.addresses * options.rate

    def address(port: int) -> dict:
        return {"socket_address": {"address": "127.0.0.1", "port_value": port}}

    def named(name: str, kind: str, **settings: object) -> dict:
        return {"name": name, "typed_config": {"@type": kind, **settings}}

    bucket = {"max_tokens": a_second, "tokens_per_fill": a_second, "fill_interval": "1s"}
    pem = {"filename": str(site.pem)}
    common = {
        "tls_params": {"tls_minimum_protocol_version": "TLSv1_3", "ecdh_curves": ["X25519"]},
        "tls_certificates": [{"certificate_chain": pem, "private_key": pem}],
    }
    chain = {
        "filters": [named("tcp", proxy, stat_prefix="in", cluster="out")],
        "transport_socket": named("tls", tls, common_tls_context=common),
    }
    listener = {
        "address": address(site.port),
        "tcp_backlog_size": 4096,
        "listener_filters": [named("limit", limit, stat_prefix="limit", token_bucket=bucket)],
        "filter_chains": [chain],
    }
    if not has_limits:
        del listener["listener_filters"]
    server = {"endpoint": {"address": address(site.origin.ready_port())}}
    cluster = {
        "name": "out",
        "type": "STATIC",
        "connect_timeout": "5s",
        "load_assignment": {"cluster_name": "out", "endpoints": [{"lb_endpoints": [server]}]},
    }
    resources = {"static_resources": {"listeners": [listener], "clusters": [cluster]}}
    (site.folder / "envoy.json").write_text(json.dumps(resources))
    words = ["--concurrency", "1", "--log-level", "critical", "--disable-hot-restart"]
    return [str(ENVOY), *words, "-c", str(site.folder / "envoy.json")]


SERVERS = {
    "cleat": cleat_command,
    "haproxy": haproxy_command,
    "nginx": nginx_command,
    "envoy": envoy_command,
}


def version(options: argparse.Namespace, server: str) -> str:
    program = {"cleat": str(options.cleat), "envoy": str(ENVOY)}.get(server, server)
    command = [program, "--version" if server in ("cleat", "envoy") else "-v"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    text = (ran.stdout or ran.stderr).strip()  # nginx writes it to standard error.
    return text.removeprefix(program).strip()  # Envoy begins with its own path.


class Site:
    """A server with its upstream. `processes` ends them, and the clients."""

    def __init__(
        self, options: argparse.Namespace, server: str, folder: Path, has_limits: bool,
        processes: ExitStack,
    ) -> None:  # fmt: skip
        self.folder, self.processes = folder, processes
        core, self.others = split_cores()
        origin = before_others([str(BIN / "perf-origin")])
        self.origin = self.start(origin, self.others, "origin")
        self.port = free_port()
        make_certificates(folder / "pems", 2, Issuer())
        self.pem = folder / "pems" / "0" / "0.pem"
        command = before_others(SERVERS[server](options, self, has_limits))
        self.server = self.start(command, core, "server")
        if not self.server.wait_for(self.port, 30):
            sys.exit(f"{server} does not serve:\n{self.server.log.read_text()[-2000:]}")

    def start(self, command: list[str], cores: set[int], name: str) -> Process:
        return self.processes.enter_context(Process(command, cores, self.folder / f"{name}.log"))

    def flood(self, options: argparse.Namespace, seconds: float) -> Process:
        hello = self.folder / "hello"
        hello.write_bytes(client_hello())
        command = [
            BIN / "perf-flood", self.port, "--rate", options.rate * TIMES * options.addresses,
            "--seconds", seconds, "--first", FLOOD_FIRST, "--addresses", options.addresses,
            "--hello", hello,
        ]  # fmt: skip
        return self.start(before_others([*map(str, command)], 10), self.others, "flood")

    def load(self, out: Path, *words: object) -> subprocess.Popen:
        command = [BIN / "cleat-bench", "load", f"https://127.0.0.1:{self.port}", "--json", out]
        command += ["--no-preflight", "-q", "--workers", 1, "--path", "/1", "--close", "reset"]
        command += ["--tls", "1.3", "--groups", "X25519"]
        command = before_others([*map(str, [*command, *words])])
        return self.start(command, self.others, out.stem).child


def window(options: argparse.Namespace, server: str, kind: str, folder: Path) -> dict:
    folder.mkdir()
    with ExitStack() as processes:
        site = Site(options, server, folder, kind == "limited", processes)
        return measured(options, site, server, kind)


def measured(options: argparse.Namespace, site: Site, server: str, kind: str) -> dict:
    honest_out = site.folder / "honest.json"
    flood = None
    if kind != "alone":
        flood = site.flood(options, options.window + 2)
        time.sleep(1)
    before = site.server.cpu_ns()
    honest = site.load(
        honest_out, "-r", options.honest, "-d", f"{options.window}s",
        "--source", sources(HONEST_FIRST, 2 * options.honest // options.rate),
    )  # fmt: skip
    honest.wait(options.window + 60)
    cpu = (site.server.cpu_ns() - before) / 1e9 / options.window
    sent, flood_s = {"sent": 0, "let_in": 0}, options.window + 2 - BEGINNING_S
    if flood:
        flood.child.wait(120)
        sent = json.loads(flood.log.read_text())
    found = json.loads(honest_out.read_text())
    p99 = found["latency"]["response"]["p99_ns"]  # Null where more than one in a hundred failed.
    return {
        "server": server,
        "kind": kind,
        "addresses": options.addresses if flood else 0,
        "honest": found["attempts"],
        "failed": found["failed"],
        "p99_s": None if p99 is None else p99 / 1e9,
        "flood_per_s": sent["sent"] / flood_s,
        "let_in_per_s": sent["let_in"] / flood_s,
        "cpu": cpu,
    }


def p99_s(found: dict) -> float:
    """p99_s is infinite where more than one honest client in a hundred failed."""
    return math.inf if found["p99_s"] is None else found["p99_s"]


def rows(rounds: list[dict]) -> list[list[str]]:
    """rows have the medians of the rounds. A ratio is one of the same round."""
    shown = []
    for server, kind in itertools.product(SERVERS, KINDS):
        own = [each for each in rounds if (each["server"], each["kind"]) == (server, kind)]
        alone = [each for each in rounds if (each["server"], each["kind"]) == (server, "alone")]
        if not own:
            continue
        waits = [p99_s(each) for each in own]
        ratios = [
            wait / p99_s(other) if p99_s(other) < math.inf else math.inf
            for wait, other in zip(waits, alone)
        ]
        median = statistics.median(waits)

        def middle(key: str) -> float:
            return statistics.median(each[key] for each in own)

        shown.append([
            server,
            NAMES[kind],
            f"{sum(each['honest'] for each in own):,}, {sum(each['failed'] for each in own):,}",
            "over 1 % failed" if math.isinf(median) else f"{median * 1e3:.2f} ms",
            f"{statistics.median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f})"
            if ratios else "",
            f"{middle('flood_per_s'):,.0f}/s",
            f"{middle('let_in_per_s'):,.0f}/s",
            f"{middle('cpu'):.0%}",
        ])
    return shown


def main() -> None:
    options = arguments()
    kinds, servers = options.kinds.split(","), options.servers.split(",")
    document = {"command": results.command(), "environment": describe(TREE)}
    document["environment"]["servers"] = {each: version(options, each) for each in servers}
    rounds = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, server in itertools.product(range(options.rounds), servers):
            for kind in kinds if number % 2 == 0 else kinds[::-1]:
                folder = Path(scratch) / f"{number}-{server}-{kind}"
                rounds.append(window(options, server, kind, folder))
    document["rounds"] = rounds
    print(table(HEADS, rows(rounds)))
    if options.out:
        results.write(options.out, document)


if __name__ == "__main__":
    main()
