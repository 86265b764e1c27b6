"""The tables and charts of docs/studies/asio.md and asio-locks.md."""

import re
import statistics
from dataclasses import dataclass
from typing import Callable

from cleat_perf.chart import Bars, Series, bars, lines
from cleat_perf.table import table

ARMS = ("naive", "per-core", "cleat")
# Bandwidth of eight threads over that of one, in 2015: 189 of 447 MB/s.
IN_2015 = 0.42
COLLAPSE = 0.5
WHOSE = {"asio": "Asio", "library": "the TLS library"}
SHARED = "shared_acquisitions"


def library(result: dict, build: str) -> str:
    return result["environment"]["libraries"][build]


def stem(result: dict, build: str) -> str:
    """stem is a library's part of a file's name: its name and its first number."""
    words = re.findall(r"[a-z]+|\d+", library(result, build).lower().replace("-", ""))
    return words[0] + (words[1] if words[0] == "openssl" and len(words) > 1 else "")


def builds(result: dict) -> list[str]:
    return list(result["environment"]["libraries"])


def points(result: dict, **where: object) -> list[dict]:
    return [
        each
        for each in result["points"]
        if all(each[key] == value for key, value in where.items())
    ]


def profile(result: dict, **where: object) -> dict:
    return next(
        each
        for each in result["profiles"]
        if all(each[key] == value for key, value in where.items())
    )


def median(result: dict, key: str, **where: object) -> float:
    return statistics.median(points(result, **where)[0][key])


def mb_per_second(result: dict, **where: object) -> float:
    return median(result, "per_second", load="messages", **where) * result["size"] / 1e6


def threads_of(result: dict) -> list[int]:
    return sorted({each["threads"] for each in result["points"]})


def connections_of(result: dict) -> list[int]:
    return sorted({each["connections"] for each in points(result, load="messages")})


