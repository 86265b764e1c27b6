"""The servers that are laid side by side: how each is started with equal settings."""

import dataclasses
import getpass
import os
import shutil
import subprocess
from pathlib import Path

from cleat_perf.processes import Process, free_port

CONTROLS = ("epoll", "asio", "epoll-openssl", "asio-openssl")
INSTALLED = ("nginx", "hitch", "haproxy")  # By PEERS/install, or by hand.
TREE = Path(__file__).resolve().parent.parent.parent
PEERS = TREE / "apps/cleat-bench/compare/peers"


@dataclasses.dataclass(frozen=True)
class Bench:
    """Settings that all servers of a run share."""

    binaries: Path  # folder of the control arms, the client and the origin
    cleat: Path
    openssl_binaries: Path | None  # the controls built with the system's OpenSSL
    folder: Path  # temporary
    origin_port: int
    groups: str
    tls: str
    server_cores: frozenset[int]
    client_cores: frozenset[int]
    suite: str
    asio_buffer: int = 16384


def _control(
    program: str,
    binaries: Path,
    bench: Bench,
    pem: Path,
    workers: int,
    cores: set[int],
    env: dict | None,
):
    if workers != 1 and "asio" not in program:
        raise ValueError(f"{program} has one worker only")
    server = Process(
        [
            str(binaries / program),
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            f"127.0.0.1:{bench.origin_port}",
            "--pem",
            str(pem),
            "--groups",
            bench.groups,
            "--tls",
            bench.tls,
            *(
                ["--buffer", str(bench.asio_buffer), "--threads", str(workers)]
                if "asio" in program
                else []
            ),
        ],
        cores,
        bench.folder / f"{program}.log",
        env,
    )
    return server, server.ready_port()


def _peer(
    name: str, command, bench: Bench, pem: Path, workers: int, cores: set[int], env: dict | None
):
    """Starts a server from its configuration in PEERS, on a port that others may take."""
    template = (PEERS / f"{name}.conf").read_text()
    for attempt in range(5):
        port = free_port()
        folder = bench.folder / f"{name}-{port}"
        shutil.rmtree(folder, ignore_errors=True)  # Of a server that had this port before.
        folder.mkdir()
        config = folder / f"{name}.conf"
        values = {
            "PORT": port,
            "UPSTREAM": bench.origin_port,
            "PEM": pem,
            "WORKERS": workers,
            "GROUPS": bench.groups,
            "FOLDER": folder,
            "TLS": bench.tls,
            "USER": getpass.getuser() if os.geteuid() else "nobody",
        }
        text = template
        for key, value in values.items():
            text = text.replace(f"@{key}@", str(value))
        config.write_text(text)
        server = Process(command(config, folder), cores, folder / "log", env)
        if server.wait_for(port):
            return server, port
        server.stop()
    raise RuntimeError(f"{name} does not start:\n{(folder / 'log').read_text(errors='replace')}")


def start(
    name: str,
    bench: Bench,
    pem: Path,
    workers: int = 1,
    cores: set[int] | None = None,
    env: dict | None = None,
):
    """Starts a server by its name; gives the process and its port."""
    cores = set(bench.server_cores) if cores is None else cores
    match name:
        case "epoll" | "asio":
            return _control(f"perf-{name}-relay", bench.binaries, bench, pem, workers, cores, env)
        case "epoll-openssl" | "asio-openssl":
            if not bench.openssl_binaries:
                raise ValueError(f"{name} needs --openssl-binaries")
            return _control(
                f"perf-{name.removesuffix('-openssl')}-relay",
                bench.openssl_binaries,
                bench,
                pem,
                workers,
                cores,
                env,
            )
        case "hitch":
            return _peer(
                name,
                lambda config, _: ["hitch", f"--config={config}"],
                bench,
                pem,
                workers,
                cores,
                env,
            )
        case "nginx":
            return _peer(
                name,
                lambda config, folder: ["nginx", "-c", str(config), "-p", str(folder)],
                bench,
                pem,
                workers,
                cores,
                env,
            )
        case "haproxy":
            return _peer(
                name,
                lambda config, _: ["haproxy", "-db", "-f", str(config)],
                bench,
                pem,
                workers,
                cores,
                env,
            )
        case "cleat":
            return _peer(
                name,
                lambda config, _: [str(bench.cleat), "--config", str(config)],
                bench,
                pem,
                workers,
                cores,
                env,
            )
    raise ValueError(f"no server is called {name}")


def what_is_not_there(names: list[str]) -> str:
    """Which of the servers that are not ours this machine lacks, and what to do; or nothing."""
    absent = [name for name in names if name in INSTALLED and not shutil.which(name)]
    if not absent:
        return ""
    are = "is" if len(absent) == 1 else "are"
    present = ",".join(name for name in names if name not in absent)
    instead = f", or --servers {present}" if present else ""
    install = (PEERS / "install").relative_to(TREE)
    return f"{' and '.join(absent)} {are} not there: {install}{instead}"


def version(name: str, bench: Bench) -> str:
    """A server's version, or why it has none."""
    commands = {
        "hitch": ["hitch", "--version"],
        "nginx": ["nginx", "-v"],
        "haproxy": ["haproxy", "-v"],
        "cleat": [str(bench.cleat), "--version"],
        "epoll": [str(bench.binaries / "perf-epoll-relay"), "--version"],
        "asio": [str(bench.binaries / "perf-asio-relay"), "--version"],
        "epoll-openssl": [
            str((bench.openssl_binaries or Path()) / "perf-epoll-relay"),
            "--version",
        ],
        "asio-openssl": [str((bench.openssl_binaries or Path()) / "perf-asio-relay"), "--version"],
    }
    command = commands[name]
    if not shutil.which(command[0]):
        return "not there"
    said = subprocess.run(command, capture_output=True, text=True, timeout=10)
    return (said.stdout + said.stderr).strip()
