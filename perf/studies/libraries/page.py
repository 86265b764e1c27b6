#!/usr/bin/env python3
"""show.py RESULT.json: tables for docs/studies/libraries.md, and its charts.

    show.py RESULT.json                                    # tables, on standard output
    show.py RESULT.json --out docs/charts/ --page docs/studies/libraries.md

The charts are SVG files, study-libraries-*.svg. What stands in the page below the line "## Figures"
is replaced. The same result gives the same bytes.
"""

import argparse
import statistics
import sys
from pathlib import Path

PERF = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PERF))
from cleat_perf import chart  # noqa: E402
from cleat_perf.builds import end_with_the_reader, newest, read_result  # noqa: E402
from profiles import SAMPLES  # noqa: E402
from runner import report  # noqa: E402

KEYS = {"ecdsa-p256": "ECDSA P-256", "rsa-2048": "RSA-2048"}
KINDS = {
    "full": "full",
    "ticket": "resumed by ticket",
    "id": "resumed by ID",
    "renegotiate": "renegotiated",
}
CONTEXTS = {
    "shared": "shared by all threads",
    "thread": "one for each thread",
    "library": "and a library context for each",
}
FIGURES = "\n## Figures\n"
FEW = 3  # samples, or waits: a row that rests on fewer shows nothing
BASE = "aws-lc"  # what cleat is built with


class Result:
    """Result is a document of run.py, with its cases by what they are."""

    def __init__(self, document: dict):
        self.environment = document["environment"]
        self.command = document["command"]
        self.seconds = document["seconds"]
        self.names = self.environment["libraries"]  # by the library's name here, its own
        self.cases = document["cases"]
        self.profiles = document["profiles"]
        self.threads = sorted({case["threads"] for case in self.cases})

    def libraries(self) -> list[str]:
        return list(self.names)

    def one(self, library: str, **wanted) -> dict | None:
        """one case of a library: what is not said is as in a full handshake on one thread."""
        usual = {
            "version": "1.3", "kind": "full", "key": "ecdsa-p256", "group": "x25519",
            "threads": 1, "contexts": "shared",
        }  # fmt: skip
        asked = usual | wanted | {"library": library}
        found = (
            case for case in self.cases if all(case[name] == asked[name] for name in asked)
        )
        return next(found, None)

    def median(self, figure: str, library: str, **wanted) -> float | None:
        case = self.one(library, **wanted)
        return case["median"][figure] if case and "median" in case else None


def named(version: str, kind: str, key: str, group: str) -> str:
    words = f"TLS {version}, {KINDS[kind]}, {KEYS[key]}"
    return words + (", X25519MLKEM768" if group == "x25519mlkem768" else "")


def us(value: float) -> str:
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}"


def row(cells: list[str]) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


def head(cells: list[str]) -> list[str]:
    return [row(cells), "|" + "---|" * len(cells)]


def kinds_of(result: Result) -> list[tuple[str, str, str, str]]:
    """kinds_of gives each handshake that was made on one thread, once."""
    members = ("version", "kind", "key", "group")
    alone = (case for case in result.cases if case["threads"] == 1)
    found = dict.fromkeys(tuple(case[name] for name in members) for case in alone)
    order = [list(KINDS).index, list(KEYS).index]
    return sorted(found, key=lambda it: (it[0], order[0](it[1]), order[1](it[2]), it[3]))


def costs(result: Result) -> list[str]:
    """costs: microseconds of CPU for a handshake on one thread, server's and client's."""
    lines = head(["server + client, us of CPU", *result.names.values()])
    for version, kind, key, group in kinds_of(result):
        wanted = {"version": version, "kind": kind, "key": key, "group": group}
        cells = [named(version, kind, key, group)]
        for library in result.libraries():
            server = result.median("server_cpu_us", library, **wanted)
            client = result.median("client_cpu_us", library, **wanted)
            cells.append("-" if server is None else f"{us(server)} + {us(client)}")
        lines.append(row(cells))
    return lines


def ratios(result: Result) -> list[str]:
    """ratios of the server's CPU to that of the base, each within a round."""
    others = [library for library in result.libraries() if library != BASE]
    lines = head([f"server, times {result.names[BASE]}", *(result.names[each] for each in others)])
    for version, kind, key, group in kinds_of(result):
        figures = {}
        for library in result.libraries():
            case = result.one(library, version=version, kind=kind, key=key, group=group)
            figures[library] = case["rounds"]["server_cpu_us"] if "rounds" in case else []
        found = {each: report.ratios(figures, each, BASE) for each in others}
        if any(found.values()):
            cells = [report.spread(found[each], 2) if found[each] else "-" for each in others]
            lines.append(row([named(version, kind, key, group), *cells]))
    return lines


