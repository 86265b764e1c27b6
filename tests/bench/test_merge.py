"""Results of several generators add up exactly, and what does not fit together is refused."""

import datetime
import json

import pytest

from deadlines import DEADLINE
from load_results import load_result, write
from http_handlers import http

LEAD = 5  # A generator that starts later than the moment refuses to.


@pytest.mark.figures
def test_two_results_are_one(bench, server):
    target = server(http())
    begin = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=LEAD)
    moment = begin.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    words = ("-q", "-r", 40, "-d", "1s", "--no-preflight", "--workers", 1, "--start-at", moment)
    runs = [
        bench.start("load", *words, "--tls", version, "--json", f"{name}.json", target.address)
        for name, version in (("a", "1.2"), ("b", "1.3"))
    ]
    for run in runs:
        out, said = run.communicate(timeout=DEADLINE)
        assert run.returncode in (0, 4), out + said  # 4: a busy machine was the limit.
    ran = bench.run("merge", "a.json", "b.json", "--json", "sum.json")
    assert ran.returncode == 0, ran.stderr
    a, b, both = (bench.read(bench.folder / f"{name}.json") for name in ("a", "b", "sum"))
    assert both["ok"] == 80
    assert both["drained_ok"] == a["drained_ok"] + b["drained_ok"]
    assert both["rate"] == 80 - both["drained_ok"]
    assert both["asked"] == a["asked"] + [["generator 2", ""]] + b["asked"]
    assert "\ngenerator 2: open loop" in ran.stdout
    for stage in ("tcp", "tls", "first_byte", "response"):
        one, other, merged = (x["latency"][stage] for x in (a, b, both))
        assert merged["count"] == one["count"] + other["count"]
        assert merged["min_ns"] == min(one["min_ns"], other["min_ns"])
        assert merged["max_ns"] == max(one["max_ns"], other["max_ns"])
        mean = (one["mean_ns"] * one["count"] + other["mean_ns"] * other["count"]) / merged["count"]
        assert abs(merged["mean_ns"] - mean) < 1


def test_one_result_merged_alone_is_itself(bench, server):
    bench.run("load", "-q", "-n", 10, "--json", "a.json", server(http()).address)
    bench.run("merge", "a.json", "--json", "b.json")
    one, same = (json.loads((bench.folder / name).read_text()) for name in ("a.json", "b.json"))
    assert one == same


def test_a_result_on_standard_output_is_the_last_line(bench, server):
    """As in the log of a pod, whose lines are all that is left of it."""
    ran = bench.run("load", "-q", "-n", 4, "--json", "/dev/stdout", server(http()).address)
    *text, document = ran.stdout.splitlines()
    assert any("rate achieved" in each for each in text)
    (bench.folder / "a.json").write_text(document + "\n")
    merged = bench.run("merge", "a.json", "--json", "b.json")
    assert merged.returncode == 0
    assert bench.read(bench.folder / "b.json")["ok"] == 4


def test_what_did_not_run_together_is_refused(bench):
    def refused(*parts: dict) -> str:
        ran = bench.run("merge", *write(bench.folder, *parts))
        assert ran.returncode == 1 and ran.stdout == ""
        return ran.stderr

    one = load_result(seconds=30, seed=1)
    assert "the same" in refused(one, one)
    later = load_result(seconds=30, seed=2, started="2026-11-21T20:00:05.000000Z")
    assert "25.0 s of 30.0 s" in (said := refused(one, later)) and "--start-at" in said
    longer = load_result(seconds=40, seed=2)
    assert "30.0 s of 40.0 s" in refused(one, longer)
    # This one was as far away as there is memory for.
    assert "--start-at" in refused(one, {**later, "started": "2020-11-21T20:00:00.000000Z"})


def test_what_is_no_result(bench):
    (bench.folder / "x.json").write_text("{}")
    ran = bench.run("merge", "x.json")
    assert ran.returncode == 1 and "x.json" in ran.stderr
    (bench.folder / "x.json").write_text("no JSON")
    ran = bench.run("merge", "x.json")
    assert ran.returncode == 1 and "x.json: not JSON" in ran.stderr
    assert "boost" not in ran.stderr and "(" not in ran.stderr.replace("(syntax error)", "")
    ran = bench.run("merge", "nowhere.json")
    assert ran.returncode == 1 and "nowhere.json" in ran.stderr


def test_an_open_and_a_closed_loop_do_not_fit(bench, server):
    target = server(http())
    bench.run("load", "-q", "-n", 5, "--json", "a.json", target.address)
    bench.run("load", "-q", "-r", 10, "-d", "1s", "--json", "b.json", target.address)
    ran = bench.run("merge", "a.json", "b.json")
    assert ran.returncode == 1 and "open loop" in ran.stderr


def test_no_result_is_overwritten_with_what_is_made_of_it(bench, server):
    """Files are distinguished by their inodes, not by their names."""
    bench.run("load", "-q", "-n", 3, "--json", "a.json", server(http()).address)
    (bench.folder / "link.json").symlink_to("a.json")
    before = (bench.folder / "a.json").read_text()
    for words in (
        ("report", "a.json", "--out", "a.json"),
        ("report", "a.json", "--out", "link.json"),
        ("merge", "a.json", "--html", "./a.json"),
        ("merge", "link.json", "--json", "a.json"),
    ):
        ran = bench.run(*words)
        assert ran.returncode == 2 and "overwrite" in ran.stderr, words
        assert (bench.folder / "a.json").read_text() == before


@pytest.mark.parametrize("more", ["steps", "transfer"])
def test_what_does_not_add_up_is_not_merged(bench, more):
    """A staircase and a transfer are loads too: merged as such, the rest would be lost."""
    ran = bench.run("merge", *write(bench.folder, {**load_result(seconds=1), more: []}))
    assert ran.returncode == 1
    assert "does not add up" in ran.stderr
