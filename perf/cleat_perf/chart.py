"""Charts as SVG: lines over a common x, bars in groups, and bars with the spread of their rounds.

    lines("Bandwidth", "MB/s, more is better", "threads", "MB/s",
          [Series("naive", [(1, 410), (2, 380)]), Series("cleat", [(1, 430), (2, 850)])])

Each function returns the text of a file. The charts follow the reader's light or dark scheme, need
nothing but a browser, and are the same bytes for the same figures. A series has the colour of its
place in the list; those of cleat are blue. A value that was not measured is None, and is shown as
"not measured".
"""

import itertools
import math
import re
from dataclasses import dataclass
from statistics import median
from textwrap import wrap
from typing import Callable
from xml.sax.saxutils import escape

WIDTH = 760
GAP = 10
LETTER = 7.0  # about the width of one, 13 px high
TOP = 66

STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2933; }
  .title { font-size: 16px; font-weight: 600; }
  .soft { fill: #52606d; }
  .ours { font-weight: 600; }
  .bar { fill: #b3bdc7; } .bar.ours { fill: #2f6f9f; }
  .whisker { stroke: #1f2933; stroke-width: 1.3; fill: none; }
  .line { stroke: #9aa5b1; stroke-width: 1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb; } .soft { fill: #9aa5b1; }
    .bar { fill: #52606d; } .bar.ours { fill: #4f97c9; }
    .whisker { stroke: #e4e7eb; } .line { stroke: #616e7c; }
  }
"""

# Colours that colour-blind readers distinguish (Okabe and Ito), light enough for dark pages.
OUR_COLOURS = ("#2f7fc0", "#6bb3ec", "#1d5d96", "#9cc9ee")
COLOURS = ("#d55e00", "#009e73", "#cc79a7", "#b58900", "#7a7f87", "#8c510a", "#5e4fa2", "#4d4d4d")

LINES_HEIGHT = 300
LINES_LEFT = 74
TICKS = 10  # more values of x than these get round ticks
LABEL = 15  # between the labels of two lines that end at the same height

GROUP_ROW = 20
GROUP_BAR = 13

ROUNDS_LEFT = 118
ROUNDS_ROW = 34
ROUNDS_BAR = 20
ROUNDS_FOOT = 18  # a line below the bars


@dataclass(frozen=True)
class Series:
    """Series is a line: its name, and its points from left to right. Where `measured` is given,
    only the points at these x have dots, and the line is dashed: the other points are computed."""

    name: str
    points: list[tuple[float, float]]
    measured: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Bars:
    """Bars has one value for each group; None where nothing was measured."""

    name: str
    values: list[float | None]


@dataclass(frozen=True)
class RoundsBar:
    """RoundsBar is a bar of the median of its rounds, with whiskers from the least to the most."""

    name: str
    values: list[float]
    figure: str  # the text behind the bar
    comment: str  # softer text behind the figure
    ours: bool


def escaped(text: str) -> str:
    """escaped text may stand in XML, without the characters that XML does not have."""
    return escape(re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", text))


def three_digits(value: float) -> str:
    """three_digits are significant; a larger whole part keeps all of its digits."""
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"


def frame(title: str, about: str, description: str, height: float, body: list[str]) -> str:
    """frame is the whole file; `description` is the chart for readers who do not see it."""
    lines_ = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-labelledby="title desc">',
        f'<title id="title">{escaped(title)}</title>',
        f'<desc id="desc">{escaped(description)}</desc>',
        f"<style>{STYLE}</style>",
        f'<text x="{GAP}" y="24" class="title">{escaped(title)}</text>',
        f'<text x="{GAP}" y="45" class="soft">{escaped(about)}</text>',
        *body,
    ]
    return "\n".join(lines_) + "\n</svg>\n"


def colours(names: list[str]) -> list[str]:
    """colours of series by their place."""
    ours, others = itertools.cycle(OUR_COLOURS), itertools.cycle(COLOURS)
    return [next(ours if name.startswith("cleat") else others) for name in names]


def steps(most: float) -> list[float]:
    """steps are round values from 0 up to at least `most`, four to eight of them."""
    if most <= 0:
        return [0, 1]
    power = 10.0 ** math.floor(math.log10(most / 4))
    step = next(each * power for each in (1, 2, 2.5, 5, 10) if most / (each * power) <= 7)
    return [step * number for number in range(math.ceil(most / step * 0.9999) + 1)]


def decades(values: list[float]) -> list[float]:
    """decades are 1, 2 and 5 times the powers of ten that values lie between."""
    least, most = min(values, default=1.0), max(values, default=10.0)
    levels = [part * 10.0**power for power in range(-3, 13) for part in (1, 2, 5)]
    first = max((i for i, level in enumerate(levels) if level <= least), default=0)
    last = min((i for i, level in enumerate(levels) if level >= most), default=len(levels) - 1)
    return levels[first : max(last, first + 1) + 1]


def axis_figure(value: float) -> str:
    """axis_figure has no zeros behind the point."""
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def without_overlap(wanted: list[float]) -> list[float]:
    """without_overlap moves labels down from their wanted heights until none covers another."""
    heights = dict[int, float]()
    free = -math.inf
    for number in sorted(range(len(wanted)), key=lambda each: wanted[each]):
        free = heights[number] = max(wanted[number], free + LABEL)
    return [heights[number] for number in range(len(wanted))]


def lines(
    title: str, about: str, x_label: str, y_label: str, series: list[Series], *,
    x_log: bool = False, y_log: bool = False,
) -> str:
    """lines over a common x. The ticks are the values of x unless they are many; y begins at 0, or
    at a power of ten."""
    series = [each for each in series if each.points]
    ticks = sorted({x for each in series for x, _ in each.points}) or [1.0]
    if len(ticks) > TICKS:
        ticks = steps(ticks[-1])
    heights = [y for each in series for _, y in each.points]
    levels = decades(heights) if y_log else steps(max(heights, default=1.0))
    right = WIDTH - 2 * GAP - LETTER * max((len(each.name) for each in series), default=0)
    scaled = math.log2 if x_log else float
    first, last = scaled(ticks[0]), scaled(ticks[-1])
    top = TOP + GROUP_ROW
    bottom = top + LINES_HEIGHT

    def position(x: float, y: float) -> tuple[float, float]:
        across = (scaled(x) - first) / (last - first) if last > first else 0.0
        if y_log:
            up = math.log(max(y, levels[0]) / levels[0]) / math.log(levels[-1] / levels[0])
        else:
            up = y / levels[-1]
        return LINES_LEFT + across * (right - LINES_LEFT), top + LINES_HEIGHT * (1 - up)

    body = [f'<text x="{GAP}" y="{TOP + 4}" class="soft">{escaped(y_label)}</text>']
    for level in levels:
        y = position(ticks[0], level)[1]
        body.append(f'<path class="line" opacity="0.4" d="M{LINES_LEFT} {y:.1f}H{right:.1f}"/>')
        if level or levels[-1] == 0:
            body.append(
                f'<text x="{LINES_LEFT - GAP}" y="{y + 4.5:.1f}" text-anchor="end" class="soft">'
                f"{axis_figure(level)}</text>"
            )
    for x in ticks:
        body.append(
            f'<text x="{position(x, 0)[0]:.1f}" y="{bottom + 18}" text-anchor="middle" '
            f'class="soft">{axis_figure(x)}</text>'
        )
    body.append(
        f'<text x="{(LINES_LEFT + right) / 2:.1f}" y="{bottom + 38}" text-anchor="middle" '
        f'class="soft">{escaped(x_label)}</text>'
    )
    labels = without_overlap([position(*each.points[-1])[1] for each in series])
    for each, colour, label in zip(series, colours([one.name for one in series]), labels):
        body += one_line(each, [position(x, y) for x, y in each.points], colour, label)
    height = max([bottom + 50, *(label + GAP for label in labels)])
    described = [
        f"{each.name}: " + ", ".join(f"{axis_figure(x)} {three_digits(y)}" for x, y in each.points)
        for each in series
    ]
    return frame(title, about, ". ".join([about, *described]) + ".", round(height), body)


def one_line(
    series: Series, points: list[tuple[float, float]], colour: str, label: float
) -> list[str]:
    """one_line is a path through points, with its dots and its name at the height `label`."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dashes = "" if series.measured is None else ' stroke-dasharray="6 5"'
    dots = [
        drawn
        for drawn, (x, _) in zip(points, series.points)
        if series.measured is None or x in series.measured
    ]
    return [
        f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2.2"{dashes}/>',
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in dots),
        f'<text x="{points[-1][0] + GAP:.1f}" y="{label + 4.5:.1f}" style="fill:{colour}">'
        f"{escaped(series.name)}</text>",
    ]


def bars(
    title: str, about: str, groups: list[str], series: list[Bars], shown: Callable[[float], str]
) -> str:
    """bars in groups, one below the other; `shown` writes a value with its unit."""
    known = [value for each in series for value in each.values if value is not None]
    most = max(known, default=0)
    left = 2 * GAP + 1.1 * LETTER * max([len(each.name) for each in series], default=0)
    room = WIDTH - left - 3 * GAP - LETTER * max((len(shown(value)) for value in known), default=0)
    palette = colours([each.name for each in series])
    body = []
    description = [about]
    top = float(TOP)
    for number, group in enumerate(groups):
        body.append(f'<text x="{GAP}" y="{top + 12:.1f}" class="ours">{escaped(group)}</text>')
        top += GROUP_ROW
        figures = []
        for each, colour in zip(series, palette):
            value = each.values[number]
            figure = "not measured" if value is None else shown(value)
            figures.append(f"{each.name} {figure}")
            end = left + (room * value / most if value and most > 0 else 0)
            middle = top + GROUP_ROW / 2
            body.append(
                f'<text x="{left - GAP:.1f}" y="{middle + 4.5:.1f}" text-anchor="end">'
                f"{escaped(each.name)}</text>"
            )
            if value is not None:
                body.append(
                    f'<rect x="{left:.1f}" y="{middle - GROUP_BAR / 2:.1f}" '
                    f'width="{end - left:.1f}" height="{GROUP_BAR}" fill="{colour}"/>'
                )
            body.append(
                f'<text x="{end + GAP / 2:.1f}" y="{middle + 4.5:.1f}" class="soft">'
                f"{escaped(figure)}</text>"
            )
            top += GROUP_ROW
        description.append(f"{group}: " + ", ".join(figures))
        top += GAP
    return frame(title, about, ". ".join(description) + ".", round(top + 4), body)


def rounds_bars(
    title: str, about: str, description: str, rows: list[RoundsBar], longest: float, foot: str
) -> str:
    """rounds_bars are bars with whiskers; both end at `longest`. `foot` stands below them."""
    height = TOP + ROUNDS_ROW * len(rows) + 12
    # As wide as the text behind every bar leaves room for.
    scales = [
        (WIDTH - ROUNDS_LEFT - 3 * GAP - LETTER * len(row.figure + row.comment))
        / min(max(row.values), longest)
        for row in rows
        if row.values and max(row.values) > 0
    ]
    scale = min(scales, default=1.0)
    body = []
    for number, row in enumerate(rows):
        body += one_rounds_bar(row, TOP + ROUNDS_ROW * (number + 0.5), scale, longest)
    bottom = TOP + ROUNDS_ROW * len(rows)
    body.append(f'<path class="line" d="M{ROUNDS_LEFT - 0.5} {TOP - 4}V{bottom + 4}"/>')
    for line in wrap(foot, int((WIDTH - 2 * GAP) / LETTER)):
        height += ROUNDS_FOOT
        body.append(f'<text x="{GAP}" y="{height - GAP}" class="soft">{escaped(line)}</text>')
    return frame(title, about, description, height, body)


def one_rounds_bar(row: RoundsBar, middle: float, scale: float, longest: float) -> list[str]:
    """one_rounds_bar is a name, a bar, its whiskers and the text behind it."""
    ours = " ours" if row.ours else ""
    name = row.name if len(row.name) <= 15 else row.name[:14] + "…"
    body = [
        f'<text x="{ROUNDS_LEFT - GAP}" y="{middle + 4.5:.1f}" text-anchor="end" '
        f'class="name{ours}">{escaped(name)}</text>'
    ]
    end = float(ROUNDS_LEFT)
    if row.values:
        bar, least, most = (
            ROUNDS_LEFT + min(max(0.0, value), longest) * scale
            for value in (median(row.values), min(row.values), max(row.values))
        )
        body.append(
            f'<rect class="bar{ours}" x="{ROUNDS_LEFT}" y="{middle - ROUNDS_BAR / 2:.1f}" '
            f'width="{bar - ROUNDS_LEFT:.1f}" height="{ROUNDS_BAR}"/>'
        )
        if most - least >= 1:
            low, high = middle - 4, middle + 4
            body.append(
                f'<path class="whisker" d="M{least:.1f} {middle:.1f}H{most:.1f}'
                f'M{least:.1f} {low:.1f}V{high:.1f}M{most:.1f} {low:.1f}V{high:.1f}"/>'
            )
        end = max(bar, most)
    body.append(
        f'<text x="{end + GAP:.1f}" y="{middle + 4.5:.1f}">'
        f'<tspan class="figure{ours}">{escaped(row.figure)}</tspan>'
        f'<tspan class="soft" dx="{GAP}">{escaped(row.comment)}</tspan></text>'
    )
    return body
