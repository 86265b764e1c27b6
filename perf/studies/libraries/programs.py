"""The study's programs, one for each TLS library: where they are, and what they are asked."""

import json
import os
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

from cleat_perf.results import TREE

OTHERS = ("gnutls", "nss")  # in any of these folders
RUSTLS = TREE / "build/study-rustls"
START_S = 60  # set-up and the end, on top of a slice


@dataclass(frozen=True)
class Case:
    """Case is what a program is asked for."""

    version: str = "1.3"
    kind: str = "full"
    key: str = "ecdsa-p256"
    group: str = "x25519"
    threads: int = 1
    contexts: str = "shared"

    def arguments(self) -> list[str]:
        return [f"--{name}={value}" for name, value in asdict(self).items()]


def cargo() -> str | None:
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    return shutil.which("cargo") or shutil.which(str(home / "bin/cargo"))


def build_rustls() -> None:
    """build_rustls needs the crate registry once; without cargo it leaves what is there."""
    if (tool := cargo()) is None:
        return
    manifest = Path(__file__).parent / "rustls/Cargo.toml"
    command = [tool, "build", "--locked", "--release", "--manifest-path", str(manifest)]
    subprocess.run([*command, "--target-dir", str(RUSTLS)], check=True)


def find(builds: dict[str, Path]) -> dict[str, Path]:
    """find gives the programs that were built, by the name of their library."""
    found = {}
    for name, folder in builds.items():
        found[name] = folder / "bin/study-handshakes"
        for other in OTHERS:
            if (program := folder / f"bin/study-handshakes-{other}").exists():
                found.setdefault(other, program)
    found["rustls"] = RUSTLS / "release/study-handshakes-rustls"
    return {name: program for name, program in found.items() if program.exists()}


def command(program: Path, case: Case, pems: dict[str, Path], seconds: float) -> list[str]:
    certificate = pems[case.key.split("-")[0]]
    words = [str(program), *case.arguments()]
    return [*words, f"--certificate={certificate}", f"--seconds={seconds}"]


def ask(program: Path, case: Case, pems: dict[str, Path], seconds: float, *before: str) -> dict:
    """ask runs a program, behind the words of `before`. Raises when it says no line of JSON."""
    done = subprocess.run(
        [*before, *command(program, case, pems, seconds)],
        capture_output=True,
        text=True,
        timeout=seconds + START_S,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{program.name}, {case}: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])
