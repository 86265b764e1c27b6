"""The figures and charts of docs/studies/libraries.md."""

import statistics

from cleat_perf.chart import Bars, Series, bars, lines
from cleat_perf.table import microseconds, spread, table
from studies.libraries.profiles import SAMPLES

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
        """one case of a library; by default a full handshake on one thread."""
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
    return microseconds(value, thousands="")


def handshakes(result: Result) -> list[tuple[str, str, str, str]]:
    """handshakes that were made on one thread, each once."""
    members = ("version", "kind", "key", "group")
    alone = (case for case in result.cases if case["threads"] == 1)
    found = dict.fromkeys(tuple(case[name] for name in members) for case in alone)
    order = [list(KINDS).index, list(KEYS).index]
    return sorted(found, key=lambda it: (it[0], order[0](it[1]), order[1](it[2]), it[3]))


def costs(result: Result) -> str:
    """costs are microseconds of CPU for a handshake on one thread, server's and client's."""
    rows = []
    for version, kind, key, group in handshakes(result):
        wanted = {"version": version, "kind": kind, "key": key, "group": group}
        cells = [named(version, kind, key, group)]
        for library in result.libraries():
            server = result.median("server_cpu_us", library, **wanted)
            client = result.median("client_cpu_us", library, **wanted)
            cells.append("-" if server is None else f"{us(server)} + {us(client)}")
        rows.append(cells)
    return table(["server + client, us of CPU", *result.names.values()], rows)


def ratios(result: Result) -> str:
    """ratios of the server's CPU to that of the base, each within a round."""
    others = [library for library in result.libraries() if library != BASE]
    rows = []
    for version, kind, key, group in handshakes(result):
        figures = {}
        for library in result.libraries():
            case = result.one(library, version=version, kind=kind, key=key, group=group)
            figures[library] = case["rounds"]["server_cpu_us"] if "rounds" in case else []
        found = [[a / b for a, b in zip(figures[each], figures[BASE])] for each in others]
        if any(found):
            cells = [spread(each, between="..") if each else "-" for each in found]
            rows.append([named(version, kind, key, group), *cells])
    head = [f"server, times {result.names[BASE]}", *(result.names[each] for each in others)]
    return table(head, rows)


def rounds_apart(result: Result) -> str:
    """rounds_apart tells how far the CPU of a case's rounds, of both sides, lies apart."""
    widths = []
    for case in result.cases:
        rounds = case.get("rounds", {"server_cpu_us": [], "client_cpu_us": []})
        both = [sum(us) for us in zip(rounds["server_cpu_us"], rounds["client_cpu_us"])]
        if len(both) > 1 and case["threads"] == 1:
            widths.append(100 * (max(both) / min(both) - 1))
    if not widths:
        return "One round: its spread is not known."
    return (
        f"On one thread the dearest round of a case lies {statistics.median(widths):.0f} % above "
        f"its cheapest (the median of all cases; {max(widths):.0f} % in the worst)."
    )


def reasons(result: Result) -> str:
    """reasons why cells are empty, each with its libraries."""
    found = dict[str, list[str]]()
    for case in result.cases:
        if "unsupported" in case:
            names = found.setdefault(case["unsupported"], [])
            if (name := result.names[case["library"]]) not in names:
                names.append(name)
    return "\n".join(f"- {reason}: {', '.join(names)}" for reason, names in found.items())


def scaling(result: Result, kind: str) -> str:
    """scaling is connections a second by threads, and CPU % with the most threads."""
    most = result.threads[-1]
    threads = [f"{count} thread{'s' if count > 1 else ''}" for count in result.threads]
    rows = []
    for library in result.libraries():
        for contexts, sharing in CONTEXTS.items():
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
            rows.append([result.names[library], sharing, *cells, part])
    return table(["", "contexts", *threads, f"CPU % at {most}"], rows)


def cpu_share(percent: float, samples: int) -> str:
    """cpu_share is a part of the CPU samples, in percent; below the share of FEW samples, only that
    is shown."""
    if 0 < round(percent * samples / 100) < FEW:
        return f"< {100 * FEW / samples:.1f}"
    return f"{percent:.1f}"


