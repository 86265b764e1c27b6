"""Servers that `cleat-bench serve` starts, with the programs of this build."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import program
from conftest import binary
from deadlines import DEADLINE

BINARIES = program.binary().parent
needs_origin = pytest.mark.skipif(
    not (BINARIES / "perf-origin").exists(), reason="built without perf/: there is no origin"
)


@contextmanager
def serving(*words: object) -> Iterator[tuple[subprocess.Popen, dict]]:
    command = [binary(), "serve", "--json", "--binaries", BINARIES, *words]
    child = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield child, json.loads(child.stdout.readline())
    finally:
        child.kill()
        child.communicate(timeout=DEADLINE)
