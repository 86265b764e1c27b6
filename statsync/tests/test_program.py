"""The program as its user meets it: its commands, and that nothing is lost."""

import contextlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from user import BIN, User, dump_of, execute, rows_of

TYPES = {"clementine": "a.db", "strawberry": "b.db", "banshee": "c.db", "amarok-1.4": "d.db"}
XML_TYPES = {"rhythmbox": "r.xml", "itunes": "i.xml"}


def test_a_provider_is_added_changed_listed_and_forgotten(user: User) -> None:
    file = user.database("clementine", 1)
    assert "clementine-1" in user.done("list")
    assert "30 tracks" in user.done("show", "clementine-1")
    user.done("set", "clementine-1", "name=Mine", "write=no")
    assert "writable: \n" in user.done("show", "Mine", "--artist", "Artist 0")
    assert str(file) in user.done("list")
    user.done("forget", "Mine")
    assert user.done("list") == "0 providers\n"
    config = user.home / ".config/statsync/providers.json"
    assert config.stat().st_mode & 0o777 == 0o600


def test_players_are_found_at_their_usual_places(user: User) -> None:
    file = user.database("rhythmbox", 1)
    usual = user.home / ".local/share/rhythmbox/rhythmdb.xml"
    usual.parent.mkdir(parents=True)
    shutil.copy(file, usual)
    assert f"statsync add rhythmbox --path '{usual}'" in user.done("detect")


def test_words_that_make_no_sense_are_a_usage_error(user: User) -> None:
    for words in (
        [],
        ["dance"],
        ["sync", "--fields", "beauty"],
        ["sync", "--match", "magic"],
        ["add", "winamp"],
        ["forget", "nothing"],
        ["sync"],
        ["undo"],
    ):
        assert user.run(*words).returncode == 2, words


def test_diff_names_what_only_one_player_has(user: User) -> None:
    user.database("clementine", 1, 30)
    user.database("rhythmbox", 2, 28)
    text = user.done("diff")
    assert "28 matched, 2 unique, 0 excluded" in text
    assert "title,artist,album,tracknr,discnumber" in text
    assert text.count("unique   clementine-1") == 2


def test_a_dry_run_and_a_run_without_a_terminal_write_nothing(user: User) -> None:
    file = user.database("clementine", 1)
    user.database("strawberry", 2)
    before = file.read_bytes()
    assert "in conflict" in user.done("sync", "--dry-run", code=3)
    assert "--yes" in user.done("sync", code=1)
    assert file.read_bytes() == before
    assert not (user.home / ".local/state").exists()


PAIRS = [
    (one, other)
    for place, one in enumerate([*TYPES, *XML_TYPES])
    for other in [*TYPES, *XML_TYPES][place:]
]


@pytest.mark.parametrize("one,other", PAIRS)
def test_a_second_run_writes_nothing(user: User, one: str, other: str) -> None:
    user.database(one, 1)
    user.database(other, 2)
    assert "written" in user.done("sync", "--yes", "--ratings", "highest")
    text = user.done("sync", "--yes", "--ratings", "highest")
    assert text.startswith("0 tracks to write in 30 matched tracks"), text


def test_only_the_chosen_fields_and_players_are_written(user: User) -> None:
    files = [user.database("clementine", 1), user.database("strawberry", 2)]
    rows = (
        "SELECT title, rating, lastplayed, playcount FROM songs"
        " WHERE NOT unavailable AND album > '' ORDER BY title"
    )
    before = [rows_of(file, rows) for file in files]
    user.done("sync", "--yes", "--fields", "playcount", "--to", "strawberry-2")
    after = [rows_of(file, rows) for file in files]
    assert after[0] == before[0]
    for own, other, now in zip(before[1], before[0], after[1]):
        assert now == (*own[:3], max(own[3], other[3]))


def test_a_preferred_player_settles_conflicts(user: User) -> None:
    user.database("clementine", 1)
    file = user.database("strawberry", 2)
    user.done("sync", "--yes", "--prefer", "clementine-1")
    rows = "SELECT title, rating FROM songs WHERE NOT unavailable AND album > '' ORDER BY title"
    other = rows_of(user.home / "music/clementine-1", rows)
    assert rows_of(file, rows) == other
    assert "0 tracks to write" in user.done("sync", "--dry-run")


def test_undo_restores_what_was_not_touched_since(user: User) -> None:
    xml = user.database("rhythmbox", 1)
    database = user.database("clementine", 2)
    before = xml.read_bytes()
    rows = dump_of(database)
    user.done("sync", "--yes", "--ratings", "highest")
    assert xml.read_bytes() != before
    user.done("undo")
    assert xml.read_bytes() == before
    assert dump_of(database) == rows
    assert user.run("undo").returncode == 2


