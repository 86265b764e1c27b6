#!/usr/bin/env python3
"""Fills in pages with the tables of what `cleat-bench compare --json` found.

    perf/tables.py RESULT.json... --page docs/performance.md --page docs/studies/compare.md

What stands in a page between `<!-- tables.py: NAME -->` and `<!-- end -->` is made anew. Without a
page, all tables are printed. Where several results have a scenario, the one named last counts.
‡ marks who had rounds in which the generator was the limit, and a line below the table counts them.
"""

import argparse
import re
import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from charts import OURS, Unusable, judged_by, read, row_of, scaled, times

# A control of ours is no terminator that anybody could choose.
CONTROLS = ("epoll", "asio")

# What cleat is to be of the best of all others, and what that is called.
TARGETS = {
    "full-ecdsa-p256": ("ECDSA handshake", 0.90),
    "resumed-4-tickets": ("3 of 4 resumed", 0.90),
    "full-rsa-2048": ("RSA-2048 handshake", 0.95),
    "down-1m": ("GB down", 0.60),
    "up-1m": ("GB up", 0.60),
    "idle": ("idle connection", 0.60),
    "latency-70": ("p99 at 70 % of the weakest", 1.00),
}

# Kinds of load, in the order of the page: a heading, and the scenarios below it.
FAMILIES = (
    ("Full handshakes", r"full-"),
    ("Sessions of several transactions", r"resumed-"),
    ("Cipher suites", r"suite-"),
    ("Bytes", r"(down|up)-"),
    ("Idle connections", r"idle"),
    ("Latency at a given rate", r"latency-"),
    ("What established connections feel", r"established-"),
)


@dataclass(frozen=True)
class Cell:
    """Cell is a server in a scenario: its figures of every round, and ratios to cleat's."""

    values: list[float]
    ratios: list[float]
    reason: str = ""  # why there are none
    short: str = ""  # what it resumed, where that is less than was asked for
    limited: int = 0  # rounds in which the generator was the limit
    free: tuple[float, ...] = ()  # ratios of the rounds in which it was not
    medians: tuple[tuple[str, float | None], ...] = ()  # of all its figures

    def marks(self) -> str:
        return (" †" if self.short else "") + (" ‡" if self.limited else "")

    def text(self) -> str:
        return span(self.ratios) + self.marks() if self.ratios else "–"


@dataclass(frozen=True)
class Line:
    """Line is a scenario with every server in it."""

    name: str
    title: str
    cells: dict[str, Cell]
    units: tuple[tuple[str, float], ...]
    per: str
    times_answers: bool  # it is about a p99, and not about what a server uses up

    def ours(self) -> str:
        """ours is cleat's median, with its unit."""
        ours = self.cells[OURS]
        if not ours.values:
            return "not measured"
        per = "" if self.times_answers else self.per
        return scaled(median(ours.values), self.units) + per + ours.marks()

    def best(self) -> tuple[str, list[float]] | None:
        """best is the one of the others whose median is least, with cleat's ratios to it."""
        others = {
            name: cell
            for name, cell in self.cells.items()
            if name != OURS and name not in CONTROLS and cell.ratios
        }
        if not others:
            return None
        name = min(others, key=lambda each: median(others[each].ratios))
        return name, [1 / ratio for ratio in others[name].ratios if ratio]


def resumed_short(scenario: dict, rounds: list[dict]) -> str:
    """resumed_short is what was resumed, where it is less than the scenario asks for: a server
    without the means for it does full handshakes, and its figure is of those."""
    asked = 1 - 1 / scenario["reuse"] if scenario["kind"] == "handshake" else 0
    count = [each["load"]["handshakes"] for each in rounds if each and each.get("load")]
    all_ = sum(each["full"] + each["resumed"] for each in count)
    share = sum(each["resumed"] for each in count) / all_ if all_ else asked
    return f"resumed {100 * share:.0f} % of its handshakes" if share < asked - 0.02 else ""


def line_of(trial: dict) -> Line:
    scenario = trial["scenario"]
    key, _, units = judged_by(scenario)
    base = next(each for each in trial["servers"] if each["name"] == OURS)
    cells = {}
    for each in trial["servers"]:
        row = row_of(each, base, key)
        short = resumed_short(scenario, each["rounds"])
        reason = each.get("left_out") or ""
        cells[each["name"]] = Cell(
            row.values, row.ratios, reason, short, row.limited, tuple(row.free),
            tuple((each.get("medians") or {}).items()),
        )  # fmt: skip
    per = "/GB" if scenario.get("operation") == "GB" else ""
    return Line(scenario["name"], scenario["title"], cells, units, per, key == "p99_ns")


