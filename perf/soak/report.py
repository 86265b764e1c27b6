"""The report of a run: each series with its trend and its bound, and the failures without a
reason."""

import statistics
from collections import Counter
from dataclasses import dataclass

from cleat_perf.table import table

from soak.cycle import Cycle
from soak.idlers import Idlers
from soak.samples import Samples
from soak.trend import GROWS, POINTS_MIN, UNKNOWN, Bound, Trend, fit, verdict

MIB = 2**20
P99 = "p99"
MEMORY = "memory"  # A flood's goes back when it has been calm for a while, not at rest.
ALIKE_CORES = 0.25


@dataclass(frozen=True)
class Series:
    """Series is what is judged: how it is called, its unit, and how much it may grow."""

    title: str
    bound: Bound
    unit: float = 1
    digits: int = 1


# A bound is above what a machine with other work makes of a series that does not grow, in a run of
# two minutes. In a longer run it is the same, so that it finds a slower growth. That of memory is
# more than a flood takes: it goes back at different times of a cycle.
SERIES = {
    MEMORY: Series("memory (RssAnon), MiB", Bound(16 * MIB), MIB, 2),
    "descriptors": Series("descriptors", Bound(3)),
    "threads": Series("threads", Bound(1)),
    "connections": Series("connections of clients", Bound(3)),
    "upstream_connections": Series("connections to servers", Bound(3)),
    "queued": Series("connections in the accept queues", Bound(3)),
    "configurations": Series("configurations in use", Bound(3)),
    "metric_series": Series("series of /metrics", Bound(10)),
    P99: Series("p99 of the quiet stream, ms", Bound(5, 0.5), 1, 2),
}


def alike(cycles: list[Cycle]) -> list[Cycle]:
    """alike are the cycles beside which the machine had as much other work as in the median cycle:
    two latencies are compared only then."""
    if not cycles:
        return []
    usual = statistics.median(each.other_cores for each in cycles)
    return [each for each in cycles if abs(each.other_cores - usual) <= ALIKE_CORES]


def series_of(
    name: str, cycles: list[Cycle], samples: Samples, warm_up: int
) -> tuple[list[float], list[float]]:
    """series_of a name are the times and the values that are judged."""
    if name == MEMORY:
        return samples.least(name, warm_up)
    if name != P99:
        return samples.at_rest(name, warm_up)
    known = [each for each in alike(cycles[warm_up:]) if each.p99_ms is not None]
    return [each.seconds for each in known], [each.p99_ms for each in known]


def judged(name: str, x: list[float], y: list[float]) -> dict:
    """judged is a series with its trend, which has no figures where there are too few points."""
    found = {"series": name, "points": len(x), "verdict": UNKNOWN}
    if len(x) < POINTS_MIN:
        return found
    trend: Trend = fit(x, y)
    bound = SERIES[name].bound
    return found | {
        "start": trend.start,
        "growth": trend.growth,
        "growth_low": trend.growth_low,
        "growth_high": trend.growth_high,
        "bound": bound.above(trend.start),
        "verdict": verdict(trend, bound),
    }


def failed(cycles: list[Cycle], idlers: Idlers) -> list[str]:
    """failed is what nothing excuses."""
    said = []
    for each in cycles:
        said += each.faults
        for phase in each.phases:
            said += phase.unexpected()
    said += [f"{count} times {who} was cut" for who, count in sorted(idlers.cut.items())]
    return said


def progress(cycle: Cycle, samples: Samples) -> str:
    """progress is a line about the last cycle."""
    last = samples.rows[-1]
    lost = sum(sum(each.failures.values()) for each in cycle.phases)
    faults = cycle.faults + [said for each in cycle.phases for said in each.unexpected()]
    p99 = "unknown" if cycle.p99_ms is None else f"{cycle.p99_ms:.1f} ms"
    return "; ".join([
        f"{samples.seconds():.0f} s: {last['memory'] / MIB:.2f} MiB",
        f"{last['descriptors']:.0f} descriptors", f"p99 {p99}", f"{lost} clients failed", *faults,
    ])  # fmt: skip


def findings(cycles: list[Cycle], samples: Samples, idlers: Idlers, warm_up: int) -> dict:
    """findings are the document of a run; `faults` are what makes it fail."""
    trends = [judged(name, *series_of(name, cycles, samples, warm_up)) for name in SERIES]
    faults = failed(cycles, idlers)
    faults += [f"{SERIES[each['series']].title}: it grows"
               for each in trends if each["verdict"] == GROWS]  # fmt: skip
    return {
        "faults": faults,
        "trends": trends,
        "idle": {"asked": idlers.asked, "cut_with_server": idlers.cut_with_server},
        "cycles": [
            {
                "seconds": each.seconds,
                "p99_ms": each.p99_ms,
                "other_cores": each.other_cores,
                "flood": each.flood,
                "phases": {phase.name: phase.document() for phase in each.phases},
            }
            for each in cycles
        ],
        "samples": samples.columns(),
    }


def trend_row(found: dict) -> list[str]:
    series = SERIES[found["series"]]
    if "growth" not in found:
        return [series.title, str(found["points"]), "", "", "", found["verdict"]]

    def figure(key: str, sign: str = "") -> str:
        return f"{found[key] / series.unit:{sign},.{series.digits}f}"

    interval = f"{figure('growth_low', '+')} to {figure('growth_high', '+')}"
    growth = f"{figure('growth', '+')} ({interval})"
    points = str(found["points"])
    return [series.title, points, figure("start"), growth, figure("bound"), found["verdict"]]


def client_rows(cycles: list[dict]) -> list[list[str]]:
    """client_rows add up each phase of all cycles."""
    rows = []
    for name in ("calm", "backend faults", "reloads", "flood"):
        own = [phase for each in cycles for title, phase in each["phases"].items()
               if title.endswith(f", {name}")]  # fmt: skip
        lost: Counter[str] = Counter()
        for stage, kind, count in (failure for phase in own for failure in phase["failures"]):
            lost[f"{stage}: {kind}"] += count
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(lost.items()))
        rows.append([name, f"{sum(each['attempts'] for each in own):,}", kinds or "0"])
    return rows


def flood_text(document: dict) -> str:
    floods = [each["flood"] for each in document["cycles"]]
    asked = sum(each["rate_asked"] for each in floods) / len(floods)
    done = sum(each["rate"] for each in floods) / len(floods)
    return (
        f"cleat makes {document['capacity']:,.0f} full handshakes with RSA a second; the flood "
        f"asked for {asked:,.0f} a second, and {done:,.0f} a second were done while it lasted."
    )


def tables(document: dict) -> str:
    """tables are the series, and the honest clients."""
    heads = ["", "cycles", "at the start", "growth over the run, 95 %", "may grow by", ""]
    return "\n\n".join([
        table(heads, map(trend_row, document["trends"])),
        table(["honest clients", "transactions", "failed"], client_rows(document["cycles"])),
    ])  # fmt: skip


def shown(document: dict) -> str:
    """shown is the report of a document."""
    count = len(document["cycles"])
    seconds = document["samples"]["seconds"][-1]
    lines = [
        f"{count} cycles in {seconds / 60:.1f} minutes. {flood_text(document)}",
        "",
        tables(document),
        "",
        f"Idle clients have asked {document['idle']['asked']:,} times; "
        f"{document['idle']['cut_with_server']:,} times one had been cut with its server.",
        "",
    ]
    lines += [f"FAILED: {each}" for each in document["faults"]] or ["Nothing has failed."]
    return "\n".join(lines)
