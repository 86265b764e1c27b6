"""The tables and charts of docs/performance.md and docs/studies/compare.md, from comparisons.

‡ marks a server with rounds in which the generator was the limit, and a line below the table counts
them.
"""

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Callable

from cleat_perf.results import Unusable, whole
from cleat_perf.table import table
from studies.compare import charts as drawing
from studies.compare.comparison import OURS, Units, figure_of, row, scaled, span, times, trials

# Our controls are no terminators that a user could choose.
CONTROLS = ("epoll", "asio")

# The aim for cleat's figure over that of the best other server, and what the page calls it.
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
    ("System calls and workers", r"system-calls|two-workers"),
)


@dataclass(frozen=True)
class Cell:
    """Cell is a server in a scenario: its figures of every round, and ratios to cleat's."""

    values: list[float]
    ratios: list[float]
    reason: str = ""  # why there are no figures
    short: str = ""  # the share that was resumed, where it is less than the scenario asks for
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
    units: Units
    per: str
    times_answers: bool  # it compares a p99, and not what a server uses up

    def ours(self) -> str:
        """ours is cleat's median, with its unit."""
        ours = self.cells[OURS]
        if not ours.values:
            return "not measured"
        per = "" if self.times_answers else self.per
        return scaled(median(ours.values), self.units) + per + ours.marks()

    def best(self) -> tuple[str, list[float]] | None:
        """best is the other server whose median is least, with cleat's ratios to it."""
        others = {
            name: cell
            for name, cell in self.cells.items()
            if name != OURS and name not in CONTROLS and cell.ratios
        }
        if not others:
            return None
        name = min(others, key=lambda each: median(others[each].ratios))
        return name, [1 / ratio for ratio in others[name].ratios if ratio]


Lines = dict[str, Line]


def resumed_short(scenario: dict, rounds: list[dict]) -> str:
    """resumed_short is the share that was resumed, where it is less than the scenario asks for: a
    server that cannot resume makes full handshakes, and its figure is of those."""
    asked = 1 - 1 / scenario["reuse"] if scenario["kind"] == "handshake" else 0
    counts = [each["load"]["handshakes"] for each in rounds if each and each.get("load")]
    made = sum(each["full"] + each["resumed"] for each in counts)
    share = sum(each["resumed"] for each in counts) / made if made else asked
    return f"resumed {100 * share:.0f} % of its handshakes" if share < asked - 0.02 else ""


def line(trial: dict) -> Line:
    scenario = trial["scenario"]
    key, _, units = figure_of(scenario)
    base = next(each for each in trial["servers"] if each["name"] == OURS)
    cells = {}
    for each in trial["servers"]:
        found = row(each, base, key)
        cells[each["name"]] = Cell(
            found.values, found.ratios, each.get("left_out") or "",
            resumed_short(scenario, each["rounds"]), found.limited, tuple(found.free),
            tuple((each.get("medians") or {}).items()),
        )  # fmt: skip
    per = "/GB" if scenario.get("operation") == "GB" else ""
    return Line(scenario["name"], scenario["title"], cells, units, per, key == "p99_ns")


def matrix(lines: list[Line]) -> str:
    """matrix has a row for each scenario, and a column for each server."""
    names = [name for name in lines[0].cells if name != OURS]
    rows = [
        [each.title, each.ours()]
        + [each.cells[name].text() if name in each.cells else "–" for name in names]
        for each in lines
    ]
    return table(["", OURS, *names], rows)


def cannot(reason: str) -> str:
    """cannot is a server's own message in short, without time stamps and codes."""
    reason = reason.strip().split("\n")[0].removeprefix("left out: ")
    reason = reason.removeprefix("it cannot do this: ")
    reason = re.sub(r"^ended with code \d+: ", "", reason)
    reason = re.sub(r"^(\[!\]|\[ALERT\]|[\[\d/: .-]+\]?\[\w+\])\S*\s*([\d#:]+ )?", "", reason)
    return reason if len(reason) <= 120 else reason[:119] + "…"


def notes(lines: list[Line]) -> list[str]:
    """notes say why a server has no figure, or a figure of something else."""
    found: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for each in lines:
        for name, cell in each.cells.items():
            if cell.short:
                found.setdefault(("†", name), (cell.short, []))[1].append(each.name)
            elif not cell.values:
                reason = cannot(cell.reason) or "not measured"
                found.setdefault(("–", name), (reason, []))[1].append(each.name)
    return [
        f"- {mark} {name}: {what} ({', '.join(where)})"
        for (mark, name), (what, where) in found.items()
    ]


def limited_rounds(line: Line) -> str:
    """limited_rounds counts for each server of a scenario the rounds in which the generator was the
    limit, with the ratio of the other rounds where it matters; empty where there were none."""
    parts = []
    for name, cell in line.cells.items():
        if not cell.limited:
            continue
        text = f"{name} {cell.limited} of {len(cell.values)}"
        if line.times_answers and name != OURS:
            text += f" ({times(median(cell.free))} without)" if cell.free else " (none without)"
        parts.append(text)
    return f"{line.name}: {', '.join(parts)}" if parts else ""