def test_undo_keeps_what_the_player_has_changed_since(user: User) -> None:
    user.database("strawberry", 1)
    file = user.database("clementine", 2)
    rows = "SELECT playcount FROM songs ORDER BY ROWID"
    before = rows_of(file, rows)
    user.done("sync", "--yes", "--ratings", "highest")
    execute(file, "UPDATE songs SET playcount = 1000 WHERE ROWID = 1")
    user.done("undo")
    after = rows_of(file, rows)
    assert after[0] == (1000,)
    assert after[1:] == before[1:]


@pytest.mark.skipif(not shutil.which("mariadbd", path="/usr/sbin:/usr/bin"), reason="no mariadbd")
def test_amarok_is_written_and_undone(user: User) -> None:
    user.database("amarok", 1)
    user.database("clementine", 2)
    before = user.done("show", "amarok-1")
    assert "amarok-1: " in user.done("sync", "--yes", "--ratings", "highest")
    assert user.done("show", "amarok-1") != before
    assert "0 tracks to write" in user.done("sync", "--dry-run")
    user.done("undo")
    assert user.done("show", "amarok-1") == before


def test_a_player_that_runs_is_not_written(user: User) -> None:
    file = user.database("rhythmbox", 1)
    user.database("clementine", 2)
    before = file.read_bytes()
    player = user.home / "rhythmbox"
    shutil.copy("/bin/cat", player)
    with subprocess.Popen([player], stdin=subprocess.PIPE) as running:
        ended = user.run("sync", "--yes")
        assert ended.returncode == 4, ended.stdout + ended.stderr
        assert "rhythmbox is running" in ended.stderr
        running.stdin.close()
    assert file.read_bytes() == before


def test_a_file_that_another_program_has_open_is_not_written(user: User) -> None:
    file = user.database("clementine", 1)
    user.database("strawberry", 2)
    with file.open("rb"):
        ended = user.run("sync", "--yes")
    assert ended.returncode == 4
    assert "open" in ended.stderr


def test_a_provider_that_cannot_be_read_does_not_stop_the_others(user: User) -> None:
    user.database("clementine", 1)
    user.database("strawberry", 2)
    broken = user.database("rhythmbox", 3)
    broken.write_text("<rhythmdb>")
    ended = user.run("sync", "--yes")
    assert ended.returncode == 1
    assert "it takes no part" in ended.stderr
    assert "clementine-1: " in ended.stdout and " written" in ended.stdout


def content_of(file: Path) -> object:
    """content_of is what a player reads: rows of a database, or bytes of a file."""
    if file.read_bytes().startswith(b"SQLite"):
        return dump_of(file)
    return file.read_bytes()


def interrupted(user: User, file: Path, place: int, how: str) -> subprocess.CompletedProcess:
    more = {
        "LD_PRELOAD": str(BIN / "../interrupt.so"),
        "INTERRUPT_BELOW": str(file),
        "INTERRUPT_COUNT": str(user.home / "count"),
        "INTERRUPT_AT": str(place),
    }
    if how == "full":
        more["INTERRUPT_HOW"] = how
    return user.run("sync", "--yes", "--ratings", "highest", "--to", file.name, **more)


@pytest.mark.parametrize("how", ["kill", "full"])
@pytest.mark.parametrize("type_name", ["clementine", "amarok-1.4", "rhythmbox", "itunes"])
def test_an_interrupted_write_leaves_the_old_or_the_new(
    user: User, type_name: str, how: str
) -> None:
    user.database("banshee", 1)
    file = user.database(type_name, 2)
    copy = user.home / "copy"
    shutil.copy(file, copy)
    old = content_of(file)
    assert interrupted(user, file, 1000000, how).returncode == 0
    new = content_of(file)
    calls = int((user.home / "count").read_text())
    assert new != old and calls >= 3

    seen = set()
    for place in range(1, calls + 1):
        shutil.copy(copy, file)
        for left_over in file.parent.glob(file.name + "-*"):
            left_over.unlink()
        ended = interrupted(user, file, place, how)
        assert ended.returncode == (-9 if how == "kill" else ended.returncode)
        now = content_of(file)
        assert now in (old, new), place
        seen.add(now == new)
        if how == "full":
            assert (ended.returncode == 0) == (now == new), ended.stdout + ended.stderr
    assert False in seen


