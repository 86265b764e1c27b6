"""Recorded results: how they are read and written, and the commit that they are of."""

import json
import shlex
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Iterable, Iterator

TREE = Path(__file__).resolve().parents[2]
RESULTS = TREE / "perf/results"
DIGITS = 9
LINE = 5000  # characters


class Unusable(Exception):
    """Unusable is a document that cannot be shown, with the reason."""


def read(path: Path) -> dict:
    """read gives the document in a file. Raises Unusable, with the path."""
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise Unusable(f"{path}: it cannot be read: {why}") from error
    if not isinstance(document, dict):
        raise Unusable(f"{path}: it is no recorded result")
    return document


@contextmanager
def whole(path: Path) -> Iterator[None]:
    """whole turns an error about what a document lacks into Unusable, with the path."""
    try:
        yield
    except Unusable as error:
        raise Unusable(f"{path}: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise Unusable(f"{path}: it is damaged: {error!r}: measure again") from error


def rounded(value: object) -> object:
    """rounded has DIGITS significant digits in every figure that is no whole number."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return value


def compact(value: object) -> str:
    """compact is JSON with as much on a line as fits: a diff of two runs shows rows."""
    line = json.dumps(value, separators=(",", ":"))
    if len(line) <= LINE or not isinstance(value, (dict, list)):
        return line
    if isinstance(value, list):
        return "[\n" + ",\n".join(compact(each) for each in value) + "\n]"
    members = [f"{json.dumps(key)}:{compact(each)}" for key, each in value.items()]
    return "{\n" + ",\n".join(members) + "\n}"


def write(path: Path, document: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(compact(rounded(document)) + "\n")


def git(*arguments: str) -> str:
    """git in this tree; empty where there is no git, or no repository."""
    try:
        ran = subprocess.run(
            ["git", *arguments], cwd=TREE, capture_output=True, text=True, timeout=10
        )
    except OSError:
        return ""
    return ran.stdout.strip() if ran.returncode == 0 else ""


def commit() -> str:
    """commit of the tree, and whether files outside of perf/results differ from it; empty where
    that is not known."""
    head = git("rev-parse", "HEAD")
    excluded = f":(exclude){RESULTS.relative_to(TREE)}"
    changed = git("status", "--porcelain", "--", ".", excluded)
    return f"{head}, changed" if head and changed else head


def command() -> str:
    """command that runs now, its program by its path in this tree."""
    program = Path(sys.argv[0]).resolve()
    name = program.relative_to(TREE) if program.is_relative_to(TREE) else program.name
    return shlex.join([str(name), *sys.argv[1:]])


def newest(paths: Iterable[Path]) -> Path:
    """newest is the last of several results by their names, which begin with the day."""
    return max(paths, key=lambda each: each.name)
