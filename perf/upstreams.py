#!/usr/bin/env python3
"""The CPU of a server in the middle, where TLS goes on behind it.

    scripts/build release cleat cleat-bench perf-origin
    apps/cleat-bench/compare/peers/install all
    perf/upstreams.py

Passthrough: clients and a server speak TLS with each other, and the one in the middle hands their
bytes on. cleat reads the ClientHello and chooses a route by it; HAProxy (mode tcp, with
`option splice-request` and `splice-response`, and without), nginx (stream) and Envoy are plain TCP
relays and read nothing. A connection is a full handshake, a request and an answer of 1 KiB; a GB is
of answers of 100 MB on eight connections.

TLS to the upstream: the one in the middle ends the clients' TLS, and speaks TLS of its own to the
server, whose certificate and name it verifies, and whose sessions it resumes. A transaction is a
new connection on both sides, with an answer of 1 KiB; "full" has clients without a session, and
"resumed" has three of four with one. "Upstream resumed" is what the server behind has counted.

All is ECDSA P-256, TLS 1.3, X25519 and AES-128-GCM. The one in the middle has one worker and a core
of its own; clients, the TLS server behind (a cleat) and its origin have the others. CPU is what the
kernel's scheduler accounts to it, over what the clients have verified. Rounds interleave the
servers; a ratio is cleat's figure over another's of the same round.
"""

import argparse
import functools
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from cleat_perf import builds, metrics, results, serve
from cleat_perf.environment import INSTALLED, describe, split_cores
from cleat_perf.ports import free_port
from cleat_perf.processes import Process
from cleat_perf.results import TREE
from cleat_perf.serve import Unable
from cleat_perf.table import spread, table

BIN = TREE / "build/release/bin"
SUBJECTS = ("passthrough", "tls-upstream")
DOWN = 100_000_000  # Bytes of an answer.
DOWN_CONNECTIONS = 8
READY_S = 30


@dataclass(frozen=True)
class Setting:
    """The addresses and files that a configuration is made of."""

    folder: Path
    port: int
    behind: int
    pem: Path
    ca: Path

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)


def cleat(program: Path, setting: Setting, ends_tls: bool) -> list[str]:
    upstream = (
        f'tls = on tls-ca = "{setting.ca}" ecdh-curve = "X25519" '
        f'server = {{ address = "[127.0.0.1]:{setting.behind}" tls-name = "localhost" }}'
        if ends_tls
        else f'server = "[127.0.0.1]:{setting.behind}"'
    )
    route = "" if ends_tls else 'route = { sni = "localhost" passthrough = on upstream = "tls" }'
    text = (
        "workers = 1\nlog-level = 0\n"
        f'pem-file = "{setting.pem}"\n'
        f'tls-protos = TLSv1.3\necdh-curve = "X25519"\n'
        f'upstream = {{ name = "tls" {upstream} }}\n'
        f'upstream = "tls"\n'
        f'frontend = {{ host = "127.0.0.1" port = "{setting.port}"\n{route} }}\n'
    )
    return [str(program), "--config", setting.write("cleat.conf", text)]


def haproxy(program: Path, setting: Setting, ends_tls: bool, splices: bool = False) -> list[str]:
    bind = f"ssl crt {setting.pem} ssl-min-ver TLSv1.3 curves X25519" if ends_tls else ""
    server = (
        f"ssl verify required ca-file {setting.ca} sni str(localhost) ssl-min-ver TLSv1.3 "
        "curves X25519"
        if ends_tls
        else ""
    )
    options = "  option splice-request\n  option splice-response\n" if splices else ""
    text = (
        "global\n  nbthread 1\n  maxconn 4000\n"
        "defaults\n  mode tcp\n  timeout connect 5s\n  timeout client 1h\n  timeout server 1h\n"
        f"{options}"
        f"frontend in\n  bind 127.0.0.1:{setting.port} {bind}\n  default_backend out\n"
        f"backend out\n  server one 127.0.0.1:{setting.behind} {server}\n"
    )
    return [str(program), "-db", "-f", setting.write("haproxy.cfg", text)]


