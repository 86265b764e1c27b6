"""Documents of `cleat-bench compare` as it writes them, made up: any servers and scenarios, in no
time."""

import random
from statistics import median

from load_results import Facts, load_result

METRICS = (
    "cpu_ns", "rate", "p50_ns", "p99_ns", "memory_bytes", "system_calls", "workers_ratio",
)  # fmt: skip
HANDSHAKE: Facts = {
    "name": "full-ecdsa-p256",
    "title": "Full handshakes, ECDSA P-256, X25519, TLS 1.3",
    "kind": "handshake",
    "operation": "handshake",
    "key": "ecdsa-p256",
    "tls": "1.3",
    "groups": "X25519",
    "ciphers": "",
    "ciphersuites": "",
    "connections": 16,
    "answer": 1024,
    "reuse": 1,
    "session_ids": False,
    "bytes": 0,
    "messages": 0,
    "transactions": 3000,
    "warm_up": 200,
    "text": "# Every connection is a full handshake.\nkind = handshake\n",
}
RESUMED: Facts = HANDSHAKE | {
    "name": "resumed-4-tickets", "title": "One full handshake, three resumed", "reuse": 4
}
DOWN: Facts = HANDSHAKE | {
    "name": "down-1m", "title": "Download, messages of 1 MiB", "kind": "transfer-down",
    "operation": "GB", "bytes": 1 << 20, "messages": 1024, "connections": 4,
}
IDLE: Facts = HANDSHAKE | {
    "name": "idle", "title": "Idle connections", "kind": "idle", "connections": 4000
}
ESTABLISHED: Facts = HANDSHAKE | {
    "name": "established-beside-handshakes-30", "title": "Established beside a flood",
    "kind": "established", "connections": 40, "every_ms": 200, "duration_ms": 6000,
    "beside": "handshakes", "beside_connections": 256, "server_cpu": 0.3,
}
CALLS: Facts = HANDSHAKE | {
    "name": "system-calls", "title": "System calls for a full handshake", "kind": "system-calls",
    "connections": 1, "transactions": 400,
}
WORKERS: Facts = HANDSHAKE | {
    "name": "two-workers", "title": "CPU with two workers over one", "kind": "workers"
}
PACED: Facts = HANDSHAKE | {
    "name": "paced-70", "title": "Handshakes at a given rate",
    "arrivals": {"share": 0.7, "rate": 1234.2, "weakest": "stunnel"},
}

# A server's cost, relative to the base; and the spread of its rounds.
COSTS = {"cleat": (1.0, 0.03), "nginx": (2.2, 0.08), "hitch": (2.1, 0.08), "epoll": (0.99, 0.05)}


def _round(scenario: Facts, cost: float, chance: random.Random, histograms: bool) -> Facts:
    if scenario["kind"] == "idle":
        each = 4800 * cost
        points = [{"connections": n, "bytes": n * each} for n in (1000, 2000, 3000, 4000)]
        return dict.fromkeys(METRICS) | {"memory_bytes": each, "idle": points}
    if scenario["kind"] == "system-calls":
        count = 18 * cost
        calls = [{"name": "recvfrom", "count": 4.0}, {"name": "other", "count": count - 4}]
        return dict.fromkeys(METRICS) | {"system_calls": count, "calls": calls}
    unit = 660e6 if scenario["operation"] == "GB" else 244e3
    found: Facts = {
        "cpu_ns": unit * cost,
        "rate": (1.2e9 if scenario["operation"] == "GB" else 2800) / cost,
        "p50_ns": 4.9e6 * cost,
        "p99_ns": 9.5e6 * cost,
        "memory_bytes": 0.9e6 * cost,
        "system_calls": None,
        "workers_ratio": cost if scenario["kind"] == "workers" else None,
    }
    if histograms:
        found["load"] = load_result(
            seconds=3, rate=100, response_ms=4.9 * cost, seed=chance.randrange(1 << 30),
            resumed_share=1 - 1 / int(str(scenario["reuse"])), rate_asked=None, server=None,
        )
    return found


def _ratios(server: list[Facts | None], base: list[Facts | None]) -> Facts:
    found: Facts = {}
    for metric in METRICS:
        values = [
            one[metric] / other[metric]
            for one, other in zip(server, base)
            if one and other and one[metric] is not None and other[metric] is not None
        ]
        if not values:
            continue
        least, most = min(values), max(values)
        verdict = "less" if most < 1 else "more"
        if len(values) == 1:
            verdict = "one round"
        elif least <= 1 <= most:
            verdict = "no difference shown"
        found[metric] = {
            "median": median(values), "min": least, "max": most, "rounds": len(values),
            "verdict": verdict,
        }
    return found


def server(name: str, rounds: list[Facts | None], **facts: object) -> Facts:
    """server in one trial; `facts` go into it as they are."""
    medians: Facts = {}
    for metric in METRICS:
        values = [one[metric] for one in rounds if one and one[metric] is not None]
        medians[metric] = median(values) if values else None
    return {
        "name": name,
        "command": f"/usr/sbin/{name} -c /tmp/cleat-compare-AbC/{name}-7/{name}.conf",
        "config": f"# {name}\nworkers = 1\nfrontend = 127.0.0.1:4{len(name):03}\n",
        "left_out": None,
        "at_fault": False,
        "complaints": [],
        "medians": medians,
        "ratios": {},
        "rounds": rounds,
        **facts,
    }


def trial(
    scenario: Facts = HANDSHAKE,
    costs: dict[str, tuple[float, float]] = COSTS,
    rounds: int = 5,
    seed: int = 1,
    histograms: bool = True,
) -> Facts:
    """trial has every server of `costs` in it, and the first is the base."""
    chance = random.Random(f"{scenario['name']} {seed}")
    servers = [
        server(
            name,
            [
                _round(scenario, cost * chance.gauss(1, spread), chance, histograms)
                for _ in range(rounds)
            ],
        )
        for name, (cost, spread) in costs.items()
    ]
    for each in servers[1:]:
        each["ratios"] = _ratios(each["rounds"], servers[0]["rounds"])
    base = servers[0]["name"] if servers and rounds else None
    return {"scenario": scenario, "skipped": None, "base": base, "servers": servers}


def left_out(name: str, why: str, at_fault: bool = False, rounds: int = 5) -> Facts:
    """left_out is a server that no round was measured of."""
    none: list[Facts | None] = [None] * rounds
    return server(name, none, left_out=why, at_fault=at_fault, command="", config="")


def comparison(*trials: Facts, **facts: object) -> Facts:
    """comparison of what is in trials; `facts` go into the document as they are."""
    names = dict.fromkeys(one["name"] for each in trials for one in each["servers"])
    rounds = max((len(one["rounds"]) for each in trials for one in each["servers"]), default=5)
    return {
        "cleat_bench": 1,
        "kind": "compare",
        "command": "cleat-bench compare --servers cleat,nginx,hitch,epoll --rounds 5",
        "started": "2026-11-22T01:46:13.493272Z",
        "partial": False,
        "rounds": rounds,
        "workers": 1,
        "server_cores": [0],
        "client_cores": [1],
        "environment": [["processor", "AMD EPYC 7763"], ["kernel", "Linux 6.1.0-28-amd64"]],
        "versions": [[name, f"{name} version 1.2.3"] for name in names],
        "absent": [],
        "trials": list(trials),
        **facts,
    }
