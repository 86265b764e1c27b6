"""Runs the client on Go's crypto/tls (main.go in this folder)."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from deadlines import DEADLINE

SOURCE = Path(__file__).resolve().parent
# go.mod names an old Go so that old Go builds it; a new one would then leave the new group out.
ENVIRONMENT = {**os.environ, "GODEBUG": "tlsmlkem=1"}


@dataclass(frozen=True)
class GoClient:
    """GoClient is the built client. Each of its modes prints one object of JSON."""

    binary: Path

    @staticmethod
    def build(folder: Path) -> "GoClient":
        """build builds it with nothing but Go's own library."""
        if not shutil.which("go"):
            pytest.fail("go is needed for the tests: run scripts/setup test", pytrace=False)
        made = folder / "go_client"
        ran = subprocess.run(
            ["go", "build", "-o", made, "."], cwd=SOURCE, capture_output=True, text=True
        )
        if ran.returncode:
            pytest.fail(f"go build: {ran.stderr}", pytrace=False)
        return GoClient(made)

    def run(self, mode: str, port: int, **flags: object) -> dict:
        """run runs one mode to a good end, and returns what it printed."""
        command = [str(self.binary), mode, "-address", f"127.0.0.1:{port}"]
        for name, value in flags.items():
            command.append(f"-{name.replace('_', '-')}={value}")
        ran = subprocess.run(
            command, capture_output=True, text=True, timeout=3 * DEADLINE, env=ENVIRONMENT
        )
        assert ran.returncode == 0, f"{command}: {ran.stderr}"
        return json.loads(ran.stdout)
