"""The runs that are kept for undo."""

import fcntl
import os
from pathlib import Path

from user import User, dump_of, execute, file_has_record, interrupted


def runs_of(user: User) -> list[Path]:
    return sorted((user.home / ".local/state/statsync/runs").iterdir())


def test_a_run_that_ends_in_its_backup_leaves_no_backup_behind(user: User) -> None:
    user.database("banshee", 1)
    file = user.database("rhythmbox", 2)
    state = user.home / ".local/state"
    assert interrupted(user, file, 3, "full", below=state).returncode == 1
    assert runs_of(user) == []
    # Of a run that was killed the next one finds it.
    assert interrupted(user, file, 3, "kill", below=state).returncode == -9
    assert len(runs_of(user)) == 1 and not file_has_record(state)
    user.done("sync", "--yes", "--ratings", "highest")
    assert [(run / "run.json").exists() for run in runs_of(user)] == [True]


def test_two_runs_at_once_do_not_write(user: User) -> None:
    user.database("banshee", 1)
    file = user.database("rhythmbox", 2)
    user.done("sync", "--yes", "--ratings", "highest", "--fields", "rating")
    before = file.read_bytes()
    other = os.open(user.home / ".local/state/statsync/runs", os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    for words in (["sync", "--yes"], ["undo"]):
        ended = user.run(*words)
        assert ended.returncode == 4 and "another statsync" in ended.stderr, ended.stderr
    os.close(other)
    assert file.read_bytes() == before
    user.done("undo")


def test_undo_leaves_a_forgotten_provider_alone_and_goes_on(user: User) -> None:
    one, other = user.database("clementine", 1), user.database("rhythmbox", 2)
    old = dump_of(one), other.read_bytes()
    user.done("sync", "--yes", "--ratings", "highest", "--fields", "rating")
    between = dump_of(one), other.read_bytes()
    user.done("sync", "--yes", "--fields", "playcount")
    written = other.read_bytes()
    user.done("forget", "rhythmbox-2")
    text = user.done("undo", code=5)
    assert dump_of(one) == between[0] and other.read_bytes() == written
    assert "rhythmbox-2: it is forgotten" in text
    backup = Path(text.split("its backup is in ")[1].splitlines()[0])
    assert (backup / other.name).read_bytes() == between[1]
    # The run before that one can be taken back now, too.
    user.done("undo", code=5)
    assert dump_of(one) == old[0]


def test_undo_does_not_touch_another_database(user: User) -> None:
    user.database("banshee", 1)
    file = user.database("rhythmbox", 2)
    user.done("sync", "--yes", "--ratings", "highest")
    written = file.read_bytes()
    # It has the same tracks, with the values that were written.
    other = file.with_name("other")
    other.write_bytes(written)
    user.done("set", file.name, f"path={other}")
    text = user.done("undo", code=5)
    assert "name another database" in text and other.read_bytes() == written, text
    user.done("set", file.name, f"path={file}")
    user.done("undo")
    assert file.read_bytes() != written == other.read_bytes()


def test_another_database_has_no_baseline(user: User) -> None:
    user.database("clementine", 1)
    file = user.database("strawberry", 2)
    sync = ("sync", "--yes", "--baseline", "--ratings", "highest")
    user.done(*sync)
    older = file.with_name("older")
    older.write_bytes(file.read_bytes())
    execute(older, "UPDATE songs SET rating = 0.1, playcount = 0")
    before = dump_of(user.home / "music/clementine-1")
    user.done("set", file.name, "write=yes")
    assert len(list((user.home / ".local/state/statsync/baselines").iterdir())) == 2
    user.done("set", file.name, f"path={older}")
    # Its ratings are no newer than those of the last run.
    assert "in conflict" in user.done("sync", "--yes", "--baseline", code=3)
    assert dump_of(user.home / "music/clementine-1") == before


def test_undo_takes_the_last_run_back_though_the_clock_was_set_back(user: User) -> None:
    user.database("banshee", 1)
    file = user.database("rhythmbox", 2)
    user.done("sync", "--yes", "--fields", "playcount")
    for name in ("29990101-000000-1000", "29990101-000000-1041"):
        runs_of(user)[-1].rename(runs_of(user)[-1].with_name(name))
        before = file.read_bytes()
        user.done("sync", "--yes", "--ratings", "highest")
        assert file.read_bytes() != before
        user.done("undo")
        assert file.read_bytes() == before
