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


def conflicts(at: Review) -> int:
    return int(re.search(r"(\d+) tracks? in conflict", at.words("#summary"))[1])


def test_conflicts_are_settled_and_a_click_writes(user, review):
    one, other = two_players(user)
    before = one.read_bytes()
    at = review().open()
    count = conflicts(at)
    assert count > 3
    at.wait_for(f"{count} of {count} tracks", "#count")

    at.shown.run("document.querySelector('#rows td button').click()")
    eventually("a conflict less", lambda: conflicts(at) == count - 1)
    assert at.shown.run("return document.querySelectorAll('#rows [aria-pressed=true]').length") == 1
    at.click("Take ratings from strawberry-2")
    eventually("no conflict", lambda: conflicts(at) == 0)
    at.click("Leave all ratings")
    eventually("all conflicts", lambda: conflicts(at) == count)
    at.click("Take ratings from strawberry-2")
    eventually("no conflict", lambda: conflicts(at) == 0)
    assert one.read_bytes() == before

    at.click("Write ")
    at.wait_for("clementine-1: ", "#result")
    code, text = at.ended()
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
    at = review().open()
    assert conflicts(at) == 1
    at.click("Include labels from one")
    eventually("settled", lambda: conflicts(at) == 0)
    at.click("Include labels from two")
    at.wait_for("one, two", "#rows")
    at.click("Exclude labels from one")
    eventually("only two's", lambda: "one, two" not in at.words("#rows"))
    at.click("Write ")
    assert at.ended()[0] == 0
    assert "label two\n" in user.done("show", "one") + "\n"


def test_tracks_are_found_by_tab_filter_and_text(user, review):
    two_players(user)
    at = review().open()
    at.click("All")
    at.wait_for("28 of 28 tracks", "#count")
    at.search("NUMBER 7")
    at.wait_for("1 of 1 track", "#count")
    assert "Song number 7" in at.words("#rows")
    at.click("Unique")
    at.wait_for("No such track", "#count")
    at.search("")
    at.wait_for("2 of 2 tracks", "#count")
    assert "Song number 29" in at.words("#rows") and "clementine-1" in at.words("#rows")
    at.click("Excluded")
    at.wait_for("No such track", "#count")


def test_a_long_list_is_shown_in_parts(user, review):
    user.database("clementine", 1, 250)
    user.database("strawberry", 2, 250)
    at = review().open()
    at.click("All")
    at.wait_for("100 of 250 tracks", "#count")
    at.click("Show more")
    at.wait_for("200 of 250 tracks", "#count")
    at.click("Show more")
    at.wait_for("250 of 250 tracks", "#count")
    titles = at.shown.run(
        "return new Set([...document.querySelectorAll('tr.track')].map((e) => e.innerText)).size"
    )
    assert titles == 250


def test_it_ends_without_writing(user, review):
    one, _ = two_players(user)
    before = one.read_bytes()
    at = review().open()
    at.click("End without writing")
    at.wait_for("Nothing is written", "#result")
    code, text = at.ended()
    assert code == 3 and "nothing is written" in text
    assert one.read_bytes() == before


def test_a_player_that_runs_can_be_closed_and_the_page_writes_then(user, review):
    one, _ = two_players(user)
    at = review().open()
    with one.open("rb"):
        at.click("Write ")
        at.wait_for("open", "#result")
    at.click("Write ")
    at.wait_for("written", "#result")
    assert at.ended()[0] == 3


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_is_legible_on_every_screen(user, review, width, dark):
    one, other = two_players(user)
    for file in (one, other):
        execute(file, f"UPDATE songs SET album = '{'Unbreakable' * 12}' WHERE title LIKE '%5'")
    at = review().open(width, dark)
    at.shown.run("document.querySelector('#rows td button').click()")
    at.wait_for("settled", "#rows")
    assert at.shown.run("return document.documentElement.scrollWidth") <= width
    assert at.shown.run(CONTRAST) >= 4.5
    assert is_dark(at.shown.run(PAPER)) == dark
    assert at.shown.log("browser") == []
    asked = {each for each in at.shown.requests() if not each.startswith("data:")}
    assert all(each.startswith(at.address) for each in asked), asked


def test_hostile_names_are_text(user, review):
    for file in two_players(user):
        execute(file, f"UPDATE songs SET album = '{HOSTILE}'")
    at = review().open()
    at.wait_for(HOSTILE, "#rows")
    assert at.shown.run("return document.querySelectorAll('img').length") == 0
    assert at.shown.log("browser") == []


def test_nobody_else_is_answered(user, review):
    two_players(user)
    at = review()

    def status(address: str, **headers: str) -> int:
        request = urllib.request.Request(address, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    origin = at.address.rsplit("/", 2)[0]
    assert status(at.address) == 200
    assert status(origin + "/") == 404
    assert status(origin + "/" + "0" * 32 + "/") == 404
    assert status(at.address, Host="example.com") == 400
    assert status(at.address + "../../etc/passwd") == 404
    with urllib.request.urlopen(at.address) as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_a_senseless_question_is_refused_and_the_page_goes_on(user, review):
    two_players(user)
    at = review()

    def ask(name: str, body: str) -> int:
        request = urllib.request.Request(at.address + name, body.encode(), method="POST")
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
