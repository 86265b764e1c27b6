"""Servers of the user's own in `compare`: a command that it starts."""

import os
import re
from pathlib import Path

import pytest

from compared import BINARIES, Compared, tiny

pytestmark = pytest.mark.skipif(
    not (BINARIES / "perf-origin").exists(), reason="built without perf/: there is no origin"
)
OWN = f"{BINARIES / 'cleat'} -f [127.0.0.1]:{{port}} -b {{origin}} --workers={{workers}} {{pem}}"


def test_a_server_of_the_users_own_is_started_and_ended(bench):
    found = Compared(
        bench, "--start", f"mine={OWN}", "--servers", "cleat", "--rounds", 1, "--scenario",
        tiny(bench.folder),
    )
    mine = found.server("mine")
    assert [each["name"] for each in found.trial["servers"]] == ["cleat", "mine"]
    assert mine["left_out"] is None and not mine["complaints"] and mine["config"] == ""
    assert re.fullmatch(
        rf"{BINARIES / 'cleat'} -f \[127.0.0.1\]:\d+ -b 127.0.0.1:\d+ --workers=1 /\S+\.pem",
        mine["command"],
    )
    (figures,) = mine["rounds"]
    assert figures["load"]["ok"] == figures["load"]["attempts"] == 20
    assert figures["cpu_ns"] > 20_000 and figures["memory_bytes"] > 100_000
    assert mine["ratios"]["cpu_ns"]["rounds"] == 1
    assert "mine" not in dict(found.document["versions"])


def test_only_a_server_of_the_users_own(bench):
    """The others take part where they are named. It is ended with the comparison."""
    marked = f"/usr/bin/env MARK={bench.folder} {OWN}"
    found = Compared(
        bench, "--start", f"mine={marked}", "--rounds", 1, "--scenario", tiny(bench.folder)
    )
    assert [each["name"] for each in found.trial["servers"]] == ["mine"]
    environments = [each / "environ" for each in Path("/proc").glob("[0-9]*")]
    mark = f"MARK={bench.folder}\0".encode()
    assert not [each for each in environments if mark in bytes_of(each)]


def bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # Of another user, or it has ended.
        return b""


@pytest.mark.parametrize("words", [["--workers", 2], []])
def test_a_server_of_the_users_own_that_has_its_own_number_of_workers(bench, words):
    """With a number of workers, and in the scenario that compares one with two."""
    kind = {} if words else {"kind": "workers"}
    cores = sorted(os.sched_getaffinity(0))
    if not words and len(cores) < 2:
        pytest.skip("there is one core")
    found = Compared(
        bench, "--start", f"mine={OWN.replace(' --workers={workers}', '')}", "--rounds", 1,
        *words, "--scenario", tiny(bench.folder, **kind), code=1,
    )
    assert found.server("mine")["left_out"].startswith("left out: its command has no {workers}")


def test_a_server_of_the_users_own_that_does_not_start(bench):
    found = Compared(
        bench, "--start", "mine=/bin/sh -c 'echo cannot serve {port} {pem}; exit 5'", "--rounds",
        1, "--scenario", tiny(bench.folder), code=1,
    )
    mine = found.server("mine")
    assert mine["at_fault"]
    assert mine["left_out"].startswith("it does not start: ended with code 5\ncannot serve ")


@pytest.mark.parametrize(
    "words, complaint",
    [
        (["--start", "mine=sh {port}"], "--start mine=sh {port}: the command has neither {pem}"),
        (["--start", "cleat=sh {port} {pem}", "--servers", "cleat"], "another server is called"),
        (["--start", "mine=/none {port} {pem}"], "'/none' cannot be run"),
    ],
)
def test_a_server_of_the_users_own_that_cannot_take_part(bench, words, complaint):
    ran = bench.run("compare", *words)
    assert ran.returncode == 2
    assert complaint in ran.stderr
