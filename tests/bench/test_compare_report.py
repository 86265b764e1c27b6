"""Reports of comparisons, as a browser shows them: `cleat-bench report` of compare's documents."""

import json
import re
import subprocess
from pathlib import Path
from typing import Callable

import pytest

import browser
from compare_results import (
    CALLS, COSTS, DOWN, ESTABLISHED, HANDSHAKE, IDLE, PACED, RESUMED, WORKERS, comparison, left_out,
    server, trial,
)
from conftest import binary
from load_results import Facts, load_result
from pages import SCREENS, check, words

pytestmark = pytest.mark.skipif(bool(browser.missing()), reason=browser.missing())

RECORDED = Path(__file__).resolve().parents[2] / "perf/results"
INSTALL = "apps/cleat-bench/compare/peers/install"
LONG_NAME = "a-name-that-has-no-place-to-break-" * 4
EVIL = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>"
LIMIT = "a worker of the generator was busy 97 % of the time"


def troubled() -> Facts:
    """troubled has all that can be wrong with servers that are here."""
    found = trial(RESUMED)
    hitch = found["servers"][2]
    hitch["complaints"] = ["round 2: it was ended by signal 11 while it was measured"]
    load = hitch["rounds"][0]["load"]
    load["limits"] = [LIMIT]
    load["failures"] = [{"stage": "handshake", "kind": "timeout", "count": 3}]
    load["failed"], load["attempts"] = 3, load["ok"] + 3
    for each in hitch["rounds"]:
        each["load"]["handshakes"] = {"full": 300, "resumed": 0, "offered": 300, "agreed": []}
    found["servers"] += [
        left_out("stunnel", "it does not start: ended with code 3\ncannot read", at_fault=True),
        left_out("envoy", "left out: it cannot do this: no such group"),
    ]
    return comparison(found, absent=[["haproxy", f"it is not here: {INSTALL} gets it"]])


def interrupted() -> Facts:
    """interrupted is a comparison that ended in the middle of the second scenario. The third cannot
    be measured, and the fourth was not begun."""
    begun = trial(DOWN)
    for each in begun["servers"]:
        each["rounds"][2:] = [None] * 3
    begun["servers"][3] = server("epoll", [None] * 5)
    skipped = trial(HANDSHAKE, {}) | {"skipped": "this client cannot do it: no such group"}
    nobody = trial(PACED, COSTS, rounds=0)
    return comparison(trial(), begun, skipped, nobody, partial=True, rounds=5, client_cores=[0])


def hostile() -> Facts:
    found = trial(HANDSHAKE | {"title": EVIL, "text": EVIL}, {EVIL: (1, 0.1), "b": (2, 0.1)}, 2)
    for each in found["servers"]:
        each |= {"command": EVIL, "config": EVIL, "complaints": [EVIL]}
    found["servers"].append(left_out("c", EVIL, True, 2))
    facts = {"absent": [[EVIL, EVIL]], "environment": [[EVIL, EVIL]], "command": EVIL}
    return comparison(found, **facts)


def many() -> Facts:
    costs = {f"server-{n}": (1 + n / 4, 0.05) for n in range(10)} | {LONG_NAME: (3, 0.2)}
    return comparison(trial(costs=costs, rounds=2), trial(IDLE, costs, 2))


CASES: dict[str, Callable[[], list[Facts]]] = {
    "four scenarios": lambda: [
        comparison(trial(), trial(DOWN | {"streams": 10}), trial(PACED), trial(IDLE))
    ],
    "established": lambda: [comparison(trial(ESTABLISHED))],
    "counted": lambda: [comparison(trial(CALLS), trial(WORKERS))],
    "troubled": lambda: [troubled()],
    "interrupted": lambda: [interrupted()],
    "one round": lambda: [comparison(trial(rounds=1), trial(IDLE, rounds=1))],
    "one server": lambda: [comparison(trial(costs={"cleat": (1, 0.1)}))],
    "no histograms": lambda: [comparison(trial(histograms=False), trial(DOWN, histograms=False))],
    "nothing": lambda: [comparison()],
    "many": lambda: [many()],
    "with results": lambda: [
        load_result(name="AWS-LC"), comparison(trial()), comparison(trial(IDLE)),
        load_result(name="OpenSSL"),
    ],
    "recorded": lambda: [
        json.loads(each.read_text())
        for each in sorted(RECORDED.glob("*.json"))
        if re.search("-(compare|builds)-", each.name)
    ],
}
# Two of each scenario, and one of percentiles where there are histograms and anything was asked.
CHARTS = {
    "four scenarios": 4 * 2 + 3, "established": 3, "counted": 2 + 3, "troubled": 3,
    "interrupted": 2 * 3,
    "one round": 3 + 2, "one server": 2, "no histograms": 4, "nothing": 0, "many": 3 + 2,
    "with results": 3 + (3 + 2) + 2 * 3, "recorded": None,
}