def count(value: float) -> str:
    """count has as many digits as can be read: 3,927 and 24.1 and 0.00."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def with_prefix(value: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f}"


def time_text(ns: float) -> str:
    return f"{ns / 1000:.3g} us" if ns >= 1000 else f"{ns:.3g} ns"


def short_name(name: str) -> str:
    return name.replace("boost::asio::detail::", "asio::").replace("boost::asio::", "asio::")


def profiled(environment: dict | None) -> str:
    """profiled tells when the locks were recorded, if that was another time."""
    if not environment:
        return ""
    return (
        f" The locks were recorded on {environment['date'].split('T')[0]}, load "
        f"{environment['load_before']:.1f} before and {environment['load_after']:.1f} after."
    )


def machine(result: dict) -> str:
    """machine is one sentence: where, when, with what load."""
    facts = result["environment"]
    rounds = len(result["points"][0]["per_second"])
    return (
        f"{facts['usable_cores']} cores of {facts['cpu']}, Linux {facts['kernel'].split('-')[0]}, "
        f"{facts['system']}, {facts['date'].split('T')[0]}, load {facts['load_before']:.1f} before "
        f"and {facts['load_after']:.1f} after; "
        f"medians of {rounds} round{'s' if rounds > 1 else ''}."
        + profiled(result.get("profiles_environment"))
        + (" **A quick run: it shows that it works, and no figures.**" if result["quick"] else "")
    )


def bandwidth(result: dict) -> str:
    threads = threads_of(result)
    rows = [
        [library(result, build), arm, str(connections)]
        + [
            f"{mb_per_second(result, build=build, arm=arm, threads=n, connections=connections):.0f}"
            for n in threads
        ]
        for build in builds(result)
        for connections in connections_of(result)
        for arm in ARMS
    ]
    return table(["library", "arm", "connections", *(f"T={n}" for n in threads)], rows)


@dataclass(frozen=True, order=True)
class Gain:
    """Gain is what more threads move, of what fewer do, and where that is."""

    ratio: float
    library: str
    connections: int
    threads: int

    def __str__(self) -> str:
        some = f"{self.connections} connection{'s' if self.connections > 1 else ''}"
        return f"{self.ratio:.2f} ({self.library.split(' (')[0]}, {some}, T={self.threads})"


def gains(
    result: dict, arm: str, before: int, after: list[int], connections: list[int]
) -> list[Gain]:
    """gains of all libraries, the least first."""
    found = []
    for build in builds(result):
        for each in connections:
            point = {"build": build, "arm": arm, "connections": each}
            base = mb_per_second(result, threads=before, **point)
            for n in after:
                ratio = mb_per_second(result, threads=n, **point) / base
                found.append(Gain(ratio, library(result, build), each, n))
    return sorted(found)


def scaling(result: dict) -> str:
    """scaling is the text about the table of bandwidth, made of the same figures."""
    threads, every = threads_of(result), connections_of(result)
    least, most = threads[0], threads[-1]
    naive = gains(result, "naive", least, [most], every)
    collapsed = sum(each.ratio <= COLLAPSE for each in naive)
    verdict = (
        f"**The collapse of 2015 is still there** in {collapsed} of {len(naive)} cases"
        if collapsed
        else "**The collapse of 2015 is gone, in every library**"
    )
    # A common queue would be felt first with more threads than cores.
    cores = max(n for n in threads if n <= max(least, result["environment"]["usable_cores"]))
    compared = {f"T={most} of T={least}": (least, [most], ARMS, every)}
    if above := [n for n in threads if n > cores]:
        more = " and ".join(f"T={n}" for n in above)
        compared[f"{more} of T={cores}, a core each"] = (cores, above, ARMS, every)
    if 1 in every and len(threads) > 1:
        compared[f"T={threads[1]} of T={least}, one connection"] = (
            least, threads[1:2], ("naive",), [1],
        )  # fmt: skip
    rows = []
    for what, (before, after, arms, connections) in compared.items():
        for arm in arms:
            found = gains(result, arm, before, after, connections)
            rows.append([what, arm, str(found[0]), str(found[-1])])
    spreads = [
        max(each["per_second"]) / min(each["per_second"])
        for each in points(result, load="messages")
    ]
    return (
        f"{verdict}: {most} threads of the naive arm move {naive[0].ratio:.2f} to "
        f"{naive[-1].ratio:.2f} of what one does, where they moved {IN_2015}.\n\n"
        + table(["what more threads move", "arm", "least", "most"], rows)
        + "\n\nHow much of that is chance: a cell's best round is "
        f"{statistics.median(spreads):.2f} times its worst (the median of all cells; "
        f"{max(spreads):.2f} in the worst)."
    )


def handshakes(result: dict) -> str:
    threads = threads_of(result)
    connections = result["crowd"]["connections"]
    rows = []
    for build in builds(result):
        for arm in ARMS:
            point = {"build": build, "arm": arm, "load": "handshakes", "connections": connections}
            rates = [median(result, "per_second", threads=n, **point) for n in threads]
            cpu = [median(result, "cpu_us", threads=n, **point) for n in (threads[0], threads[-1])]
            rows.append(
                [library(result, build), arm]
                + [f"{rate:,.0f}" for rate in rates]
                + [f"{us:.0f}" for us in cpu]
            )
    head = ["library", "arm", *(f"T={n}, /s" for n in threads)]
    return table([*head, *(f"CPU us, T={n}" for n in (threads[0], threads[-1]))], rows)


def shared(result: dict) -> str:
    rows = []
    for build in builds(result):
        for arm in ARMS:
            cells = []
            for load in ("messages", "handshakes"):
                found = profile(result, build=build, arm=arm, load=load)
                cells += [count(found["shared_acquisitions"]), f"{found['blocked_percent']:.1f} %"]
            rows.append([library(result, build), arm, *cells])
    return table(
        ["library", "arm", "shared, for each message", "blocked", "for each handshake", "blocked"],
        rows,
    )


def sharing(result: dict) -> str:
    """sharing is the text about the table of shared locks."""

    def figures(arm: str, load: str, key: str) -> list[float]:
        return [
            profile(result, build=build, arm=arm, load=load)[key] for build in builds(result)
        ]  # fmt: skip

    def span(values: list[float], shown: Callable[[float], str]) -> str:
        least, most = shown(min(values)), shown(max(values))
        return least if least == most else f"{least} to {most}"

    def parts_of_naive(arm: str, load: str) -> list[float]:
        pairs = zip(figures(arm, load, SHARED), figures("naive", load, SHARED))
        return [part / whole if whole else 0.0 for part, whole in pairs]

    def two_digits(value: float) -> str:
        return f"{value:.2f}"

    blocked = {
        arm: span(figures(arm, "messages", "blocked_percent"), lambda value: f"{value:.1f}")
        for arm in ARMS
    }
    shares = [
        f"{part:.2f} with {library(result, build).split(' (')[0]}"
        for build, part in zip(builds(result), parts_of_naive("cleat", "handshakes"))
    ]
    return (
        "For each message an `io_context` for each thread takes "
        f"{span(parts_of_naive('per-core', 'messages'), two_digits)} of the naive "
        "arm's acquisitions of shared locks, and cleat's workers take "
        f"{span(figures('cleat', 'messages', SHARED), count)}. The threads are blocked for "
        f"{blocked['naive']} % of their time in the naive arm, {blocked['per-core']} % in "
        f"per-core, {blocked['cleat']} % in cleat's. For each handshake an `io_context` for each "
        "thread takes "
        f"{span(parts_of_naive('per-core', 'handshakes'), two_digits)} of the naive "
        f"arm's, and cleat's workers {', '.join(shares)}."
    )


def takers(result: dict) -> str:
    rows = []
    for build in builds(result):
        for arm in ARMS:
            found = profile(result, build=build, arm=arm, load="handshakes")["taken_by"]
            named = [
                f"`{short_name(name)}` {count(each)}"
                for name, each in list(found.items())[:4]
                if each >= 0.05
            ]
            rows.append([library(result, build), arm, ", ".join(named) or "none"])
    return table(["library", "arm", "acquired for each handshake, by whom most"], rows)


def saturation(result: dict) -> str:
    rows = []
    for build in builds(result):
        for load in ("messages", "handshakes"):
            for arm in ARMS:
                found = profile(result, build=build, arm=arm, load=load)
                for whose, hot in found["hottest"].items():
                    if hot:
                        rows.append(
                            [
                                library(result, build),
                                load,
                                arm,
                                WHOSE[whose],
                                f"`{short_name(hot['taken_by'])}`",
                                time_text(hot["held_ns"]),
                                with_prefix(hot["operations_per_second_max"]) + "/s",
                                with_prefix(hot["cores_max"]),
                            ]
                        )
    head = ["library", "for each", "arm", "hottest lock of", "taken in", "held", "saturates at"]
    return table([*head, "cores"], rows)


def error_state(result: dict) -> str:
    rows = []
    for build in builds(result):
        for load in ("messages", "handshakes"):
            found = profile(result, build=build, arm="naive", load=load)
            row = [library(result, build), load]
            for functions in (found["error_state"], found["errors"]):
                samples = 100 * functions.get("cpu_samples", 0) / max(1, found["cpu_samples"])
                row += (
                    [
                        count(functions.get("acquisitions", 0) / found["operations"]),
                        str(functions.get("contended", 0)),
                        f"{samples:.1f} %",
                    ]
                    if functions["seen"]
                    else ["not seen", "", ""]
                )
            rows.append(row)
    head = ["library", "naive arm", "ERR_get_state: locks for each", "waited", "CPU"]
    return table([*head, "all of ERR_*: locks for each", "waited", "CPU"], rows)


def recording(result: dict) -> str:
    rows = []
    for each in result["overhead"]:
        ratios = sorted(each["ratios"])
        plain, recorded = (
            statistics.median(each["cpu_us"][name]) for name in ("plain", "recorded")
        )
        rows.append(
            [
                library(result, each["build"]),
                each["load"],
                f"{plain:.0f} us",
                f"{recorded:.0f} us",
                f"{statistics.median(ratios):.3f} ({ratios[0]:.2f} to {ratios[-1]:.2f})",
                str(len(ratios)),
            ]
        )
    head = ["library", "naive arm", "plain", "recorded", "recorded / plain", "rounds"]
    return table(head, rows)


def trees(result: dict) -> str:
    parts = []
    for build in builds(result):
        for load in ("messages", "handshakes"):
            for arm in ARMS:
                found = profile(result, build=build, arm=arm, load=load)
                title = f"{library(result, build)}, {load}, {arm}"
                lines = found["tree"] or ["no function comes to half a percent of a column"]
                parts.append("\n".join([f"**{title}**", "", "```", *lines, "```"]))
    return "\n\n".join(parts)


TABLES: dict[str, Callable[[dict], str]] = {
    "machine": machine,
    "bandwidth": bandwidth,
    "scaling": scaling,
    "handshakes": handshakes,
    "shared": shared,
    "sharing": sharing,
    "who": takers,
    "saturation": saturation,
    "error_state": error_state,
    "recording": recording,
    "trees": trees,
}


def tables(result: dict) -> dict[str, str]:
    return {name: make(result) for name, make in TABLES.items()}


def charts(result: dict) -> dict[str, str]:
    """charts are one of bandwidth for each library, and three of all of them."""
    found = {}
    for build in builds(result):
        series = [
            Series(
                f"{arm}, {connections} conn.",
                [
                    (n, mb_per_second(
                        result, build=build, arm=arm, threads=n, connections=connections))
                    for n in threads_of(result)
                ],
            )
            for arm in ARMS
            for connections in connections_of(result)
        ]  # fmt: skip
        found[f"study-asio-bandwidth-{stem(result, build)}"] = lines(
            f"Bandwidth by threads, {library(result, build)}",
            f"messages of {result['size'] >> 20} MiB over loopback, server and clients together",
            "threads", "MB/s, more is better", series, x_log=True,
        )  # fmt: skip
    names = [library(result, build) for build in builds(result)]
    crowd = result["crowd"]
    load_text = f"{crowd['threads']} threads, {crowd['connections']} connections"
    for load, each in (("messages", "message"), ("handshakes", "handshake")):
        found[f"study-asio-shared-{load}"] = bars(
            f"Acquisitions of shared locks for each {each}",
            f"{load_text}, server and client together, less is better",
            names,
            [
                Bars(
                    arm,
                    [
                        profile(result, build=build, arm=arm, load=load)["shared_acquisitions"]
                        for build in builds(result)
                    ],
                )
                for arm in ARMS
            ],
            count,
        )
    found["study-asio-handshakes"] = bars(
        "Full handshakes a second",
        f"{load_text}, server and clients on the same cores, more is better",
        names,
        [
            Bars(
                arm,
                [
                    median(result, "per_second", build=build, arm=arm, load="handshakes", **crowd)
                    for build in builds(result)
                ],
            )
            for arm in ARMS
        ],
        lambda value: f"{value:,.0f}/s",
    )
    return found
