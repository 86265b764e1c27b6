"""The tables and charts of docs/studies/cost.md."""

import math
from statistics import median

from cleat_perf.chart import Bars, Series, bars, lines
from cleat_perf.table import microseconds, spread, table

# Each case with TLS, and the shape that is the same without.
CASES = {
    "keep-1k": ("keep-1k", "1 KiB, connection kept"),
    "keep-16k": ("keep-16k", "16 KiB, connection kept"),
    "keep-1m": ("keep-1m", "1 MiB, connection kept"),
    "resumed": ("one", "connection, resumed, 1 KiB"),
    "full": ("one", "connection, full handshake, 1 KiB"),
    "full-mlkem768": ("one", "the same with X25519MLKEM768"),
    "full-rsa-2048": ("one", "the same with RSA-2048"),
}
REQUESTS = (1, 10, 100, 1000)  # On a connection.
CERTIFICATES = {
    "ecdsa": "ECDSA P-256",
    "rsa": "RSA-2048",
    "ecdsa-chain": "ECDSA P-256 with intermediate",
    "rsa-chain": "RSA-2048 with intermediate",
}
ANSWERS = {"1 KiB": 1 << 10, "16 KiB": 16 << 10, "1 MiB": 1 << 20}
REQUEST_BYTES = 500  # A browser's without many cookies; for arithmetic only.
RECORD = 16384


def percent(value: float) -> str:
    if value == 0:
        return "0 %"
    return f"{100 * value:.{max(0, 1 - math.floor(math.log10(abs(100 * value))))}f} %"


def compared(plain: dict, cases: dict) -> str:
    """compared is CPU with TLS beside that without, round by round."""
    head = ["a request", "without TLS, us", "cleat, us", "TLS adds, us", "cleat is", "origin, us"]
    rows = []
    for name, (shape, title) in CASES.items():
        if name not in cases:
            without = microseconds(median(plain[shape]["relay_us"]))
            rows.append([title, without, "no such group", "", "", ""])
            continue
        pairs = list(zip(plain[shape]["relay_us"], cases[name]["relay_us"]))
        without, ours, added = (
            microseconds(median(values))
            for values in ([a for a, _ in pairs], [b for _, b in pairs], [b - a for a, b in pairs])
        )
        ratio = spread([b / a for a, b in pairs])
        origin = microseconds(median(cases[name]["origin_us"]))
        rows.append([title, without, ours, added, ratio, origin])
    return table(head, rows)


def on_a_connection(alone: float, kept: float, requests: int) -> float:
    """on_a_connection is the CPU of one of several requests: they share what it costs to make and
    to end their connection."""
    return kept + (alone - kept) / requests


def share(plain: dict, cases: dict, kind: str, requests: int) -> tuple[float, float]:
    """share is what TLS adds to a request of 1 KiB, in microseconds, and its part of the
    CPU of relay and origin: medians of the rounds."""

    def rounds(shapes: dict, alone: str, what: str) -> list[float]:
        pairs = zip(shapes[alone][what], shapes["keep-1k"][what])
        return [on_a_connection(*pair, requests) for pair in pairs]

    without = rounds(plain, "one", "relay_us")
    with_tls = rounds(cases, kind, "relay_us")
    origin = rounds(cases, kind, "origin_us")
    added = [b - a for a, b in zip(without, with_tls)]
    return median(added), median(a / (b + o) for a, b, o in zip(added, with_tls, origin))


def shares(plain: dict, cases: dict) -> str:
    head = [
        "requests on a connection",
        "full: TLS adds, us", "of relay and origin", "1 % where a request costs",
        "resumed: TLS adds, us", "of relay and origin", "1 % where a request costs",
    ]  # fmt: skip
    rows = []
    for requests in REQUESTS:
        cells = []
        for kind in ("full", "resumed"):
            added, part = share(plain, cases, kind, requests)
            # A hundred times as much, in milliseconds.
            one_percent = f"{added / 10:.2g} ms" if added > 0 else "not shown"
            cells += [microseconds(added), percent(part), one_percent]
        rows.append([requests, *cells])
    return table(head, rows)


