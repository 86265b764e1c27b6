"""`compare` starts servers, measures each in turn, ends them, and says what it could not do."""

import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from compared import Compared, scenario, tiny
from control_groups import RATIONING
from deadlines import DEADLINE, eventually
from rations import groups, is_there
from served import BINARIES, needs_origin

pytestmark = needs_origin
INSTALL = "apps/cleat-bench/compare/peers/install"
CONTROL = ["epoll"] if (BINARIES / "perf-epoll-relay").exists() else []
PATH = f"{os.environ['PATH']}:/usr/sbin"
PEERS = [name for name in ("nginx", "hitch") if shutil.which(name, path=PATH)]


def figures(value: str):
    return pytest.param(value, marks=pytest.mark.figures)


def descendants(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            try:
                found += map(int, children.read_text().split())
            except OSError:  # It has ended meanwhile.
                pass
    return found[1:]


def test_servers_side_by_side(bench):
    names = ["cleat", *CONTROL, *PEERS]
    found = Compared(
        bench, "--servers", ",".join(names), "--rounds", 2, "--scenario", tiny(bench.folder)
    )
    assert found.trial["base"] == "cleat"
    assert [each["name"] for each in found.trial["servers"]] == names
    for name in names:
        one = found.server(name)
        assert one["left_out"] is None and not one["complaints"]
        assert len(one["rounds"]) == 2
        for figures in one["rounds"]:
            assert figures["load"]["ok"] == figures["load"]["attempts"] == 20
            assert figures["load"]["handshakes"]["full"] == 20
            (agreed,) = figures["load"]["handshakes"]["agreed"]
            assert (agreed["version"], agreed["group"].lower()) == ("TLSv1.3", "x25519")
            assert 20_000 < figures["cpu_ns"] < 1e9
            assert figures["rate"] > 0 and figures["p99_ns"] >= figures["p50_ns"] > 0
            assert figures["memory_bytes"] > 100_000
        assert re.search(rf"^  {name} .*/s ", found.text, re.MULTILINE)
        assert f"{name}: /" in found.text  # Its command, with its settings.
        if name == "cleat":
            assert one["ratios"] == {}
            continue
        ratio = one["ratios"]["cpu_ns"]
        assert ratio["min"] <= ratio["median"] <= ratio["max"] and ratio["rounds"] == 2
        shown = not ratio["min"] <= 1 <= ratio["max"]
        assert (ratio["verdict"] == "no difference shown") != shown
    assert 'workers = 1' in found.server("cleat")["config"]
    assert {name for name, _ in found.document["versions"]} == set(names)
    assert found.document["environment"]
    # Interleaved: each round has all of them before the next begins.
    turns = re.findall(r"^tiny (\d)/2: ([a-z]+): ", found.progress, re.MULTILINE)
    assert turns == [(turn, name) for turn in "12" for name in names]


def test_builds_of_a_server_take_part_under_names_of_their_own(bench):
    other = bench.folder / "cleat-of-before"
    other.symlink_to(BINARIES / "cleat")
    found = Compared(
        bench, "--servers", "cleat", "--build", f"before=cleat:{other}", "--base", "before",
        "--rounds", 2, "--scenario", tiny(bench.folder),
    )
    assert [each["name"] for each in found.trial["servers"]] == ["cleat", "before"]
    assert found.trial["base"] == "before"
    before = found.server("before")
    assert before["command"].startswith(f"{other} --config ")
    assert "workers = 1" in before["config"]
    assert found.server("cleat")["ratios"]["cpu_ns"]["rounds"] == 2
    versions = dict(found.document["versions"])
    assert versions["before"] == versions["cleat"]
    turns = re.findall(r"^tiny (\d)/2: ([a-z]+): ", found.progress, re.MULTILINE)
    assert turns == [("1", "cleat"), ("1", "before"), ("2", "cleat"), ("2", "before")]


@pytest.mark.parametrize(
    "builds, complaint",
    [
        (["before"], "--build before: write NAME=SERVER:PROGRAM, like before=cleat:/"),
        (["before=cleat:/none"], "'/none' cannot be run: No such file or directory"),
        (["before=apache:/bin/sh"], "there is no server 'apache': take one of cleat"),
        (["a/b=cleat:/bin/sh"], "'a/b' cannot be the name of a server"),
        (["cleat=cleat:/bin/sh"], "another server is called cleat: choose another name"),
        (["a=cleat:/bin/sh", "a=epoll:/bin/sh"], "--build a=epoll:/bin/sh: another server is"),
    ],
)
def test_a_build_that_cannot_take_part(bench, builds, complaint):
    words = [word for each in builds for word in ("--build", each)]
    ran = bench.run("compare", "--servers", "cleat", *words)
    assert ran.returncode == 2
    assert complaint in ran.stderr


def test_resumed_sessions_are_counted(bench):
    found = Compared(
        bench, "--servers", "cleat", "--rounds", 1, "--scenario",
        tiny(bench.folder, reuse=4, transactions=40, tls="1.2"),
    )
    (figures,) = found.server("cleat")["rounds"]
    assert figures["load"]["handshakes"]["resumed"] >= 28
    assert "(one round)" not in found.text  # The base has no ratio.


@pytest.mark.parametrize("kind", ["transfer-down", "transfer-up"])
def test_transfers(bench, kind):
    found = Compared(
        bench, "--servers", "cleat", "--rounds", 1, "--scenario",
        scenario(bench.folder, kind=kind, bytes="64K", messages=8, connections=2, warm_up=2),
    )
    (figures,) = found.server("cleat")["rounds"]
    way = "down" if kind == "transfer-down" else "up"
    assert figures["load"]["ok"] == 8
    assert figures["load"]["bytes"][way] >= 8 * 65536
    assert "CPU per GB" in found.text


def established(folder: Path, **words: object) -> Path:
    few = {"kind": "established", "connections": 10, "every": "20ms", "duration": "1s"}
    return scenario(folder, **(few | words))


@pytest.mark.parametrize(
    "beside", [figures("nothing"), figures("handshakes"), "downloads"]
)
def test_established_connections_and_their_company(bench, beside):
    company = {
        "nothing": {},
        "handshakes": {"beside": beside, "beside_connections": 4},
        "downloads": {"beside": beside, "beside_connections": 2, "bytes": "64K"},
    }[beside]
    found = Compared(
        bench, "--servers", "cleat", "--rounds", 1, "--scenario",
        established(bench.folder, **company),
    )
    (figures,) = found.server("cleat")["rounds"]
    load = figures["load"]
    # Each asks once in every stretch; one at the borders of the time may be on either side.
    assert 490 <= load["attempts"] == load["ok"] <= 510
    assert load["handshakes"]["full"] == 0  # They were there before.
    assert figures["p99_ns"] >= figures["p50_ns"] > 0 and figures["cpu_ns"] > 0
    assert "10 kept connections, each with a request in 20 ms" in found.text
    if beside == "nothing":
        assert "beside" not in figures
        assert figures["rate"] == pytest.approx(500, rel=0.05)
        return
    other = figures["beside"]
    assert other["ok"] == other["attempts"] > 10 and not other["failures"]
    unit = 65536 if beside == "downloads" else 1
    in_time = other["ok"] - other["drained_ok"]
    assert figures["rate"] == pytest.approx(in_time * unit / other["measured_ns"] * 1e9)
    if beside == "handshakes":
        assert other["handshakes"]["full"] >= other["ok"]


# By the time that a handshake takes, and not by the clock: both grow where the machine is busy.
# Before established connections went first they waited for every handshake that was ready: 64.
# Each waits twice, for the request and for the answer, and for one or two handshakes each time.
@pytest.mark.figures
def test_established_connections_do_not_wait_for_all_handshakes(bench):
    found = Compared(
        bench, "--servers", "cleat", "--rounds", 1, "--scenario",
        established(
            bench.folder, key="rsa-4096", beside="handshakes", beside_connections=64, every="50ms",
            duration="4s",
        ),
    )
    (figures,) = found.server("cleat")["rounds"]
    assert not figures["load"]["failures"] and not figures["beside"]["failures"]
    one_handshake_ns = 1e9 / figures["rate"]
    assert figures["p50_ns"] < 12 * one_handshake_ns


@pytest.mark.figures
def test_a_late_request_counts_all_the_same(bench):
    """A request that is due while its connection waits for an answer counts, however late it is
    sent, and also where the time to wait for it ends first."""
    path = bench.folder / "late.json"
    late = established(
        bench.folder, connections=20, every="1ms", duration="300ms", key="rsa-4096",
        beside="handshakes", beside_connections=16,
    )
    bench.run(
        "compare", "--binaries", BINARIES, "--json", path, "--servers", "cleat", "--rounds", 1,
        "--scenario", late,
    )
    (trial,) = json.loads(path.read_text())["trials"]
    (figures,) = trial["servers"][0]["rounds"]
    load = figures["load"]
    assert load["attempts"] == pytest.approx(20 * 300, rel=0.02)
    assert load["ok"] + load["failed"] == load["attempts"]
    assert load["ok"] == 0 or figures["p50_ns"] > 1e6  # They were late.


@pytest.mark.figures
@pytest.mark.skipif(RATIONING is None, reason="needs root and control groups of its own")
def test_a_server_on_a_ration_uses_no_more(bench):
    before = groups()
    found = Compared(
        bench, "--servers", "cleat", "--rounds", 1, "--scenario",
        established(
            bench.folder, beside="handshakes", beside_connections=16, duration="2s",
            server_cpu="20 %",
        ),
    )
    (figures,) = found.server("cleat")["rounds"]
    assert 0.12 < figures["load"]["server"]["cores"] < 0.26
    assert "each server may use 20 % of a core" in found.text
    assert found.trial["scenario"]["server_cpu"] == pytest.approx(0.2)
    assert groups() == before


def test_uploads_keep_their_connections(bench):
    found = Compared(
        bench, "--servers", "cleat", "--rounds", 1, "--scenario",
        scenario(bench.folder, kind="transfer-up", bytes="4K", messages=12, connections=3,
                 warm_up=3),
    )
    (figures,) = found.server("cleat")["rounds"]
    assert figures["load"]["ok"] == 12
    assert figures["load"]["connections"] == 3


@pytest.mark.figures
def test_latency_at_a_part_of_the_weakest(bench):
    found = Compared(
        bench, "--servers", ",".join(["cleat", *CONTROL, *PEERS]), "--rounds", 2, "--scenario",
        tiny(bench.folder, rate="50 %", transactions=60),
    )
    asked = found.trial["scenario"]["arrivals"]
    capacities = {each["name"]: each["capacity"] for each in found.trial["servers"]}
    weakest = min(capacities, key=capacities.get)
    assert (asked["how"], asked["share"], asked["weakest"]) == ("poisson", 0.5, weakest)
    assert asked["rate"] == pytest.approx(capacities[weakest] / 2)
    firsts = []
    for server in found.trial["servers"]:
        for figures in server["rounds"]:
            load = figures["load"]
            assert load["rate_asked"] == asked["rate"]
            assert load["ok"] + load["failed"] == load["attempts"]
            # Poisson arrivals: 60 on average, with a deviation of 8.
            assert 20 <= load["attempts"] <= 110
            assert figures["p99_ns"] >= figures["p50_ns"] > 0
        firsts.append([figures["load"]["attempts"] for figures in server["rounds"]])
    # The same arrivals for all of a round, and others in the next.
    assert len({tuple(counts) for counts in firsts}) == 1
    assert re.search(r"open loop: Poisson arrivals, \d+/s, 50 % of what the weakest", found.text)
    assert "p99 over that of cleat" in found.text


@pytest.mark.figures
def test_latency_at_a_rate(bench):
    found = Compared(
        bench, "--servers", "cleat", "--rounds", 1, "--scenario",
        tiny(bench.folder, rate=100, arrivals="constant"),
    )
    asked = found.trial["scenario"]["arrivals"]
    assert asked == {
        "how": "constant", "rate": 100, "share": None, "weakest": None, "capacity": None
    }
    (figures,) = found.server("cleat")["rounds"]
    assert figures["load"]["ok"] == 20
    assert "open loop: evenly spaced, 100/s\n" in found.text


def test_idle_connections(bench):
    found = Compared(
        bench, "--servers", "cleat", "--rounds", 1, "--scenario",
        scenario(bench.folder, kind="idle", connections=80, warm_up=4),
    )
    (figures,) = found.server("cleat")["rounds"]
    assert [each["connections"] for each in figures["idle"]] == [20, 40, 60, 80]
    assert 500 < figures["memory_bytes"] < 200_000
    assert figures["cpu_ns"] is None


@pytest.mark.skipif(
    bool(os.environ.get("CLEAT_SANITIZE")), reason="a sanitizer makes calls of its own"
)
@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_system_calls_are_counted_by_name(bench):
    found = Compared(
        bench, "--servers", ",".join(["cleat", *CONTROL, *PEERS]), "--rounds", 2, "--scenario",
        tiny(bench.folder, kind="system-calls", connections=1, transactions=40),
    )
    for server in found.trial["servers"]:
        for figures in server["rounds"]:
            assert figures["load"]["ok"] == 40
            calls = {each["name"]: each["count"] for each in figures["calls"]}
            assert sum(calls.values()) == pytest.approx(figures["system_calls"])
            # A connection is accepted, its upstream's is opened, and both are closed.
            assert calls.get("accept4", 0) + calls.get("accept", 0) >= 1
            assert calls["connect"] >= 1 and calls["close"] >= 2
            assert figures["cpu_ns"] is None and figures["p99_ns"] is None
    ours = found.server("cleat")["rounds"]
    assert ours[0]["system_calls"] == pytest.approx(ours[1]["system_calls"], rel=0.1)
    assert "count over that of cleat" in found.text
    assert re.search(r"^  - cleat: \d\.\d\d \w+, .*1\.00 connect", found.text, re.MULTILINE)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core")
def test_two_workers_beside_one(bench):
    names = [name for name in ["cleat", *CONTROL, *PEERS] if name != "hitch"]
    found = Compared(
        bench, "--servers", ",".join(names), "--rounds", 1, "--scenario",
        tiny(bench.folder, kind="workers", transactions=100),
    )
    (figures,) = found.server("cleat")["rounds"]
    assert figures["load"]["ok"] == 100 and figures["cpu_ns"] > 0
    assert 0.1 < figures["workers_ratio"] < 10  # Of both the CPU is for one handshake.
    assert "workers = 1" in found.server("cleat")["config"]  # The last of one, two, two, one.
    for name in CONTROL:
        assert found.server(name)["left_out"] == "left out: it has one worker only"
    assert "ratio over that of cleat" in found.text


def test_a_number_of_workers_contradicts_a_scenario_that_has_its_own(bench):
    found = Compared(
        bench, "--servers", "cleat", "--workers", 2, "--scenario",
        tiny(bench.folder, kind="workers"), code=1,
    )
    assert found.trial["skipped"].endswith("leave --workers out")
    assert "skipped: it measures one worker and two by itself" in found.text


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core")
def test_several_workers_are_pinned(bench):
    cores = sorted(os.sched_getaffinity(0))
    names = [name for name in ["cleat", *CONTROL, *PEERS] if name != "hitch"]
    found = Compared(
        bench, "--servers", ",".join(names), "--rounds", 1, "--workers", 2, "--server-cores",
        f"{cores[0]},{cores[1]}", "--scenario", tiny(bench.folder),
    )
    assert "workers = 2" in found.server("cleat")["config"]
    for name in CONTROL:
        assert found.server(name)["left_out"] == "left out: it has one worker only"
    if "nginx" in names:
        assert "worker_cpu_affinity auto " in found.server("nginx")["config"]


def data_of(page: str) -> dict:
    """data_of a report. A figure that was read back from text may differ in its last bit."""
    data = re.search(r'id="data">(.*?)</script>', page).group(1)
    return json.loads(data, parse_float=lambda digits: float(f"{float(digits):.9g}"))


def test_a_report_is_written(bench):
    page = bench.folder / "report.html"
    found = Compared(
        bench, "--servers", "cleat", "--rounds", 1, "--html", page, "--scenario",
        tiny(bench.folder),
    )
    text = page.read_text()
    assert text.lower().startswith("<!doctype html>")
    shown = data_of(text)
    (compared,) = shown["comparisons"]
    (server,) = compared["trials"][0]["servers"]
    assert server["medians"] == pytest.approx(found.server("cleat")["medians"])
    assert server["curve"] and server["counts"]["attempts"] == 20
    # The same comes of the document, later.
    again = bench.folder / "again.html"
    ran = bench.run("report", bench.folder / "compared.json", "--out", again)
    assert ran.returncode == 0, ran.stderr
    assert data_of(again.read_text()) == shown


def test_a_peer_that_is_missing_is_left_out(bench, monkeypatch):
    monkeypatch.setenv("CLEAT_CACHE_DIR", str(bench.folder / "nothing"))
    found = Compared(
        bench, "--servers", "envoy,cleat", "--rounds", 1, "--scenario", tiny(bench.folder)
    )
    line = f"envoy is left out: it is not here: {INSTALL} envoy gets it"
    assert line in found.text and line in found.progress
    assert [each["name"] for each in found.trial["servers"]] == ["cleat"]
    assert found.trial["base"] == "cleat"
    assert found.document["absent"][0][0] == "envoy"


def test_nobody_is_here(bench, monkeypatch):
    monkeypatch.setenv("CLEAT_CACHE_DIR", str(bench.folder / "nothing"))
    ran = bench.run("compare", "--binaries", BINARIES, "--servers", "envoy,haproxy-awslc")
    assert ran.returncode == 1
    assert "none of the servers is here" in ran.stderr
    assert f"haproxy-awslc: {INSTALL} haproxy-awslc builds it" in ran.stderr


@pytest.mark.skipif(not CONTROL, reason="there is no control")
def test_a_server_that_does_not_start(bench):
    folder = bench.folder / "bin"
    folder.mkdir()
    for name in ("perf-origin", "perf-epoll-relay"):
        (folder / name).symlink_to(BINARIES / name)
    broken = folder / "cleat"
    broken.write_text("#!/bin/sh\necho 'first line'\necho 'cannot read the stars' >&2\nexit 3\n")
    broken.chmod(0o755)
    found = Compared(
        bench, "--servers", "cleat,epoll", "--rounds", 2, "--scenario", tiny(bench.folder), code=1,
        binaries=folder,
    )
    assert "- cleat: it does not start: ended with code 3\n" in found.text
    assert "cannot read the stars" in found.text
    assert found.server("cleat")["at_fault"]
    # The others are measured all the same, and one of them is the base.
    assert found.trial["base"] == "epoll"
    assert all(found.server("epoll")["rounds"])


@pytest.mark.skipif(not CONTROL, reason="there is no control")
def test_a_server_that_cannot_do_a_scenario(bench):
    found = Compared(
        bench, "--servers", "cleat,epoll", "--rounds", 2, "--scenario",
        tiny(bench.folder, tls="1.2", ciphers="ECDHE-RSA-AES128-GCM-SHA256"), code=1,
    )
    # A certificate for ECDSA and a suite for RSA: nobody can, and nobody is at fault.
    for name in ("cleat", "epoll"):
        assert found.server(name)["left_out"].startswith("left out: it cannot do this: ")
        assert not found.server(name)["at_fault"]
    assert found.trial["base"] is None


def test_a_scenario_that_the_client_cannot_do(bench):
    found = Compared(
        bench, "--servers", "cleat", "--scenario", tiny(bench.folder, groups="NOPE"), code=1
    )
    assert found.trial["skipped"].startswith("this client cannot do it: ")
    assert "skipped: this client cannot do it" in found.text


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("kind = handshake\nkez = rsa-2048\n", r"mine\.scenario:2: there is no key 'kez'.*, tls"),
        ("kind = handshake\nkey = rsa-1\n", r"mine\.scenario:2: key = rsa-1: write one of ecdsa"),
        ("key = rsa-2048\n", r"mine\.scenario: kind is missing: add kind = handshake"),
    ],
)
def test_a_scenario_with_a_mistake(bench, text, complaint):
    path = bench.folder / "mine.scenario"
    path.write_text(text)
    ran = bench.run("compare", "--scenario", path)
    assert ran.returncode == 2
    assert re.search(complaint, ran.stderr)


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (("--servers", "cleat,apache"), "there is no server 'apache': take some of cleat"),
        (("--scenario", "full-dsa"), "there is no scenario 'full-dsa': take one of"),
        (("--scenario", "none/here.scenario"), "cannot be read: No such file"),
        (("--server-cores", "99999"), "--server-cores 99999: "),
        (("--servers", "cleat", "--base", "nginx"), "--base nginx: is not among the servers"),
    ],
)
def test_words_that_make_no_sense(bench, arguments, complaint):
    ran = bench.run("compare", *arguments)
    assert ran.returncode == 2
    assert complaint in ran.stderr


