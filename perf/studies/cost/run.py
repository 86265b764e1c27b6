"""What TLS costs: the study of docs/studies/cost.md.

Lays cleat beside the same relay without TLS: CPU for each request of the relay and of the origin
behind it, round after round; then memory for each idle connection, and bytes on the wire. Needs the
targets cleat, cleat-bench, perf-origin, study-plain-relay, study-client and study-wire.
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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from cleat_perf import builds, environment, processes, serve
from cleat_perf.processes import Process
from cleat_perf.results import TREE

POST_QUANTUM = "X25519MLKEM768"
OURS = ("cleat-bench", "perf-origin", "study-plain-relay", "study-client")


@dataclass(frozen=True)
class Shape:
    """Shape is a load, with TLS and without: connections, and requests on each."""

    connections: int
    requests: int
    bytes: int


@dataclass(frozen=True)
class Case:
    """Case is a shape with TLS: the scenario of the server, which has its certificate, the group of
    the client, and whether sessions resume."""

    shape: str
    scenario: str = serve.DEFAULT
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
    "full-mlkem768": Case("one", "full-ecdsa-p256-mlkem768", POST_QUANTUM),
    "full-rsa-2048": Case("one", "full-rsa-2048"),
    "resumed": Case("one", resume=True),
}
PLAIN = Case("")


@dataclass(frozen=True)
class Arm:
    """Arm is a cleat that is measured, and what measures it."""

    cleat: Path
    binaries: Path  # of the client, the relay without TLS, the origin and cleat-bench
    folder: Path
    server_core: int
    client_core: int


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
            usable = ", ".join(map(str, sorted(environment.cores())))
            builds.refuse(f"core {core} is none that may be used here; there are {usable}")
    if use.quick:
        use.rounds, use.idle = 1, use.idle // 10
    return use


def shorter(shape: Shape) -> Shape:
    """shorter is an eighth of it, for trying out."""
    if shape.requests > 1:
        return dataclasses.replace(shape, requests=shape.requests // 8)
    return dataclasses.replace(shape, connections=shape.connections // 8)


def client(arm: Arm, address: str, case: Case, *options: object) -> list[str]:
    """client is the client's command; without TLS where the case is PLAIN."""
    command = [str(arm.binaries / "study-client"), address, *map(str, options)]
    if case is PLAIN:
        return [*command, "--plain"]
    return [*command, "--groups", case.groups, "--suite", environment.suite("1.3")] + (
        ["--resume"] if case.resume else []
    )


def counts(output: str, command: list[str], wanted: int) -> dict:
    """counts of a client; a wrong answer ends the study."""
    found = json.loads(output or "{}")
    if found.get("failures") or found.get("ok") != wanted:
        sys.exit(f"{' '.join(command)}: {found}")
    return found


def ask(arm: Arm, address: str, case: Case, shape: Shape) -> dict:
    words = ["-n", shape.connections, "-r", shape.requests, "-b", shape.bytes]
    words += ["-c", min(shape.connections, 16)]
    command = client(arm, address, case, *words)
    ran = subprocess.run(
        ["taskset", "-c", str(arm.client_core), *command],
        stdout=subprocess.PIPE, text=True, timeout=120,
    )  # fmt: skip
    return counts(ran.stdout, command, shape.connections)


@contextmanager
def relaying(arm: Arm, case: Case) -> Iterator[tuple[str, int, int]]:
    """relaying starts cleat, or the relay without TLS where the case is PLAIN, which has the origin
    of a cleat that is not asked; gives the address, and the processes of relay and origin."""
    with serve.serving(
        arm.binaries, "cleat", scenario=case.scenario, program=arm.cleat,
        server_cores=[arm.server_core], client_cores=[arm.client_core],
    ) as cleat:  # fmt: skip
        if case is not PLAIN:
            yield cleat.address, cleat.pid, cleat.origin_pid
            return
        plain = Process(
            [str(arm.binaries / "study-plain-relay"), "--upstream", cleat.origin],
            {arm.server_core},
            arm.folder / "plain-relay.log",
        )
        try:
            yield f"127.0.0.1:{plain.ready_port()}", plain.child.pid, cleat.origin_pid
        finally:
            plain.stop()


def cost(arm: Arm, case: Case, shape: Shape) -> dict[str, float]:
    """cost of a request in microseconds of CPU, of the relay and of the origin."""
    with relaying(arm, case) as (address, *pids):
        warm_up = dataclasses.replace(shape, connections=shape.connections // 8)
        ask(arm, address, case, warm_up)
        before = [processes.cpu_ns(pid) for pid in pids]
        found = ask(arm, address, case, shape)
        after = [processes.cpu_ns(pid) for pid in pids]
    if case.resume and found["resumed"] < 0.9 * shape.connections:
        sys.exit(f"only {found['resumed']} of {shape.connections} sessions were resumed")
    each = [(b - a) / found["answers"] / 1000 for a, b in zip(before, after)]
    return {"relay_us": each[0], "origin_us": each[1]}


def idle_kib(arm: Arm, case: Case, count: int) -> float:
    """idle_kib is PSS for each connection that was answered once and stays, with its upstream's."""
    with relaying(arm, case) as (address, relay, _):
        ask(arm, address, case, Shape(100, 1, 1024))
        before = processes.pss_kib(relay)
        command = client(arm, address, case, "-n", count, "-c", 32, "--hold")
        held = Process(
            command, {arm.client_core}, arm.folder / "held.log",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        try:
            counts(held.child.stdout.readline(), command, count)
            time.sleep(0.5)  # Time for what is on its way to the relay.
            return (processes.pss_kib(relay) - before) / count
        finally:
            held.child.stdin.close()
            held.stop()


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


def version(program: Path) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return said.stdout.strip()


def measure(use: argparse.Namespace, arms: dict[str, Arm]) -> dict:
    """measure all: for each shape without TLS, then for each of its cases on each build."""
    plain: dict = {"cases": {}}
    found: dict = {}
    any_arm = next(iter(arms.values()))
    for name, arm in arms.items():
        found[name] = {"version": version(arm.cleat), "cases": {}}
    for number in range(use.rounds):
        for shape_name, shape in SHAPES.items():
            if use.quick:
                shape = shorter(shape)
            add(plain["cases"], shape_name, cost(any_arm, PLAIN, shape))
            for case_name, case in CASES.items():
                for name, arm in arms.items():
                    if case.shape == shape_name and can(found[name]["version"], case):
                        add(found[name]["cases"], case_name, cost(arm, case, shape))
        print(f"  round {number + 1} of {use.rounds}", file=sys.stderr)
    plain["idle_kib"] = round(idle_kib(any_arm, PLAIN, use.idle), 2)
    for name, arm in arms.items():
        found[name]["idle_kib"] = round(idle_kib(arm, CASES["keep-1k"], use.idle), 2)
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
    ours = [binaries / name for name in OURS]
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
        arms = {
            name: Arm(path, binaries, folder, use.server_core, use.client_core)
            for name, path in programs.items()
        }
        document |= measure(use, arms)
        names = ("ecdsa", "rsa", "ecdsa-chain", "rsa-chain")
        pems = {each: folder / f"{each}.pem" for each in names}
        document["certificates"] = {each: sizes(pem) for each, pem in pems.items()}
        for name, path in wires.items():
            document["builds"][name]["wire"] = wire(path, pems)
    builds.keep(use, "cost", document)