def spread(result: Result) -> str:
    """spread says how far the CPU costs of a case's rounds lie apart, of both sides together."""
    widths = []
    for case in result.cases:
        rounds = case.get("rounds", {"server_cpu_us": [], "client_cpu_us": []})
        both = [sum(us) for us in zip(rounds["server_cpu_us"], rounds["client_cpu_us"])]
        if len(both) > 1 and case["threads"] == 1:
            widths.append(100 * (max(both) / min(both) - 1))
    if not widths:
        return "One round: nothing is said of the spread."
    return (
        f"On one thread the dearest round of a case lies {statistics.median(widths):.0f} % above "
        f"its cheapest (the median of all cases; {max(widths):.0f} % in the worst)."
    )


def reasons(result: Result) -> list[str]:
    """reasons why cells are empty, each with the libraries that gave it."""
    found = dict[str, list[str]]()
    for case in result.cases:
        if "unsupported" in case:
            names = found.setdefault(case["unsupported"], [])
            if (name := result.names[case["library"]]) not in names:
                names.append(name)
    return [f"- {reason}: {', '.join(names)}" for reason, names in found.items()]


def scaling(result: Result, kind: str) -> list[str]:
    """scaling: connections a second over the number of threads, and CPU % where they are most."""
    most = result.threads[-1]
    threads = [f"{count} thread{'s' if count > 1 else ''}" for count in result.threads]
    lines = head(["", "contexts", *threads, f"CPU % at {most}"])
    for library in result.libraries():
        for contexts, told in CONTEXTS.items():
            wanted = {"kind": kind, "contexts": contexts}
            rates = [
                result.median("per_second", library, threads=count, **wanted)
                for count in result.threads
            ]
            if all(rate is None for rate in rates):
                continue
            cpu = result.median("cpu_percent", library, threads=most, **wanted)
            cells = ["-" if rate is None else f"{rate:,.0f}" for rate in rates]
            part = "-" if cpu is None else f"{cpu:.0f}"
            lines.append(row([result.names[library], told, *cells, part]))
    return lines


def cpu_share(percent: float, samples: int) -> str:
    """cpu_share is a part of the CPU samples; one of a few of them is said to be below what is told
    apart."""
    if 0 < round(percent * samples / 100) < FEW:
        return f"< {100 * FEW / samples:.1f}"
    return f"{percent:.1f}"


def basis(result: Result) -> list[str]:
    """basis says what the shares rest on, where that is less than run.py wants."""
    counts = [each["cpu_samples"] for each in result.profiles]
    if not counts or min(counts) >= SAMPLES:
        return []
    return [
        f"These profiles have {min(counts):,} to {max(counts):,} CPU samples each; {SAMPLES} are "
        "wanted, and shares of fewer are rough.",
        "",
    ]


def locks(result: Result) -> list[str]:
    """locks: what cleat-locks saw with the most threads."""
    lines = head(
        [
            "", "handshake", "contexts", "blocked %", "lock CPU %", "ref. CPU %", "CPU samples",
            "shared locks",
        ]
    )  # fmt: skip
    for each in sorted(result.profiles, key=lambda it: result.libraries().index(it["library"])):
        samples = each["cpu_samples"]
        lines.append(
            row(
                [
                    result.names[each["library"]],
                    KINDS[each["kind"]],
                    CONTEXTS[each["contexts"]],
                    f"{each['blocked_percent']:.1f}",
                    cpu_share(each["lock_cpu_percent"], samples),
                    cpu_share(each["reference_cpu_percent"], samples),
                    f"{samples:,}",
                    f"{each['shared_acquisitions_per_handshake']:,.1f}",
                ]
            )
        )
    return lines


def rests_on(stack: dict, weight: str, samples: int) -> int | None:
    """rests_on is how many samples, or waits, are behind a stack; None where nobody wrote it down.
    Of CPU samples that is seen from its part of all of them."""
    if "count" in stack:
        return stack["count"]
    return round(stack["percent"] * samples / 100) if weight == "cpu" else None


