"""What all studies are told and find: a build for each TLS library, results to keep and show."""

import argparse
import datetime
import json
import shlex
import signal
import sys
from pathlib import Path
from typing import Callable, Collection, NoReturn

TREE = Path(__file__).resolve().parents[2]
# By the library's name: a build folder of one preset each.
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
    """listed takes a list of names with commas apart. One that is not known ends the program."""
    names = [name.strip() for name in given.split(",")]
    for name in names:
        if name not in known:
            refuse(f"{option}: there is no {name!r}; there are {', '.join(known)}")
    return names


def at_least_one(text: str) -> int:
    """at_least_one is an argument that says how many: of rounds, of steps."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: write a whole number, at least 1")
    return int(text)


def folders(use: argparse.Namespace) -> dict[str, Path]:
    """folders of builds that were asked for, by the library's name, or those of the presets."""
    given = [each.split("=", 1) for each in use.build]
    if any(len(each) != 2 for each in given):
        refuse("--build wants NAME=FOLDER")
    return {name: Path(folder) for name, folder in given} or FOLDERS


def find(use: argparse.Namespace, program: str) -> dict[str, Path]:
    """find gives the program of each build by the library's name. What was asked for must be there,
    and at least one."""
    found = {name: folder / "bin" / program for name, folder in folders(use).items()}
    missing = [path for path in found.values() if not path.exists()]
    if missing and (use.build or len(missing) == len(found)):
        sys.exit(f"{missing[-1]} is not there: build the target {program}")
    return {name: path for name, path in found.items() if path.exists()}


def read_result(path: Path, study: str) -> dict:
    """read_result reads what that study's run.py wrote. Any other file ends the program."""
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError) as why:
        sys.exit(f"{path}: it cannot be read: {getattr(why, 'strerror', None) or why}")
    if not isinstance(document, dict) or document.get("study") != study:
        sys.exit(f"{path}: it is not of perf/studies/{study}/run.py")
    return document


def newest(results: list[Path]) -> Path:
    """newest is the last of several results by their names, which begin with the day."""
    return max(results, key=lambda each: each.name)


def end_with_the_reader() -> None:
    """end_with_the_reader: who reads standard output and has seen enough (head) ends this program,
    without a word."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def asked_to_show(study: str, about: str) -> tuple[dict, Path | None]:
    """asked_to_show reads the command line of a show.py: a result of that study's run.py, and the
    folder for charts, if they are wanted."""
    parse = argparse.ArgumentParser(description=about)
    parse.add_argument(
        "result", type=Path, nargs="+", help="what run.py wrote; of several, the newest is shown"
    )
    parse.add_argument("--out", type=Path, help="a folder for charts")
    use = parse.parse_args()
    end_with_the_reader()
    document = read_result(newest(use.result), study)
    if use.out:
        use.out.mkdir(parents=True, exist_ok=True)
    return document, use.out


def indented(document: dict) -> str:
    return json.dumps(document, indent=1)


def keep(
    use: argparse.Namespace, study: str, document: dict,
    written: Callable[[dict], str] = indented,
) -> None:
    """keep writes the result, with the command that made it."""
    if str(use.out) == "-":
        return
    today = datetime.date.today().isoformat()
    path = use.out or TREE / "perf/results" / f"{today}-study-{study}.json"
    program = Path(sys.argv[0]).resolve()
    here = program.relative_to(TREE) if program.is_relative_to(TREE) else program.name
    command = shlex.join([str(here), *sys.argv[1:]])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written({"study": study, "command": command, **document}) + "\n")
    print(f"written: {path}")
