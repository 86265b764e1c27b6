"""Tables in Markdown, and the places of a page that they go to."""

import re
from statistics import median
from typing import Iterable

from cleat_perf.results import Unusable

PLACE = re.compile(r"(<!-- show\.py: ([\w-]+)/(\S+) -->)\n.*?(<!-- end -->)", re.DOTALL)


def row(cells: Iterable[object]) -> str:
    return "".join("| " if each == "" else f"| {each} " for each in cells) + "|"


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    cells = list(head)
    return "\n".join([row(cells), "|---" * len(cells) + "|", *(row(each) for each in rows)])


def spread(values: list[float], digits: int = 2, between: str = " to ") -> str:
    """spread is a median with the least and the most, or one value alone."""
    middle = f"{median(values):.{digits}f}"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):.{digits}f}{between}{max(values):.{digits}f})"


def microseconds(value: float, thousands: str = ",") -> str:
    """microseconds have a digit behind the point below a hundred, and no unit."""
    return f"{value:{thousands}.0f}" if value >= 99.5 else f"{value:.1f}"


def fill(page: str, tables: dict[str, dict[str, str]]) -> str:
    """fill is the page with the tables of the given subjects made anew. A place is what stands
    between `<!-- show.py: SUBJECT/TABLE -->` and `<!-- end -->`; those of other subjects stay."""

    def made(place: re.Match[str]) -> str:
        mark, subject, name, end = place.groups()
        if subject not in tables:
            return place[0]
        if name not in tables[subject]:
            known = ", ".join(tables[subject])
            raise Unusable(f"there is no table '{subject}/{name}': of {subject} there are {known}")
        return f"{mark}\n{tables[subject][name]}\n{end}"

    return PLACE.sub(made, page)
