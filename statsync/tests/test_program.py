"""The program as its user meets it: its commands, and that nothing is lost."""

import contextlib
import ctypes
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Callable

import pytest

from user import BIN, User, dump_of, execute, file_has_record, interrupted, rows_of

TYPES = ["clementine", "strawberry", "banshee", "amarok-1.4", "navidrome", "rhythmbox", "itunes"]


def writes_nothing(text: str) -> bool:
    return "\n0 tracks to write in " in "\n" + text


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


def test_a_path_means_the_same_in_every_folder(user: User) -> None:
    file = user.database("clementine", 1)
    user.database("strawberry", 2)
    (user.home / "secret").write_text("word\n")
    for words in (
        ["add", "banshee", "path=clementine-1"],
        ["add", "rhythmbox", "--path", "./clementine-1"],
        ["set", "strawberry-2", "path=../music/clementine-1"],
        ["add", "amarok-server", "password-file=../secret"],
    ):
        assert user.run(*words, folder=file.parent).returncode == 0, words
    listed = user.done("list").splitlines()
    assert sum(line.endswith(f"path={file}") for line in listed) == 4, listed
    assert f"password-file={user.home / 'secret'}" in listed[-2]
    user.done("set", "strawberry-2", "path=~/music/strawberry-2")
    assert "path=~/music/strawberry-2" in user.done("list")


def test_a_database_is_added_once(user: User) -> None:
    file = user.database("navidrome", 1)
    again = user.run("add", "navidrome", "--path", str(file), "--name", "again", "user=owner")
    assert again.returncode == 2 and "navidrome-1" in again.stderr, again.stderr
    # Of several users of a server, each is another provider.
    user.done("add", "navidrome", "--path", str(file), "user=other")
    assert "2 providers" in user.done("list")


def test_a_path_at_which_nothing_is_gives_a_warning(user: User) -> None:
    place = user.home / "no such file"
    ended = user.run("add", "rhythmbox", "--path", str(place))
    assert ended.returncode == 0 and f"{place} is not there" in ended.stderr
    assert "1 provider" in user.done("list")
    user.database("rhythmbox", 1)
    ended = user.run("add", "itunes", "--path", str(user.home / "music/rhythmbox-1"))
    assert ended.returncode == 0 and ended.stderr == ""


@pytest.mark.parametrize("text", ["", "{", "[]", '{"providers": 1}', '{"providers": [1]}'])
def test_a_configuration_that_is_none_says_what_to_do(user: User, text: str) -> None:
    config = user.home / ".config/statsync/providers.json"
    config.parent.mkdir(parents=True)
    config.write_text(text)
    for words in (["list"], ["sync"], ["add", "clementine"]):
        ended = user.run(*words)
        assert ended.returncode == 2 and f"{config} is no list of" in ended.stderr, ended.stderr
    assert config.read_text() == text


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
        ["sync", "--rows", "-1"],
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


PAIRS = [(one, other) for place, one in enumerate(TYPES) for other in TYPES[place:]]


@pytest.mark.parametrize("one,other", PAIRS)
def test_a_second_run_writes_nothing(user: User, one: str, other: str) -> None:
    user.database(one, 1)
    user.database(other, 2)
    assert "written" in user.done("sync", "--yes", "--ratings", "highest")
    text = user.done("sync", "--yes", "--ratings", "highest")
    assert text.startswith("0 tracks to write in 30 matched tracks"), text


def test_a_long_write_tells_how_far_it_is(user: User) -> None:
    user.database("clementine", 1, 1200)
    file = user.database("strawberry", 2, 1200)
    execute(file, "UPDATE songs SET playcount = 0, lastplayed = -1, rating = -1")
    text = user.done("sync", "--yes", "--to", "strawberry-2", "--unrated-yields")
    lines = [line for line in text.splitlines() if line.startswith("strawberry-2: ")]
    assert lines[:-1] == [f"strawberry-2: {tenth}0 % written" for tenth in range(1, 10)]
    assert lines[-1].endswith("tracks written")


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