def lines_of(documents: list[dict]) -> dict[str, Line]:
    return {
        trial["scenario"]["name"]: line_of(trial)
        for document in documents
        for trial in document["trials"]
        if any(each["name"] == OURS for each in trial["servers"])
    }


def span(ratios: list[float]) -> str:
    """span is a median and its spread; in brackets where the spread includes 1."""
    if len(ratios) == 1:
        return f"{times(ratios[0])} (one round)"
    least, most = min(ratios), max(ratios)
    left, right = "[]" if least <= 1 <= most else "()"
    return f"{times(median(ratios))} {left}{times(least)}..{times(most)}{right}"


def matrix(lines: list[Line]) -> list[str]:
    """matrix is a row for each scenario, and a column for each server."""
    names = [name for name in lines[0].cells if name != OURS]
    made = [f"| | {OURS} | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for line in lines:
        text = [line.cells[name].text() if name in line.cells else "–" for name in names]
        made.append(f"| {line.title} | {line.ours()} | " + " | ".join(text) + " |")
    return made


def cannot(reason: str) -> str:
    """cannot is what a server said of itself, in short: without stamps, and without its code."""
    reason = reason.strip().split("\n")[0].removeprefix("left out: ")
    reason = reason.removeprefix("it cannot do this: ")
    reason = re.sub(r"^ended with code \d+: ", "", reason)
    reason = re.sub(r"^(\[!\]|\[ALERT\]|[\[\d/: .-]+\]?\[\w+\])\S*\s*([\d#:]+ )?", "", reason)
    return reason if len(reason) <= 120 else reason[:119] + "…"


def notes(lines: list[Line]) -> list[str]:
    """notes say why servers have no figure, or one of something else."""
    found: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for line in lines:
        for name, cell in line.cells.items():
            if cell.short:
                found.setdefault(("†", name), (cell.short, []))[1].append(line.name)
            elif not cell.values:
                reason = cannot(cell.reason) or "not measured"
                found.setdefault(("–", name), (reason, []))[1].append(line.name)
    return [
        f"- {mark} {name}: {what} ({', '.join(where)})"
        for (mark, name), (what, where) in found.items()
    ]


def limited_rounds(line: Line) -> str:
    """limited_rounds says for each server of a line, in how many of its rounds the generator was
    the limit, and where that matters what its ratio is without them; empty if it never was."""
    said = []
    for name, cell in line.cells.items():
        if not cell.limited:
            continue
        text = f"{name} {cell.limited} of {len(cell.values)}"
        if line.times_answers and name != OURS:
            text += f" ({times(median(cell.free))} without)" if cell.free else " (none without)"
        said.append(text)
    return f"{line.name}: {', '.join(said)}" if said else ""


def limits(lines: list[Line]) -> str:
    """limits is what ‡ means in a table, and whether it matters; empty where nobody has it."""
    found = [(line, said) for line in lines if (said := limited_rounds(line))]
    if not found:
        return ""
    text = "‡ Rounds in which the generator was the limit: "
    text += "; ".join(said for _, said in found) + "."
    if any(line.times_answers for line, _ in found):
        text += " Its lateness is in their p99."
    if not all(line.times_answers for line, _ in found):
        text += " CPU is counted at the server, for each operation: the generator's is not in it."
    return text


def main_table(lines: dict[str, Line]) -> list[str]:
    chosen = [lines[name] for name in TARGETS if name in lines]
    below = limits(chosen)
    return [*matrix(chosen), *(["", below] if below else [])]


def families(lines: dict[str, Line]) -> list[str]:
    made = []
    for heading, pattern in FAMILIES:
        found = [lines[name] for name in sorted(lines) if re.match(pattern, name)]
        if found:
            made += [f"## {heading}", "", *matrix(found), ""]
            below = notes(found)
            if of_limits := limits(found):
                below.append(f"- {of_limits}")
            if below:
                made += [*below, ""]
    return made[:-1]


def not_ahead(lines: dict[str, Line]) -> list[str]:
    """not_ahead is every server that is below cleat in any round, so that no lead is shown."""
    made = []
    for _, pattern in FAMILIES:
        for name in sorted(each for each in lines if re.match(pattern, each)):
            found = [
                f"{server} {cell.text()}"
                for server, cell in lines[name].cells.items()
                if server not in CONTROLS and cell.ratios and min(cell.ratios) <= 1
            ]
            if found:
                made.append(f"| {lines[name].title} | {', '.join(found)} |")
    head = ["| | no lead is shown over |", "|---|---|"]
    return head + made if made else ["A lead is shown in every cell."]


def verdict(target: float, ratios: list[float]) -> str:
    if target == 1 and min(ratios) <= 1 <= max(ratios):
        return "no difference shown"
    if median(ratios) > target:
        return "**not met**"
    return "met" if max(ratios) <= target else "met in the median, not in every round"


def targets(lines: dict[str, Line]) -> list[str]:
    """targets is cleat over the best of all others."""
    made = ["| | aim | cleat is | of | |", "|---|---|---|---|---|"]
    below = []
    for name, (words, target) in TARGETS.items():
        if name in lines and (found := lines[name].best()):
            best, ratios = found
            shown, judged = span(ratios), verdict(target, ratios)
            ours, theirs = lines[name].cells[OURS], lines[name].cells[best]
            if ours.limited or theirs.limited:
                shown += " ‡"
                theirs = replace(theirs, free=tuple(1 / ratio for ratio in theirs.free if ratio))
                below.append(replace(lines[name], cells={OURS: ours, best: theirs}))
            made.append(f"| {words} | {target:.2f} | {shown} | {best} | {judged} |")
    return [*made, *(["", limits(below)] if below else [])]


def milliseconds(ns: float | None) -> str:
    return "–" if ns is None else f"{ns / 1e6:.2f}"


def done(of: dict[str, float | None], line: Line) -> str:
    """done is what the others did in a second: handshakes, or bytes."""
    rate = of.get("rate")
    if rate is None:
        return "–"
    return f"{rate / 1e6:.0f} MB/s" if line.per == "/GB" else f"{rate:.0f}/s"


def established(lines: dict[str, Line]) -> list[str]:
    """established is, for each server, what requests on kept connections take, and what is done
    beside them."""
    made = []
    for name in sorted(each for each in lines if each.startswith("established-")):
        line = lines[name]
        head = ["| | p50, ms | p99, ms | done beside |", "|---|---|---|---|"]
        made += [f"**{line.title}**", "", *head]
        for server, cell in line.cells.items():
            if cell.values:
                of = dict(cell.medians)
                p50, p99 = milliseconds(of["p50_ns"]), milliseconds(of["p99_ns"])
                made.append(f"| {server}{cell.marks()} | {p50} | {p99} | {done(of, line)} |")
        below = limits([line])
        made += ["", *([below, ""] if below else [])]
    return made[:-1]


TABLES = {
    "established": established,
    "matrix": main_table,
    "targets": targets,
    "families": families,
    "not_ahead": not_ahead,
}


def filled(page: str, lines: dict[str, Line]) -> str:
    """filled is a page with its tables made anew."""

    def made(place: re.Match[str]) -> str:
        if place[2] not in TABLES:
            raise Unusable(f"there is no table '{place[2]}': there are {', '.join(TABLES)}")
        return "\n".join([place[1], *TABLES[place[2]](lines), place[3]])

    return re.sub(r"(<!-- tables\.py: (\w+) -->)\n.*?(<!-- end -->)", made, page, flags=re.DOTALL)


def main() -> int:
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("results", type=Path, nargs="+", help="what `compare --json` wrote")
    parse.add_argument("--page", type=Path, action="append", default=[], help="fill it in place")
    use = parse.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # A reader that has seen enough is no error.
    at = use.results[0]
    try:
        documents = []
        for at in use.results:
            documents.append(read(at))
        lines = lines_of(documents)
        if not lines:
            raise Unusable(f"no scenario has {OURS} in it: compare with it")
        for at in use.page:
            at.write_text(filled(at.read_text(), lines))
    except (Unusable, OSError) as error:
        print(f"tables.py: {at}: {error}", file=sys.stderr)
        return 1
    except (KeyError, TypeError, AttributeError) as error:
        print(f"tables.py: {at}: it is damaged: {error!r}: compare again", file=sys.stderr)
        return 1
    if not use.page:
        for name, make in TABLES.items():
            print(f"<!-- {name} -->\n" + "\n".join(make(lines)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
