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
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from cleat_perf import results
from cleat_perf.environment import cores, describe
from cleat_perf.processes import Process, answers, free_port
from cleat_perf.results import TREE
from cleat_perf.table import spread, table

BIN = TREE / "build/release/bin"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "cleat"
PEERS = Path(os.environ.get("CLEAT_CACHE_DIR", CACHE)) / "peers"
OFFERS = ["--tls", "1.3", "--groups", "X25519", "--ciphersuites", "TLS_AES_128_GCM_SHA256"]
DOWN = 100_000_000  # Bytes of an answer.
DOWN_CONNECTIONS = 8
READY_S = 30


class Setting:
    """The addresses and files that a configuration is made of."""

    def __init__(self, folder: Path, port: int, behind: int, pem: Path, ca: Path) -> None:
        self.folder, self.port, self.behind, self.pem, self.ca = folder, port, behind, pem, ca

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)


def cleat(program: Path, setting: Setting, ends_tls: bool) -> list[str]:
    upstream = (
        f'tls = on tls-ca = "{setting.ca}" server = {{ address = "[127.0.0.1]:{setting.behind}" '
        'tls-name = "localhost" }'
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


def haproxy_splice(program: Path, setting: Setting, ends_tls: bool) -> list[str]:
    return haproxy(program, setting, ends_tls, splices=True)


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


PROGRAMS = {
    "cleat": (cleat, BIN / "cleat"),
    "haproxy": (haproxy, PEERS / "haproxy-awslc"),
    "haproxy-splice": (haproxy_splice, PEERS / "haproxy-awslc"),
    "nginx": (nginx, Path("/usr/sbin/nginx")),
    "envoy": (envoy, PEERS / "envoy"),
}
SUBJECTS = {
    "passthrough": ["cleat", "haproxy", "haproxy-splice", "nginx", "envoy"],
    "tls-upstream": ["cleat", "haproxy", "nginx", "envoy"],
}
TITLES = {
    "cleat": "cleat",
    "haproxy": "HAProxy (AWS-LC)",
    "haproxy-splice": "HAProxy, splicing",
    "nginx": "nginx (OpenSSL)",
    "envoy": "Envoy (BoringSSL)",
}


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--rounds", type=int, default=7)
    parse.add_argument("--connections", type=int, default=3000, help="in each round")
    parse.add_argument("--downloads", type=int, default=16, help="of 100 MB, in each round")
    parse.add_argument("--subjects", default=",".join(SUBJECTS), help="by comma")
    parse.add_argument("--servers", help="by comma; default: all of a subject")
    parse.add_argument("--cleat", type=Path, help="another build of it")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


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

    def __init__(self, folder: Path, pem: Path, others: set[int]) -> None:
        self.origin = Process([str(BIN / "perf-origin")], others, folder / "origin.log")
        self.port, self.admin = free_port(), free_port()
        config = folder / "behind.conf"
        config.write_text(
            f'frontend = "[127.0.0.1]:{self.port}"\npem-file = "{pem}"\nworkers = 1\n'
            f'backend = "[127.0.0.1]:{self.origin.ready_port()}"\nlog-level = 0\n'
            f'admin = "[127.0.0.1]:{self.admin}"\n'
        )
        command = [str(BIN / "cleat"), "--config", str(config)]
        self.server = Process(command, others, folder / "behind.log")
        if not self.server.wait_for(self.port, READY_S):
            sys.exit(f"the server behind does not serve:\n{(folder / 'behind.log').read_text()}")

    def handshakes(self) -> tuple[int, int]:
        """Handshakes so far, and the resumed ones of them."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics", timeout=10) as page:
            lines = page.read().decode().splitlines()
        found = [each for each in lines if each.startswith("cleat_handshakes_total{")]
        count = {each: int(float(each.rsplit(" ", 1)[1])) for each in found}
        resumed = sum(value for line, value in count.items() if 'resumption="resumed"' in line)
        return sum(count.values()), resumed

    def stop(self) -> None:
        self.server.stop()
        self.origin.stop()


def ask(port: int, others: set[int], found: Path, *words: object) -> dict:
    """ask gives cleat-bench's document; ends the program where a transaction has failed."""
    command = [BIN / "cleat-bench", *words, "-q", *OFFERS, "--no-preflight", "--json", found]
    ran = subprocess.run(
        [str(each) for each in command], capture_output=True, text=True, timeout=600,
        preexec_fn=lambda: os.sched_setaffinity(0, others),
    )  # fmt: skip
    document: dict = json.loads(found.read_text()) if found.exists() else {}
    if not document.get("ok") or document["failed"]:
        sys.exit(f"{port}: {document.get('failures')}\n{ran.stderr[-2000:]}")
    return document


class Middle:
    """A server in the middle, on a core of its own."""

    def __init__(
        self, options: argparse.Namespace, name: str, subject: str, behind: Behind, folder: Path,
        pem: Path, ca: Path,
    ) -> None:  # fmt: skip
        self.folder = folder
        folder.mkdir()
        own = {max(cores())}
        self.others = cores() - own or own
        self.behind = behind
        self.port = free_port()
        make, program = PROGRAMS[name]
        if name == "cleat" and options.cleat:
            program = options.cleat
        setting = Setting(folder, self.port, behind.port, pem, ca)
        command = make(program, setting, subject == "tls-upstream")
        self.process = Process(command, own, folder / "log")
        until = time.monotonic() + READY_S
        while not answers(self.port):
            if time.monotonic() > until or self.process.child.poll() is not None:
                sys.exit(f"{name} does not serve:\n{(folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)
        self.load(200)  # Warms it up.

    def load(self, count: int, *words: object) -> float:
        """CPU for each transaction, in microseconds."""
        before = self.process.cpu_ns()
        found = ask(
            self.port, self.others, self.folder / "load.json", "load", "-n", count, "-c", 16,
            "-d", "600s", "--workers", 1, "--close", "reset", *words,
            f"https://localhost:{self.port}/1024",
        )  # fmt: skip
        return (self.process.cpu_ns() - before) / found["ok"] / 1e3

    def down(self, count: int) -> float:
        """CPU for each GB, in milliseconds."""
        before = self.process.cpu_ns()
        ask(
            self.port, self.others, self.folder / "down.json", "transfer", "-m",
            count // DOWN_CONNECTIONS, "-s", DOWN, "-c", DOWN_CONNECTIONS, "--direction", "down",
            f"https://localhost:{self.port}/{DOWN}",
        )  # fmt: skip
        return (self.process.cpu_ns() - before) / (count * DOWN / 1e9) / 1e6

    def measure(self, options: argparse.Namespace, subject: str) -> dict:
        if subject == "passthrough":
            return {"connection_us": self.load(options.connections),
                    "gb_ms": self.down(options.downloads)}  # fmt: skip
        total, resumed = self.behind.handshakes()
        full_us = self.load(options.connections)
        resumed_us = self.load(options.connections, "--reuse", 4)
        total_now, resumed_now = self.behind.handshakes()
        return {"full_us": full_us, "resumed_us": resumed_us,
                "upstream_resumed": (resumed_now - resumed) / (total_now - total)}  # fmt: skip


def version(options: argparse.Namespace, name: str) -> str:
    program = options.cleat if name == "cleat" and options.cleat else PROGRAMS[name][1]
    flag = {"cleat": "--version", "envoy": "--version"}.get(name, "-v")
    ran = subprocess.run([program, flag], capture_output=True, text=True, check=True)
    said = (ran.stdout + ran.stderr).strip()
    # The others' first line has the version; envoy's begins with a folder of the machine.
    return said if name == "cleat" else said.splitlines()[0].removeprefix(f"{program}").strip()


def round_of(options: argparse.Namespace, number: int, subject: str, servers: list[str]) -> list:
    found = []
    for name in servers if number % 2 == 0 else servers[::-1]:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            pem, ca = make_certificate(folder)
            own = {max(cores())}
            behind = Behind(folder, pem, cores() - own or own)
            middle = Middle(options, name, subject, behind, folder / "middle", pem, ca)
            try:
                figures = middle.measure(options, subject)
            finally:
                middle.process.stop()
                behind.stop()
        found.append({"round": number, "subject": subject, "server": name, **figures})
    return found


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
    for name in SUBJECTS[subject]:
        own = [each for each in rounds if (each["subject"], each["server"]) == (subject, name)]
        if not own:
            continue
        keys = (
            (("connection_us", 1), ("gb_ms", 0))
            if subject == "passthrough"
            else (("full_us", 1), ("resumed_us", 1))
        )
        cells = [TITLES[name]]
        for key, digits in keys:
            cells += compared(rounds, subject, name, key, digits)
        if subject == "tls-upstream":
            share = statistics.median(each["upstream_resumed"] for each in own)
            cells.append(f"{share:.1%}")
        shown.append(cells)
    return shown


def main() -> None:
    options = arguments()
    subjects = options.subjects.split(",")
    chosen = {
        each: options.servers.split(",") if options.servers else SUBJECTS[each]
        for each in subjects
    }
    names = sorted({name for each in chosen.values() for name in each})
    for name in names:
        if not PROGRAMS[name][1].exists():
            sys.exit(f"{name} is not at {PROGRAMS[name][1]}: run peers/install")
    document = {"command": results.command(), "environment": describe(TREE)}
    document["environment"]["servers"] = {each: version(options, each) for each in names}
    rounds: list[dict] = []
    for number in range(options.rounds):
        for subject in subjects:
            rounds += round_of(options, number, subject, chosen[subject])
    document["rounds"] = rounds
    for subject in subjects:
        print(table(HEADS[subject], rows(rounds, subject)), end="\n\n")
    if options.out:
        results.write(options.out, document)


if __name__ == "__main__":
    main()