def test_undo_works_after_a_crash(user: User) -> None:
    user.database("banshee", 1)
    file = user.database("rhythmbox", 2)
    before = file.read_bytes()
    # Right behind the rename: the file is new, and the run's record does not know it.
    interrupted(user, file, 1000000, "kill")
    calls = int((user.home / "count").read_text())
    new = file.read_bytes()
    user.done("undo")
    assert file.read_bytes() == before
    for place in range(1, calls + 1):
        interrupted(user, file, place, "kill")
        if file.read_bytes() == new:
            break
    user.run("undo")
    assert file.read_bytes() == before


def test_a_read_only_file_stays_as_it_is(user: User) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everything")
    user.database("clementine", 1)
    file = user.database("rhythmbox", 2)
    before = file.read_bytes()
    file.chmod(0o400)
    assert user.run("sync", "--yes", "--to", file.name).returncode == 1
    assert file.read_bytes() == before


def test_a_write_that_does_not_read_back_is_an_error_and_can_be_undone(user: User) -> None:
    one, other = user.database("clementine", 1), user.database("strawberry", 2)
    execute(
        one,
        "CREATE TRIGGER keep AFTER UPDATE OF playcount ON songs WHEN NEW.title = 'Song number 1'"
        " BEGIN UPDATE songs SET playcount = 0 WHERE ROWID = NEW.ROWID; END",
    )
    execute(other, "UPDATE songs SET playcount = playcount + 100")
    before = dump_of(one)
    text = user.done("sync", "--yes", "--baseline", "--ratings", "highest", code=5)
    assert "clementine-1: 1 of " in text and "do not read as they were written" in text
    # Nothing is remembered of it.
    folder = user.home / ".local/state/statsync/baselines"
    assert [file.name for file in folder.iterdir()] == [
        line.split()[0] for line in user.done("list").splitlines() if "strawberry" in line
    ]
    user.done("undo")
    assert dump_of(one) == before


def test_runs_are_kept_for_undo_and_old_ones_go(user: User) -> None:
    user.database("clementine", 1)
    file = user.database("strawberry", 2)
    for number in range(7):
        execute(file, f"UPDATE songs SET playcount = playcount + {100 * (number + 1)}")
        user.done("sync", "--yes", "--ratings", "highest")
    runs = sorted((user.home / ".local/state/statsync/runs").iterdir())
    assert len(runs) == 5
    assert json.loads((runs[-1] / "run.json").read_text())["is_undone"] is False


ONE_SONG = "WHERE title = 'Song number 1' AND NOT unavailable AND album > ''"


def plays_of(file: Path) -> int:
    return rows_of(file, f"SELECT playcount FROM songs {ONE_SONG}")[0][0]


def played_since_a_run(user: User) -> tuple[Path, Path, int]:
    """played_since_a_run is two databases whose run stored a baseline, and the plays that the song
    had then. Since then it was played twice in the first, and once in the other."""
    one, other = user.database("clementine", 1), user.database("strawberry", 2)
    user.done("sync", "--yes", "--baseline", "--ratings", "highest")
    plays = plays_of(one)
    execute(one, f"UPDATE songs SET playcount = playcount + 2 {ONE_SONG}")
    execute(other, f"UPDATE songs SET playcount = playcount + 1 {ONE_SONG}")
    return one, other, plays


def test_with_a_baseline_plays_add_up_and_changes_win(user: User) -> None:
    one, other = user.database("clementine", 1), user.database("strawberry", 2)
    sync = ("sync", "--yes", "--baseline", "--ratings", "highest")
    user.done(*sync)
    plays = plays_of(one)
    execute(one, f"UPDATE songs SET playcount = playcount + 2, rating = 0.1 {ONE_SONG}")
    execute(other, f"UPDATE songs SET playcount = playcount + 1 {ONE_SONG}")
    user.done(*sync)
    assert plays_of(one) == plays_of(other) == plays + 3
    assert rows_of(other, f"SELECT rating FROM songs {ONE_SONG}") == [(0.1,)]
    assert "0 tracks to write" in user.done(*sync)


def test_a_run_without_the_baseline_keeps_it_up_to_date(user: User) -> None:
    one, other = user.database("clementine", 1), user.database("strawberry", 2)
    user.done("sync", "--yes", "--baseline", "--ratings", "highest")
    plays = plays_of(one)
    execute(one, f"UPDATE songs SET playcount = playcount + 2 {ONE_SONG}")
    user.done("sync", "--yes")
    assert "0 tracks to write" in user.done("sync", "--yes", "--baseline")
    assert plays_of(other) == plays + 2


