"""Tables of builds, controls and counts: comparisons in files that are called *-builds-NAME.json,
each by its NAME. A row is a scenario, a column a server; the first is the base of the ratios."""

import re
from pathlib import Path
from statistics import median

from cleat_perf.results import newest, whole
from cleat_perf.table import table
from studies.compare.comparison import check, figure_of, row, scaled, span


def name_of(path: Path) -> str | None:
    """name_of the table of a file; None for any other file."""
    found = re.fullmatch(r"[\d-]{10}-builds-([a-z\d-]+)", path.stem)
    return found[1] if found else None


def waits(server: dict) -> str:
    """waits of established connections: p50 and p99 of their requests, and what others get done."""
    rounds = [each for each in server["rounds"] if each]
    p50, p99, rate = (median(each[key] for each in rounds) for key in ("p50_ns", "p99_ns", "rate"))
    done = f"{rate / 1e6:.0f} MB/s" if rate > 1e6 else f"{rate:.0f}/s"
    return f"{p50 / 1e6:.1f} and {p99 / 1e6:.1f} ms, {done}"


def cost(server: dict, base: dict, scenario: dict) -> str:
    """cost of an operation, and its ratio to the base's."""
    key, _, units = figure_of(scenario)
    found = row(server, base, key)
    if not found.values:
        return "–"
    text = scaled(median(found.values), units)
    if scenario["kind"] == "workers":  # It is a ratio itself.
        text = span(found.values)
    if scenario["operation"] == "GB":
        text += "/GB"
    return f"{text}, {span(found.ratios)}" if found.ratios else text


def table_of(document: dict) -> str:
    names = [each["name"] for each in document["trials"][0]["servers"]]
    established = all(
        each["scenario"]["kind"] == "established" for each in document["trials"]
    )
    rows = []
    for trial in document["trials"]:
        servers = {each["name"]: each for each in trial["servers"]}
        base = servers[names[0]]
        rows.append(
            [trial["scenario"]["name"]]
            + [
                waits(servers[name]) if established
                else cost(servers[name], base, trial["scenario"])
                for name in names
            ]
        )  # fmt: skip
    return table(["p50 and p99, done beside" if established else "", *names], rows)


def tables(documents: dict[Path, dict]) -> dict[str, str]:
    """tables of recorded files, by their names; of a name the newest file counts."""
    found = {}
    for name in {name_of(path): None for path in documents}:
        path = newest(each for each in documents if name_of(each) == name)
        with whole(path):
            check(documents[path])
            found[name] = table_of(documents[path])
    return found


def charts(documents: dict[Path, dict]) -> dict[str, str]:
    """charts are none: the tables have all."""
    return {}
