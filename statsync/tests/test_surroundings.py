"""The program where its surroundings are not as usual: links, pipes, folders that are missing."""

import os
import shutil
import subprocess
import tempfile

import pytest

from user import BIN, User, dump_of, execute


def test_a_database_is_added_once_also_by_a_link(user: User) -> None:
    for name in ("clementine", "rhythmbox"):
        file = user.database(name, 1)
        link = user.home / f"link to {name}"
        link.symlink_to(file)
        again = user.run("add", name, "--path", str(link))
        assert again.returncode == 2 and f"{name}-1" in again.stderr, again.stderr


def test_a_database_behind_a_link_is_read_with_its_log(user: User) -> None:
    file = user.database("clementine", 1)
    link = user.home / "link"
    link.symlink_to(file)
    user.done("set", "clementine-1", f"path={link}")
    execute(file, "PRAGMA journal_mode = WAL")
    # A player that was killed leaves its log.
    killed = (
        "import os, sqlite3, sys; database = sqlite3.connect(sys.argv[1]);"
        "database.execute('UPDATE songs SET playcount = 4321'); database.commit();"
        "os.kill(os.getpid(), 9)"
    )
    assert subprocess.run(["/usr/bin/python3", "-c", killed, file]).returncode == -9
    before = {each.name: each.stat().st_mtime_ns for each in file.parent.iterdir()}
    assert "playcount 4321" in user.done("show", "clementine-1")
    assert {each.name: each.stat().st_mtime_ns for each in file.parent.iterdir()} == before


def test_a_run_whose_output_nobody_reads_is_complete(user: User) -> None:
    one, other = user.database("clementine", 1, 300), user.database("strawberry", 2, 300)
    before = dump_of(one), dump_of(other)
    reading, writing = os.pipe()
    os.close(reading)
    command = [BIN / "statsync", "sync", "--yes", "--ratings", "highest"]
    ended = subprocess.run(command, env={"HOME": str(user.home)}, stdout=writing)
    os.close(writing)
    assert ended.returncode == 0
    assert dump_of(one) != before[0] and dump_of(other) != before[1]
    user.done("undo")
    assert (dump_of(one), dump_of(other)) == before


def test_no_place_for_temporary_files_is_an_error(user: User) -> None:
    file = user.database("clementine", 1)
    user.database("strawberry", 2)
    log = file.with_name(file.name + "-wal")
    log.write_bytes(b"a log, so that the database is read from a copy")
    for folder in ("/proc", "/no such folder"):
        ended = user.run("show", "clementine-1", TMPDIR=folder)
        assert ended.returncode == 1 and "temporary folder" in ended.stderr, ended.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes files of others")
def test_a_player_of_the_owner_of_a_file_is_seen_by_root(user: User) -> None:
    user.database("clementine", 1)
    file = user.database("rhythmbox", 2)
    os.chown(file, 65534, -1)
    before = file.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        player = shutil.copy("/bin/cat", f"{folder}/rhythmbox")
        with subprocess.Popen([player], stdin=subprocess.PIPE, user=65534) as running:
            ended = user.run("sync", "--yes", "--ratings", "highest")
            running.stdin.close()
    assert ended.returncode == 4 and "rhythmbox is running" in ended.stderr, ended.stderr
    assert file.read_bytes() == before