@pytest.fixture(scope="module")
def pages(report: Callable[..., Path]) -> dict[str, Path]:
    return {case: report(*make()) for case, make in CASES.items()}


def shown_at_desk(shown: browser.Browser, page: Path) -> str:
    shown.show(1200)
    shown.open(page)
    return words(shown).replace("\u00a0", " ").replace("\u202f", "")


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("case", CASES)
def test_every_comparison_is_drawn_on_every_screen(
    shown: browser.Browser, pages: dict[str, Path], case: str, screen: str
) -> None:
    check(shown, pages[case], screen, CHARTS[case])


def test_a_matrix_leads_to_each_scenario(shown: browser.Browser, pages: dict[str, Path]) -> None:
    text = shown_at_desk(shown, pages["four scenarios"])
    assert text.index("cleat, nginx, hitch, epoll compared") < text.index("the base")
    targets = shown.run("""
        return [...document.querySelectorAll('.matrix a')].map((link) =>
            document.querySelector(link.getAttribute('href')).querySelector('h2').innerText);
    """)
    assert targets == [each["title"] for each in (HANDSHAKE, DOWN, PACED, IDLE)]
    cells = shown.run("""
        return [...document.querySelectorAll('.matrix tbody tr')].map((row) =>
            [...row.cells].slice(1).map((cell) =>
                [cell.innerText, cell.className, cell.style.cssText].join(' ').trim()));
    """)
    assert len(cells) == 4
    for row in cells:
        assert len(row) == 4
        assert "the base" in row[0] and "base" in row[0]
        assert row[1].startswith("▲") and "worse --tint: var(--worse-3)" in row[1]
    assert any(cell.startswith("≈") and cell.endswith("pale") for row in cells for cell in row)


def test_counts_and_ratios_are_figures_of_their_own(
    shown: browser.Browser, pages: dict[str, Path]
) -> None:
    text = shown_at_desk(shown, pages["counted"])
    assert "the server’s system calls are counted" in text
    assert "with one worker of the server, and with two" in text
    heads = shown.run("""
        return [...document.querySelectorAll('th')].map((cell) => cell.innerText.toLowerCase());
    """)
    assert heads.count("system calls per handshake") == 1
    assert heads.count("cpu with two workers over one") == 1
    assert heads.count("cpu per handshake") == 1  # Not of a server that strace makes slow.
    assert re.search(r"\b1[78]\.\d\b", text)


def test_a_scenario_says_what_was_done_and_by_what_servers_are_judged(
    shown: browser.Browser, pages: dict[str, Path]
) -> None:
    text = shown_at_desk(shown, pages["four scenarios"])
    for said in (
        "16 at a time", "3000 connections", "Connections begin at 1234/s, "
        "70 % of what the weakest server (stunnel) can do", "1024 messages of 1.05 MB down",
        "CPU per handshake: less is better", "CPU per GB: less is better",
        "P99 of the response: less is better", "Memory per connection: less is better",
        "TLS 1.3, X25519, AES-128-GCM",
        "down, after a warm-up of 200. HTTP/2 with 10 streams on each connection, TLS 1.3",
        "AMD EPYC 7763", "nginx version 1.2.3",
        "1 worker on core 0", "client and origin on core 1",
    ):
        assert said in text, said
    assert text.count("HTTP/2") == 1  # The others have no streams, as documents of before.
    assert "PARTIAL" not in text and "one round" not in text


