"""A server that cannot do what it is asked for: each output says so first, the rate is what was
done in the time, and nothing that was overloaded looks good beside what was not."""

import re
from pathlib import Path
from typing import Callable

import pytest

import browser
from capsrv import Capacity, Unreliable
from load_results import Facts, load_result, staircase_result
from pages import plain
from pages import words as words_of

needs_browser = pytest.mark.skipif(bool(browser.missing()), reason=browser.missing())


@pytest.mark.figures
def test_the_rate_is_what_was_done_in_the_time(bench, server):
    """Of 200 a second it can do 100: half of all wait when the load ends."""
    target = server(Capacity(slots=5, hold=0.05))
    found = bench.load("-r", 200, "-d", "5s", target.address)
    assert found["attempts"] == found["ok"] == 1000
    assert 75 < found["rate"] <= 101
    assert found["rate"] == pytest.approx((found["ok"] - found["drained_ok"]) / 5)
    assert found["drained"] == found["drained_ok"] > 450
    assert found["pending_at_half"] < 0.6 * found["drained"]
    assert not found["kept_up"]
    assert found["text"].startswith("OVERLOADED: it did not keep up: ")
    done = f"{found['rate']:.1f}/s"
    assert f"{done} were done of 200.0/s asked for" in found["text"].splitlines()[0]
    assert re.search(rf"rate achieved +{done} ", found["text"])
    assert found["remarks"][0].startswith("it did not keep up")


@pytest.mark.figures
def test_a_load_that_is_kept_up_with_is_not_called_overloaded(bench, server):
    """At half of what it can do, and where its answers are slow but in time."""
    found = bench.load("-r", 50, "-d", "3s", server(Capacity(slots=5, hold=0.05)).address)
    assert found["kept_up"] and not found["remarks"]
    assert found["rate"] == pytest.approx(50, rel=0.06)
    slow = bench.load("-r", 40, "-d", "3s", server(Capacity(slots=100, hold=0.6)).address)
    assert slow["kept_up"]
    assert "OVERLOADED" not in slow["text"]
    assert "the run is short beside its response" in slow["remarks"][0]


@pytest.mark.figures
def test_a_ramp_beyond_the_capacity(bench, server):
    """From 20 to 200 a second: what it can do, 100, is asked for after 2.7 of 6 seconds."""
    target = server(Capacity(slots=5, hold=0.05))
    found = bench.load("--phases", "20-200/6s", "--interval", "500ms", target.address)
    assert not found["kept_up"]
    assert found["text"].startswith("OVERLOADED")
    # It is full for the last 3 s, and does no more than it can.
    per_second = [ok * 2 for ok in found["timeline"]["ok"][:12]]
    assert max(per_second) <= 115
    assert sum(per_second[-5:]) / 5 == pytest.approx(95, abs=20)


@pytest.mark.figures
def test_a_staircase_shows_the_plateau_and_why_a_step_broke(bench, server):
    target = server(Capacity(slots=5, hold=0.05))
    ran = bench.run("staircase", "-q", "--from", 40, "--to", 400, "--step", 40, "--hold", "2s",
                    "--json", "s.json", "--html", "s.html", target.address)
    assert ran.returncode == 0, ran.stderr
    found = bench.read(bench.folder / "s.json")
    steps = {step["rate"]: step for step in found["steps"]}
    assert all(steps[rate]["kept_up"] for rate in (40, 80))
    # The step of 120/s is short: it is not broken, and still no rate of the server's.
    assert not steps[120]["kept_up"]
    assert 120 not in {each["rate"] for each in found["highest"]} | {found["knee"]}
    assert found["knee"] == 80
    done = {rate: step["done"] / 2 for rate, step in steps.items()}
    assert done[80] == pytest.approx(80, rel=0.1)
    assert all(75 < rate <= 105 for asked, rate in done.items() if asked > 100)
    last = found["steps"][-1]
    assert last["broken"] and last["fault"].startswith("broken: ")
    assert f"{last['rate']:.0f}/s: {last['fault']}" in ran.stdout
    assert "did not keep up" in steps[120]["fault"]
    assert re.search(r"most done in a second +\d+/s", ran.stdout)
    assert "OVERLOADED" not in ran.stdout, "it is meant to end so"


