"""The report of cleat-bench, as a browser shows it: drawn, legible, and asking for nothing.

CLEAT_BENCH is the program; `cleat-bench report A.json B.json --out report.html` makes the page.
"""

from pathlib import Path
from typing import Callable

import pytest

import browser
from deadlines import eventually
from load_results import (
    Facts, idle_result, load_result, probe_result, probed_host, staircase_result,
)
from pages import PAPER, SCREENS, check, is_dark, plain, words

pytestmark = pytest.mark.skipif(bool(browser.missing()), reason=browser.missing())

LONG_NAME = "a-name-that-has-no-place-to-break-" * 4
REFUSED = {("connect", "refused"): 112, ("handshake", "alert handshake_failure"): 31}
LIMITED = {
    "limits": ["a worker of the generator was busy 97 % of the time"],
    "cures": ["give it more cores (--workers)"],
}
NO_RATE: Facts = {"rate_asked": None, "server": None}

HOST = {
    "lost": None, "late_ns": 0, "clock_error_ns": 90_000, "copied": False, "client_limited": False,
    "attempts": 100, "ok": 98, "rate": 9.8,
}
HOSTS = [
    {**HOST, "name": "a"},
    {**HOST, "name": "user@b:2222", "late_ns": 12_000_000, "copied": True, "client_limited": True},
    {**HOST, "name": LONG_NAME, "lost": "Timeout, server c not responding."},
]

CASES: dict[str, list[Facts]] = {
    "one": [load_result(failures=REFUSED)],
    "closed loop": [load_result(name="", seconds=3, **NO_RATE)],
    "limited and partial": [load_result(partial=True, **LIMITED)],
    "nothing ok": [load_result(rate=0, failures=REFUSED, **NO_RATE)],
    "empty": [load_result(rate=0, **NO_RATE)],
    "one interval": [load_result(seconds=1, rate=20)],
    "one transaction": [load_result(seconds=1, rate=1, resumed_share=0)],
    "5000 intervals": [load_result(seconds=5000, rate=4)],
    "long names": [load_result(name=LONG_NAME, command=LONG_NAME * 3, target=LONG_NAME)],
    "several": [
        load_result(name="AWS-LC", failures=REFUSED),
        load_result(name="OpenSSL", response_ms=3.1, rate=310, seed=2, **LIMITED),
        load_result(name=LONG_NAME, response_ms=2.4, seed=3),
        load_result(name="AWS-LC", rate=0, **NO_RATE),
    ],
    "hosts": [load_result(hosts=HOSTS)],
    "staircase": [staircase_result()],
    "a staircase of one step": [staircase_result(steps=2, knee=None)],
    "a staircase of old": [staircase_result()],
    "no step": [load_result(steps=[], highest=[], knee=None)],
    "transfer": [
        load_result(
            transfer={
                "direction": "down", "message_bytes": 1048576, "bytes_per_s": 612.3e6,
                "generator_cpu_ns_per_gb": 4.2e8, "server_cpu_ns_per_gb": None,
            }
        )
    ],
    "idle": [idle_result(http2=True)],
    "idle, flat": [idle_result(flat=1), idle_result(name="flat", each=None, partial=True)],
    "idle, of one level": [idle_result(levels=[{"connections": 0, "pss_bytes": 1}],
                                       bytes_per_connection=None)],
    "probe": [probe_result(probed_host(weak=0))],
    "probes": [
        probe_result(
            *(probed_host(f"host-{n}.example.org:443", weak=n) for n in range(3)),
            probed_host("nobody.example:443", error="nobody.example:443 refuses the connection"),
            probed_host(LONG_NAME, weak=1),
        )
    ],
    "all kinds": [
        load_result(seconds=5), staircase_result(), idle_result(), probe_result(probed_host())
    ],
    "ten": [load_result(name=f"number {n}", seconds=5, seed=n) for n in range(10)],
}
for step in CASES["a staircase of old"][0]["steps"]:
    for key in ("length_ns", "done", "broken"):
        del step[key]
CHARTS = {
    "nothing ok": 1, "empty": 0, "several": 3 + 3 * 3, "ten": 3 + 10 * 3, "staircase": 5,
    "a staircase of one step": 5, "a staircase of old": 5, "idle": 1, "idle, flat": 2,
    "idle, of one level": 0, "probe": 0, "probes": 0, "all kinds": 3 + 3 + 5 + 1,
}


