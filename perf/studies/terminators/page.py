#!/usr/bin/env python3
"""Prints the tables of docs/studies/terminators.md from a result of run.py, and draws its charts.

    perf/studies/terminators/page.py perf/results/*-study-terminators.json --out docs/charts/
"""

import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from cleat_perf.builds import asked_to_show  # noqa: E402
from cleat_perf.chart import Series, lines  # noqa: E402

# What the benchmarks of 2011 asked of a terminator: to answer in time, and nearly everybody.
PASSED = ("mean response below 100 ms", "failures below 0.1 %")
DRAWN = "resumed-4-rsa-2048"


def passed(run: dict) -> float:
    """passed is the highest rate of a staircase with all that is asked for."""
    return min(run["highest"].get(each) or 0 for each in PASSED)


def cell(row: dict) -> str:
    if not row["rounds"]:
        return "cannot"
    rate = median(passed(run) for run in row["rounds"])
    cpu = median(run["cpu_us"] for run in row["rounds"])
    least, most = (f(passed(run) for run in row["rounds"]) for f in (min, max))
    mark = " *" if any(run["limits"] for run in row["rounds"]) else ""
    if rate == median(run["steps"][-1]["rate"] for run in row["rounds"]):
        mark += " †"
    return f"{rate:,.0f} ({least:,.0f} to {most:,.0f}){mark}, {cpu:,.0f} µs"


def summary(document: dict) -> list[str]:
    names = list(next(iter(document["scenarios"].values())))
    lines_ = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for scenario, servers in document["scenarios"].items():
        cells = [cell(servers[name]) for name in names]
        lines_.append(f"| {document['titles'][scenario]} | {' | '.join(cells)} |")
    return lines_


def in_time(run: dict) -> int:
    """in_time is the index of the highest step with all that is asked for, or of the first."""
    rates = [step["rate"] for step in run["steps"]]
    return rates.index(passed(run)) if passed(run) in rates else 0


def told(step: dict) -> str:
    mean = step["response_mean_ns"] / 1e6
    return f"{step['attempted']:,} | {step['ok']:,} | {step['failed']:,} | {mean:,.1f} ms"


def one_by_one(document: dict) -> list[str]:
    """one_by_one is, for each server, its last step in time and the one after it, of the round in
    the middle."""
    lines_ = []
    for scenario, servers in document["scenarios"].items():
        lines_ += [
            f"\n**{document['titles'][scenario]}**\n",
            "| | attempted in a second | successful | failed | mean response | the next step: "
            "attempted | successful | failed | mean response |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        for name, row in servers.items():
            if not row["rounds"]:
                lines_.append(f"| {name} | cannot | | | | | | | |")
                continue
            middle = sorted(row["rounds"], key=passed)[len(row["rounds"]) // 2]
            steps_, at = middle["steps"], in_time(middle)
            after = told(steps_[at + 1]) if at + 1 < len(steps_) else "none | | |"
            lines_.append(f"| {name} | {told(steps_[at])} | {after} |")
    return lines_


def left_out(document: dict) -> list[str]:
    return [
        f"- {document['titles'][scenario]}: {name}: {row['left_out']}"
        for scenario, servers in document["scenarios"].items()
        for name, row in servers.items()
        if "left_out" in row
    ]


def steps(runs: list[dict], value: str) -> list[tuple[float, float]]:
    """steps of several staircases with the same rates, as medians; those that all have. Old results
    have as `ok` what ended during a step, and nothing as `done`."""
    rates = sorted(set.intersection(*({step["rate"] for step in run["steps"]} for run in runs)))
    return [
        (
            rate,
            median(
                step.get(value, step["ok"])
                for run in runs
                for step in run["steps"]
                if step["rate"] == rate
            ),
        )
        for rate in rates
    ]  # fmt: skip


def charts(document: dict, scenario: str) -> dict[str, str]:
    servers = {
        name: row["rounds"]
        for name, row in document["scenarios"].get(scenario, {}).items()
        if row["rounds"]
    }
    if not servers:
        return {}
    title = document["titles"][scenario]
    about = (
        f"{document['rounds']} rounds, a core for the server; steps that all rounds made, "
        "up to 1.2 times what a closed loop did"
    )
    ok = [Series(name, steps(runs, "done")) for name, runs in servers.items()]
    late = [
        Series(name, [(rate, ns / 1e6) for rate, ns in steps(runs, "response_mean_ns")])
        for name, runs in servers.items()
    ]
    return {
        f"study-terminators-{scenario}-ok": lines(
            f"Answered: {title}", about, "new connections asked for, per second", "per second", ok
        ),
        f"study-terminators-{scenario}-response": lines(
            f"Response time: {title}", about, "new connections asked for, per second", "mean, ms",
            late,
        ),
    }  # fmt: skip


def main() -> None:
    document, out = asked_to_show("terminators", __doc__.splitlines()[0])
    print("\n".join(summary(document)))
    print("\n".join(one_by_one(document)))
    print("\n" + "\n".join(left_out(document)))
    if out:
        for name, text in charts(document, DRAWN).items():
            (out / f"{name}.svg").write_text(text)
            print(f"written: {out / name}.svg", file=sys.stderr)


if __name__ == "__main__":
    main()
