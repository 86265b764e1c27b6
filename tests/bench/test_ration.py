"""A server on a ration of CPU is limited by it, and with a larger ration it serves more."""

import json
import signal
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import pytest
from control_groups import RATIONING
from deadlines import DEADLINE
from http_handlers import http
from rations import groups
from served import BINARIES, needs_origin, serving

pytestmark = [
    pytest.mark.skipif(RATIONING is None, reason="needs root and control groups of its own"),
    needs_origin,
]


@contextmanager
def on_a_ration(*words: object) -> Iterator[dict]:
    """on_a_ration serves, and lets the server remove its control group in the end."""
    with serving("cleat", "--scenario", "full-rsa-2048", *words) as (child, facts):
        yield facts
        child.send_signal(signal.SIGINT)
        assert child.wait(DEADLINE) == 0


@pytest.mark.figures
def test_a_larger_ration_serves_more(bench):
    most, used = {}, {}
    before = groups()
    for cores in (0.2, 0.4):
        with on_a_ration("--server-cpu", cores) as facts:
            ran = bench.run("staircase", "-q", "--from", 120, "--step", 120, "--to", 3000, "--hold",
                            "1s", "--json", "k.json", "--server-pid", facts["pid"],
                            f"https://{facts['address']}/1024")
            assert ran.returncode == 0, ran.stderr
        found = json.loads((bench.folder / "k.json").read_text())
        used[cores] = found["server"]["cores"]
        most[cores] = max(step["done"] for step in found["steps"])
    assert groups() == before
    assert all(used[cores] < cores * 1.15 for cores in used), used
    # One step keeps up or does not by one second's luck on a machine with other work, and the CPU
    # time of a handshake differs by a third there: the rates have an order, and lie on no line.
    assert used[0.2] < used[0.4], used
    assert most[0.2] < most[0.4], most


@pytest.mark.figures
def test_a_server_that_runs_already_is_put_on_a_ration_and_let_go(bench, server):
    groups_seen = []

    def handle(upstream):
        groups_seen.append(group.read_text())
        http()(upstream)

    target = server(handle)
    group = Path(f"/proc/{target.pid}/cgroup")
    own = group.read_text()
    before = groups()
    ran = bench.run("staircase", "-q", "--from", 5, "--to", 5, "--hold", "1s", "--server-cpu",
                    "30%", "--server-pid", target.pid, "--json", "s.json", target.address)
    assert ran.returncode == 0, ran.stderr
    assert groups_seen and all("/cleat-bench-" in each for each in groups_seen)
    assert group.read_text() == own
    assert groups() == before
    assert ["server's CPU", "0.3 cores"] in json.loads(
        (bench.folder / "s.json").read_text())["asked"]


@pytest.mark.figures
def test_a_server_that_does_not_keep_up_is_not_compared(bench):
    """A tenth of a core does not make 2,000 handshakes a second. There are fewer than cleat lets
    wait in the kernel (limits::crowd_min), so none is shed."""
    path = bench.folder / "fast.scenario"
    path.write_text("kind = handshake\nkey = rsa-2048\nrate = 2000\ntransactions = 120\n")
    ran = bench.run("compare", "--binaries", BINARIES, "--servers", "cleat", "--build",
                    f"other=cleat:{BINARIES / 'cleat'}", "--rounds", 1, "--server-cpu", 0.1,
                    "--scenario", path, "--json", "c.json")
    assert ran.returncode == 0, ran.stderr
    assert "did not keep up in 1 of 1 rounds: it did not keep up: " in ran.stdout
    assert "not compared: " in ran.stdout
    (trial,) = json.loads((bench.folder / "c.json").read_text())["trials"]
    assert trial["scenario"]["server_cpu"] == 0.1
    for each in trial["servers"]:
        assert each["overloaded"] == 1 and each["ratios"] == {}


@pytest.mark.parametrize(
    "words, said",
    [
        (["staircase", "--server-cpu", "0.3", "localhost:1"], "--server-pid"),
        (["serve", "cleat", "--server-cpu", "0.01"], "cores from 0.1 to 1"),
        (["serve", "cleat", "--server-cpu", "3"], "cores from 0.1 to 1"),
        (["serve", "cleat", "--server-cpu", "some"], "like 0.3"),
        (["serve", "cleat", "--cores", "1000"], "must be left for the clients"),
        (["serve", "cleat", "--cores", "2", "--workers", "2"], "--workers"),
        (["compare", "--scenario", "system-calls", "--server-cpu", "0.3"], "has no effect"),
    ],
)
def test_rations_that_make_no_sense(bench, words, said):
    ran = bench.run(*words)
    assert ran.returncode == 2
    assert said in ran.stderr
