"""Programs under cleat-locks. CLEAT_BIN is the programs' folder; `locks_subject` is subject.cpp."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "program"))

from deadlines import DEADLINE  # noqa: E402

BIN = Path(os.environ.get("CLEAT_BIN", ROOT / "build" / "release" / "bin"))
SUBJECT = BIN / "locks_subject"
LIBRARY = BIN / "liblocks_subject_library.so"


# The subject's clock stands still, except where the subject steps it (subject_clock.cpp). All holds
# count in their mean: with restartable sequences those that the kernel interrupts would not.
STEPPED = {"SUBJECT_CLOCK": "stepped", "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}


def locks(
    *arguments: object, check: bool = True, settings: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """locks runs cleat-locks, with settings in its environment."""
    command = [str(BIN / "cleat-locks"), *map(str, arguments)]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=DEADLINE, env=os.environ | (settings or {})
    )
    if check:
        assert ran.returncode == 0, ran.stderr
    return ran


class Recording:
    """Recording is a run of a program: its own output, and its trace."""

    def __init__(
        self, folder: Path, command: list[object], options: list[object],
        settings: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        # A folder of its own: some tests record more than once.
        folder.mkdir(exist_ok=True)
        self.trace = Path(tempfile.mkdtemp(dir=folder)) / "t.locks"
        command = ["run", "-o", self.trace, *options, "--", *command]
        self.ran = locks(*command, check=False, settings=settings)

    @property
    def truth(self) -> dict[str, int]:
        """truth is the subject's own measurement."""
        found: dict[str, int] = json.loads(self.ran.stdout)
        return found

    def report(self, *more: object) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(locks("report", self.trace, "--json", "-", *more).stdout)
        return found

    def text(self, *more: object) -> str:
        return locks("report", self.trace, *more).stdout

    def lock(self, name: str) -> dict[str, Any]:
        """lock is the one of that name."""
        found = [each for each in self.report()["locks"] if name in each["name"]]
        assert len(found) == 1, [each["name"] for each in found]
        only: dict[str, Any] = found[0]
        return only
