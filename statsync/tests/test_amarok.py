"""Amarok's own directory, whose tables have no transactions, as the program writes it."""

import shutil
from pathlib import Path

import pytest

from user import User, execute, interruption

pytestmark = pytest.mark.skipif(
    not shutil.which("mariadbd", path="/usr/sbin:/usr/bin"), reason="no mariadbd"
)


def test_amarok_is_written_and_undone(user: User) -> None:
    user.database("amarok", 1)
    user.database("clementine", 2)
    before = user.done("show", "amarok-1")
    assert "amarok-1: " in user.done("sync", "--yes", "--ratings", "highest")
    assert user.done("show", "amarok-1") != before
    assert "\n0 tracks to write in " in "\n" + user.done("sync", "--dry-run")
    user.done("undo")
    assert user.done("show", "amarok-1") == before


def test_a_server_that_dies_while_it_writes_is_taken_back(user: User) -> None:
    file = user.database("amarok", 1, 200)
    user.database("clementine", 2, 200)
    before = user.done("show", "amarok-1")
    tables = file / "amarok/statistics"  # With its .MYD, and its .MYI.
    sync = ("sync", "--yes", "--ratings", "highest", "--to", "amarok-1")
    ended = user.run(*sync, **interruption(user, tables, 60, "kill"))
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "it has no transactions" in ended.stdout
    assert "some tracks may be written: `statsync undo` takes them back" in ended.stdout
    assert user.done("show", "amarok-1") != before
    user.done("undo")
    assert user.done("show", "amarok-1") == before


def label(file: Path, *labels: str) -> None:
    """label gives the first track of Amarok 1.4 these labels, and no other ones."""
    execute(file, "DELETE FROM tags_labels WHERE url = './music/it''s%200.mp3'")
    for text in labels:
        execute(file, f"INSERT OR IGNORE INTO labels VALUES (unicode('{text}'), '{text}', 1)")
        execute(
            file,
            "INSERT INTO tags_labels VALUES (1, './music/it''s%200.mp3', 'u0',"
            f" unicode('{text}'))",
        )


@pytest.mark.parametrize("interrupted", ["sync", "undo"])
def test_a_track_that_ended_between_its_labels_is_taken_back(user: User, interrupted: str) -> None:
    file = user.database("amarok", 1, 2)
    other = user.database("amarok-1.4", 2, 2)
    label(other, "a", "b")
    sync = ("sync", "--yes", "--fields", "label", "--to", "amarok-1", "--prefer", other.name)
    user.done(*sync)
    before = user.done("show", "amarok-1")
    label(other, "b", "c", "d")
    user.done(*sync)
    after = user.done("show", "amarok-1")
    user.done("undo")
    assert "a, b" in before and "b, c, d" in after

    seen = set()
    place, code = 0, 1
    while code != 0:
        place += 1
        more = interruption(user, file / "amarok/urls_labels", place, "kill")
        if interrupted == "undo":
            user.done(*sync)
        code = user.run(*(sync if interrupted == "sync" else ["undo"]), **more).returncode
        seen.add(user.done("show", "amarok-1"))
        if interrupted == "sync" or code != 0:
            user.done("undo")
        assert user.done("show", "amarok-1") == before, place
    assert seen > {before, after}, "no write ended inside the track"