def test_established_connections_say_who_was_beside_them(
    shown: browser.Browser, pages: dict[str, Path]
) -> None:
    text = shown_at_desk(shown, pages["established"])
    for said in (
        "40 kept connections, each with a request in 200 ms", "answers of 1.02 kB",
        "beside 256 others that shake hands all the time", "30 % of a core for the server",
        "P99 of the response: less is better",
    ):
        assert said in text, said


def test_colours_follow_the_servers(shown: browser.Browser, pages: dict[str, Path]) -> None:
    shown_at_desk(shown, pages["many"])
    colours = shown.run("""
        const found = {};
        for (const canvas of document.querySelectorAll('canvas')) {
            const { labels, datasets } = Chart.getChart(canvas).data;
            labels.forEach((name, i) => (found[name] ??= new Set())
                .add(datasets[0].backgroundColor[i]));
        }
        return Object.values(found).map((set) => set.size);
    """)
    assert colours == [1] * 11


def test_what_shows_no_difference_is_pale(shown: browser.Browser, pages: dict[str, Path]) -> None:
    shown_at_desk(shown, pages["four scenarios"])
    alphas = shown.run("""
        return Chart.getChart(document.querySelectorAll('canvas')[1]).data.datasets.map(
            (set) => [set.label, parseInt(set.backgroundColor.slice(7), 16), set.data.length]);
    """)
    assert [(name, dots) for name, _, dots in alphas] == [("nginx", 5), ("hitch", 5), ("epoll", 5)]
    assert alphas[2][1] < 64 < 192 < alphas[0][1]


def test_two_rounds_have_no_best(
    shown: browser.Browser, report: Callable[..., Path]
) -> None:
    """Of two equal servers one is the better in both rounds as often as not."""
    costs = {"cleat": (1.0, 0.001), "nginx": (2.0, 0.001)}
    remark = "Too few rounds"
    shown.show(1200)
    shown.open(report(comparison(trial(costs=costs, rounds=2), remarks=[remark])))
    text = words(shown)
    assert "best" not in text and "in every round" not in words(shown, "table")
    assert "★ lowest" in text
    assert text.index(remark) < text.index("rate")
    assert shown.run("return document.querySelectorAll('table .worse').length") == 0


def test_a_server_that_did_not_keep_up_is_not_among_the_best(
    shown: browser.Browser, report: Callable[..., Path]
) -> None:
    found = trial(costs={"cleat": (1.0, 0.001), "nginx": (0.5, 0.001), "hitch": (2.0, 0.001)})
    nginx = found["servers"][1]
    nginx["ratios"] = {}
    for each in nginx["rounds"][:2]:
        each["load"] |= {"kept_up": False}
    shown.show(1200)
    shown.open(report(comparison(found)))
    praise = "return document.querySelector('.best').closest('tr').innerText"
    assert str(shown.run(praise)).startswith("cleat")
    text = words(shown).replace("\u00a0", " ")
    assert "did not keep up in 2 of 5 rounds" in text


def test_the_best_is_marked_and_shares_that_with_its_equals(
    shown: browser.Browser, pages: dict[str, Path]
) -> None:
    shown_at_desk(shown, pages["four scenarios"])
    praise = "return [...document.querySelectorAll('.best')].map((one) => one.innerText)"
    assert shown.run(praise)[:2] == ["★ among the best"] * 2
    shown_at_desk(shown, pages["many"])
    assert shown.run(praise)[0].startswith("★")
    shown_at_desk(shown, pages["one round"])
    assert shown.run(praise) == ["★ lowest"] * 2
    shown_at_desk(shown, pages["one server"])
    assert shown.run(praise) == []


def test_one_round_is_said_to_show_little(shown: browser.Browser, pages: dict[str, Path]) -> None:
    text = shown_at_desk(shown, pages["one round"])
    assert "One round alone has no spread" in text
    assert "▲" not in words(shown, ".matrix tbody")