@pytest.fixture(scope="module")
def pages(report: Callable[..., Path]) -> dict[str, Path]:
    return {case: report(*results) for case, results in CASES.items()}


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("case", CASES)
def test_every_report_is_drawn_on_every_screen(
    shown: browser.Browser, pages: dict[str, Path], case: str, screen: str
) -> None:
    check(shown, pages[case], screen, CHARTS.get(case, 3))


def test_a_limit_of_the_generator_is_said_before_any_figure(
    shown: browser.Browser, pages: dict[str, Path]
) -> None:
    shown.show(1200)
    shown.open(pages["limited and partial"])
    text = words(shown)
    for said in (*LIMITED["limits"], *LIMITED["cures"], "Client-limited", "Partial"):
        assert 0 < text.lower().index(said.lower()) < text.index("Attempts"), said


def test_where_nothing_was_limited_that_is_said(
    shown: browser.Browser, pages: dict[str, Path]
) -> None:
    shown.open(pages["one"])
    assert "The generator was not the limit: its busiest worker ran 41" in words(shown)
    assert "Client-limited" not in words(shown)


def test_all_that_is_known_is_on_the_page(shown: browser.Browser, pages: dict[str, Path]) -> None:
    shown.open(pages["one"])
    text = words(shown).replace("\u00a0", " ").replace("\u202f", "")
    for said in (
        "127.0.0.1:8443",
        "2026-11-21 20:00:00 UTC",
        "asked for 400/s",
        "alert handshake_failure",
        "X25519MLKEM768",
        "AMD EPYC 7763",
        "Poisson",
        "4711, 4712",
        "cleat-bench load 127.0.0.1:8443 --rate 400 --duration 30s",
        "12143",
        "50.0 %",
    ):
        assert said in text, said


def test_a_staircase_shows_its_steps_rates_and_knee(
    shown: browser.Browser, pages: dict[str, Path]
) -> None:
    shown.show(1200)
    shown.open(pages["staircase"])
    text = plain(words(shown))
    for said in (
        "staircase", "mean response below 100 ms", "failures below 0.1 %", "none", "Knee",
        "the last rate before queues form", "broke the server", "Highest rates",
    ):
        assert said in text, said
    rows = shown.run("return document.querySelectorAll('.wider tbody tr').length")
    assert rows == 8
    labels = (
        "return Chart.getChart(document.querySelectorAll('canvas')[%d])"
        ".data.datasets.map((s) => s.label)"
    )
    assert shown.run(labels % 0) == ["attempted", "done", "failed"]
    assert shown.run(labels % 1) == ["mean", "max"]
    # Steps of two seconds: 900 per second, not 1800.
    peak = shown.run(
        "return Chart.getChart(document.querySelector('canvas')).data.datasets[0].data[6].y")
    assert abs(peak - 900) < 1


def test_idle_memory_is_drawn_with_its_slope(
    shown: browser.Browser, pages: dict[str, Path]
) -> None:
    shown.show(1200)
    shown.open(pages["idle"])
    assert "12.1 KiB" in plain(words(shown)) and "4000" in plain(words(shown))
    assert "HTTP/2" in plain(words(shown, "header"))
    line = shown.run(
        "return Chart.getChart(document.querySelector('canvas')).data.datasets[1].data")
    assert abs((line[1]["y"] - line[0]["y"]) / (line[1]["x"] - line[0]["x"]) - 12_345) < 1
    assert abs(line[0]["y"] - 9e6) < 10
    shown.open(pages["idle, flat"])
    text = plain(words(shown))
    assert "Not known: memory did not grow" in text and "flat: left out" in text
    assert "HTTP/2" not in text
    assert "Partial" in text


def test_probes_are_a_table_with_verdicts(
    shown: browser.Browser, pages: dict[str, Path]
) -> None:
    shown.show(1200)
    shown.open(pages["probes"])
    table = plain(words(shown, "table"))
    for said in ("host-0.example.org:443", "good", "1 weak", "2 weak", "could not be probed",
                 "ECDSA-256", "39 days left", "1.23 ms"):
        assert said in table, said
    text = plain(words(shown))
    assert "the certificate is weak (1)" in text and "refuses the connection" in text
    assert "a post-quantum group is offered" in text