def handshake_of(wire: dict, **wanted: object) -> dict | None:
    return next((h for h in wire["handshakes"] if wanted.items() <= h.items()), None)


def handshakes(wire: dict, certificates: dict) -> str:
    head = ["handshake", "certificate, bytes", "to the server", "to the client", "ticket", "in all"]
    rows = []
    for each in wire["handshakes"]:
        # No certificate travels where a session is resumed: one line is all.
        if each["resumed"] and each["certificate"] != wire["handshakes"][0]["certificate"]:
            continue
        sizes = " + ".join(str(size) for size in certificates[each["certificate"]])
        up, down, ticket = (each[key]["median"] for key in ("to_server", "to_client", "tickets"))
        kind = "resumed" if each["resumed"] else CERTIFICATES[each["certificate"]]
        rows.append([
            f"TLS {each['tls']}, {each['group']}, {kind}",
            "none" if each["resumed"] else sizes,
            f"{up:,}", f"{down:,}", ticket, f"{up + down + ticket:,}",
        ])  # fmt: skip
    return table(head, rows)


def records(wire: dict) -> str:
    kinds = list(dict.fromkeys((each["tls"], each["cipher"]) for each in wire["records"]))
    head = ["bytes of a message", "records", *(f"TLS {tls}, {name}" for tls, name in kinds)]
    rows = []
    for size in dict.fromkeys(each["message"] for each in wire["records"]):
        cells = []
        for kind in kinds:
            on_wire = next(
                each["wire"] for each in wire["records"]
                if (each["tls"], each["cipher"]) == kind and each["message"] == size
            )  # fmt: skip
            cells.append(f"{on_wire:,} (+{percent((on_wire - size) / size)})")
        rows.append([f"{size:,}", math.ceil(size / RECORD), *cells])
    ends = {(each["tls"], each["cipher"]): each["wire"] for each in wire["close_notify"]}
    rows.append(["close_notify", 1, *(ends[kind] for kind in kinds)])
    return table(head, rows)


def network(wire: dict, kind: dict, requests: int, answer: int) -> float:
    """network is what TLS 1.3 adds to a connection's bytes, as a part of its messages."""
    handshake = handshake_of(wire, **kind)
    assert handshake
    record = next(each for each in wire["records"] if each["tls"] == "1.3")
    overhead = record["wire"] - record["message"]
    ends = 2 * next(each["wire"] for each in wire["close_notify"] if each["tls"] == "1.3")
    once = sum(handshake[key]["median"] for key in ("to_server", "to_client", "tickets")) + ends
    each = overhead * (math.ceil(REQUEST_BYTES / RECORD) + math.ceil(answer / RECORD))
    return (once + requests * each) / (requests * (REQUEST_BYTES + answer))


KINDS = {
    "full, ECDSA with intermediate, X25519MLKEM768": {
        "tls": "1.3", "group": "X25519MLKEM768", "certificate": "ecdsa-chain", "resumed": False,
    },
    "full, RSA with intermediate, X25519": {
        "tls": "1.3", "group": "X25519", "certificate": "rsa-chain", "resumed": False,
    },
    "full, ECDSA with intermediate, X25519": {
        "tls": "1.3", "group": "X25519", "certificate": "ecdsa-chain", "resumed": False,
    },
    "resumed, X25519": {
        "tls": "1.3", "group": "X25519", "certificate": "ecdsa", "resumed": True,
    },
}  # fmt: skip


def networks(wire: dict) -> str:
    rows = []
    for title, size in ANSWERS.items():
        for name, kind in KINDS.items():
            if handshake_of(wire, **kind):
                parts = (percent(network(wire, kind, each, size)) for each in REQUESTS)
                rows.append([title, name, *parts])
    return table(["answer", "handshake", *(f"{n:,} request{'s'[: n > 1]}" for n in REQUESTS)], rows)


