"""Charts of the studies: lines over a common x, and bars in groups.

    lines("Bandwidth", "MB/s, more is better", "threads", "MB/s",
          [Series("naive", [(1, 410), (2, 380)]), Series("cleat", [(1, 430), (2, 850)])])

Each gives the text of an SVG file. A series has the same colour wherever its place in the list is
the same; ours are blue. What has not been measured is None, and is said.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Callable

from cleat_perf.svg import GAP, LETTER, WIDTH, framed, text_of, three

# Told apart by those who see colours otherwise too (Okabe and Ito), light enough for dark pages.
OURS = ("#2f7fc0", "#6bb3ec", "#1d5d96", "#9cc9ee")
COLOURS = ("#d55e00", "#009e73", "#cc79a7", "#b58900", "#7a7f87", "#8c510a", "#5e4fa2", "#4d4d4d")

TOP = 66
ROW = 20
BAR = 13
HEIGHT = 300  # of a line chart's area
LEFT = 74
TICKS = 10  # more values of x than these get round ones
LABEL = 15  # between the labels of two lines that end at the same place


@dataclass(frozen=True)
class Series:
    """Series is a line: its name, and its points from left to right."""

    name: str
    points: list[tuple[float, float]]


@dataclass(frozen=True)
class Bars:
    """Bars has one value for each group; None where nothing was measured."""

    name: str
    values: list[float | None]


def colours(names: list[str]) -> list[str]:
    """colours of series by their place; ours are blue."""
    ours, others = itertools.cycle(OURS), itertools.cycle(COLOURS)
    return [next(ours if name.startswith("cleat") else others) for name in names]


def steps(most: float) -> list[float]:
    """steps are round values from 0 up to at least `most`, four to eight of them."""
    if most <= 0:
        return [0, 1]
    power = 10.0 ** math.floor(math.log10(most / 4))
    step = next(each * power for each in (1, 2, 2.5, 5, 10) if most / (each * power) <= 7)
    return [step * number for number in range(math.ceil(most / step * 0.9999) + 1)]


def written(value: float) -> str:
    """written is an axis' figure without zeros that say nothing."""
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def apart(wanted: list[float]) -> list[float]:
    """apart moves labels down from where they are wanted, so that none covers another."""
    places = dict[int, float]()
    free = -math.inf
    for number in sorted(range(len(wanted)), key=lambda each: wanted[each]):
        free = places[number] = max(wanted[number], free + LABEL)
    return [places[number] for number in range(len(wanted))]


def spoken_line(series: Series) -> str:
    return f"{series.name}: " + ", ".join(f"{written(x)} {three(y)}" for x, y in series.points)


def decades(values: list[float]) -> list[float]:
    """decades are 1, 2 and 5 times the powers of ten that values lie between."""
    least, most = min(values, default=1.0), max(values, default=10.0)
    levels = [part * 10.0**power for power in range(-3, 13) for part in (1, 2, 5)]
    first = max((i for i, level in enumerate(levels) if level <= least), default=0)
    last = min((i for i, level in enumerate(levels) if level >= most), default=len(levels) - 1)
    return levels[first : max(last, first + 1) + 1]