def limits(lines: list[Line]) -> str:
    """limits explains ‡ in a table, and whether it matters; empty where no server has it."""
    found = [(each, text) for each in lines if (text := limited_rounds(each))]
    if not found:
        return ""
    text = "‡ Rounds in which the generator was the limit: "
    text += "; ".join(each for _, each in found) + "."
    if any(each.times_answers for each, _ in found):
        text += " Its lateness is in their p99."
    if not all(each.times_answers for each, _ in found):
        text += " CPU is counted at the server, for each operation: the generator's is not in it."
    return text


def main_table(lines: Lines) -> str:
    chosen = [lines[name] for name in TARGETS if name in lines]
    if not chosen:
        return ""
    below = limits(chosen)
    return matrix(chosen) + (f"\n\n{below}" if below else "")


def families(lines: Lines) -> str:
    parts = []
    for heading, pattern in FAMILIES:
        found = [lines[name] for name in sorted(lines) if re.match(pattern, name)]
        if found:
            parts += [f"## {heading}", matrix(found)]
            below = notes(found)
            if limited := limits(found):
                below.append(f"- {limited}")
            if below:
                parts.append("\n".join(below))
    return "\n\n".join(parts)


def not_ahead(lines: Lines) -> str:
    """not_ahead lists every server that is below cleat in any round: no lead over it is shown."""
    rows = []
    for _, pattern in FAMILIES:
        for name in sorted(each for each in lines if re.match(pattern, each)):
            found = [
                f"{server} {cell.text()}"
                for server, cell in lines[name].cells.items()
                if server not in CONTROLS and cell.ratios and min(cell.ratios) <= 1
            ]
            if found:
                rows.append([lines[name].title, ", ".join(found)])
    return table(["", "no lead is shown over"], rows) if rows else "A lead is shown in every cell."


def verdict(target: float, ratios: list[float]) -> str:
    if target == 1 and min(ratios) <= 1 <= max(ratios):
        return "no difference shown"
    if median(ratios) > target:
        return "**not met**"
    return "met" if max(ratios) <= target else "met in the median, not in every round"


def targets(lines: Lines) -> str:
    """targets has cleat over the best of all others."""
    rows, below = [], []
    for name, (words, target) in TARGETS.items():
        if name in lines and (found := lines[name].best()):
            best, ratios = found
            shown, judged = span(ratios), verdict(target, ratios)
            ours, theirs = lines[name].cells[OURS], lines[name].cells[best]
            if ours.limited or theirs.limited:
                shown += " ‡"
                theirs = replace(theirs, free=tuple(1 / ratio for ratio in theirs.free if ratio))
                below.append(replace(lines[name], cells={OURS: ours, best: theirs}))
            rows.append([words, f"{target:.2f}", shown, best, judged])
    return "\n\n".join(
        [table(["", "aim", "cleat is", "of", ""], rows), *([limits(below)] if below else [])]
    )


def milliseconds(ns: float | None) -> str:
    return "–" if ns is None else f"{ns / 1e6:.2f}"


def rate(medians: dict[str, float | None], line: Line) -> str:
    """rate of the other clients: handshakes, or bytes."""
    found = medians.get("rate")
    if found is None:
        return "–"
    return f"{found / 1e6:.0f} MB/s" if line.per == "/GB" else f"{found:.0f}/s"


def established(lines: Lines) -> str:
    """established has, for each server, the times of requests on kept connections, and what other
    clients got done beside them."""
    parts = []
    for name in sorted(each for each in lines if each.startswith("established-")):
        line = lines[name]
        rows = []
        for server, cell in line.cells.items():
            if cell.values:
                found = dict(cell.medians)
                p50, p99 = milliseconds(found["p50_ns"]), milliseconds(found["p99_ns"])
                rows.append([server + cell.marks(), p50, p99, rate(found, line)])
        parts += [f"**{line.title}**", table(["", "p50, ms", "p99, ms", "done beside"], rows)]
        if below := limits([line]):
            parts.append(below)
    return "\n\n".join(parts)


TABLES: dict[str, Callable[[Lines], str]] = {
    "established": established,
    "matrix": main_table,
    "targets": targets,
    "families": families,
    "not_ahead": not_ahead,
}


def tables(documents: dict[Path, dict]) -> dict[str, str]:
    lines = {}
    for name, (path, _, trial) in trials(documents).items():
        with whole(path):
            if any(each["name"] == OURS for each in trial["servers"]):
                lines[name] = line(trial)
    if not lines:
        raise Unusable(f"{[*documents][-1]}: no scenario has {OURS} in it: compare with it")
    return {name: make(lines) for name, make in TABLES.items()}


def charts(documents: dict[Path, dict]) -> dict[str, str]:
    """charts by the names of their scenarios; a scenario in which no server was measured has none,
    and is named on standard error."""
    found = {}
    for name, (path, document, trial) in trials(documents).items():
        with whole(path):
            chart = drawing.chart(document, trial)
        if chart:
            found[name] = drawing.draw(chart)
        else:
            print(f"{path}: {name}: no server was measured", file=sys.stderr)
    return found