def nginx(program: Path, setting: Setting, ends_tls: bool) -> list[str]:
    bind = (
        f"ssl_certificate {setting.pem}; ssl_certificate_key {setting.pem}; "
        "ssl_protocols TLSv1.3; ssl_ecdh_curve X25519;"
        if ends_tls
        else ""
    )
    server = (
        "proxy_ssl on; proxy_ssl_verify on; proxy_ssl_server_name on; proxy_ssl_name localhost; "
        f"proxy_ssl_trusted_certificate {setting.ca}; proxy_ssl_protocols TLSv1.3;"
        if ends_tls
        else ""
    )
    text = (
        "load_module /usr/lib/nginx/modules/ngx_stream_module.so;\n"
        "daemon off; worker_processes 1;\n"
        f"pid {setting.folder}/nginx.pid; error_log stderr crit;\n"
        "events { worker_connections 8000; }\n"
        f"stream {{ server {{ listen 127.0.0.1:{setting.port}{' ssl' if ends_tls else ''}; "
        f"{bind}\n  proxy_pass 127.0.0.1:{setting.behind}; {server} }} }}\n"
    )
    path = setting.write("nginx.conf", text)
    return [str(program), "-p", str(setting.folder), "-e", "stderr", "-c", path]


def envoy(program: Path, setting: Setting, ends_tls: bool) -> list[str]:
    """It keeps one session of a server by default, and uses one of TLS 1.3 once: 16, as cleat."""
    tls = '"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3'
    versions = (
        "tls_params: {tls_minimum_protocol_version: TLSv1_3, "
        'tls_maximum_protocol_version: TLSv1_3, ecdh_curves: ["X25519"]}'
    )
    bind = (
        f"\n      transport_socket:\n        name: tls\n        typed_config:\n"
        f"          {tls}.DownstreamTlsContext\n          common_tls_context:\n"
        f"            {versions}\n            tls_certificates:\n"
        f'            - {{certificate_chain: {{filename: "{setting.pem}"}}, '
        f'private_key: {{filename: "{setting.pem}"}}}}'
        if ends_tls
        else ""
    )
    server = (
        f"\n    transport_socket:\n      name: tls\n      typed_config:\n"
        f"        {tls}.UpstreamTlsContext\n        sni: localhost\n"
        f"        max_session_keys: 16\n        common_tls_context:\n          {versions}\n"
        "          validation_context:\n"
        f'            trusted_ca: {{filename: "{setting.ca}"}}\n'
        "            match_typed_subject_alt_names:\n"
        "            - {san_type: DNS, matcher: {exact: localhost}}"
        if ends_tls
        else ""
    )
    address = "address: {{socket_address: {{address: 127.0.0.1, port_value: {}}}}}"
    proxy = "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy"
    text = (
        f"static_resources:\n  listeners:\n  - {address.format(setting.port)}\n"
        f"    tcp_backlog_size: 4096\n    filter_chains:\n    - filters:\n      - name: tcp\n"
        f'        typed_config: {{"@type": {proxy}, stat_prefix: in, cluster: out}}{bind}\n'
        f"  clusters:\n  - name: out\n    type: STATIC\n    connect_timeout: 5s\n"
        f"    load_assignment:\n      cluster_name: out\n      endpoints:\n      - lb_endpoints:\n"
        f"        - endpoint: {{{address.format(setting.behind)}}}{server}\n"
    )
    path = setting.write("envoy.yaml", text)
    return [str(program), "--concurrency", "1", "--log-level", "critical", "-c", path,
            "--disable-hot-restart"]  # fmt: skip


@dataclass(frozen=True)
class Peer:
    """Peer is a server in the middle, and the subjects that it offers."""

    title: str
    command: Callable[[Path, Setting, bool], list[str]]
    program: Path
    offers: tuple[str, ...] = SUBJECTS


PEERS = {
    "cleat": Peer("cleat", cleat, BIN / "cleat"),
    "haproxy": Peer("HAProxy (AWS-LC)", haproxy, INSTALLED / "haproxy-awslc"),
    "haproxy-splice": Peer(
        "HAProxy, splicing", functools.partial(haproxy, splices=True),
        INSTALLED / "haproxy-awslc", ("passthrough",),
    ),
    "nginx": Peer("nginx (OpenSSL)", nginx, Path("/usr/sbin/nginx")),
    "envoy": Peer("Envoy (BoringSSL)", envoy, INSTALLED / "envoy"),
}  # fmt: skip


def downloads(text: str) -> int:
    """downloads are as many on each connection."""
    count = builds.at_least_one(text)
    if count % DOWN_CONNECTIONS:
        raise argparse.ArgumentTypeError(f"{text!r}: write a multiple of {DOWN_CONNECTIONS}")
    return count


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--rounds", type=builds.at_least_one, default=7)
    parse.add_argument(
        "--connections", type=builds.at_least_one, default=3000, help="in each round"
    )
    parse.add_argument("--downloads", type=downloads, default=16, help="of 100 MB, in each round")
    parse.add_argument("--subjects", default=",".join(SUBJECTS), help="by comma")
    parse.add_argument("--servers", help="by comma; default: all of a subject")
    parse.add_argument("--cleat", type=Path, help="another build of it")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    options = parse.parse_args()
    options.subjects = builds.listed("--subjects", options.subjects, SUBJECTS)
    options.servers = builds.listed("--servers", options.servers or ",".join(PEERS), PEERS)
    for subject in options.subjects:
        if not chosen(options, subject):
            builds.refuse(f"--servers: none of them offers {subject}")
    return options