def test_the_last_plays_of_banshee_may_be_off_by_the_hour_of_summer_time(user: User) -> None:
    for name in ("clementine", "banshee"):
        file = user.database(name, 1)
    execute(file, "UPDATE CoreTracks SET LastPlayedStamp = LastPlayedStamp + 3600")
    sync = ("sync", "--dry-run", "--fields", "lastplay")
    assert "30 tracks to write" in user.done(*sync)
    user.done("set", "banshee-1", "tolerance=3600")
    assert writes_nothing(user.done(*sync))


def test_a_preferred_player_settles_conflicts(user: User) -> None:
    user.database("clementine", 1)
    file = user.database("strawberry", 2)
    user.done("sync", "--yes", "--prefer", "clementine-1")
    rows = "SELECT title, rating FROM songs WHERE NOT unavailable AND album > '' ORDER BY title"
    other = rows_of(user.home / "music/clementine-1", rows)
    assert rows_of(file, rows) == other
    assert writes_nothing(user.done("sync", "--dry-run"))


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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs programs of others")
def test_a_server_of_another_user_that_runs_is_not_written(user: User) -> None:
    file = user.database("navidrome", 1)
    user.database("clementine", 2)
    before = content_of(file)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        server = shutil.copy("/bin/cat", f"{folder}/navidrome")
        with subprocess.Popen([server], stdin=subprocess.PIPE, user=65534) as running:
            ended = user.run("sync", "--yes", "--ratings", "highest")
            running.stdin.close()
    assert ended.returncode == 4, ended.stdout + ended.stderr
    assert "navidrome is running" in ended.stderr
    assert content_of(file) == before


def test_a_file_that_another_program_has_open_is_not_written(user: User) -> None:
    file = user.database("clementine", 1)
    user.database("strawberry", 2)
    with file.open("rb"):
        ended = user.run("sync", "--yes")
    assert ended.returncode == 4
    assert "open" in ended.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees the files of others")
def test_a_file_that_another_user_has_open_is_not_written(user: User) -> None:
    file = user.database("clementine", 1)
    user.database("strawberry", 2)
    with (
        file.open("rb") as opened,
        subprocess.Popen(
            ["cat"], stdin=subprocess.PIPE, pass_fds=[opened.fileno()], user=65534
        ) as server,
    ):
        opened.close()
        ended = user.run("sync", "--yes")
        server.stdin.close()
    assert ended.returncode == 4 and "cat has" in ended.stderr, ended.stderr


def test_a_provider_that_cannot_be_read_does_not_stop_the_others(user: User) -> None:
    user.database("clementine", 1)
    user.database("strawberry", 2)
    broken = user.database("rhythmbox", 3)
    broken.write_text("<rhythmdb>")
    ended = user.run("sync", "--yes")
    assert ended.returncode == 1
    assert "it takes no part" in ended.stderr
    assert "clementine-1: " in ended.stdout and " written" in ended.stdout


RATED_AT = re.compile(r"^(INSERT INTO .annotation. .*,).20[^,]*;$")


def content_of(file: Path) -> object:
    """content_of is what a player reads: rows of a database, or bytes of a file. The time of a
    rating is the time of the run."""
    if file.read_bytes().startswith(b"SQLite"):
        return [RATED_AT.sub(r"\1", row) for row in dump_of(file)]
    return file.read_bytes()


@pytest.mark.parametrize("how", ["kill", "full"])
@pytest.mark.parametrize(
    "type_name", ["clementine", "amarok-1.4", "navidrome", "rhythmbox", "itunes"]
)
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


@pytest.mark.parametrize("how", ["kill", "full"])
def test_a_run_that_cannot_keep_its_record_can_be_taken_back(user: User, how: str) -> None:
    user.database("banshee", 1)
    file = user.database("rhythmbox", 2)
    state = user.home / ".local/state"
    old = file.read_bytes()
    assert interrupted(user, file, 1000000, how, below=state).returncode == 0
    new = file.read_bytes()
    calls = int((user.home / "count").read_text())
    user.done("undo")
    assert file.read_bytes() == old and calls > 5

    shutil.rmtree(state)
    seen = set()
    for place in range(1, calls + 1):
        ended = interrupted(user, file, place, how, below=state)
        assert ended.returncode == (-9 if how == "kill" else ended.returncode)
        assert ended.returncode == 0 or file_has_record(state) or file.read_bytes() == old
        seen.add(file.read_bytes())
        # Without a record nothing was written, and there is nothing to undo.
        assert user.run("undo").returncode == (0 if file_has_record(state) else 2)
        assert file.read_bytes() == old, place
        shutil.rmtree(state)
    assert seen == {old, new}


