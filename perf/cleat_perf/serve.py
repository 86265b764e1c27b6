"""Servers that `cleat-bench serve` starts, and the load that cleat-bench puts on them."""

import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Iterator

from cleat_perf import processes
from cleat_perf.results import TREE

SCENARIOS = TREE / "apps/cleat-bench/compare/scenarios"
DEFAULT = "full-ecdsa-p256"
PATIENCE_S = 600


class Unable(Exception):
    """Unable is a server that is not here, or cannot do this; it says why."""


@dataclass(frozen=True)
class Server:
    """Server runs, with the settings of a scenario."""

    bench: Path  # cleat-bench
    scenario: str
    address: str
    pid: int
    pids: list[int]
    version: str
    origin: str  # address of the HTTP server behind it
    origin_pid: int

    def cpu_ns(self) -> int:
        return processes.cpu_ns(self.pid)

    def pss_kib(self) -> int:
        return processes.pss_kib(self.pid)

    def ask(self, subcommand: str, path: str, *options: object, cores: Iterable[int] = ()) -> dict:
        return ask(
            self.bench, self.scenario, f"https://{self.address}/{path}", subcommand, *options,
            cores=cores,
        )  # fmt: skip

    def handshakes(
        self, count: int, connections: int = 16, cores: Iterable[int] = ()
    ) -> dict:
        """handshakes are full, each with an answer of 1 KiB. Raises Unable where one fails."""
        return whole(
            self.ask("load", "1024", "-n", count, "-c", connections, "-d", f"{PATIENCE_S}s",
                     "--workers", 1, "--no-preflight", "--server-pid", self.pid, cores=cores)
        )  # fmt: skip

    def move(self, direction: str, size: int, connections: int) -> dict:
        """move one message on each of several connections, `down` or `up`. Raises Unable where one
        fails."""
        return whole(
            self.ask("transfer", str(size) if direction == "down" else "", "-m", 1, "-s", size,
                     "-c", connections, "--direction", direction, "--no-preflight")
        )  # fmt: skip


def ask(
    bench: Path, scenario: str, url: str, subcommand: str, *options: object,
    cores: Iterable[int] = (),
) -> dict:  # fmt: skip
    """ask gives what a subcommand of cleat-bench measures; its clients offer one version, suite and
    group, and run on `cores`, where there are any. Raises Unable."""
    command = [bench, subcommand, "-q", *offers(scenario), *options]
    with tempfile.NamedTemporaryFile(suffix=".json") as found:
        command += ["--json", found.name, url]
        ran = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True,
            timeout=PATIENCE_S,
            preexec_fn=lambda: os.sched_setaffinity(0, set(cores)) if cores else None,
        )  # fmt: skip
        try:
            document: dict = json.loads(Path(found.name).read_text())
        except ValueError:
            said = ran.stderr.strip().splitlines() or [f"no result, exit code {ran.returncode}"]
            raise Unable(f"{url}: {said[-1]}") from None
    return document


def whole(found: dict) -> dict:
    """whole is a result without failures. Raises Unable for another."""
    if found["failed"] or not found["ok"]:
        raise Unable(f"{found['command']}: {found['failures'] or 'nothing succeeded'}")
    return found


def cpu_us(found: dict) -> float:
    """cpu_us is the server's CPU for a transaction of a result, in microseconds."""
    us: float = found["server"]["cpu_ns"] / found["ok"] / 1000
    return us


def settings(scenario: str) -> dict[str, str]:
    """settings of a scenario, by its file's keys."""
    path = SCENARIOS / f"{scenario}.scenario"
    lines = [line.split("#")[0] for line in path.read_text().splitlines()]
    pairs = (line.partition("=") for line in lines)
    return {key.strip(): value.strip() for key, _, value in pairs if value}


def offers(scenario: str) -> list[str]:
    """offers are the options of a scenario's clients: one version, suite and group."""
    what = settings(scenario)
    tls = what.get("tls", "1.3")
    suites = (
        ["--ciphersuites", what.get("ciphersuites", "TLS_AES_128_GCM_SHA256")]
        if tls == "1.3"
        else ["--ciphers", what.get("ciphers", "ECDHE+AESGCM")]
    )
    # Libraries do not offer this one by themselves.
    signatures = ["--signature-algorithms", "ed25519"] if what.get("key") == "ed25519" else []
    return ["--tls", tls, *suites, *signatures, "--groups", what.get("groups", "X25519")]


def reason(output: str) -> str:
    """reason of a server that did not start, from its output, without the temporary folder."""
    lines = output.strip().splitlines() or ["it ended"]
    words = ("too small|larger keys|unable to load", "error|fail", "")
    telling = ([line for line in lines if re.search(word, line, re.IGNORECASE)] for word in words)
    return re.sub(r"/\S*?/cleat-compare-[^/]*/", "", next(filter(None, telling))[-1])


def listed(cores: Iterable[int]) -> str:
    return ",".join(map(str, sorted(cores)))


def unsandboxed(program: Path, folder: Path) -> Path:
    """unsandboxed is a program that starts this cleat without its sandbox: a preloaded library
    writes its file as cleat."""
    script = folder / "cleat"
    command = shlex.quote(str(program.resolve()))
    script.write_text(f'#!/bin/sh\nexec {command} --sandbox off "$@"\n')
    script.chmod(0o755)
    return script


@contextmanager
def serving(
    binaries: Path,
    name: str,
    *,
    scenario: str = DEFAULT,
    workers: int = 1,
    server_cores: Iterable[int],
    client_cores: Iterable[int],
    program: Path | None = None,
    variables: dict[str, object] | None = None,
    cpu: float | None = None,
) -> Iterator[Server]:
    """serving starts a server of `cleat-bench compare` with an origin behind it, and ends both.
    `program` is another build of it, and `variables` are of its environment. `cpu` is how much of a
    core it may use. Raises Unable."""
    bench = binaries.resolve() / "cleat-bench"
    own_folder = ExitStack()
    if name == "cleat" and "LD_PRELOAD" in (variables or {}):
        folder = own_folder.enter_context(tempfile.TemporaryDirectory(prefix="unsandboxed-"))
        program = unsandboxed(program or binaries / "cleat", Path(folder))
    command = [bench, "serve", name, "--scenario", scenario, "--json", "--workers", workers]
    command += ["--server-cores", listed(server_cores), "--client-cores", listed(client_cores)]
    if program:
        command += ["--program", program.resolve()]
    if cpu is not None:
        command += ["--server-cpu", cpu]
    for key, value in (variables or {}).items():
        command += ["--env", f"{key}={value}"]
    child = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        line = child.stdout.readline()
        if not line:
            raise Unable(reason(child.stderr.read()))
        facts = json.loads(line)
        yield Server(
            bench, scenario, facts["address"], facts["pid"], facts["pids"], facts["version"],
            facts["origin"], facts["origin_pid"],
        )  # fmt: skip
    finally:
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=30)
        own_folder.close()