def test_trouble_is_told(shown: browser.Browser, pages: dict[str, Path]) -> None:
    text = shown_at_desk(shown, pages["troubled"])
    assert text.index("Some servers failed") < text.index("CPU per handshake")
    for said in (
        "stunnel was left out", "it does not start: ended with code 3\ncannot read",
        "envoy was left out", "it cannot do this: no such group",
        "it was ended by signal 11 while it was measured",
        "3 of 1503 failed: handshake: timeout",
        "0 % of its connections resumed, 75 % should have", "client-limited", LIMIT,
        f"left out: it is not here: {INSTALL} gets it",
    ):
        assert said in text, said
    assert "resumed" in words(shown, ".trial thead")


def test_an_interrupted_comparison_says_so_first(
    shown: browser.Browser, pages: dict[str, Path]
) -> None:
    text = shown_at_desk(shown, pages["interrupted"])
    said = "PARTIAL: this comparison was ended before its time"
    assert text.index(said) < text.index("the base")
    assert "Servers and client share a core" in text
    assert "This client cannot do it: no such group." in text
    assert text.count("No server was measured") == 2
    assert "skipped" in words(shown, ".matrix") and "no server was" in words(shown, ".matrix")


def test_settings_are_there_once_each(shown: browser.Browser, pages: dict[str, Path]) -> None:
    shown_at_desk(shown, pages["four scenarios"])
    blocks = "return [...document.querySelectorAll('.settings')].map((one) => one.textContent)"
    found = shown.run(blocks)
    assert [text.split("/")[0] for text in found] == ["cleat", "nginx", "hitch", "epoll"]
    for text in found:
        assert text.count("workers = 1") == 1


def test_percentiles_are_those_of_the_round_in_the_middle(
    shown: browser.Browser, report: Callable[..., Path]
) -> None:
    rising = {"cleat": (1, 0.0)}
    found = trial(costs=rising, rounds=3)
    for each, ms in zip(found["servers"][0]["rounds"], (30.0, 10.0, 20.0)):
        each["cpu_ns"] = ms
        each["load"] = load_result(seconds=1, rate=100, response_ms=ms)
    shown_at_desk(shown, report(comparison(found)))
    half = shown.run("""
        const points = Chart.getChart(document.querySelectorAll('canvas')[1]).data.datasets[0].data;
        return points.find(({ x }) => x === 2).y;
    """)
    assert 15e6 < half < 25e6


def test_histograms_do_not_make_the_page_large(pages: dict[str, Path]) -> None:
    whole = len(json.dumps(CASES["four scenarios"]()))
    data = pages["four scenarios"].read_text().split('id="data">')[1].split("</script")[0]
    assert "hdr" not in data and len(data) < whole / 4


def test_paper_has_every_configuration_open(
    shown: browser.Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    shown.show(1200, dark=True)
    shown.open(pages["four scenarios"])
    shown.run("""
        addEventListener('beforeprint', () => {
            window.closed = document.querySelectorAll('details:not([open])').length;
        });
    """)
    shown.print(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert shown.run("return window.closed") == 0
    assert shown.log("browser") == []


def test_what_is_written_in_a_comparison_stays_text(
    shown: browser.Browser, report: Callable[..., Path]
) -> None:
    page = report(hostile())
    text = shown_at_desk(shown, page)
    assert shown.run("return [window.broken ?? 0, document.images.length]") == [0, 0]
    assert EVIL in words(shown, "h1") and EVIL in words(shown, "h2") and EVIL in text
    assert shown.log("browser") == []
    assert shown.requests() == [page.as_uri()]


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("{", "not JSON"),
        ("[]", "not a document of cleat-bench"),
        ('{"cleat_bench": 1, "kind": "tea"}', "a document of 'tea' has no charts"),
        ('{"cleat_bench": 2, "kind": "compare"}', "draw it with the cleat-bench that wrote it"),
        ('{"cleat_bench": 1, "kind": "compare"}', "'trials' is missing"),
        ('{"cleat_bench": 1, "kind": "compare", "trials": [3]}', "'scenario' is missing"),
        ('{"cleat_bench": 1, "kind": "load"}', "not a result of cleat-bench load"),
    ],
)
def test_a_file_that_cannot_be_drawn_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "strange.json"
    file.write_text(text)
    command = [binary(), "report", file, "--out", tmp_path / "report.html"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"{file}: " in done.stderr and complaint in done.stderr
    assert not (tmp_path / "report.html").exists()