def chosen(options: argparse.Namespace, subject: str) -> list[str]:
    """chosen are the servers that offer a subject, of those that are asked for."""
    return [name for name in options.servers if subject in PEERS[name].offers]


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for localhost that is its own authority: the file with the key, and without."""
    ca, key, pem = folder / "ca.pem", folder / "key.pem", folder / "localhost.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "30", "-subj", "/CN=localhost", "-keyout", key, "-out", ca,
         "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    pem.write_text(ca.read_text() + key.read_text())
    return pem, ca


class Behind:
    """A TLS server: a cleat before an origin. It stays the same whatever stands in the middle."""

    def __init__(self, folder: Path, pem: Path, others: set[int], processes: ExitStack) -> None:
        origin = processes.enter_context(
            Process([str(BIN / "perf-origin")], others, folder / "origin.log")
        )
        self.port, self.admin = free_port(), free_port()
        config = folder / "behind.conf"
        config.write_text(
            f'frontend = "[127.0.0.1]:{self.port}"\npem-file = "{pem}"\nworkers = 1\n'
            f'backend = "[127.0.0.1]:{origin.ready_port()}"\nlog-level = 0\n'
            f'admin = "[127.0.0.1]:{self.admin}"\n'
        )
        command = [str(BIN / "cleat"), "--config", str(config)]
        server = processes.enter_context(Process(command, others, folder / "behind.log"))
        must_serve_at(self.port, server, "the server behind")

    def handshakes(self) -> tuple[int, int]:
        """Handshakes so far, and the resumed ones of them."""
        name, found = "cleat_handshakes_total", metrics.scrape(self.admin)
        resumed = sum(
            found.value(name, **labels)
            for labels in found.labels(name) if labels["resumption"] == "resumed"
        )
        return int(found.sum(name)), int(resumed)


def must_serve_at(port: int, server: Process, name: str) -> None:
    """must_serve_at waits until a server serves. Raises Unable."""
    if not server.wait_for(port, READY_S):
        raise Unable(f"{name} does not serve:\n{server.log.read_text()[-2000:]}")


def must_serve(found: dict, count: int, server: Process) -> None:
    """must_serve finds that a server has served so many transactions, and that it still runs:
    another program may have taken its port before it. Raises Unable."""
    if serve.whole(found)["ok"] != count:
        raise Unable(f"{found['command']}: {found['ok']} of {count} transactions were served")
    if server.child.poll() is not None:
        raise Unable(f"{server.command[0]} has ended:\n{server.log.read_text()[-2000:]}")


class Middle:
    """A server in the middle, on a core of its own."""

    def __init__(
        self, program: Path, name: str, subject: str, behind: Behind, folder: Path, pem: Path,
        ca: Path, processes: ExitStack,
    ) -> None:  # fmt: skip
        folder.mkdir()
        own, self.others = split_cores()
        self.behind = behind
        self.port = free_port()
        setting = Setting(folder, self.port, behind.port, pem, ca)
        command = PEERS[name].command(program, setting, subject == "tls-upstream")
        self.process = processes.enter_context(Process(command, own, folder / "log"))
        must_serve_at(self.port, self.process, name)
        self.load(200)  # Warms it up.

    def cpu_ns(self, count: int, path: object, *words: object) -> float:
        """CPU for each of so many transactions of cleat-bench. Raises Unable where one fails."""
        before = self.process.cpu_ns()
        found = serve.ask(
            BIN / "cleat-bench", serve.DEFAULT, f"https://localhost:{self.port}/{path}", *words,
            "--no-preflight", cores=self.others,
        )  # fmt: skip
        spent = self.process.cpu_ns() - before
        must_serve(found, count, self.process)
        return spent / count

    def load(self, count: int, *words: object) -> float:
        """CPU for each transaction, in microseconds."""
        return self.cpu_ns(
            count, 1024, "load", "-n", count, "-c", 16, "-d", f"{serve.PATIENCE_S}s",
            "--workers", 1, "--close", "reset", "--expect-size", 1024, *words,
        ) / 1e3  # fmt: skip

    def down(self, count: int) -> float:
        """CPU for each GB, in milliseconds."""
        return self.cpu_ns(
            count, DOWN, "transfer", "-m", count // DOWN_CONNECTIONS, "-s", DOWN,
            "-c", DOWN_CONNECTIONS, "--direction", "down",
        ) / (DOWN / 1e9) / 1e6  # fmt: skip

    def measure(self, options: argparse.Namespace, subject: str) -> dict:
        if subject == "passthrough":
            return {"connection_us": self.load(options.connections),
                    "gb_ms": self.down(options.downloads)}  # fmt: skip
        total, resumed = self.behind.handshakes()
        full_us = self.load(options.connections)
        resumed_us = self.load(options.connections, "--reuse", 4)
        total_now, resumed_now = self.behind.handshakes()
        if total_now - total < 2 * options.connections:
            raise Unable(f"only {total_now - total} handshakes came to the server behind")
        return {"full_us": full_us, "resumed_us": resumed_us,
                "upstream_resumed": (resumed_now - resumed) / (total_now - total)}  # fmt: skip


def program_of(options: argparse.Namespace, name: str) -> Path:
    return options.cleat if name == "cleat" and options.cleat else PEERS[name].program


def version(options: argparse.Namespace, name: str) -> str:
    program = program_of(options, name)
    flag = {"cleat": "--version", "envoy": "--version"}.get(name, "-v")
    ran = subprocess.run([program, flag], capture_output=True, text=True, check=True)
    said = (ran.stdout + ran.stderr).strip()
    # The others' first line has the version; envoy's begins with a folder of the machine.
    return said if name == "cleat" else said.splitlines()[0].removeprefix(f"{program}").strip()


def measured(options: argparse.Namespace, subject: str, name: str) -> dict:
    """measured are the figures of a server in a round. All processes have ended after it."""
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as processes:
        folder = Path(scratch)
        pem, ca = make_certificate(folder)
        _, others = split_cores()
        behind = Behind(folder, pem, others, processes)
        middle = Middle(
            program_of(options, name), name, subject, behind, folder / "middle", pem, ca,
            processes,
        )  # fmt: skip
        return middle.measure(options, subject)


def round_of(options: argparse.Namespace, number: int, subject: str) -> list[dict]:
    servers = chosen(options, subject)
    return [
        {"round": number, "subject": subject, "server": name, **measured(options, subject, name)}
        for name in (servers if number % 2 == 0 else servers[::-1])
    ]


def compared(rounds: list[dict], subject: str, server: str, key: str, digits: int) -> list[str]:
    """A median of a server, and the ratio of cleat's to it."""
    own = {each["round"]: each[key] for each in rounds
           if (each["subject"], each["server"]) == (subject, server)}  # fmt: skip
    ours = {each["round"]: each[key] for each in rounds
            if (each["subject"], each["server"]) == (subject, "cleat")}  # fmt: skip
    ratios = [ours[number] / own[number] for number in own if number in ours]
    ratio = spread(ratios, 2, "..") if server != "cleat" and ratios else ""
    return [f"{statistics.median(own.values()):,.{digits}f}", ratio]


