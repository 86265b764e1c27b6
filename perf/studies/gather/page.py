#!/usr/bin/env python3
"""Prints the tables of docs/studies/gather.md from a result of run.py, and draws its charts.

    perf/studies/gather/page.py perf/results/*-study-gather.json --out docs/charts/
"""

import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from cleat_perf.builds import asked_to_show  # noqa: E402
from cleat_perf.chart import Bars, bars  # noqa: E402

WAYS = {"separate": "SSL_write each", "copied": "memcpy, SSL_write", "writev": "cleat_ssl_writev"}
SETS = {"cases": "the 12 cases", "large": "64 KiB"}


def ratios(case: dict) -> list[float]:
    """ratios of writev to the best of the others, each within a round."""
    rounds = zip(*(case[way]["p50"] for way in ("separate", "copied", "writev")))
    return [writev / min(separate, copied) for separate, copied, writev in rounds]


def table(cases: dict) -> list[str]:
    lines = [
        "| pieces | " + " | ".join(WAYS.values()) + " | writev is | min | p90 | p99 | p99.9 | "
        "bytes on the wire |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, case in cases.items():
        found = ratios(case)
        p50 = [f"{median(case[way]['p50']):,.0f}" for way in WAYS]
        others = " | ".join(
            "/".join(f"{median(case[way][part]):,.0f}" for way in WAYS)
            for part in ("min", "p90", "p99", "p99.9")
        )
        wire = f"{case['separate']['wire_bytes']:,} → {case['writev']['wire_bytes']:,}"
        lines.append(
            f"| {name} | {' | '.join(p50)} | {median(found):.3f} "
            f"({min(found):.3f} to {max(found):.3f}) | {others} | {wire} |"
        )
    return lines


def drawn(library: str, which: str, cases: dict) -> str:
    ways = [
        Bars(called, [median(case[way]["p50"]) / 1000 for case in cases.values()])
        for way, called in WAYS.items()
    ]
    return bars(
        f"Writing a message in pieces: {SETS[which]}", f"p50 in µs, less is better; {library}",
        list(cases), ways, lambda us: f"{us:.2f} µs",
    )  # fmt: skip


def main() -> None:
    document, out = asked_to_show("gather", __doc__.splitlines()[0])
    for name, found in document["libraries"].items():
        for which, title in SETS.items():
            print(f"\n### {found['library']}, {title}\n")
            print("\n".join(table(found[which])))
            if out:
                file = out / f"study-gather-{name}-{which}.svg"
                file.write_text(drawn(found["library"], which, found[which]))
                print(f"\nwritten: {file}", file=sys.stderr)


if __name__ == "__main__":
    main()
