"""Tables and charts of docs/performance.md from what perf/*lock*.py and clients.py recorded."""

import re
from pathlib import Path
from statistics import median
from typing import Callable

import certificate_peers
import certificates
import compile_time
import half_open
import limits
import lock_cores
import overload
import preconnect
import reload
import scrape
import server_faults
import soak.report
import stream_cost
import upstreams
import wave_memory
from cleat_perf.results import newest, whole
from cleat_perf.table import microseconds, spread, table

ORDER = ("cleat", "haproxy", "asio")  # of the servers in the table of shared locks
PARTS = ("handshake", "MB of download", "MB of upload")


def server_label(name: str, environment: dict) -> str:
    """server_label is a server's name with its version and TLS library."""
    version = environment["servers"][name]
    library = re.match(r"\S+( \d[\d.]*)?", environment["openssl"])[0]
    if name == "cleat":
        library = re.search(r"TLS library +(.+?)(?= Boost |$)", version, re.M)[1]
        return "cleat, " + library.replace(" API 44", "")
    if name == "haproxy":
        number = re.search(r"version (\d+\.\d+)", version)[1]
        return f"HAProxy {number}, {library}"
    return "naive Asio, " + re.match(r"\S+( \d[\d.]*)?", version)[0]


def shared_locks(document: dict) -> str:
    """shared_locks are acquisitions of locks that both workers, or threads, have touched."""
    rows = []
    for key, run in document["runs"].items():
        name = key.split(", ")[0]
        taken = [sum(each["acquisitions"] for each in run["parts"][part]) for part in PARTS]
        # The rest is of Asio, and of the naive server's own coroutine.
        library = sum(
            each["acquisitions"]
            for each in run["parts"]["handshake"]
            if "boost::asio" not in each["function"] and each["function"] != "serve"
        )
        counts = [f"**{each:.0f}**" if name == "cleat" else f"{each:.0f}" for each in taken]
        label = server_label(name, run["environment"])
        cells = [counts[0], f"{library:.0f}", f"{run['hottest_lock']:.0f}", *counts[1:]]
        rows.append((ORDER.index(name), [label, *cells]))
    head = ["server", "for each full handshake", "of these the TLS library's",
            "of the one lock taken most", "for each MB down", "up"]  # fmt: skip
    return table(head, [row for _, row in sorted(rows, key=lambda each: each[0])])


def shared_lines(document: dict) -> str:
    """shared_lines are cache lines that move between workers."""
    runs = document["runs"]
    rows = [
        [
            server_label(run["server"], document["environment"]),
            *(moves(part["moves"]) for part in run["parts"].values()),
        ]
        for run in runs
    ]
    return table(["server", *(f"for each {part}" for part in runs[0]["parts"])], rows)


def moves(count: float) -> str:
    return "**0**" if count == 0 else f"{count:,.2f}" if count < 10 else f"{count:,.0f}"


# The pages' names of locks, by the function that takes each most.
LOCKS = {
    "ex_data": "ex_data",
    "ENGINE_pkey_asn1_find_str": "the table of engines' key types",
    "RAND_get_rand_method": "the RAND method",
    "RAND_get0_public": "RAND's own context",
    "CRYPTO_THREAD_read_lock": "several, for reading",
    "CRYPTO_THREAD_write_lock": "several, for writing",
    "SSL_has_matching_session_id": "the sessions",
}


def held(ns: float) -> str:
    """held is the time of exclusive holds: a lock that has none is only read."""
    return "readers only" if ns == 0 else f"{ns:.0f} ns" if ns < 999.5 else f"{ns / 1e3:.1f} us"


def lock_cost(document: dict) -> str:
    """lock_cost has what shared locks cost a handshake; arms that share none have no row."""
    rows = []
    for arm, locks in document["medians"].items():
        title = "HAProxy, the system's OpenSSL" if arm == "HAProxy" else f"cleat, {arm}"
        for name, row in locks.items():
            rows.append(
                [
                    title,
                    LOCKS.get(name, f"`{name}`"),
                    f"{row['acquisitions']:.0f}",
                    f"{row['contended']:.3f}" if row["contended"] else "0",
                    f"{row['wait_ns'] / 1e3:.1f} us" if row["wait_ns"] else "0",
                    held(row["held_ns"]),
                ]
            )
            title = ""
    return table(["", "lock of", "taken", "waited for", "blocked", "held"], rows)


def overhead(document: dict) -> str:
    """overhead is the CPU of a handshake with the recorder and without."""
    titles = {
        "plain": "plain",
        "locks": "locks (`--no-cpu`)",
        "locks and CPU": "locks, and CPU 199 times a second",
    }
    rows = []
    for arm, found in document["medians"].items():
        least, most = found["quarters"]
        ratios = [f"{found['of_plain']:.3f}", f"{least:.2f} to {most:.2f}"]
        rows.append([titles[arm], f"{found['us']:.0f}", *(["", ""] if arm == "plain" else ratios)])
    rounds = len(document["rounds"])
    return table(["", "us", f"of plain, median of {rounds} rounds", "half of the rounds"], rows)


