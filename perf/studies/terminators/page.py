"""The tables and charts of docs/studies/terminators.md."""

from statistics import median

from cleat_perf.chart import Series, lines
from cleat_perf.table import table

# The benchmarks of 2011 asked of a terminator: answers in time, and for nearly every client.
PASSED = ("mean response below 100 ms", "failures below 0.1 %")
DRAWN = "resumed-4-rsa-2048"


def passed(run: dict) -> float:
    """passed is the highest rate of a staircase that meets all criteria."""
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


def summary(document: dict) -> str:
    names = list(next(iter(document["scenarios"].values())))
    rows = [
        [document["titles"][scenario], *(cell(servers[name]) for name in names)]
        for scenario, servers in document["scenarios"].items()
    ]
    return table(["", *names], rows)


def in_time(run: dict) -> int:
    """in_time is the index of the highest step that meets all criteria, or of the first."""
    rates = [step["rate"] for step in run["steps"]]
    return rates.index(passed(run)) if passed(run) in rates else 0


def step_cells(step: dict) -> list[str]:
    mean = step["response_mean_ns"] / 1e6
    return [f"{step['attempted']:,}", f"{step['ok']:,}", f"{step['failed']:,}", f"{mean:,.1f} ms"]


def one_by_one(document: dict) -> str:
    """one_by_one has, for each server, its last step in time and the step after it, of the round in
    the middle."""
    head = [
        "", "attempted in a second", "successful", "failed", "mean response",
        "the next step: attempted", "successful", "failed", "mean response",
    ]  # fmt: skip
    parts = []
    for scenario, servers in document["scenarios"].items():
        rows = []
        for name, row in servers.items():
            if not row["rounds"]:
                rows.append([name, "cannot", *[""] * 7])
                continue
            middle = sorted(row["rounds"], key=passed)[len(row["rounds"]) // 2]
            last = in_time(middle)
            step, *after = middle["steps"][last : last + 2]
            next_cells = step_cells(after[0]) if after else ["none", "", "", ""]
            rows.append([name, *step_cells(step), *next_cells])
        parts += [f"**{document['titles'][scenario]}**", table(head, rows)]
    return "\n\n".join(parts)


def left_out(document: dict) -> str:
    return "\n".join(
        f"- {document['titles'][scenario]}: {name}: {row['left_out']}"
        for scenario, servers in document["scenarios"].items()
        for name, row in servers.items()
        if "left_out" in row
    )


def steps(runs: list[dict], value: str) -> list[tuple[float, float]]:
    """steps of several staircases with the same rates, as medians; only those that all have."""
    rates = sorted(set.intersection(*({step["rate"] for step in run["steps"]} for run in runs)))
    return [
        (rate, median(step[value] for run in runs for step in run["steps"] if step["rate"] == rate))
        for rate in rates
    ]


def tables(document: dict) -> dict[str, str]:
    return {
        "summary": summary(document),
        "steps": one_by_one(document),
        "left-out": left_out(document),
    }


def charts(document: dict) -> dict[str, str]:
    scenario = DRAWN
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
