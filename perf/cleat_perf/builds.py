"""Options of all studies: a build for each TLS library, counts, lists, and the result's file."""

import argparse
import datetime
import sys
from pathlib import Path
from typing import Collection, NoReturn

from cleat_perf.results import RESULTS, TREE, command, write

# A build folder of one preset for each library.
FOLDERS = {
    "openssl": TREE / "build/release-openssl",
    "openssl-4": TREE / "build/release-openssl-4",
    "boringssl": TREE / "build/release-boringssl",
    "aws-lc": TREE / "build/release",
}


def add_arguments(parse: argparse.ArgumentParser) -> None:
    parse.add_argument(
        "--build", action="append", metavar="NAME=FOLDER", default=[],
        help="a build folder; may be given again. Default, where built: "
        + ", ".join(f"{name}={folder.relative_to(TREE)}" for name, folder in FOLDERS.items()),
    )  # fmt: skip
    parse.add_argument("--out", type=Path, help="default: a new file in perf/results; - for none")


def refuse(why: str) -> NoReturn:
    """refuse ends a command that cannot be understood."""
    print(f"{Path(sys.argv[0]).name}: {why}", file=sys.stderr)
    sys.exit(2)


def listed(option: str, given: str, known: Collection[str]) -> list[str]:
    """listed splits names at commas. An unknown name ends the program."""
    names = [name.strip() for name in given.split(",")]
    for name in names:
        if name not in known:
            refuse(f"{option}: there is no {name!r}; there are {', '.join(known)}")
    return names


def at_least_one(text: str) -> int:
    """at_least_one is an argument that counts: rounds, steps."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: write a whole number, at least 1")
    return int(text)


def folders(use: argparse.Namespace) -> dict[str, Path]:
    """folders of the builds that --build names, by the library's name, or those of the presets."""
    given = [each.split("=", 1) for each in use.build]
    if any(len(each) != 2 for each in given):
        refuse("--build wants NAME=FOLDER")
    return {name: Path(folder) for name, folder in given} or FOLDERS


def find(use: argparse.Namespace, program: str) -> dict[str, Path]:
    """find gives the program of each build by the library's name. Every build that --build names
    must have it; of the presets' builds one is enough."""
    found = {name: folder / "bin" / program for name, folder in folders(use).items()}
    missing = [path for path in found.values() if not path.exists()]
    if missing and (use.build or len(missing) == len(found)):
        sys.exit(f"{missing[-1]} is not there: build the target {program}")
    return {name: path for name, path in found.items() if path.exists()}


def keep(use: argparse.Namespace, study: str, document: dict) -> None:
    """keep writes the result, with the command that made it; `--out -` writes none."""
    if str(use.out) == "-":
        return
    today = datetime.date.today().isoformat()
    path = use.out or RESULTS / f"{today}-study-{study}.json"
    write(path, {"study": study, "command": command(), **document})
    print(f"written: {path}")