def test_a_transfer_shows_its_figures(shown: browser.Browser, pages: dict[str, Path]) -> None:
    shown.show(1200)
    shown.open(pages["transfer"])
    text = plain(words(shown))
    assert "612 MB/s" in text and "420 ms per GB" in text


def test_the_hosts_of_a_load_are_a_table(shown: browser.Browser, pages: dict[str, Path]) -> None:
    shown.show(1200)
    shown.open(pages["hosts"])
    text = " ".join(plain(words(shown)).split())
    for line in (
        "a 9.80/s 98 100 began in time",
        "user@b:2222 9.80/s 98 100 began 12.0 ms late, its machine was the limit, had a copy of "
        "cleat-bench",
        "lost: Timeout, server c not responding.",
        "They began within 12.2 ms of each other.",
    ):
        assert line in text, text
    assert "was lost, and the figures are of the other 2" in text


def test_several_results_are_compared(shown: browser.Browser, pages: dict[str, Path]) -> None:
    shown.show(1200)
    shown.open(pages["several"])
    table = words(shown, "table")
    assert "AWS-LC (2)" in table and "client-limited" in table and "nothing ok" in table
    lines = shown.run(
        "return Chart.getChart(document.querySelectorAll('canvas')[2]).data.datasets.length"
    )
    assert lines == 3  # The fourth has nothing to draw.


def test_a_long_timeline_says_that_it_was_thinned_out(
    shown: browser.Browser, pages: dict[str, Path]
) -> None:
    shown.open(pages["5000 intervals"])
    assert "17 intervals of 1\u00a0s together" in words(shown)
    points = shown.run(
        "return Chart.getChart(document.querySelector('canvas')).data.datasets[1].data.length"
    )
    assert 200 < points <= 300


def test_choices_redraw_a_chart(shown: browser.Browser, pages: dict[str, Path]) -> None:
    shown.show(1200)
    shown.open(pages["several"])
    look = """
        const chart = Chart.getChart(document.querySelectorAll('canvas')[2]);
        return [chart.scales.y.type, chart.data.datasets[0].data.at(-1).y];
    """
    press = """
        const figure = document.querySelectorAll('canvas')[2].closest('figure');
        [...figure.querySelectorAll('button')].find((b) => b.textContent === '%s').click();
    """
    scale, response = shown.run(look)
    assert scale == "logarithmic"
    shown.run(press % "linear")
    shown.run(press % "TCP")
    scale, tcp = shown.run(look)
    assert scale == "linear" and tcp < response


def test_an_open_page_follows_the_colours_of_the_system(
    shown: browser.Browser, pages: dict[str, Path]
) -> None:
    ticks = "return Chart.getChart(document.querySelector('canvas')).options.scales.x.ticks.color"
    shown.show(1200)
    shown.open(pages["one"])
    light = shown.run(ticks)
    shown.show(1200, dark=True)
    eventually("the charts in dark colours", lambda: shown.run(ticks) != light)


def test_paper_is_light_and_the_screen_is_as_before(
    shown: browser.Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    shown.show(1200, dark=True)
    shown.open(pages["several"])
    shown.run("""
        window.printed = [];
        addEventListener('beforeprint', () => printed.push(
            getComputedStyle(document.body).backgroundColor,
            document.querySelectorAll('details:not([open])').length));
    """)
    shown.print(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    paper, closed = shown.run("return printed")
    assert not is_dark(paper) and closed == 0
    assert is_dark(shown.run(PAPER))
    assert shown.run("return document.querySelectorAll('details[open]').length") == 0
    assert shown.log("browser") == []


def test_what_is_written_in_a_result_stays_text(
    shown: browser.Browser, report: Callable[..., Path]
) -> None:
    evil = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>"
    facts = {"command": evil, "target": evil, "asked": {evil: evil}, "environment": {evil: evil}}
    result = load_result(name=evil, seconds=3, failures={("answer", evil): 3}, **facts)
    page = report(result, result)
    shown.show(1200)
    shown.open(page)
    assert shown.run("return [window.broken ?? 0, document.images.length]") == [0, 0]
    assert evil in words(shown, "h2") and evil in words(shown, "pre")
    assert shown.log("browser") == []
    assert shown.requests() == [page.as_uri()]
