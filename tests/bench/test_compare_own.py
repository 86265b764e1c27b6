"""Servers of the user's own in `compare`: commands that it starts, and servers that run."""

import os
import re
from pathlib import Path

import pytest

from compared import Compared, scenario, tiny
from conftest import Bench
from http_handlers import http
from served import BINARIES, needs_origin

pytestmark = needs_origin
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
    version = dict(found.document["versions"])["mine"]
    assert version == f"not known: {BINARIES / 'cleat'} is started by --start"


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


def test_a_server_that_ends_in_a_round_has_no_cpu_time(bench):
    """The time of its process is gone, and what is left would flatter it."""
    found = Compared(
        bench, "--start", f"mine=/usr/bin/timeout --signal KILL 2 {OWN}", "--rounds", 1,
        "--scenario", tiny(bench.folder, transactions=200, rate=50),
    )  # fmt: skip
    (complaint,) = found.server("mine")["complaints"]
    assert complaint.endswith("while it was measured")
    (figures,) = found.server("mine")["rounds"]
    assert figures["cpu_ns"] is None and "server" not in figures["load"]


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


def without_origin(bench: Bench) -> Path:
    """without_origin is a folder for --binaries: servers that run already need no origin."""
    folder = bench.folder / "nothing"
    folder.mkdir()
    return folder


def test_servers_that_run_already(bench, server):
    known, other = server(http()), server(http())
    found = Compared(
        bench, "--target", f"known={known.address},pid={known.pid}", "--target",
        f"other={other.address}", "--rounds", 2, "--scenario", tiny(bench.folder),
        binaries=without_origin(bench),
    )
    assert [each["name"] for each in found.trial["servers"]] == ["known", "other"]
    for name, target in (("known", known), ("other", other)):
        one = found.server(name)
        assert one["target"] == target.address and one["command"] == one["config"] == ""
        assert one["left_out"] is None
        for figures in one["rounds"]:
            assert figures["load"]["ok"] == figures["load"]["attempts"] == 20
            assert figures["rate"] > 0 and figures["p99_ns"] >= figures["p50_ns"] > 0
            is_known = name == "known"
            assert (figures["cpu_ns"] is not None) == is_known
            assert (figures["memory_bytes"] is not None) == is_known
            assert ("server" in figures["load"]) == is_known
        assert f"{name}: it ran already, at {target.address}, with settings of its" in found.text
        assert target.process.poll() is None
    assert found.server("known")["rounds"][0]["cpu_ns"] > 20_000
    assert found.server("known")["complaints"] == []
    assert found.server("other")["complaints"] == [
        "its CPU and memory are not known: name its process with --target ...,pid=PID"
    ]
    row = next(line for line in found.text.splitlines() if line.startswith("  other "))
    assert row.endswith("not compared: the CPU of other is not known")
    assert re.search(r"ms +- +- +0 +not compared", row)
    assert "tiny 1/2: other: " in found.progress and "/s, CPU not known" in found.progress
    assert found.document["versions"] == [
        [name, f"not known: it ran already, at {target.address}"]
        for name, target in (("known", known), ("other", other))
    ]


def test_a_server_that_runs_already_beside_one_that_is_started(bench, server):
    target = server(http())
    page = bench.folder / "report.html"
    found = Compared(
        bench, "--servers", "cleat", "--target", f"mine={target.address},pid={target.pid}",
        "--rounds", 1, "--html", page, "--scenario", tiny(bench.folder),
    )
    assert found.server("mine")["ratios"]["cpu_ns"]["rounds"] == 1
    assert found.server("cleat")["target"] is None
    assert "mine" in page.read_text()


@pytest.mark.parametrize("kind", ["transfer-down", "transfer-up"])
def test_transfers_of_a_server_that_runs_already(bench, server, kind):
    target = server(http(body=b"x" * 4096))
    found = Compared(
        bench, "--target", f"mine={target.address},pid={target.pid}", "--rounds", 1, "--scenario",
        scenario(bench.folder, kind=kind, bytes="4K", messages=8, connections=2, warm_up=2),
    )
    (figures,) = found.server("mine")["rounds"]
    assert figures["load"]["ok"] == 8 and figures["cpu_ns"] > 0


@pytest.mark.parametrize(
    "words, reason",
    [
        ({"kind": "idle"}, "left out: its memory is not known: name its process"),
        ({"kind": "established", "server_cpu": "30 %"}, "left out: it runs already, and its CPU"),
    ],
)
def test_what_cannot_be_measured_of_a_server_that_runs_already(bench, server, words, reason):
    found = Compared(
        bench, "--target", f"mine={server(http()).address}", "--rounds", 1, "--scenario",
        scenario(bench.folder, connections=4, **words), code=1,
    )
    mine = found.server("mine")
    assert mine["left_out"].startswith(reason) and not mine["at_fault"]


def test_memory_of_idle_connections_of_a_server_that_runs_already(bench, server):
    target = server(http())
    found = Compared(
        bench, "--target", f"mine={target.address},pid={target.pid}", "--rounds", 1, "--scenario",
        scenario(bench.folder, kind="idle", connections=80, warm_up=4),
    )
    (figures,) = found.server("mine")["rounds"]
    assert figures["memory_bytes"] > 500


def test_a_server_that_does_not_run(bench, server):
    target = server(http())
    target.process.kill()
    target.process.wait()
    found = Compared(
        bench, "--target", f"mine={target.address}", "--rounds", 1, "--scenario",
        tiny(bench.folder), code=1,
    )
    assert found.server("mine")["at_fault"]
    assert found.server("mine")["left_out"].startswith("it does not serve: connect: ")


@pytest.mark.parametrize(
    "target, complaint",
    [
        ("mine", "--target mine: write NAME=HOST:PORT or NAME=HOST:PORT,pid=PID"),
        ("mine=127.0.0.1:1,pid=999999999", "pid=999999999: there is no such process here"),
        ("mine=127.0.0.1:1,pid=", "pid=: there is no such process here"),
        ("mine=127.0.0.1:1,7", "'7' behind the comma: write pid=PID"),
        ("mine=127.0.0.1:http", "--target mine=127.0.0.1:http: "),
        ("mine=127.0.0.1:1/path", "/path: the scenario has the paths"),
    ],
)
def test_a_target_that_makes_no_sense(bench, target, complaint):
    ran = bench.run("compare", "--target", target)
    assert ran.returncode == 2
    assert complaint in ran.stderr
