#!/usr/bin/env python3
"""Draws what `cleat-bench compare --json` found: an SVG file for each scenario.

    perf/charts.py RESULT.json... --out docs/charts/

Each is named after its scenario and has a bar for each server: the median of what the scenario is
about (CPU, memory when idle, p99 where the rate is given), whiskers from the least to the most of
the rounds, and how many times cleat's it is. ‡ marks who had rounds in which the generator was the
limit. The same documents give the same bytes.
"""

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from textwrap import wrap
from typing import Callable, NoReturn

from cleat_perf.svg import GAP, LETTER, WIDTH, framed, text_of, three

OURS = "cleat"
TIMES = (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))
SIZES = (("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9))

LEFT = 118  # where bars begin
TOP = 66
ROW = 34
BAR = 20
FOOT = 18  # a line below the bars
CUT = 12  # times the least bar: what is longer ends there, or nobody would see the others


class Unusable(Exception):
    """Unusable is a document that cannot be drawn, and says why."""


@dataclass(frozen=True)
class Row:
    """Row is one server: its figure of every round, and the ratios to the base's."""

    name: str
    values: list[float]
    ratios: list[float]
    limited: int  # rounds of it in which the generator was the limit
    free: list[float]  # the ratios of rounds in which it was that neither here nor for the base

    def ratio(self) -> str:
        """ratio to the base in words, with its spread; empty for the base."""
        if not self.ratios:
            return ""
        text = f"{times(median(self.ratios))}×"
        if len(self.ratios) == 1:
            return f"{text} (one round)"
        least, most = min(self.ratios), max(self.ratios)
        text += f" ({times(least)} to {times(most)})"
        return f"{text}, no difference shown" if least <= 1 <= most else text


@dataclass(frozen=True)
class Chart:
    """Chart is all that is drawn of one scenario; `shown` writes a figure with its unit."""

    name: str
    title: str
    about: str
    base: str
    shown: Callable[[float], str]
    rows: list[Row]

    def figure(self, row: Row) -> str:
        if not row.values:
            return "not measured"
        before = "» " if max(row.values) > self.longest() else ""
        return before + self.shown(median(row.values)) + (" ‡" if row.limited else "")

    def longest(self) -> float:
        """longest is where bars and whiskers are cut off."""
        medians = [median(row.values) for row in self.rows if row.values]
        return CUT * min((one for one in medians if one > 0), default=1.0)

    def caption(self) -> str:
        cut = any(max(row.values, default=0) > self.longest() for row in self.rows)
        return self.about + ("; » goes on" if cut else "")

    def foot(self) -> str:
        """foot says what ‡ means, where anybody has it."""
        found = [
            f"{row.name} {row.limited} of {len(row.values)}" for row in self.rows if row.limited
        ]
        return "‡ rounds in which the generator was the limit: " + ", ".join(found) if found else ""


def scaled(value: float, scale: tuple[tuple[str, float], ...]) -> str:
    unit, factor = max((one for one in scale if value >= one[1] * 0.9995), default=scale[0],
                       key=lambda one: one[1])
    return f"{three(value / factor)} {unit}"


def times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 9.995 else three(ratio)


def judged_by(scenario: dict) -> tuple[str, str, tuple[tuple[str, float], ...]]:
    """judged_by gives the key of what a scenario is about, its name, and its units."""
    if scenario["kind"] == "idle":
        return "memory_bytes", "Memory per connection", SIZES
    if scenario["kind"] == "established":
        return "p99_ns", "p99 of established connections", TIMES
    arrivals = scenario.get("arrivals")
    if arrivals is None:
        return "cpu_ns", f"CPU per {scenario['operation']}", TIMES
    text = f"p99 at {arrivals['rate']:.0f}/s"
    if arrivals.get("share") is not None:
        share = f"{100 * arrivals['share']:.0f} %"
        text += f", {share} of what the weakest ({arrivals['weakest']}) can do"
    return "p99_ns", text, TIMES


def is_limited(figures: dict | None) -> bool:
    """is_limited: the generator was the limit of a round, or one of them."""
    return bool(figures and (figures.get("load") or {}).get("limits"))


def row_of(server: dict, base: dict | None, key: str) -> Row:
    """row_of a server; ratios are taken within a round, because machines drift."""
    mine = [each for each in server["rounds"] if each and each.get(key) is not None]
    values = [each[key] for each in mine]
    limited = sum(is_limited(each) for each in mine)
    ratios, free = [], []
    for one, other in zip(server["rounds"], base["rounds"]) if base and server is not base else ():
        if one and other and one.get(key) is not None and other.get(key):
            ratios.append(one[key] / other[key])
            if not is_limited(one) and not is_limited(other):
                free.append(ratios[-1])
    return Row(server["name"], values, ratios, limited, free)


def chart_of(document: dict, trial: dict) -> Chart | None:
    """chart_of a trial; nothing where nobody was measured."""
    scenario = trial["scenario"]
    name = scenario["name"]
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise Unusable(f"'{name}' cannot be the name of a file: rename the scenario")
    key, what, units = judged_by(scenario)
    measured = {
        each["name"]: each
        for each in trial["servers"]
        if any(one and one.get(key) is not None for one in each["rounds"])
    }
    if not measured:
        return None
    base = OURS if OURS in measured else trial["base"]
    rounds = document["rounds"]
    about = f"{what}, less is better; {rounds} round{'' if rounds == 1 else 's'}"
    about += f", {document['started'][:10]}" + (", PARTIAL" if document["partial"] else "")
    rows = [row_of(each, measured.get(base), key) for each in trial["servers"]]
    return Chart(name, scenario["title"], about, base, lambda value: scaled(value, units), rows)


def spoken(chart: Chart) -> str:
    """spoken is the chart for those who do not see it."""
    rows = [f"{row.name} {chart.figure(row)} {row.ratio()}".rstrip() for row in chart.rows]
    foot = f" {chart.foot()}." if chart.foot() else ""
    return f"{chart.caption()}. × is times {chart.base}. " + "; ".join(rows) + "." + foot


def drawn_row(row: Row, top: float, scale: float, chart: Chart) -> list[str]:
    """drawn_row is a server's name, bar, whiskers and label."""
    ours = " ours" if row.name == OURS else ""
    middle = top + ROW / 2
    name = row.name if len(row.name) <= 15 else row.name[:14] + "…"
    lines = [
        f'<text x="{LEFT - GAP}" y="{middle + 4.5:.1f}" text-anchor="end" class="name{ours}">'
        f"{text_of(name)}</text>"
    ]
    end = float(LEFT)
    if row.values:
        bar, least, most = (
            LEFT + min(max(0.0, value), chart.longest()) * scale
            for value in (median(row.values), min(row.values), max(row.values))
        )
        lines.append(
            f'<rect class="bar{ours}" x="{LEFT}" y="{middle - BAR / 2:.1f}" '
            f'width="{bar - LEFT:.1f}" height="{BAR}"/>'
        )
        if most - least >= 1:
            low, high = middle - 4, middle + 4
            lines.append(
                f'<path class="whisker" d="M{least:.1f} {middle:.1f}H{most:.1f}'
                f'M{least:.1f} {low:.1f}V{high:.1f}M{most:.1f} {low:.1f}V{high:.1f}"/>'
            )
        end = max(bar, most)
    lines.append(
        f'<text x="{end + GAP:.1f}" y="{middle + 4.5:.1f}">'
        f'<tspan class="figure{ours}">{text_of(chart.figure(row))}</tspan>'
        f'<tspan class="soft" dx="{GAP}">{text_of(row.ratio())}</tspan></text>'
    )
    return lines


def drawn(chart: Chart) -> str:
    """svg is the whole file."""
    height = TOP + ROW * len(chart.rows) + 12
    # As wide as what is said behind every bar leaves room for.
    scales = [
        (WIDTH - LEFT - 3 * GAP - LETTER * len(chart.figure(row) + row.ratio()))
        / min(max(row.values), chart.longest())
        for row in chart.rows
        if row.values and max(row.values) > 0
    ]
    scale = min(scales, default=1.0)
    lines = []
    for number, row in enumerate(chart.rows):
        lines += drawn_row(row, TOP + ROW * number, scale, chart)
    lines.append(
        f'<path class="line" d="M{LEFT - 0.5} {TOP - 4}V{TOP + ROW * len(chart.rows) + 4}"/>'
    )
    for line in wrap(chart.foot(), int((WIDTH - 2 * GAP) / LETTER)):
        height += FOOT
        lines.append(f'<text x="{GAP}" y="{height - GAP}" class="soft">{text_of(line)}</text>')
    return framed(chart.title, chart.caption(), spoken(chart), height, lines)


def read(path: Path) -> dict:
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Unusable(f"it cannot be read: {error}") from error
    if not isinstance(document, dict) or document.get("kind") != "compare":
        raise Unusable("it is not of cleat-bench compare: name what `compare --json` wrote")
    if document.get("cleat_bench") != 1:
        raise Unusable("it is of another version than 1: take the charts.py of that one")
    return document


def charts_of(path: Path) -> list[Chart]:
    """charts_of a document, of those of its scenarios that anybody did."""
    document = read(path)
    try:
        found = [(trial, chart_of(document, trial)) for trial in document["trials"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise Unusable(f"it is damaged: {error!r}: compare again") from error
    for trial, chart in found:
        if chart is None:
            print(f"{path}: {trial['scenario']['name']}: nobody was measured", file=sys.stderr)
    return [chart for _, chart in found if chart is not None]


def give_up(text: str) -> NoReturn:
    print(f"charts.py: {text}", file=sys.stderr)
    sys.exit(1)


def main() -> None:
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("results", type=Path, nargs="+", help="what `compare --json` wrote")
    parse.add_argument("--out", type=Path, required=True, help="the folder for the SVG files")
    use = parse.parse_args()
    charts: dict[str, tuple[Path, Chart]] = {}
    for path in use.results:
        try:
            found = charts_of(path)
        except Unusable as error:
            give_up(f"{path}: {error}")
        for chart in found:
            if chart.name in charts:
                give_up(f"{path}: {charts[chart.name][0]} has {chart.name} too: name one of them")
            charts[chart.name] = (path, chart)
    use.out.mkdir(parents=True, exist_ok=True)
    for name, (_, chart) in charts.items():
        file = use.out / f"{name}.svg"
        file.write_text(drawn(chart), encoding="utf-8")
        print(f"written: {file}")


if __name__ == "__main__":
    main()
