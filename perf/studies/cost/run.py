"""What TLS costs: the study of docs/studies/cost.md.

Lays cleat beside the same relay without TLS: CPU for each request of the relay and of the origin
behind it, round after round; then memory for each idle connection, and bytes on the wire. Needs the
targets cleat, perf-origin, study-plain-relay, study-client and study-wire.
"""

import argparse
import dataclasses
import json
import resource
import ssl
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from cleat_perf import builds, environment
from cleat_perf.processes import Process
from cleat_perf.results import TREE
from runner import servers

POST_QUANTUM = "X25519MLKEM768"


@dataclass(frozen=True)
class Shape:
    """Shape is a load, with TLS and without: connections, and requests on each."""

    connections: int
    requests: int
    bytes: int


@dataclass(frozen=True)
class Case:
    """Case is a shape with TLS: the certificate's key, the group, and whether sessions resume."""

    shape: str
    key: str = "ecdsa"
    groups: str = "X25519"
    resume: bool = False


# Connections are so few where requests are many that their handshakes are below 1 % of the CPU.
SHAPES = {
    "keep-1k": Shape(8, 4000, 1024),
    "keep-16k": Shape(8, 2000, 16 << 10),
    "keep-1m": Shape(8, 150, 1 << 20),
    "one": Shape(2500, 1, 1024),
}
CASES = {
    "keep-1k": Case("keep-1k"),
    "keep-16k": Case("keep-16k"),
    "keep-1m": Case("keep-1m"),
    "full": Case("one"),
    "full-mlkem768": Case("one", groups=POST_QUANTUM),
    "full-rsa-2048": Case("one", key="rsa"),
    "resumed": Case("one", resume=True),
}
PLAIN = Case("")


def arguments(words: list[str]) -> argparse.Namespace:
    parse = argparse.ArgumentParser(prog="study.py cost", description=__doc__)
    builds.add_arguments(parse)
    parse.add_argument("--rounds", type=builds.at_least_one, default=7)
    parse.add_argument(
        "--idle", type=builds.at_least_one, default=4000,
        help="connections whose memory is measured",
    )  # fmt: skip
    parse.add_argument("--quick", action="store_true", help="to try it out: one short round")
    parse.add_argument("--server-core", type=int, default=min(environment.cores()))
    parse.add_argument("--client-core", type=int, default=max(environment.cores()))
    use = parse.parse_args(words)
    for core in (use.server_core, use.client_core):
        if core not in environment.cores():
            there = ", ".join(map(str, sorted(environment.cores())))
            builds.refuse(f"core {core} is none that may be used here; there are {there}")
    if use.quick:
        use.rounds, use.idle = 1, use.idle // 10
    return use


