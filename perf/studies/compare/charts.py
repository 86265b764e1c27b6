"""Charts of comparisons: one for each scenario, with a bar for each server.

A bar is the median of the figure that the scenario compares, with whiskers from the least to the
most of the rounds, and its ratio to cleat's. ‡ marks a server with rounds in which the generator
was the limit.
"""

from dataclasses import dataclass
from statistics import median

from cleat_perf.chart import RoundsBar, rounds_bars
from studies.compare.comparison import OURS, Row, Units, figure_of, row, scaled, times

CUT = 12  # times the least bar: longer bars end there, or the others could not be seen


@dataclass(frozen=True)
class Chart:
    """Chart is what is drawn of one scenario."""

    title: str
    about: str
    base: str
    units: Units
    rows: list[Row]

    def figure(self, each: Row) -> str:
        """figure is the median with its unit; » marks a bar that is cut."""
        if not each.values:
            return "not measured"
        cut = "» " if max(each.values) > self.longest() else ""
        return cut + scaled(median(each.values), self.units) + (" ‡" if each.limited else "")

    def longest(self) -> float:
        """longest is the value at which bars and whiskers are cut."""
        medians = [median(each.values) for each in self.rows if each.values]
        return CUT * min((one for one in medians if one > 0), default=1.0)

    def caption(self) -> str:
        cut = any(max(each.values, default=0) > self.longest() for each in self.rows)
        return self.about + ("; » goes on" if cut else "")

    def foot(self) -> str:
        """foot explains ‡; empty where no row has it."""
        limited = [
            f"{each.name} {each.limited} of {len(each.values)}"
            for each in self.rows
            if each.limited
        ]
        before = "‡ rounds in which the generator was the limit: "
        return before + ", ".join(limited) if limited else ""

    def description(self) -> str:
        """description is the chart for readers who do not see it."""
        rows = [f"{each.name} {self.figure(each)} {ratio(each)}".rstrip() for each in self.rows]
        foot = f" {self.foot()}." if self.foot() else ""
        return f"{self.caption()}. × is times {self.base}. " + "; ".join(rows) + "." + foot


def ratio(each: Row) -> str:
    """ratio to the base with its spread; empty for the base."""
    if not each.ratios:
        return ""
    text = f"{times(median(each.ratios))}×"
    if len(each.ratios) == 1:
        return f"{text} (one round)"
    least, most = min(each.ratios), max(each.ratios)
    text += f" ({times(least)} to {times(most)})"
    return f"{text}, no difference shown" if least <= 1 <= most else text


def chart(document: dict, trial: dict) -> Chart | None:
    """chart of a trial; None where no server was measured."""
    key, what, units = figure_of(trial["scenario"])
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
    rows = [row(each, measured.get(base), key) for each in trial["servers"]]
    return Chart(trial["scenario"]["title"], about, base, units, rows)


def draw(made: Chart) -> str:
    """draw gives the text of an SVG file."""
    bars = [
        RoundsBar(each.name, each.values, made.figure(each), ratio(each), each.name == OURS)
        for each in made.rows
    ]
    return rounds_bars(
        made.title, made.caption(), made.description(), bars, made.longest(), made.foot()
    )
