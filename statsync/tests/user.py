"""A user with databases of players, for the tests of the program."""

import contextlib
import os
import sqlite3
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

BIN = Path(os.environ["STATSYNC_BIN"])
SETTINGS = {"navidrome": ["user=owner"]}


@dataclass
class User:
    """User has a home folder of his own, with databases of players in it."""

    home: Path

    def run(
        self, *words: str, before: Sequence[str] = (), folder: Path | None = None, **more: str
    ) -> subprocess.CompletedProcess:
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], **more}
        command = [*before, str(BIN / "statsync"), *words]
        return subprocess.run(
            command,
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )

    def done(self, *words: str, code: int = 0) -> str:
        ended = self.run(*words)
        assert ended.returncode == code, ended.stdout + ended.stderr
        return ended.stdout

    def database(self, type_name: str, seed: int, count: int = 30) -> Path:
        """database makes a player's database, and adds a provider of the type's name for it."""
        file = self.home / "music" / f"{type_name}-{seed}"
        file.parent.mkdir(exist_ok=True)
        maker = [str(BIN / "statsync-make-database"), type_name, str(file), str(count), str(seed)]
        subprocess.run(maker, check=True)
        words = ["--path", str(file), "--name", f"{type_name}-{seed}"]
        self.done("add", type_name, *words, *SETTINGS.get(type_name, []))
        return file


def rows_of(file: Path, sql: str) -> list:
    """rows_of closes the database: statsync does not write to one that is open."""
    with contextlib.closing(sqlite3.connect(file)) as database:
        return database.execute(sql).fetchall()


def dump_of(file: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return list(database.iterdump())


def execute(file: Path, sql: str) -> None:
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute(sql)
        database.commit()


def interruption(user: User, below: Path, place: int, how: str) -> dict[str, str]:
    """interruption: the environment in which call number `place` that changes a file below a folder
    ends its process ("kill"), or finds the disk full ("full")."""
    more = {
        "LD_PRELOAD": str(BIN / "../interrupt.so"),
        "INTERRUPT_BELOW": str(below),
        "INTERRUPT_COUNT": str(user.home / "count"),
        "INTERRUPT_AT": str(place),
    }
    if how == "full":
        more["INTERRUPT_HOW"] = how
    return more


def interrupted(
    user: User, file: Path, place: int, how: str, below: Path | None = None
) -> subprocess.CompletedProcess:
    more = interruption(user, below or file, place, how)
    return user.run("sync", "--yes", "--ratings", "highest", "--to", file.name, **more)


def file_has_record(state: Path) -> bool:
    return any(state.glob("statsync/runs/*/run.json"))
