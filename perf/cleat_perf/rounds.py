"""Rounds of servers that are measured in turn: which servers, and what is kept of the rounds."""

import argparse
import sys
from pathlib import Path
from typing import Callable, Iterator

from cleat_perf import results
from cleat_perf.environment import describe
from cleat_perf.results import TREE
from cleat_perf.serve import Unable
from cleat_perf.table import table


def parser(description: str) -> argparse.ArgumentParser:
    """parser has the options of each study whose rounds `record` keeps."""
    parse = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--servers", default="cleat", help="by comma")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--binaries", type=Path, default=TREE / "build/release/bin")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse


def named(word: str) -> tuple[str, str, Path | None]:
    """named is the name of `NAME=SERVER:FILE`, its server, and its program."""
    name, _, rest = word.partition("=")
    server, _, program = (rest or name).partition(":")
    return name, server, Path(program) if program else None


def record(
    options: argparse.Namespace,
    measure: Callable[[list[tuple[str, str, Path | None]], dict[str, str]], Iterator[dict]],
    heads: list[str],
    rows: Callable[[list[dict]], list[list[str]]],
) -> int:
    """record prints the table of the rounds, writes them to options.out, and returns the exit code.
    `measure` gets the servers of options.servers and a dictionary for their versions."""
    document = {"command": results.command(), "environment": describe(TREE), "rounds": []}
    versions: dict[str, str] = {}
    document["environment"]["servers"] = versions
    servers = [named(word) for word in options.servers.split(",")]
    try:
        document["rounds"].extend(measure(servers, versions))
    except Unable as error:
        print(f"{Path(sys.argv[0]).stem}: {error}", file=sys.stderr)
        return 2
    print(table(heads, rows(document["rounds"])))
    if options.out:
        results.write(options.out, document)
    return 0
