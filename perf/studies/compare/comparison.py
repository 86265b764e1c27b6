"""Documents of `cleat-bench compare --json` as rows: a server, its rounds and its ratios."""

import re
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from cleat_perf.chart import three_digits
from cleat_perf.results import Unusable, whole

OURS = "cleat"
TIMES = (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))
SIZES = (("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9))
PLAIN = (("", 1.0),)
Units = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Row:
    """Row is one server: its figure of every round, and the ratios to the base's."""

    name: str
    values: list[float]
    ratios: list[float]
    limited: int  # rounds in which the generator was the limit
    free: list[float]  # the ratios of rounds in which it was the limit of neither server


def scaled(value: float, units: Units) -> str:
    """scaled is a value with three digits and the unit that fits it."""
    unit, factor = max((one for one in units if value >= one[1] * 0.9995), default=units[0],
                       key=lambda one: one[1])
    return f"{three_digits(value / factor)} {unit}".rstrip()


def times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 9.995 else three_digits(ratio)


def span(ratios: list[float]) -> str:
    """span is a median and its spread; in square brackets where the spread includes 1."""
    if len(ratios) == 1:
        return f"{times(ratios[0])} (one round)"
    least, most = min(ratios), max(ratios)
    left, right = "[]" if least <= 1 <= most else "()"
    return f"{times(median(ratios))} {left}{times(least)}..{times(most)}{right}"


def figure_of(scenario: dict) -> tuple[str, str, Units]:
    """figure_of a scenario is what it compares: the key in a round, its name, and its units."""
    if scenario["kind"] == "idle":
        return "memory_bytes", "Memory per connection", SIZES
    if scenario["kind"] == "system-calls":
        return "system_calls", f"System calls per {scenario['operation']}", PLAIN
    if scenario["kind"] == "workers":
        return "workers_ratio", "CPU with two workers over one", PLAIN
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


def is_limited(figures: dict) -> bool:
    """is_limited tells whether the generator was the limit of a round."""
    return bool((figures.get("load") or {}).get("limits"))


def row(server: dict, base: dict | None, key: str) -> Row:
    """row of a server; ratios are taken within a round, because machines drift."""
    measured = [each for each in server["rounds"] if each and each.get(key) is not None]
    ratios, free = [], []
    for one, other in zip(server["rounds"], base["rounds"]) if base and server is not base else ():
        if one and other and one.get(key) is not None and other.get(key):
            ratios.append(one[key] / other[key])
            if not is_limited(one) and not is_limited(other):
                free.append(ratios[-1])
    limited = sum(is_limited(each) for each in measured)
    return Row(server["name"], [each[key] for each in measured], ratios, limited, free)


def check(document: dict) -> None:
    """check a comparison before it is shown. Raises Unusable."""
    if document.get("cleat_bench") != 1:
        raise Unusable("it is of another version than 1: show it with the show.py of that version")
    for trial in document["trials"]:
        name = trial["scenario"]["name"]
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise Unusable(f"'{name}' cannot be the name of a file: rename the scenario")


def trials(documents: dict[Path, dict]) -> dict[str, tuple[Path, dict, dict]]:
    """trials by the names of their scenarios, each with its document and that one's path. The last
    document that has a scenario counts."""
    found = {}
    for path, document in documents.items():
        with whole(path):
            check(document)
            for trial in document["trials"]:
                found[trial["scenario"]["name"]] = path, document, trial
    return found
