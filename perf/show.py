#!/usr/bin/env python3
"""Shows recorded results: the tables and charts of the documentation.

    perf/show.py RESULT...                       # prints their tables
    perf/show.py RESULT... --out FOLDER          # draws their charts
    perf/show.py RESULT... --page PAGE           # fills the tables into a page
    perf/show.py --docs                          # all pages of docs/, from perf/results/

A result is a file of a study, of `cleat-bench compare --json`, clients.py, shared_locks.py or a
lock_*.py. Of several results of a study the newest counts, by its name; of comparisons that share a
scenario, the last. A comparison in a file *-builds-NAME.json has a table of its own. Tables go
between `<!-- show.py: SUBJECT/TABLE -->` and `<!-- end -->`. The same results give the same bytes.
"""

import argparse
import re
import signal
import sys
from collections import defaultdict
from pathlib import Path

from cleat_perf.results import RESULTS, TREE, Unusable, newest, read, whole
from cleat_perf.table import fill
from studies import performance
from studies.asio import page as asio
from studies.compare import builds
from studies.compare import page as compare
from studies.cost import page as cost
from studies.gather import page as gather
from studies.libraries import page as libraries
from studies.terminators import page as terminators

STUDIES = {
    "asio": asio, "cost": cost, "gather": gather, "libraries": libraries,
    "terminators": terminators,
}  # fmt: skip
# These show all of their documents together, and not the newest.
SETS = {"compare": compare, "builds": builds, "performance": performance}


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("results", type=Path, nargs="*", metavar="RESULT")
    parse.add_argument("--page", type=Path, action="append", default=[], help="fill it in place")
    parse.add_argument("--out", type=Path, metavar="FOLDER", help="draw the charts into it")
    parse.add_argument(
        "--docs", type=Path, nargs="?", const=TREE / "docs", metavar="FOLDER",
        help="fill all pages there, and draw the charts that they show; default: docs/",
    )  # fmt: skip
    use = parse.parse_args()
    if not use.results and not use.docs:
        parse.error("name a result, or --docs")
    return use


def subject(path: Path, document: dict) -> str | None:
    """subject of a document; None for one that has no tables here."""
    if performance.part(path):
        return "performance"
    if document.get("kind") == "compare":
        return "builds" if builds.name_of(path) else "compare"
    study = document.get("study")
    return study if study in STUDIES else None


def documents(paths: list[Path], all_known: bool) -> dict[str, dict[Path, dict]]:
    """documents by their subjects. Raises Unusable for one without a subject, if all must be
    known."""
    found: dict[str, dict[Path, dict]] = defaultdict(dict)
    for path in paths:
        document = read(path)
        if name := subject(path, document):
            found[name][path] = document
        elif all_known:
            raise Unusable(
                f"{path}: it is not of cleat-bench compare, of a study ({', '.join(STUDIES)}) "
                "or of another program that `show.py --help` names"
            )
    return found


def tables(found: dict[str, dict[Path, dict]]) -> dict[str, dict[str, str]]:
    made = {name: SETS[name].tables(each) for name, each in found.items() if name in SETS}
    for name, each in found.items():
        if name in STUDIES:
            path = newest(each)
            with whole(path):
                made[name] = STUDIES[name].tables(each[path])
    return made


def charts(found: dict[str, dict[Path, dict]]) -> dict[str, str]:
    """charts by the names of their files, without the suffix."""
    made = {}
    for name, each in found.items():
        if name in SETS:
            made |= SETS[name].charts(each)
        else:
            path = newest(each)
            with whole(path):
                made |= STUDIES[name].charts(each[path])
    return made


def draw(made: dict[str, str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        (folder / f"{name}.svg").write_text(text, encoding="utf-8")


def main() -> int:
    use = arguments()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # A reader that ends early (head) is no error.
    try:
        found = documents(use.results or sorted(RESULTS.glob("*.json")), bool(use.results))
        pages = use.page
        if use.docs:
            pages = [*pages, use.docs / "performance.md", *sorted(use.docs.glob("studies/*.md"))]
        if pages or not use.out:
            made = tables(found)
        texts = {}
        for page in pages:
            with whole(page):
                texts[page] = fill(page.read_text(), made)
        if use.out:
            draw(charts(found), use.out)
        if use.docs:
            shown = set(re.findall(r"charts/([\w.-]+)\.svg", "".join(texts.values())))
            all_charts = charts(found)
            draw({name: all_charts[name] for name in sorted(shown & {*all_charts})},
                 use.docs / "charts")
        for page, text in texts.items():
            page.write_text(text)
        if not pages and not use.out:
            for name, parts in made.items():
                for part, text in parts.items():
                    print(f"<!-- {name}/{part} -->\n{text}\n")
    except (Unusable, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
