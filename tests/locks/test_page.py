"""The HTML page in a real browser: drawn, legible on every screen, asking for nothing; and what a
click, a search and an opened branch do."""

import json
import sys
from pathlib import Path

import pytest

from recording import ROOT, SUBJECT, Recording, locks

sys.path.insert(0, str(ROOT / "tests" / "bench"))

from browser import Browser, missing  # noqa: E402
from pages import CONTRAST, PAPER, SCREENS, is_dark, words  # noqa: E402

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "all there")

# Where every box of the flame graph is, and what it says.
BOXES = """
return [...document.querySelectorAll('.flame button')].map((box) => {
    const at = box.getBoundingClientRect();
    return {
        name: box.title, width: at.width, left: at.left, right: at.right, height: at.height,
        faint: box.classList.contains('faint'),
    };
});
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    run = Recording(folder, [SUBJECT, "holds", 3, 60, 1000], [])
    locks("html", run.trace, "-o", folder / "page.html")
    return folder / "page.html"


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
    for part in ("of the threads' time blocked on locks", "held_mutex", "Threads", "mutex"):
        assert part in text


def test_a_click_on_a_box_looks_closer_and_one_above_it_goes_back(desk):
    (narrow,) = [b for b in desk.run(BOXES) if "hold_it" in b["name"]][:1]
    whole = max(box["width"] for box in desk.run(BOXES))
    click(desk, "hold_it")
    (wide,) = [b for b in desk.run(BOXES) if "hold_it" in b["name"]][:1]
    assert wide["width"] == pytest.approx(whole, abs=1)
    assert wide["width"] >= narrow["width"]
    assert any(box["faint"] for box in desk.run(BOXES))  # What called it stays, to go back by.
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
    assert "in stacks with “HOLD_it”" in words(desk, ".told")


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
