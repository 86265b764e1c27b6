"""Runs of `cleat-bench compare`, with small scenarios."""

import json
from pathlib import Path

from conftest import Bench
from served import BINARIES


def scenario(folder: Path, **words: object) -> Path:
    path = folder / "tiny.scenario"
    path.write_text("".join(f"{key} = {value}\n" for key, value in words.items()))
    return path


def tiny(folder: Path, **words: object) -> Path:
    few = {"kind": "handshake", "connections": 2, "transactions": 20, "warm_up": 2}
    return scenario(folder, **(few | words))


class Compared:
    """Compared is a run of `compare` with what it wrote."""

    def __init__(
        self, bench: Bench, *arguments: object, code: int = 0, binaries: Path = BINARIES
    ) -> None:
        path = bench.folder / "compared.json"
        ran = bench.run("compare", "--binaries", binaries, "--json", path, *arguments)
        assert ran.returncode == code, ran.stdout + ran.stderr
        self.text = ran.stdout
        self.progress = ran.stderr
        self.document = json.loads(path.read_text())
        (self.trial,) = self.document["trials"]

    def server(self, name: str) -> dict:
        (found,) = [each for each in self.trial["servers"] if each["name"] == name]
        return found