def memory(document: dict) -> str:
    plain = document["plain"]["idle_kib"]
    rows = [["without TLS", f"{plain:.1f}", ""]]
    for name, build in document["builds"].items():
        idle = build["idle_kib"]
        rows.append([f"cleat, {name}", f"{idle:.1f}", f"{idle - plain:.1f}"])
    return table(["an idle connection", "PSS, KiB", "TLS adds, KiB"], rows)


def draw_cpu(document: dict) -> str:
    def middle(cases: dict, name: str) -> float:
        return median(cases[name]["relay_us"])

    plain = document["plain"]["cases"]
    arms = [Bars("without TLS", [middle(plain, shape) for shape, _ in CASES.values()])]
    for name, build in document["builds"].items():
        cases = build["cases"]
        values = [middle(cases, case) if case in cases else None for case in CASES]
        arms.append(Bars(f"cleat, {name}", values))
    about = "us of the relay's CPU, less is better"
    titles = [title for _, title in CASES.values()]
    return bars("CPU for a request", about, titles, arms, lambda value: f"{microseconds(value)} us")


def draw_share(plain: dict, cases: dict, name: str) -> str:
    def line(title: str, kind: str) -> Series:
        points = [(each, 100 * share(plain, cases, kind, each)[1]) for each in REQUESTS]
        return Series(title, points)

    return lines(
        "TLS's part of the CPU of relay and origin", f"requests of 1 KiB; cleat on {name}",
        "requests on a connection", "%", [line("full", "full"), line("resumed", "resumed")],
        x_log=True,
    )  # fmt: skip


def draw_network(wire: dict) -> str:
    # One request would leave no room for the rest; the table has it.
    requests = (10, 20, 50, 100, 200, 500, 1000)
    kind = KINDS["full, ECDSA with intermediate, X25519"]
    series = [
        Series(f"{kib} KiB", [(n, 100 * network(wire, kind, n, kib << 10)) for n in requests])
        for kib in (1, 4, 16)
    ]
    return lines(
        "What TLS adds to the bytes", "full handshake, ECDSA with intermediate, X25519; by answer",
        "requests on a connection", "% of what is said", series, x_log=True,
    )  # fmt: skip


def draw_handshakes(wire: dict) -> str:
    first = wire["handshakes"][0]["certificate"]
    shown = [
        each for each in wire["handshakes"]
        if each["certificate"] in ((first,) if each["resumed"] else ("ecdsa-chain", "rsa-chain"))
    ]  # fmt: skip
    groups = [
        f"TLS {each['tls']}, {each['group']}, "
        + ("resumed" if each["resumed"] else CERTIFICATES[each["certificate"]])
        for each in shown
    ]
    parts = {"to the server": "to_server", "to the client": "to_client", "ticket": "tickets"}
    series = [Bars(name, [each[key]["median"] for each in shown]) for name, key in parts.items()]
    return bars(
        "Bytes of a handshake", "less is better", groups, series, lambda value: f"{value:,.0f} B"
    )


def tables(document: dict) -> dict[str, str]:
    plain = document["plain"]["cases"]
    found = {"memory": memory(document)}
    for name, build in document["builds"].items():
        wire = build["wire"]
        found |= {
            f"cpu-{name}": compared(plain, build["cases"]),
            f"share-{name}": shares(plain, build["cases"]),
            f"handshakes-{name}": handshakes(wire, document["certificates"]),
            f"records-{name}": records(wire),
            f"network-{name}": networks(wire),
        }
    return found


def charts(document: dict) -> dict[str, str]:
    plain, found = document["plain"]["cases"], document["builds"]
    name = "aws-lc" if "aws-lc" in found else next(iter(found))
    return {
        "study-cost-cpu": draw_cpu(document),
        "study-cost-share": draw_share(plain, found[name]["cases"], name),
        "study-cost-network": draw_network(found[name]["wire"]),
        "study-cost-handshakes": draw_handshakes(found[name]["wire"]),
    }