def test_a_folder_without_the_origin(bench):
    ran = bench.run("compare", "--servers", "cleat", "--binaries", bench.folder)
    assert ran.returncode == 1
    assert "--binaries" in ran.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_comparison_leaves_nothing_behind(bench, monkeypatch, how):
    place = bench.folder / "place"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    path = bench.folder / "partial.json"
    names = ",".join(["cleat", *PEERS])
    child = bench.start(
        "compare", "--binaries", BINARIES, "--servers", names, "--rounds", 1000, "--json", path,
        "--scenario", tiny(bench.folder),
    )
    try:
        for line in child.stderr:
            if line.startswith("tiny 2/1000"):
                break
        seen = eventually("a server runs", lambda: descendants(child.pid))
        assert list(place.iterdir())
        child.send_signal(how)
        out, _ = child.communicate(timeout=DEADLINE)
    finally:
        child.kill()
    assert child.returncode == 130
    assert out.startswith("PARTIAL")
    assert "tiny: tiny (1000 rounds)" in out
    document = json.loads(path.read_text())
    assert document["partial"]
    assert document["trials"][0]["servers"][0]["rounds"][0]["load"]["ok"] == 20
    eventually("every process has ended", lambda: not any(map(is_there, seen)))
    assert not list(place.iterdir())