def shorter(shape: Shape) -> Shape:
    """shorter is an eighth of it, for trying out."""
    if shape.requests > 1:
        return dataclasses.replace(shape, requests=shape.requests // 8)
    return dataclasses.replace(shape, connections=shape.connections // 8)


def client(bench: servers.Bench, port: int, case: Case, *options: object) -> list[str]:
    """client is the client's command; without TLS where the case is PLAIN."""
    command = [str(bench.binaries / "study-client"), f"127.0.0.1:{port}", *map(str, options)]
    if case is PLAIN:
        return [*command, "--plain"]
    return [*command, "--groups", case.groups, "--suite", bench.suite] + (
        ["--resume"] if case.resume else []
    )


def counts(output: str, command: list[str], wanted: int) -> dict:
    """counts of a client; a wrong answer ends the study."""
    found = json.loads(output or "{}")
    if found.get("failures") or found.get("ok") != wanted:
        sys.exit(f"{' '.join(command)}: {found}")
    return found


def ask(bench: servers.Bench, port: int, case: Case, shape: Shape) -> dict:
    words = ["-n", shape.connections, "-r", shape.requests, "-b", shape.bytes]
    words += ["-c", min(shape.connections, 16)]
    command = client(bench, port, case, *words)
    core = ",".join(map(str, bench.client_cores))
    ran = subprocess.run(
        ["taskset", "-c", core, *command], stdout=subprocess.PIPE, text=True, timeout=120
    )
    return counts(ran.stdout, command, shape.connections)


def start(bench: servers.Bench, case: Case, folder: Path) -> tuple[Process, int]:
    """start starts cleat, or the relay without TLS where the case is PLAIN."""
    if case is PLAIN:
        upstream = f"127.0.0.1:{bench.origin_port}"
        relay = Process(
            [str(bench.binaries / "study-plain-relay"), "--upstream", upstream],
            set(bench.server_cores),
            bench.folder / "plain-relay.log",
        )
        return relay, relay.ready_port()
    with_groups = dataclasses.replace(bench, groups=case.groups)
    return servers.start("cleat", with_groups, folder / f"{case.key}.pem")


def cost(bench: servers.Bench, origin: Process, case: Case, shape: Shape) -> dict[str, float]:
    """cost of a request in microseconds of CPU, of the relay and of the origin."""
    relay, port = start(bench, case, bench.folder)
    try:
        ask(bench, port, case, dataclasses.replace(shape, connections=shape.connections // 8))
        before = relay.cpu_ns(), origin.cpu_ns()
        found = ask(bench, port, case, shape)
        after = relay.cpu_ns(), origin.cpu_ns()
    finally:
        relay.stop()
    if case.resume and found["resumed"] < 0.9 * shape.connections:
        sys.exit(f"only {found['resumed']} of {shape.connections} sessions were resumed")
    each = [(b - a) / found["answers"] / 1000 for a, b in zip(before, after)]
    return {"relay_us": each[0], "origin_us": each[1]}


def idle_kib(bench: servers.Bench, case: Case, count: int) -> float:
    """idle_kib is PSS for each connection that was answered once and stays, with its upstream's."""
    relay, port = start(bench, case, bench.folder)
    held = None
    try:
        ask(bench, port, case, Shape(100, 1, 1024))
        before = relay.pss_kib()
        command = client(bench, port, case, "-n", count, "-c", 32, "--hold")
        held = Process(
            command, set(bench.client_cores), bench.folder / "held.log",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        counts(held.child.stdout.readline(), command, count)
        time.sleep(0.5)  # Time for what is on its way to the relay.
        return (relay.pss_kib() - before) / count
    finally:
        if held:
            held.child.stdin.close()
            held.stop()
        relay.stop()


def openssl(folder: Path, name: str, key: list[str], *words: str) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", *key, "-nodes", "-days", "30", *words,
         "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt"],
        check=True, capture_output=True,
    )  # fmt: skip


def make_chains(folder: Path) -> None:
    """make_chains makes NAME-chain.pem: a certificate, its intermediate and its key."""
    kinds = {"ecdsa": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["rsa:2048"]}
    authority = "basicConstraints=critical,CA:TRUE"
    for name, key in kinds.items():
        root, between, leaf = (f"{name}-{each}" for each in ("root", "between", "leaf"))

        def by(issuer: str) -> list[str]:
            return ["-CA", str(folder / f"{issuer}.crt"), "-CAkey", str(folder / f"{issuer}.key")]

        openssl(folder, root, key, "-subj", "/O=Example/CN=Root", "-addext", authority)
        openssl(folder, between, key, *by(root), "-subj", "/O=Example/CN=Intermediate",
                "-addext", authority)  # fmt: skip
        openssl(folder, leaf, key, *by(between), "-subj", "/CN=www.example.org",
                "-addext", "subjectAltName=DNS:www.example.org",
                "-addext", "basicConstraints=critical,CA:FALSE",
                "-addext", "extendedKeyUsage=serverAuth")  # fmt: skip
        texts = [folder / f"{leaf}.crt", folder / f"{between}.crt", folder / f"{leaf}.key"]
        (folder / f"{name}-chain.pem").write_text("".join(each.read_text() for each in texts))


def sizes(pem: Path) -> list[int]:
    """sizes of a file's certificates in bytes of DER, as they travel."""
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    parts = [part.split(end)[0] for part in pem.read_text().split(begin)[1:]]
    return [len(ssl.PEM_cert_to_DER_cert(begin + part + end)) for part in parts]


def wire(program: Path, pems: dict[str, Path]) -> dict:
    words = [f"{name}={pem}" for name, pem in pems.items()]
    return json.loads(subprocess.run([program, *words], check=True, stdout=subprocess.PIPE).stdout)


def add(cases: dict, name: str, found: dict[str, float]) -> None:
    """add one round's figures behind those of the rounds before."""
    figures = cases.setdefault(name, {})
    for key, value in found.items():
        figures.setdefault(key, []).append(round(value, 3))


def measure(use: argparse.Namespace, arms: dict[str, servers.Bench], origin: Process) -> dict:
    """measure all: for each shape without TLS, then for each of its cases on each build."""
    plain: dict = {"cases": {}}
    found: dict = {}
    any_bench = next(iter(arms.values()))
    for name, bench in arms.items():
        version = servers.version("cleat", bench)
        found[name] = {"version": version, "cases": {}}
    for number in range(use.rounds):
        for shape_name, shape in SHAPES.items():
            if use.quick:
                shape = shorter(shape)
            add(plain["cases"], shape_name, cost(any_bench, origin, PLAIN, shape))
            for case_name, case in CASES.items():
                for name, bench in arms.items():
                    if case.shape == shape_name and can(found[name]["version"], case):
                        got = cost(bench, origin, case, shape)
                        add(found[name]["cases"], case_name, got)
        print(f"  round {number + 1} of {use.rounds}", file=sys.stderr)
    plain["idle_kib"] = round(idle_kib(any_bench, PLAIN, use.idle), 2)
    for name, bench in arms.items():
        found[name]["idle_kib"] = round(idle_kib(bench, CASES["keep-1k"], use.idle), 2)
    return {"plain": plain, "builds": found}


def can(version: str, case: Case) -> bool:
    """can: the library has the case's group; `cleat --version` tells."""
    lines = [line.split() for line in version.splitlines()]
    return case.groups != POST_QUANTUM or ["post-quantum", "group", "yes"] in lines


def main(words: list[str]) -> None:
    use = arguments(words)
    wires = builds.find(use, "study-wire")
    programs = {name: path.with_name("cleat") for name, path in wires.items()}
    # The client is of the library that can do most, so that each build has its own cases.
    best = next((name for name in reversed(builds.FOLDERS) if name in programs), [*programs][0])
    binaries = programs[best].parent
    ours = [binaries / name for name in ("perf-origin", "study-plain-relay", "study-client")]
    for path in [*programs.values(), *ours]:
        if not path.exists():
            sys.exit(f"{path} is not there: build the target {path.name}")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    document = {
        "environment": environment.describe(TREE),
        "rounds": use.rounds,
        "quick": use.quick,
        "idle_connections": use.idle,
        "shapes": {name: dataclasses.asdict(shape) for name, shape in SHAPES.items()},
    }
    with tempfile.TemporaryDirectory(prefix="cleat-cost-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        subprocess.run([TREE / "scripts/certs", folder], check=True)
        make_chains(folder)
        origin = Process([str(ours[0])], {use.client_core}, folder / "origin.log")
        try:
            bench = servers.Bench(
                binaries=binaries,
                cleat=binaries / "cleat",
                openssl_binaries=None,
                folder=folder,
                origin_port=origin.ready_port(),
                groups="X25519",
                tls="1.3",
                server_cores=frozenset({use.server_core}),
                client_cores=frozenset({use.client_core}),
                suite=environment.suite("1.3"),
            )
            arms = {
                name: dataclasses.replace(bench, cleat=path) for name, path in programs.items()
            }
            document |= measure(use, arms, origin)
        finally:
            origin.stop()
        names = ("ecdsa", "rsa", "ecdsa-chain", "rsa-chain")
        pems = {each: folder / f"{each}.pem" for each in names}
        document["certificates"] = {each: sizes(pem) for each, pem in pems.items()}
        for name, path in wires.items():
            document["builds"][name]["wire"] = wire(path, pems)
    builds.keep(use, "cost", document)