def lines(
    title: str, about: str, x_label: str, y_label: str, series: list[Series], *,
    x_log: bool = False, y_log: bool = False,
) -> str:
    """lines over a common x, whose values are its ticks unless they are many; y begins at 0, or at
    a power of ten."""
    series = [each for each in series if each.points]
    ticks = sorted({x for each in series for x, _ in each.points}) or [1.0]
    if len(ticks) > TICKS:
        ticks = steps(ticks[-1])
    heights = [y for each in series for _, y in each.points]
    levels = decades(heights) if y_log else steps(max(heights, default=1.0))
    right = WIDTH - 2 * GAP - LETTER * max((len(each.name) for each in series), default=0)
    place = math.log2 if x_log else float
    first, last = place(ticks[0]), place(ticks[-1])

    top = TOP + ROW

    def at(x: float, y: float) -> tuple[float, float]:
        across = (place(x) - first) / (last - first) if last > first else 0.0
        if y_log:
            up = math.log(max(y, levels[0]) / levels[0]) / math.log(levels[-1] / levels[0])
        else:
            up = y / levels[-1]
        return LEFT + across * (right - LEFT), top + HEIGHT * (1 - up)

    body = [f'<text x="{GAP}" y="{TOP + 4}" class="soft">{text_of(y_label)}</text>']
    for level in levels:
        y = at(ticks[0], level)[1]
        body.append(f'<path class="line" opacity="0.4" d="M{LEFT} {y:.1f}H{right:.1f}"/>')
        if level or levels[-1] == 0:
            body.append(
                f'<text x="{LEFT - GAP}" y="{y + 4.5:.1f}" text-anchor="end" class="soft">'
                f"{written(level)}</text>"
            )
    bottom = top + HEIGHT
    for x in ticks:
        body.append(
            f'<text x="{at(x, 0)[0]:.1f}" y="{bottom + 18}" text-anchor="middle" class="soft">'
            f"{written(x)}</text>"
        )
    body.append(
        f'<text x="{(LEFT + right) / 2:.1f}" y="{bottom + 38}" text-anchor="middle" class="soft">'
        f"{text_of(x_label)}</text>"
    )
    names = apart([at(*each.points[-1])[1] for each in series])
    for each, colour, label in zip(series, colours([one.name for one in series]), names):
        points = [at(x, y) for x, y in each.points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        body.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2.2"/>')
        body += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        body.append(
            f'<text x="{points[-1][0] + GAP:.1f}" y="{label + 4.5:.1f}" style="fill:{colour}">'
            f"{text_of(each.name)}</text>"
        )
    height = max([bottom + 50, *(label + GAP for label in names)])
    spoken = ". ".join([about, *(spoken_line(each) for each in series)])
    return framed(title, about, f"{spoken}.", round(height), body)


def bars(
    title: str, about: str, groups: list[str], series: list[Bars], shown: Callable[[float], str]
) -> str:
    """bars in groups, one below the other; `shown` writes a value with its unit."""
    most = max((value for each in series for value in each.values if value is not None), default=0)
    left = 2 * GAP + 1.1 * LETTER * max([len(each.name) for each in series], default=0)
    figures = [len(shown(value)) for each in series for value in each.values if value is not None]
    room = WIDTH - left - 3 * GAP - LETTER * max(figures, default=0)
    palette = colours([each.name for each in series])
    body = []
    spoken = [about]
    top = float(TOP)
    for number, group in enumerate(groups):
        body.append(f'<text x="{GAP}" y="{top + 12:.1f}" class="ours">{text_of(group)}</text>')
        top += ROW
        said = []
        for each, colour in zip(series, palette):
            value = each.values[number]
            figure = "not measured" if value is None else shown(value)
            said.append(f"{each.name} {figure}")
            end = left + (room * value / most if value and most > 0 else 0)
            middle = top + ROW / 2
            body.append(
                f'<text x="{left - GAP:.1f}" y="{middle + 4.5:.1f}" text-anchor="end">'
                f"{text_of(each.name)}</text>"
            )
            if value is not None:
                body.append(
                    f'<rect x="{left:.1f}" y="{middle - BAR / 2:.1f}" width="{end - left:.1f}" '
                    f'height="{BAR}" fill="{colour}"/>'
                )
            body.append(
                f'<text x="{end + GAP / 2:.1f}" y="{middle + 4.5:.1f}" class="soft">'
                f"{text_of(figure)}</text>"
            )
            top += ROW
        spoken.append(f"{group}: " + ", ".join(said))
        top += GAP
    return framed(title, about, ". ".join(spoken) + ".", round(top + 4), body)
