"""A user with databases of players, for the tests of the program."""

import contextlib
import os
import sqlite3
import subprocess
from dataclasses import dataclass
from pathlib import Path

BIN = Path(os.environ["STATSYNC_BIN"])


@dataclass
class User:
    """User has a home folder of his own, with databases of players in it."""

    home: Path

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess:
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], **more}
        command = [str(BIN / "statsync"), *words]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
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
        self.done("add", type_name, "--path", str(file), "--name", f"{type_name}-{seed}")
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