@pytest.mark.figures
def test_percentiles_are_of_all_attempts(bench, server):
    """A seventh gets no answer: p90 and p99 are theirs, and no figure of the others is there."""
    target = server(Unreliable(hold=0.01, every=7))
    found = bench.load("-r", 70, "-d", "2s", "--answer-timeout", "700ms", "--no-preflight",
                       target.address)
    assert found["attempts"] == 140 and found["failed"] == 20
    response = found["latency"]["response"]
    assert response["of"] == 140 and response["count"] == 120
    assert response["p50_ns"] < 0.5e9
    assert response["p90_ns"] is response["p99_ns"] is response["p99_9_ns"] is None
    line = next(line for line in found["text"].splitlines() if line.startswith("  response "))
    assert line.split()[-4:] == ["-"] * 4, line
    assert "Its percentiles are of all 140 attempts: the 20 that failed" in found["text"]
    assert "a percentile above 85.71 % is not known" in found["text"]


@pytest.mark.figures
def test_the_generator_is_no_limit_beside_a_slow_server(bench, server):
    """An overloaded server answers after seconds: a start that is some milliseconds late is no
    part of that."""
    target = server(Capacity(slots=1, hold=0.05))
    found = bench.load("-r", 60, "-d", "2s", target.address)
    assert not found["kept_up"]
    slip = found["latency"]["slip"]["p99_ns"]
    assert slip < 0.2 * found["latency"]["response"]["p99_ns"]
    assert not [limit for limit in found["limits"] if "late" in limit], slip


OVERLOADED: Facts = {
    "rate_asked": 1600.0, "drained": 6000, "drained_ok": 6000, "pending_at_half": 3000,
    "drain_ns": 15_000_000_000,
}


@needs_browser
def test_a_page_says_it_before_any_figure(shown: browser.Browser, report: Callable[..., Path]):
    """12,000 in 30 s, of which 6,000 ended in a drain of 15 s: 200 a second."""
    shown.show(1200)
    shown.open(report(load_result(**OVERLOADED)))
    text = plain(words_of(shown))
    assert text.index("Overloaded: it did not keep up") < text.index("Attempts")
    assert "6000 ended after the load, 400 ok/s" in text
    rate = shown.run("return document.querySelector('.figures .value').innerText")
    assert plain(str(rate)).startswith("200 ")


@needs_browser
def test_an_overloaded_run_wins_no_comparison(shown: browser.Browser, report: Callable[..., Path]):
    """Percentages stand only between loads of one kind that were kept up with."""
    same = load_result(name="same", response_ms=3)
    other = load_result(name="another rate", rate=300)
    closed = load_result(name="closed", rate_asked=None)
    page = report(load_result(name="first"), same, other, closed,
                  load_result(name="overloaded", **OVERLOADED))
    shown.show(1200)
    shown.open(page)
    rows = shown.run(
        "return [...document.querySelector('table').tBodies[0].rows].map((row) => row.innerText)")
    signs = [len(re.findall("[+−]\\d", plain(row))) for row in rows]
    assert signs[0] == signs[2] == signs[3] == signs[4] == 0, rows
    assert signs[1] > 3, rows
    assert "did not keep up" in rows[4]


@needs_browser
def test_the_slowest_of_those_that_were_ok_is_not_the_slowest_of_all(
    shown: browser.Browser, report: Callable[..., Path]
):
    failures = {("answer", "timeout"): 2000}
    shown.show(1200)
    shown.open(report(load_result(failures=failures)))
    text = plain(words_of(shown))
    assert "the slowest of all" not in text
    assert "Slowest answer" in text and "14.3 % failed, without one" in text
    assert "Percentiles of the response are of all 14000 attempts" in text


@needs_browser
def test_busy_cores_and_bytes_are_those_of_their_time(
    shown: browser.Browser, report: Callable[..., Path]
):
    """Of 45 s of CPU in 30 s and a drain of 60 s, 0.32 cores were busy in the 30 s."""
    server = {"pids": [1], "cpu_ns": 45_000_000_000, "cores": 0.32}
    found = load_result(**OVERLOADED | {"drain_ns": 60_000_000_000, "server": server})
    shown.show(1200)
    shown.open(report(found))
    text = plain(words_of(shown))
    assert "0.320 busy" in text
    per_second = found["bytes"]["down"] / 90 / 1e6
    assert f"({per_second:.2f} MB/s)" in text


@needs_browser
def test_charts_of_a_staircase_have_equal_axes(
    shown: browser.Browser, report: Callable[..., Path]
):
    shown.show(1200)
    shown.open(report(staircase_result()))
    left, right = shown.run(
        "return [0, 1].map((i) => Chart.getChart(document.querySelectorAll('canvas')[i]))"
        ".map(({ chartArea, scales }) => [chartArea.left, scales.x.min, scales.x.max])")
    assert left == right

