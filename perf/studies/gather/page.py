"""The tables and charts of docs/studies/gather.md."""

from statistics import median

from cleat_perf.chart import Bars, bars
from cleat_perf.table import spread, table

WAYS = {"separate": "SSL_write each", "copied": "memcpy, SSL_write", "writev": "cleat_ssl_writev"}
SETS = {"cases": "the 12 cases", "large": "64 KiB"}


def ratios(case: dict) -> list[float]:
    """ratios of writev to the best of the others, each within a round."""
    rounds = zip(*(case[way]["p50"] for way in ("separate", "copied", "writev")))
    return [writev / min(separate, copied) for separate, copied, writev in rounds]


def pieces(cases: dict) -> str:
    """pieces has a row for each way to cut a message; times are nanoseconds."""
    head = ["pieces", *WAYS.values(), "writev is", "min", "p90", "p99", "p99.9",
            "bytes on the wire"]  # fmt: skip
    rows = []
    for name, case in cases.items():
        p50 = [f"{median(case[way]['p50']):,.0f}" for way in WAYS]
        others = [
            "/".join(f"{median(case[way][part]):,.0f}" for way in WAYS)
            for part in ("min", "p90", "p99", "p99.9")
        ]
        wire = f"{case['separate']['wire_bytes']:,} → {case['writev']['wire_bytes']:,}"
        rows.append([name, *p50, spread(ratios(case), 3), *others, wire])
    return table(head, rows)


def draw(library: str, which: str, cases: dict) -> str:
    ways = [
        Bars(title, [median(case[way]["p50"]) / 1000 for case in cases.values()])
        for way, title in WAYS.items()
    ]
    return bars(
        f"Writing a message in pieces: {SETS[which]}", f"p50 in µs, less is better; {library}",
        list(cases), ways, lambda us: f"{us:.2f} µs",
    )  # fmt: skip


def tables(document: dict) -> dict[str, str]:
    return {
        f"{name}-{which}": pieces(found[which])
        for name, found in document["libraries"].items()
        for which in SETS
    }


def charts(document: dict) -> dict[str, str]:
    return {
        f"study-gather-{name}-{which}": draw(found["library"], which, found[which])
        for name, found in document["libraries"].items()
        for which in SETS
    }