HEADS = {
    "passthrough": ["server", "us a connection", "cleat is", "ms a GB", "cleat is"],
    "tls-upstream": ["server", "us, full clients", "cleat is", "us, resuming clients",
                     "cleat is", "upstream resumed"],
}  # fmt: skip


def rows(rounds: list[dict], subject: str) -> list[list[str]]:
    shown = []
    for name, peer in PEERS.items():
        own = [each for each in rounds if (each["subject"], each["server"]) == (subject, name)]
        if not own:
            continue
        keys = (
            (("connection_us", 1), ("gb_ms", 0))
            if subject == "passthrough"
            else (("full_us", 1), ("resumed_us", 1))
        )
        cells = [peer.title]
        for key, digits in keys:
            cells += compared(rounds, subject, name, key, digits)
        if subject == "tls-upstream":
            share = statistics.median(each["upstream_resumed"] for each in own)
            cells.append(f"{share:.1%}")
        shown.append(cells)
    return shown


def main() -> None:
    options = arguments()
    names = sorted({name for each in options.subjects for name in chosen(options, each)})
    for name in names:
        if not program_of(options, name).exists():
            sys.exit(f"{name} is not at {program_of(options, name)}: run peers/install")
    document = {"command": results.command(), "environment": describe(TREE)}
    document["environment"]["servers"] = {each: version(options, each) for each in names}
    rounds: list[dict] = []
    try:
        for number in range(options.rounds):
            for subject in options.subjects:
                rounds += round_of(options, number, subject)
    except Unable as failure:
        sys.exit(str(failure))
    document["rounds"] = rounds
    for subject in options.subjects:
        print(table(HEADS[subject], rows(rounds, subject)), end="\n\n")
    if options.out:
        results.write(options.out, document)


if __name__ == "__main__":
    main()
