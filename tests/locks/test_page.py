"""The HTML page in a real browser: drawn, legible on every screen, loading nothing; and what it
shows after a click, a search and an opened branch."""

import json
import math
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import pytest

from deadlines import DEADLINE
from recording import BIN, ROOT, STEPPED, SUBJECT, Recording, locks

sys.path.insert(0, str(ROOT / "tests" / "bench"))

from browser import Browser, missing  # noqa: E402
from pages import CONTRAST, PAPER, SCREENS, is_dark, words  # noqa: E402

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "all there")

# The place and the text of every box of the flame graph.
BOXES = """
return [...document.querySelectorAll('.flame button')].map((box) => {
    const at = box.getBoundingClientRect();
    return {
        name: box.title, width: at.width, left: at.left, right: at.right, height: at.height,
        faint: box.classList.contains('faint'),
    };
});
"""

# The chart of throughput: its gridlines with their labels, the points that mark a lock, the ends of
# the curves, and the numbers beside the levels.
CHART = """
const all = (what) => [...document.querySelectorAll('.plot ' + what)];
const grid = (what, axis) => all(what).map((line) =>
    [line.querySelector('text').textContent, line.querySelector('path').getBBox()[axis]]);
const end = (what) => all(what).map((path) => path.getPointAtLength(path.getTotalLength()).y)[0];
return {
    rates: grid('.rate', 'y'),
    cores: grid('.cores', 'x'),
    points: all('.level circle:not(.number)').map((at) =>
        [at.cx.baseVal.value, at.cy.baseVal.value]),
    numbers: all('.level .number').map((at) => at.cy.baseVal.value),
    titles: all('title').map((each) => each.textContent),
    curves: {free: end('.free'), bound: end('.bound')},
};
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    run = Recording(folder, [SUBJECT, "holds", 3, 60, 1000], [], STEPPED)
    locks("html", run.trace, "-o", folder / "page.html")
    return folder / "page.html"


@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    """priced is a run of 80 operations that hold two locks, and a page with them."""
    folder = tmp_path_factory.mktemp("priced")
    run = Recording(folder, [SUBJECT, "operations", 2, 40, 10_000, 1000], ["--every-hold"])
    locks("html", run.trace, "-o", folder / "page.html", "--operations", 80)
    return run, folder / "page.html"


@pytest.fixture(scope="module")
def shown():
    one = Browser()
    yield one
    one.close()


@pytest.fixture
def desk(shown, page):
    shown.show(1200)
    shown.open(page)
    return shown


def click(shown: Browser, name: str) -> None:
    found = shown.run(
        "const box = [...document.querySelectorAll('.flame button')]"
        f".find((each) => each.title.includes({json.dumps(name)})); box.click(); return box.title"
    )
    assert name in str(found)


@pytest.mark.parametrize("screen", SCREENS)
def test_the_page_on_a_screen(shown: Browser, page: Path, screen: str):
    width, dark = SCREENS[screen]
    shown.show(width, dark=dark)
    shown.open(page)
    assert shown.log("browser") == []
    assert shown.requests() == [page.as_uri()]
    assert shown.run("return document.documentElement.scrollWidth") <= width
    assert shown.run(CONTRAST) >= 4.5
    assert is_dark(shown.run(PAPER)) == dark
    boxes = shown.run(BOXES)
    assert len(boxes) > 5
    assert all(0 <= box["left"] and box["right"] <= width + 1 for box in boxes)
    assert all(box["height"] >= 18 for box in boxes)


def test_it_says_what_the_report_says(desk):
    text = words(desk)
    parts = ("of the threads' time blocked on locks", "held_mutex", "Threads", "mutex", "Not seen")
    for part in parts:
        assert part in text


def test_it_has_the_waits_of_a_deadlock(shown, tmp_path):
    run = Recording(tmp_path, [SUBJECT, "deadlock", 100], [])
    locks("html", run.trace, "-o", tmp_path / "page.html")
    shown.show(1200)
    shown.open(tmp_path / "page.html")
    text = words(shown)
    assert "Waits that had not ended" in text
    waits = text[text.index("Waits that had not ended") : text.index("Call stacks")]
    assert waits.count("in embrace") == 2
    deadlock = text[text.index("Deadlock") : text.index("Waits that had not ended")]
    # Two threads, and each is in it with where it waits and where it has taken its lock.
    assert deadlock[: deadlock.index("Locks taken in both orders")].count("in embrace") == 4
    assert "first_of_two" in deadlock and "second_of_two" in deadlock
    assert shown.log("browser") == []


@pytest.mark.parametrize(
    "options, said",
    [
        (["--no-cpu"], "CPU time was not sampled"),
        (["--hz", "1"], "CPU shares are rough"),
    ],
)
def test_it_says_what_shares_of_cpu_time_are_worth(shown, tmp_path, options, said):
    run = Recording(tmp_path, [SUBJECT, "holds", 2, 10, 100], options)
    locks("html", run.trace, "-o", tmp_path / "page.html")
    shown.show(1200)
    shown.open(tmp_path / "page.html")
    assert shown.log("browser") == []
    assert said in words(shown, "#report")
    assert said in run.text()


def test_a_click_on_a_box_looks_closer_and_one_above_it_goes_back(desk):
    (narrow,) = [b for b in desk.run(BOXES) if "hold_it" in b["name"]][:1]
    whole = max(box["width"] for box in desk.run(BOXES))
    click(desk, "hold_it")
    (wide,) = [b for b in desk.run(BOXES) if "hold_it" in b["name"]][:1]
    assert wide["width"] == pytest.approx(whole, abs=1)
    assert wide["width"] >= narrow["width"]
    assert any(box["faint"] for box in desk.run(BOXES))  # Its callers stay, as the way back.
    click(desk, "all")
    assert not any(box["faint"] for box in desk.run(BOXES))


def test_a_search_fades_what_is_not_meant(desk):
    desk.run(
        "const box = document.getElementById('wanted'); box.value = 'HOLD_it';"
        "box.dispatchEvent(new Event('input'))"
    )
    boxes = desk.run(BOXES)
    assert {"hold_it" in box["name"] for box in boxes if not box["faint"]} == {True}
    assert any(box["faint"] for box in boxes)
    assert "in stacks with “HOLD_it”" in words(desk, ".readout")


def test_upside_down_the_lock_is_below_all(desk):
    desk.run("document.getElementById('inverted').click()")
    assert desk.run(BOXES)[1]["name"] == "pthread_mutex_lock"


def test_every_measure_can_be_shown(desk):
    script = """
        const select = document.getElementById('measure');
        const found = [];
        for (const option of select.options) {
            select.value = option.value;
            select.dispatchEvent(new Event('change'));
            found.push([option.value, document.querySelectorAll('.flame button').length]);
        }
        return found;
    """
    found = dict(desk.run(script))
    assert found["blocked_ns"] > 3
    assert found["acquisitions"] > 3
    assert all(count > 1 for count in found.values())
    assert desk.log("browser") == []


def test_a_branch_of_the_tree_opens(desk):
    desk.run("for (const each of document.querySelectorAll('.tree details')) each.open = false")
    script = "return document.querySelector('.tree').innerText"
    before = str(desk.run(script))
    assert before.splitlines().count("hold_it") <= 1
    desk.run("document.querySelector('.tree summary').click()")
    desk.run("return new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    assert len(str(desk.run(script))) > len(before)


def test_names_are_words_and_never_markup(shown, tmp_path):
    odd = tmp_path / "<img src=x onerror=alert(1)>"
    odd.symlink_to(SUBJECT)
    run = Recording(tmp_path, [odd, "holds", 2, 5, 100], [])
    locks("html", run.trace, "-o", tmp_path / "odd.html")
    shown.show(1200)
    shown.open(tmp_path / "odd.html")
    assert shown.log("browser") == []
    assert shown.run("return document.querySelectorAll('img').length") == 0
    assert "<img src=x" in words(shown)


@pytest.mark.parametrize("screen", SCREENS)
def test_the_chart_of_throughput_on_a_screen(shown: Browser, priced: Any, screen: str):
    width, dark = SCREENS[screen]
    shown.show(width, dark=dark)
    shown.open(priced[1])
    assert shown.log("browser") == []
    assert shown.requests() == [priced[1].as_uri()]
    assert shown.run("return document.documentElement.scrollWidth") <= width
    assert shown.run(CONTRAST) >= 4.5
    words_at = """
        return [...document.querySelectorAll('.plot text')].map((each) => {
            const at = each.getBoundingClientRect();
            return [at.left, at.right, parseFloat(getComputedStyle(each).fontSize)];
        });
    """
    found = shown.run(words_at)
    assert len(found) > 8 + 2
    assert all(0 <= left and right <= width and size >= 11 for left, right, size in found)


def scale(ticks: list[tuple[str, float]]) -> Callable[[float], float]:
    """scale reads a logarithmic axis: it gives the value at a place."""
    signs = {"": 1, "k": 1e3, "M": 1e6}
    values = [float(word.rstrip("kM")) * signs[word.lstrip(".0123456789")] for word, _ in ticks]
    (first, last), (start, end) = (values[0], values[-1]), (ticks[0][1], ticks[-1][1])
    return lambda x: first * math.exp(math.log(last / first) * (x - start) / (end - start))


def is_same(shown: str, said: str) -> bool:
    """is_same lets the last digit differ by one: the two languages round a half each in its own
    way."""
    if not re.fullmatch(r"\d+\.\d+", said):
        return shown == said
    return abs(float(shown) - float(said)) < 1.1 * 10 ** -len(said.split(".")[1])


def test_the_chart_shows_what_per_operation_says(shown, priced):
    run, page = priced
    said = json.loads(locks("per-operation", run.trace, "-n", 80, "--json", "-").stdout)
    text = locks("per-operation", run.trace, "-n", 80).stdout
    shown.show(1200)
    shown.open(page)
    query = "return dom.data().per_operation"
    assert shown.run(query) == said

    first, second = said["locks"]
    assert {"held_mutex", "brief_mutex"} == {each["name"].split("::")[-1] for each in said["locks"]}
    chart = shown.run(CHART)
    rate, cores = scale(chart["rates"]), scale(chart["cores"])
    # The lock that saturates first is drawn last, on top. A busy machine wakes a holder late, and a
    # lock that is held for more than the CPU time of an operation has no point on the chart.
    marked = [lock for lock in (second, first) if lock["cores_max"] >= 1]
    for lock, (x, y) in zip(marked, chart["points"], strict=True):
        assert cores(x) == pytest.approx(lock["cores_max"], rel=0.01)
        assert rate(y) == pytest.approx(lock["operations_per_second_max"], rel=0.01)
    most = said["throughput"][-1]
    assert rate(chart["curves"]["bound"]) == pytest.approx(most["operations_per_second"], rel=0.01)
    assert rate(chart["curves"]["free"]) == pytest.approx(most["without_locks"], rel=0.01)

    # The same text is beside the figure, in its legend, in the table, and in the tooltip.
    name = first["name"]
    (line,) = [each.split() for each in text.splitlines() if name in each]
    (level,) = [word for word in line if word.endswith("/s")]
    assert f"At most {level} on however many cores" in words(shown, ".verdict")
    assert f"saturates at {level}" in words(shown, ".legend")
    row = shown.run(
        "return [...document.querySelectorAll('.throughput + .wide tbody tr')]"
        f".find((row) => row.innerText.includes('{name}')).innerText.split(/\\s+/)"
    )
    expected = ["µs" if word == "us" else word for word in line]
    assert len(row) == len(expected)
    assert all(map(is_same, row, expected)), (row, expected)
    assert any(f"{name}: saturates at {level}" in title for title in chart["titles"])
    assert any(title.startswith("128 cores: at most ") for title in chart["titles"])
    assert words(shown, "figcaption").split() == text[text.index("This is an estimate") :].split()


def test_without_operations_there_is_no_such_section(desk):
    assert "For each operation" not in words(desk)
    assert desk.run("return document.querySelectorAll('svg').length") == 0


def test_a_page_without_a_lock_that_saturates_says_so_and_draws_none(shown, tmp_path):
    alone = Recording(tmp_path, [SUBJECT, "holds", 1, 20, 100], [])
    locks("html", alone.trace, "-o", tmp_path / "page.html", "-n", 20)
    shown.show(1200)
    shown.open(tmp_path / "page.html")
    assert shown.log("browser") == []
    none_saturates = "No lock saturates: no timed hold of a lock that threads of this run shared"
    assert none_saturates in words(shown, ".verdict")
    assert shown.run("return document.querySelectorAll('.bound, .level').length") == 0
    assert shown.run("return document.querySelectorAll('.plot .free').length") == 1


def changed(page: Path, target: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """changed writes a page with other prices of an operation."""
    opening, script, rest = re.split(
        r'(?<=id="data">)|(?=</script>)', page.read_text(), maxsplit=2
    )
    profile = json.loads(script)
    change(profile["per_operation"])
    target.write_text(opening + json.dumps(profile).replace("<", "\\u003c") + rest)


def saturated_by(cores: list[float]) -> Callable[[dict[str, Any]], None]:
    """saturated_by replaces the locks by one for each number of cores, which saturates there."""

    def change(prices: dict[str, Any]) -> None:
        (one, *_), core = prices["locks"], 1e9 / prices["cpu_ns"]
        prices["locks"] = [
            one | {"cores_max": most, "operations_per_second_max": most * core} for most in cores
        ]
        for point in prices["throughput"]:
            point["operations_per_second"] = min([point["cores"], *cores]) * core

    return change


def without_cpu(prices: dict[str, Any]) -> None:
    prices["cpu_ns"] = 0
    for lock in prices["locks"]:
        lock["cores_max"] = 0
    for point in prices["throughput"]:
        point["operations_per_second"] = point["without_locks"] = 0


@pytest.mark.parametrize(
    "cores",
    [
        [5.0, 5.1, 5.2, 5.3, 5.4, 300.0],
        [100.0, 110.0, 120.0, 127.0, 128.0],
        [0.01, 0.011, 0.012, 50.0],
    ],
)
def test_locks_that_saturate_together_are_distinct(shown, priced, tmp_path, cores):
    changed(priced[1], tmp_path / "page.html", saturated_by(cores))
    shown.show(360)
    shown.open(tmp_path / "page.html")
    assert shown.log("browser") == []
    chart = shown.run(CHART)
    numbers = sorted(chart["numbers"])
    assert len(numbers) == sum(count <= 128 for count in cores)
    assert all(b - a >= 18 for a, b in zip(numbers, numbers[1:]))
    read = scale(chart["cores"])
    marked = sorted(read(x) for x, _ in chart["points"])
    assert marked == pytest.approx([count for count in cores if 1 <= count <= 128], rel=0.01)
    top, bottom = chart["rates"][-1][1], chart["rates"][0][1]
    assert all(top <= y <= bottom for y in [*numbers, *(y for _, y in chart["points"])])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (saturated_by([300.0]), "No lock saturates on up to 128 cores. The first one would on 300"),
        (without_cpu, "No CPU time was counted"),
    ],
)
def test_what_cannot_be_drawn_is_said(shown, priced, tmp_path, change, said):
    changed(priced[1], tmp_path / "page.html", change)
    shown.show(1200)
    shown.open(tmp_path / "page.html")
    assert shown.log("browser") == []
    assert said in words(shown, ".verdict")
    assert shown.run("return document.querySelectorAll('.bound, .level').length") == 0


def test_a_process_of_which_a_part_is_missing_has_not_taken_no_lock(shown, tmp_path):
    run = Recording(tmp_path, [SUBJECT, "fork"], [])
    first, second = run.report()["processes"]
    file = run.trace / f"{second['pid']}.trace"
    os.truncate(file, file.stat().st_size - 4096)
    locks("html", run.trace, "-o", tmp_path / "page.html")
    shown.show(1200)
    shown.open(tmp_path / "page.html")
    assert shown.log("browser") == []
    text = words(shown)
    assert "took no lock" not in text
    assert f"process {second['pid']}" in text
    assert "thread records is missing" in text


def test_what_found_no_room_is_beside_the_totals(shown, tmp_path):
    """A file may be no larger than the trace of one thread: there is no room for the others."""
    run = Recording(tmp_path, [SUBJECT, "holds", 2, 10, 100], [])
    (file,) = run.trace.glob("*.trace")
    blocks = run.report()["processes"][0]["blocks"]
    assert blocks == 3

    with file.open("rb") as opened:
        header = opened.read(24)
    block = int.from_bytes(header[20:24], sys.byteorder)  # trace_header::thread_size

    def limit() -> None:
        most = file.stat().st_size - (blocks - 1) * block
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    program = [SUBJECT, "holds", 2, 10, 100]
    command = [BIN / "cleat-locks", "run", "-o", tmp_path / "t", "--", *program]
    subprocess.run(
        [*map(str, command)], check=True, capture_output=True, timeout=DEADLINE, preexec_fn=limit
    )
    ran = locks("html", tmp_path / "t", "-o", tmp_path / "page.html")
    shown.show(1200)
    shown.open(tmp_path / "page.html")
    assert shown.log("browser") == []
    said = "2 acquisitions, stacks or threads found no room, and are in no figure"
    assert said in ran.stderr
    text = words(shown)
    assert said in text
    totals, stacks = text.index("of CPU time on reference counts"), text.index("Call stacks")
    assert totals < text.index(said) < stacks


def test_names_and_samples_that_are_missing_are_said_to_be(shown, tmp_path):
    run = Recording(tmp_path, [SUBJECT, "unseen", 200], [])
    (maps,), (waits,) = run.trace.glob("*.maps"), run.trace.glob("*.waits")
    maps.unlink()
    waits.write_text("cleat-locks waits 2\nmany\n")
    locks("html", run.trace, "-o", tmp_path / "page.html")
    shown.show(1200)
    shown.open(tmp_path / "page.html")
    assert shown.log("browser") == []
    text = words(shown)
    assert f"{maps.name} is missing, so its functions have no names" in text
    assert f'Not sampled: {waits.name}: "many" is no number' in text


def test_a_trace_that_was_cut_is_said_to_be_that(shown, tmp_path):
    run = Recording(tmp_path, [SUBJECT, "holds", 2, 10, 100], [])
    (file,) = run.trace.glob("*.trace")
    os.truncate(file, file.stat().st_size - 4096)
    locks("html", run.trace, "-o", tmp_path / "page.html")
    shown.show(360)
    shown.open(tmp_path / "page.html")
    assert shown.log("browser") == []
    blocks = run.report()["processes"][0]["blocks"]
    assert (
        f"the trace is cut short: 1 of its {blocks} thread records is missing"
        in words(shown, "#report p")
    )