def stacks(result: Result) -> list[str]:
    """stacks of full handshakes with shared contexts: of CPU time, and of waits for locks. Those
    that rest on a few samples are left out: the next run would have others."""
    lines = []
    for each in result.profiles:
        if each["kind"] != "full" or each["contexts"] != "shared":
            continue
        lines += [f"**{result.names[each['library']]}**", "", "```"]
        samples = each["cpu_samples"]
        for weight, told in (
            ("cpu", f"of the {samples:,} CPU samples"), ("blocked", "of the waits for locks"),
        ):  # fmt: skip
            found = each[f"stacks_by_{weight}"]
            known = [(stack, rests_on(stack, weight, samples)) for stack in found]
            shown = [stack for stack, count in known if count is None or count >= FEW]
            none = f": none that rests on {FEW} or more" if found else ": none"
            lines.append(f"{told}{'' if shown else none}")
            for stack in shown:
                lines.append(f"{stack['percent']:5.1f} %  {stack['innermost_first']}")
        lines += ["```", ""]
    return lines


def server_bars(result: Result, title: str, groups: dict[str, dict]) -> str:
    """server_bars: what a handshake costs the server, a group for each kind of it."""
    series = [
        chart.Bars(
            name,
            [result.median("server_cpu_us", library, **wanted) for wanted in groups.values()],
        )
        for library, name in result.names.items()
    ]
    about = "microseconds of the server's CPU for a handshake, one thread; less is better"
    return chart.bars(title, about, list(groups), series, lambda value: f"{us(value)} us")


def thread_lines(result: Result, kind: str, contexts: str) -> str:
    series = []
    for library, name in result.names.items():
        points = [
            (float(count), result.median("per_second", library, kind=kind, contexts=contexts,
            threads=count)) for count in result.threads
        ]  # fmt: skip
        series.append(chart.Series(name, [(x, y) for x, y in points if y is not None]))
    return chart.lines(
        f"TLS 1.3, {KINDS[kind]}, contexts {CONTEXTS[contexts]}",
        "connections a second, client and server on the same thread; more is better",
        "threads",
        "connections/s",
        [each for each in series if each.points],
        x_log=True,
    )


def charts(result: Result) -> dict[str, str]:
    """charts by the names of their files."""
    full = {
        key: {
            named(version, "full", key, group): {"version": version, "key": key, "group": group}
            for version, group in (("1.3", "x25519"), ("1.3", "x25519mlkem768"), ("1.2", "x25519"))
        }
        for key in KEYS
    }
    resumed = {
        f"TLS {version}, {KINDS[kind]}": {"version": version, "kind": kind}
        for version, kind in (("1.3", "ticket"), ("1.3", "id"), ("1.2", "ticket"), ("1.2", "id"))
    }
    made = {
        f"study-libraries-full-{key}.svg": server_bars(
            result, f"Full handshakes, {KEYS[key]}", groups
        )
        for key, groups in full.items()
    }
    made["study-libraries-resumed.svg"] = server_bars(result, "Resumed handshakes", resumed)
    for kind in ("full", "ticket"):
        for contexts in ("shared", "thread"):
            made[f"study-libraries-threads-{kind}-{contexts}.svg"] = thread_lines(
                result, kind, contexts
            )
    return made


def page(result: Result) -> list[str]:
    here = result.environment
    return [
        f"{here['date'][:10]}, {here['cpu']}, {here['cores']} cores, {here['system']}, load before "
        f"{here['load_before']:.1f}; `{result.command}`, slices of {result.seconds} s.",
        spread(result),
        "",
        "### One thread",
        "",
        *costs(result),
        "",
        *([*ratios(result), ""] if BASE in result.names and len(result.names) > 1 else []),
        "Not there:",
        "",
        *reasons(result),
        "",
        "### Threads: TLS 1.3, full, ECDSA P-256",
        "",
        *scaling(result, "full"),
        "",
        "### Threads: TLS 1.3, resumed by ticket",
        "",
        *scaling(result, "ticket"),
        "",
        f"### Locks at {result.threads[-1]} threads",
        "",
        *basis(result),
        *locks(result),
        "",
        "### Stacks",
        "",
        *stacks(result),
    ]


def main() -> None:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("result", type=Path, nargs="+")
    parse.add_argument("--page", type=Path, help="whose figures are to be these")
    parse.add_argument("--out", type=Path, metavar="FOLDER", help="where charts go")
    use = parse.parse_args()
    end_with_the_reader()
    result = Result(read_result(newest(use.result), "libraries"))
    text = "\n".join(page(result)).rstrip() + "\n"
    if use.page:
        above, line, _ = use.page.read_text().partition(FIGURES)
        if not line:
            sys.exit(f"{use.page}: no line '{FIGURES.strip()}'")
        use.page.write_text(above + line + "\n" + text)
    else:
        print(text, end="")
    if use.out:
        use.out.mkdir(parents=True, exist_ok=True)
        for name, text in charts(result).items():
            (use.out / name).write_text(text)


if __name__ == "__main__":
    main()