# Without this capability root is refused like everybody else.
AS_OWNER = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize("type_name", ["rhythmbox", "strawberry", "navidrome"])
def test_a_read_only_file_or_folder_stays_as_it_is(user: User, type_name: str, what: str) -> None:
    user.database("clementine", 1).rename(user.home / "clementine")
    user.done("set", "clementine-1", f"path={user.home / 'clementine'}")
    file = user.database(type_name, 2)
    before = file.read_bytes()
    (file if what == "file" else file.parent).chmod(0o500)
    ended = user.run("sync", "--yes", "--to", file.name, before=AS_OWNER * (os.geteuid() == 0))
    file.parent.chmod(0o700)
    assert ended.returncode == 1 and str(file) in ended.stderr, ended.stdout + ended.stderr
    assert file.read_bytes() == before
    # A reader of a database with a log leaves an empty one.
    assert {file.name, f"{file.name}-wal", f"{file.name}-shm"}.issuperset(
        each.name for each in file.parent.iterdir()
    )


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
    assert writes_nothing(user.done(*sync))


def test_a_run_without_the_baseline_keeps_it_up_to_date(user: User) -> None:
    one, other = user.database("clementine", 1), user.database("strawberry", 2)
    user.done("sync", "--yes", "--baseline", "--ratings", "highest")
    plays = plays_of(one)
    execute(one, f"UPDATE songs SET playcount = playcount + 2 {ONE_SONG}")
    user.done("sync", "--yes")
    assert writes_nothing(user.done("sync", "--yes", "--baseline"))
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
    assert code == 3 and writes_nothing(text.replace("\r", "")), text
    code, text = at_terminal(user, {"too: ": "2", "[y/N] ": "y"}, *ask)
    assert code == 0 and "written" in text, text
    assert rows_of(one, rows) == expected


def opened(files: list[Path], work: Callable[[], object]) -> list[int]:
    """opened: how often each file was opened while the work was done, as the kernel counts."""
    libc = ctypes.CDLL(None, use_errno=True)
    watcher = libc.inotify_init1(os.O_NONBLOCK)
    # With the closes between them, the kernel does not take two opens for one.
    mask = 0x20 | 0x10 | 0x8  # IN_OPEN, IN_CLOSE_NOWRITE, IN_CLOSE_WRITE
    watches = [libc.inotify_add_watch(watcher, str(file).encode(), mask) for file in files]
    work()
    data = os.read(watcher, 65536)
    os.close(watcher)
    opens = []
    while data:
        watch, events, _, size = struct.unpack_from("iIII", data)
        opens += [watch] if events & 0x20 else []
        data = data[16 + size :]
    return [opens.count(watch) for watch in watches]


def test_each_database_is_read_once(user: User) -> None:
    files = [user.database(name, 1) for name in ("clementine", "rhythmbox", "itunes")]
    for words in (["sync", "--dry-run", "--ratings", "highest"], ["diff"]):
        assert opened(files, lambda: user.done(*words)) == [1, 1, 1], words


MEMORY_MAX_KB = 300 * 1024


def used(user: User, *words: str) -> tuple[float, int]:
    """used: seconds of CPU time, and kilobytes."""
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
    """The aims are 2 and 5 seconds of CPU. Work on the other half of a core doubles such a time."""
    user.database("clementine", 1, 100_000)
    user.database("strawberry", 2, 100_000)
    seconds, kilobytes = used(user, "sync", "--dry-run")
    assert seconds < 4 and kilobytes < MEMORY_MAX_KB, (seconds, kilobytes)

    user.database("rhythmbox", 3, 100_000)
    seconds, _ = used(user, "sync", "--yes", "clementine-1", "rhythmbox-3", "--to", "rhythmbox-3")
    assert seconds < 10, seconds