def too_few_samples(result: Result) -> list[str]:
    """too_few_samples warns where a profile has fewer samples than run.py wants."""
    counts = [each["cpu_samples"] for each in result.profiles]
    if not counts or min(counts) >= SAMPLES:
        return []
    return [
        f"These profiles have {min(counts):,} to {max(counts):,} CPU samples each; {SAMPLES} are "
        "wanted, and shares of fewer are rough."
    ]


def locks(result: Result) -> str:
    """locks are what cleat-locks found with the most threads."""
    head = [
        "", "handshake", "contexts", "blocked %", "lock CPU %", "ref. CPU %", "CPU samples",
        "shared locks",
    ]  # fmt: skip
    rows = []
    for each in sorted(result.profiles, key=lambda it: result.libraries().index(it["library"])):
        samples = each["cpu_samples"]
        rows.append(
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
    return table(head, rows)


def stacks(result: Result) -> str:
    """stacks of full handshakes with shared contexts: of CPU time, and of waits for locks. Those
    that rest on a few samples are left out: the next run would have others."""
    parts = []
    for each in result.profiles:
        if each["kind"] != "full" or each["contexts"] != "shared":
            continue
        text = [f"**{result.names[each['library']]}**", "", "```"]
        for weight, whole in (
            ("cpu", f"of the {each['cpu_samples']:,} CPU samples"),
            ("blocked", "of the waits for locks"),
        ):
            found = each[f"stacks_by_{weight}"]
            shown = [stack for stack in found if stack["count"] >= FEW]
            none = f": none that rests on {FEW} or more" if found else ": none"
            text.append(f"{whole}{'' if shown else none}")
            text += [f"{stack['percent']:5.1f} %  {stack['innermost_first']}" for stack in shown]
        parts.append("\n".join([*text, "```"]))
    return "\n\n".join(parts)


def server_bars(result: Result, title: str, groups: dict[str, dict]) -> str:
    """server_bars are the CPU that a handshake costs the server, a group for each kind."""
    series = [
        Bars(
            name,
            [result.median("server_cpu_us", library, **wanted) for wanted in groups.values()],
        )
        for library, name in result.names.items()
    ]
    about = "microseconds of the server's CPU for a handshake, one thread; less is better"
    return bars(title, about, list(groups), series, lambda value: f"{us(value)} us")


def thread_lines(result: Result, kind: str, contexts: str) -> str:
    series = []
    for library, name in result.names.items():
        points = [
            (float(count), result.median("per_second", library, kind=kind, contexts=contexts,
            threads=count)) for count in result.threads
        ]  # fmt: skip
        series.append(Series(name, [(x, y) for x, y in points if y is not None]))
    return lines(
        f"TLS 1.3, {KINDS[kind]}, contexts {CONTEXTS[contexts]}",
        "connections a second, client and server on the same thread; more is better",
        "threads",
        "connections/s",
        [each for each in series if each.points],
        x_log=True,
    )


def charts(document: dict) -> dict[str, str]:
    result = Result(document)
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
        f"study-libraries-full-{key}": server_bars(result, f"Full handshakes, {KEYS[key]}", groups)
        for key, groups in full.items()
    }
    made["study-libraries-resumed"] = server_bars(result, "Resumed handshakes", resumed)
    for kind in ("full", "ticket"):
        for contexts in ("shared", "thread"):
            name = f"study-libraries-threads-{kind}-{contexts}"
            made[name] = thread_lines(result, kind, contexts)
    return made


def tables(document: dict) -> dict[str, str]:
    """tables are one: all figures of the page, under their headings."""
    result = Result(document)
    machine = result.environment
    compared = BASE in result.names and len(result.names) > 1
    parts = [
        f"{machine['date'][:10]}, {machine['cpu']}, {machine['cores']} cores, {machine['system']}, "
        f"load before {machine['load_before']:.1f}; `{result.command}`, "
        f"slices of {result.seconds} s.\n"
        + rounds_apart(result),
        "### One thread",
        costs(result),
        *([ratios(result)] if compared else []),
        "Not there:",
        reasons(result),
        "### Threads: TLS 1.3, full, ECDSA P-256",
        scaling(result, "full"),
        "### Threads: TLS 1.3, resumed by ticket",
        scaling(result, "ticket"),
        f"### Locks at {result.threads[-1]} threads",
        *too_few_samples(result),
        locks(result),
        "### Stacks",
        stacks(result),
    ]
    return {"figures": "\n\n".join(parts)}
