"""The page of `statsync review`, in a browser: conflicts are settled there, and a click writes."""

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path
from typing import Callable, Iterator

import pytest

from user import BIN, User, execute, rows_of

TESTS = Path(__file__).parents[2] / "tests"
sys.path[:0] = [str(TESTS / "bench"), str(TESTS / "program")]

import deadlines  # noqa: E402
from browser import Browser, missing  # noqa: E402
from pages import CONTRAST, PAPER, is_dark, words  # noqa: E402

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "all there")

HOSTILE = '<img src=x onerror="document.title=1">'
RATINGS = "SELECT title, rating FROM songs WHERE NOT unavailable AND album > '' ORDER BY title"
DEADLINE = 30
eventually = partial(deadlines.eventually, deadline=DEADLINE)


@pytest.fixture(scope="module")
def shown() -> Iterator[Browser]:
    running = Browser()
    yield running
    running.close()


class Review:
    """Review is a running `statsync review`, and its page."""

    def __init__(self, shown: Browser, user: User, *words: str) -> None:
        self.shown = shown
        self.process = subprocess.Popen(
            [str(BIN / "statsync"), "review", *words],
            env={"HOME": str(user.home)}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.process.stdout.readline()
        self.address = self.process.stdout.readline().strip()

    def open(self, width: int = 1200, dark: bool = False) -> "Review":
        self.shown.show(width, dark=dark)
        self.shown.visit(self.address)
        self.wait_for(" of ", "#count")
        return self

    def words(self, selector: str = "main") -> str:
        return words(self.shown, selector)

    def wait_for(self, text: str, selector: str = "main") -> None:
        eventually(f"{text!r} in {selector}", lambda: text in self.words(selector))

    def click(self, text: str) -> None:
        """click is on the first button that begins so."""
        found = self.shown.run(
            "const found = [...document.querySelectorAll('button')].find((each) =>"
            f" each.checkVisibility() && each.innerText.startsWith({json.dumps(text)}));"
            "if (found) found.click(); return Boolean(found);"
        )
        assert found, f"no button {text!r} in {self.words()}"

    def search(self, text: str) -> None:
        self.shown.run(
            f"const search = document.getElementById('search'); search.value = {json.dumps(text)};"
            "search.dispatchEvent(new Event('input'));"
        )

    def ended(self) -> tuple[int, str]:
        text = self.process.stdout.read()
        return self.process.wait(DEADLINE), text


@pytest.fixture
def review(shown: Browser, user: User) -> Iterator[Callable[..., Review]]:
    started = []

    def start(*words: str) -> Review:
        started.append(Review(shown, user, *words))
        return started[-1]

    yield start
    for one in started:
        one.process.terminate()
        one.process.wait()
        one.process.stdout.close()


def two_players(user: User) -> tuple[Path, Path]:
    return user.database("clementine", 1), user.database("strawberry", 2, 28)


def conflicts(page: Review) -> int:
    return int(re.search(r"(\d+) tracks? in conflict", page.words("#summary"))[1])


def test_conflicts_are_settled_and_a_click_writes(user, review):
    one, other = two_players(user)
    before = one.read_bytes()
    page = review().open()
    count = conflicts(page)
    assert count > 3
    page.wait_for(f"{count} of {count} tracks", "#count")

    page.shown.run("document.querySelector('#rows td button').click()")
    eventually("a conflict less", lambda: conflicts(page) == count - 1)
    pressed = "return document.querySelectorAll('#rows [aria-pressed=true]').length"
    assert page.shown.run(pressed) == 1
    page.click("Take ratings from strawberry-2")
    eventually("no conflict", lambda: conflicts(page) == 0)
    page.click("Leave all ratings")
    eventually("all conflicts", lambda: conflicts(page) == count)
    page.click("Take ratings from strawberry-2")
    eventually("no conflict", lambda: conflicts(page) == 0)
    assert one.read_bytes() == before

    page.click("Write ")
    page.wait_for("clementine-1: ", "#result")
    code, text = page.ended()
    assert code == 0 and "strawberry-2: " in text
    assert rows_of(one, RATINGS)[:28] and set(rows_of(other, RATINGS)) <= set(rows_of(one, RATINGS))
    user.done("undo")
    assert rows_of(one, RATINGS) != rows_of(other, RATINGS)


def test_labels_are_included_and_excluded(user, review):
    for name in ("one", "two"):
        file = user.database("amarok-1.4", 1)
        file.rename(file.parent / name)
        user.done("set", "amarok-1.4-1", f"path={file.parent / name}", f"name={name}")
        execute(file.parent / name, f"INSERT INTO labels (name, type) VALUES ('{name}', 1)")
        execute(
            file.parent / name,
            "INSERT INTO tags_labels (deviceid, url, uniqueid, labelid) SELECT t.deviceid, t.url,"
            " u.uniqueid, (SELECT max(id) FROM labels) FROM tags t JOIN uniqueid u"
            " ON u.url = t.url AND u.deviceid = t.deviceid WHERE t.title = 'Song number 3'",
        )
    page = review().open()
    assert conflicts(page) == 1
    page.click("Include labels from one")
    eventually("settled", lambda: conflicts(page) == 0)
    page.click("Include labels from two")
    page.wait_for("one, two", "#rows")
    page.click("Exclude labels from one")
    eventually("only two's", lambda: "one, two" not in page.words("#rows"))
    page.click("Write ")
    assert page.ended()[0] == 0
    assert "label two\n" in user.done("show", "one") + "\n"


def test_tracks_are_found_by_tab_filter_and_text(user, review):
    two_players(user)
    page = review().open()
    page.click("All")
    page.wait_for("28 of 28 tracks", "#count")
    page.search("NUMBER 7")
    page.wait_for("1 of 1 track", "#count")
    assert "Song number 7" in page.words("#rows")
    page.click("Unique")
    page.wait_for("No such track", "#count")
    page.search("")
    page.wait_for("2 of 2 tracks", "#count")
    assert "Song number 29" in page.words("#rows") and "clementine-1" in page.words("#rows")
    page.click("Excluded")
    page.wait_for("No such track", "#count")


def test_a_long_list_is_shown_in_parts(user, review):
    user.database("clementine", 1, 250)
    user.database("strawberry", 2, 250)
    page = review().open()
    page.click("All")
    page.wait_for("100 of 250 tracks", "#count")
    page.click("Show more")
    page.wait_for("200 of 250 tracks", "#count")
    page.click("Show more")
    page.wait_for("250 of 250 tracks", "#count")
    titles = page.shown.run(
        "return new Set([...document.querySelectorAll('tr.track')].map((e) => e.innerText)).size"
    )
    assert titles == 250


def test_it_ends_without_writing(user, review):
    one, _ = two_players(user)
    before = one.read_bytes()
    page = review().open()
    page.click("End without writing")
    page.wait_for("Nothing is written", "#result")
    code, text = page.ended()
    assert code == 3 and "nothing is written" in text
    assert one.read_bytes() == before


def test_a_player_that_runs_can_be_closed_and_the_page_writes_then(user, review):
    one, _ = two_players(user)
    page = review().open()
    with one.open("rb"):
        page.click("Write ")
        page.wait_for("open", "#result")
    page.click("Write ")
    page.wait_for("written", "#result")
    assert page.ended()[0] == 3


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_is_legible_on_every_screen(user, review, width, dark):
    one, other = two_players(user)
    for file in (one, other):
        execute(file, f"UPDATE songs SET album = '{'Unbreakable' * 12}' WHERE title LIKE '%5'")
    page = review().open(width, dark)
    page.shown.run("document.querySelector('#rows td button').click()")
    page.wait_for("settled", "#rows")
    assert page.shown.run("return document.documentElement.scrollWidth") <= width
    assert page.shown.run(CONTRAST) >= 4.5
    assert is_dark(page.shown.run(PAPER)) == dark
    assert page.shown.log("browser") == []
    asked = {each for each in page.shown.requests() if not each.startswith("data:")}
    assert all(each.startswith(page.address) for each in asked), asked


def test_hostile_names_are_text(user, review):
    for file in two_players(user):
        execute(file, f"UPDATE songs SET album = '{HOSTILE}'")
    page = review().open()
    page.wait_for(HOSTILE, "#rows")
    assert page.shown.run("return document.querySelectorAll('img').length") == 0
    assert page.shown.log("browser") == []


def test_nobody_else_is_answered(user, review):
    two_players(user)
    page = review()

    def status(address: str, **headers: str) -> int:
        request = urllib.request.Request(address, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    origin = page.address.rsplit("/", 2)[0]
    assert status(page.address) == 200
    assert status(origin + "/") == 404
    assert status(origin + "/" + "0" * 32 + "/") == 404
    assert status(page.address, Host="example.com") == 400
    assert status(page.address + "../../etc/passwd") == 404
    with urllib.request.urlopen(page.address) as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_a_senseless_question_is_refused_and_the_page_goes_on(user, review):
    two_players(user)
    page = review()

    def ask(name: str, body: str) -> int:
        request = urllib.request.Request(page.address + name, body.encode(), method="POST")
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    for name, body in [
        ("choose", "{"),
        ("choose", "{}"),
        ("choose", '{"group": 99999, "field": "rating", "player": 0, "is_taken": true}'),
        ("choose", '{"group": -1, "field": "rating", "player": 0, "is_taken": true}'),
        ("batch", '{"field": "title", "player": 0, "is_taken": true}'),
        ("rows", '{"tab": 1}'),
        ("dance", "{}"),
    ]:
        assert ask(name, body) == 409, (name, body)
    assert ask("summary", "{}") == 200