def test_undo_takes_the_baseline_back(user: User) -> None:
    one, other, plays = played_since_a_run(user)
    user.done("sync", "--yes", "--baseline")
    user.done("undo")
    assert (plays_of(one), plays_of(other)) == (plays + 2, plays + 1)
    user.done("sync", "--yes", "--baseline")
    assert plays_of(one) == plays_of(other) == plays + 3


def test_after_a_crash_plays_are_not_counted_twice(user: User) -> None:
    one, other, plays = played_since_a_run(user)
    more = {
        "LD_PRELOAD": str(BIN / "../interrupt.so"),
        "INTERRUPT_BELOW": str(other),
        "INTERRUPT_AT": "1",
    }
    assert user.run("sync", "--yes", "--baseline", **more).returncode == -9
    assert (plays_of(one), plays_of(other)) == (plays + 3, plays + 1)
    user.done("sync", "--yes", "--baseline")
    assert plays_of(one) == plays_of(other) == plays + 3


def test_a_provider_that_is_forgotten_leaves_no_baseline(user: User) -> None:
    user.database("clementine", 1)
    user.database("strawberry", 2)
    user.done("sync", "--yes", "--baseline", "--ratings", "highest")
    folder = user.home / ".local/state/statsync/baselines"
    assert len(list(folder.iterdir())) == 2
    user.done("forget", "strawberry-2")
    assert len(list(folder.iterdir())) == 1


def test_where_conflicts_fail_nothing_is_written(user: User) -> None:
    file = user.database("clementine", 1)
    user.database("strawberry", 2)
    before = file.read_bytes()
    assert "--conflicts fail" in user.done("sync", "--yes", "--conflicts", "fail", code=3)
    assert file.read_bytes() == before
    assert not (user.home / ".local/state").exists()
    user.done("sync", "--yes", "--conflicts", "fail", "--ratings", "highest")
    assert file.read_bytes() != before


def at_terminal(user: User, answers: dict[str, str], *words: str) -> tuple[int, str]:
    """at_terminal answers the first question that ends with a key, and then each of the others."""
    master, terminal = os.openpty()
    environment = {"HOME": str(user.home)}
    process = subprocess.Popen(
        [str(BIN / "statsync"), *words], env=environment, stdin=terminal, stdout=terminal
    )
    os.close(terminal)
    text = ""
    with contextlib.suppress(OSError):  # The terminal has no other end any more.
        while data := os.read(master, 65536):
            text += data.decode()
            for question, answer in answers.items():
                if text.endswith(question):
                    os.write(master, answer.encode() + b"\n")
    os.close(master)
    return process.wait(), text


def test_conflicts_are_asked_about_at_a_terminal(user: User) -> None:
    one, other = user.database("clementine", 1), user.database("strawberry", 2)
    rows = "SELECT title, rating FROM songs WHERE NOT unavailable AND album > '' ORDER BY title"
    expected = rows_of(other, rows)
    assert user.run("sync", "--yes", "--conflicts", "ask").returncode == 2
    ask = ("sync", "--conflicts", "ask", "--fields", "rating")
    code, text = at_terminal(user, {"too: ": "q", "[y/N] ": "y"}, *ask)
    assert code == 3 and "0 tracks to write" in text, text
    code, text = at_terminal(user, {"too: ": "2", "[y/N] ": "y"}, *ask)
    assert code == 0 and "written" in text, text
    assert rows_of(one, rows) == expected


MEMORY_MAX_KB = 300 * 1024


def used(user: User, *words: str) -> tuple[float, int]:
    """used: seconds of CPU time, which does not depend on what else runs, and kilobytes."""
    command = [str(BIN / "statsync"), *words]
    with open(os.devnull, "r+b") as nothing:
        process = subprocess.Popen(
            command, env={"HOME": str(user.home)}, stdin=nothing, stdout=nothing, stderr=nothing
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 3)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def test_a_hundred_thousand_tracks_take_little_time_and_memory(user: User) -> None:
    user.database("clementine", 1, 100_000)
    user.database("strawberry", 2, 100_000)
    seconds, kilobytes = used(user, "sync", "--dry-run")
    assert seconds < 2 and kilobytes < MEMORY_MAX_KB, (seconds, kilobytes)

    user.database("rhythmbox", 3, 100_000)
    seconds, _ = used(user, "sync", "--yes", "clementine-1", "rhythmbox-3", "--to", "rhythmbox-3")
    assert seconds < 5, seconds