def clients(document: dict) -> str:
    """clients have the CPU of each load generator, and cleat-bench's ratio to it."""
    # The aim for cleat-bench over each.
    titles = {
        "cleat-bench": ("cleat-bench", ""),
        "epoll client": ("a bare epoll client on the same AWS-LC", "1.1"),
        "wrk": ("wrk", "0.7"),
        "h2load": ("h2load", "0.7"),
    }
    figures = document["figures"]["client-cpu"]
    ours = figures["cleat-bench"]
    rows = []
    for name, values in figures.items():
        ratio = spread([a / b for a, b in zip(ours, values)])
        title, aim = titles[name]
        if name == title != "cleat-bench":
            number = re.search(r"\d+\.\d+\.\d+", document["environment"]["programs"][name])[0]
            title = f"{title} {number}"
        shown = f"{ratio} of it" if values is not ours else ""
        rows.append([title, microseconds(median(values)), shown, aim])
    return table(["", "us", "cleat-bench is", "aim"], rows)


def reload_tables(document: dict) -> str:
    """reload_tables are what reloads cost connections and the process, and what others feel."""
    first = table(["reloads under load", ""], reload.storm_rows(document["storm"]))
    return first + "\n\n" + table(reload.LATENCY_HEADS, reload.latency_rows(document["rounds"]))


def limits_table(document: dict) -> str:
    """limits_table is what a flood costs honest clients."""
    return table(limits.HEADS, limits.rows(document["rounds"]))


def preconnect_table(document: dict) -> str:
    """preconnect_table is what connections that are ready save clients."""
    return table(preconnect.HEADS, preconnect.rows(document["rounds"]))


def server_faults_table(document: dict) -> str:
    """server_faults_table is what clients lose when one of three servers fails."""
    return table(server_faults.HEADS, server_faults.rows(document["rounds"]))


def scrape_tables(document: dict) -> str:
    """scrape_tables are how long scrapes of /metrics take, and what others feel of them."""
    first = table(scrape.HEADS, scrape.rows(document["rounds"]))
    return first + "\n\n" + table(scrape.BESIDE_HEADS, scrape.beside_rows(document["beside"]))


def overload_table(document: dict) -> str:
    """overload_table is what many full handshakes cost clients that are worth more."""
    return table(overload.HEADS, overload.rows(document["rounds"]))


def half_open_table(document: dict) -> str:
    """half_open_table is what clients cost that do not end their handshake."""
    return table(half_open.HEADS, half_open.rows(document["rounds"]))


def wave_memory_table(document: dict) -> str:
    """wave_memory_table is the memory that servers keep of connections that have gone."""
    return table(wave_memory.HEADS, wave_memory.rows(document["rounds"]))


def soak_tables(document: dict) -> str:
    """soak_tables are what has grown in a long run, and which clients failed."""
    return soak.report.tables(document)


def upstream_tables(document: dict) -> str:
    """upstream_tables are what a server in the middle costs, where TLS goes on behind it."""
    shown = [
        table(upstreams.HEADS[subject], upstreams.rows(document["rounds"], subject))
        for subject in upstreams.SUBJECTS
    ]
    return "\n\n".join(shown)


def certificate_table(document: dict) -> str:
    """certificate_table is the cost of many certificates."""
    return table(certificates.HEADS, certificates.rows(document["rounds"]))


def certificate_peers_table(document: dict) -> str:
    """certificate_peers_table has the cost of many certificates with each server."""
    return table(certificate_peers.HEADS, certificate_peers.rows(document["rounds"]))


def compile_time_table(document: dict) -> str:
    """compile_time_table is what a small server costs the compiler."""
    return table(compile_time.HEADS, compile_time.rows(document["rounds"]))


def stream_cost_table(document: dict) -> str:
    """stream_cost_table is what operations of a stream cost a server."""
    names = dict.fromkeys(each["server"] for each in document["rounds"])
    return table(stream_cost.heads(names), stream_cost.rows(document["rounds"]))


# By the end of a result's name.
TABLES: dict[str, Callable[[dict], str]] = {
    "shared-locks": shared_locks,
    "shared-lines": shared_lines,
    "cores": lock_cores.limits,
    "lock-cost": lock_cost,
    "overhead": overhead,
    "clients": clients,
    "reload": reload_tables,
    "limits": limits_table,
    "preconnect": preconnect_table,
    "scrape": scrape_tables,
    "server-faults": server_faults_table,
    "overload": overload_table,
    "half-open": half_open_table,
    "wave-memory": wave_memory_table,
    "soak": soak_tables,
    "upstreams": upstream_tables,
    "certificates": certificate_table,
    "certificate-peers": certificate_peers_table,
    "compile-time": compile_time_table,
    "stream-cost": stream_cost_table,
}


def part(path: Path) -> str | None:
    """part of the page that a result is for; None for any other file."""
    found = re.fullmatch(r"[\d-]{10}-([a-z-]+)", path.stem)
    return found[1] if found and found[1] in TABLES else None


def tables(documents: dict[Path, dict]) -> dict[str, str]:
    found = {}
    for name, make in TABLES.items():
        paths = [path for path in documents if part(path) == name]
        if paths:
            with whole(newest(paths)):
                found[name] = make(documents[newest(paths)])
    return found


def charts(documents: dict[Path, dict]) -> dict[str, str]:
    paths = [path for path in documents if part(path) == "cores"]
    if not paths:
        return {}
    with whole(newest(paths)):
        return {"locks-cores": lock_cores.chart(documents[newest(paths)])}
