"""Results of `cleat-bench load` as it writes them, made up: any size and outcome without a load."""

import base64
import json
import random
import struct
import zlib
from collections import Counter
from pathlib import Path

VALUE_MAX = 3_600_000_000_000
HALF_BITS = 10  # of 3 digits

Facts = dict[str, object]


def _bucket(value: int) -> int:
    dropped = max(0, value.bit_length() - HALF_BITS - 1)
    return (dropped << HALF_BITS) + (value >> dropped)


def _number(value: int) -> bytes:
    """_number is zig-zag LEB128 of at most nine bytes."""
    value = (value << 1 ^ value >> 63) & 2**64 - 1
    encoded = bytearray()
    while value >= 0x80 and len(encoded) < 8:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def hdr(values: list[int]) -> str:
    """hdr encodes values as HdrHistogram's logs do: V2, compressed, base64."""
    counts = bytearray()
    following = 0
    for index, count in sorted(Counter(map(_bucket, values)).items()):
        if index != following:
            counts += _number(following - index)
        counts += _number(count)
        following = index + 1
    head = struct.pack(">IIIIQQd", 0x1C849313, len(counts), 0, 3, 1, VALUE_MAX, 1.0)
    packed = zlib.compress(head + counts)
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()


def latency(values: list[int]) -> Facts:
    ordered = sorted(values)
    total = sum(ordered)
    return {
        "count": len(ordered),
        "min_ns": ordered[0] if ordered else 0,
        "max_ns": ordered[-1] if ordered else 0,
        "beyond_max": 0,
        "sum_ns": [total >> 64, total & 2**64 - 1],
        "hdr": hdr(ordered),
    }


def _times(chance: random.Random, count: int, median_ms: float, spread: float) -> list[int]:
    return [int(median_ms * 1e6 * chance.lognormvariate(0, spread)) for _ in range(count)]


def _timeline(
    chance: random.Random, intervals: int, response: list[int], failed: int
) -> dict[str, list[int]]:
    """_timeline spreads transactions evenly, and failures around two thirds. A third of what falls
    there takes twelve times as long: a stall."""
    keys = ("attempted", "ok", "failed", "response_sum_ns", "response_max_ns")
    timeline = {key: [0] * intervals for key in keys}
    for number in range(len(response)):
        interval = number * intervals // len(response)
        if intervals > 5 and interval == intervals * 2 // 3 and chance.random() < 0.3:
            response[number] *= 12
        timeline["attempted"][interval] += 1
        timeline["ok"][interval] += 1
        timeline["response_sum_ns"][interval] += response[number]
        slowest = max(timeline["response_max_ns"][interval], response[number])
        timeline["response_max_ns"][interval] = slowest
    for _ in range(failed):
        interval = min(intervals - 1, int(abs(chance.gauss(intervals * 2 / 3, intervals / 25))))
        timeline["attempted"][interval] += 1
        timeline["failed"][interval] += 1
    return timeline


def _handshakes(ok: int, resumed: int) -> Facts:
    agreed = [
        {"version": version, "cipher": cipher, "group": group, "count": ok * percent // 100}
        for version, cipher, group, percent in (
            ("TLSv1.3", "TLS_AES_128_GCM_SHA256", "X25519MLKEM768", 90),
            ("TLSv1.2", "ECDHE-ECDSA-AES128-GCM-SHA256", "X25519", 10),
        )
        if ok
    ]
    offered = resumed + ok // 50
    return {"full": ok - resumed, "resumed": resumed, "offered": offered, "agreed": agreed}


def _latencies(
    chance: random.Random, ok: int, resumed: int, response_ms: float, response: list[float]
) -> Facts:
    return {
        "tcp": latency(_times(chance, ok, 0.06, 0.35)),
        "tls": latency(_times(chance, ok - resumed, response_ms / 2, 0.4)),
        "tls_resumed": latency(_times(chance, resumed, response_ms / 5, 0.4)),
        "first_byte": latency(_times(chance, ok, response_ms / 4, 0.5)),
        "response": latency(response),
        "slip": latency(_times(chance, ok, 0.012, 0.6)),
    }


def load_result(
    name: str = "release",
    seconds: float = 30.0,
    rate: float = 400.0,
    response_ms: float = 2.0,
    resumed_share: float = 0.5,
    failures: dict[tuple[str, str], int] | None = None,
    seed: int = 1,
    **facts: object,
) -> Facts:
    """load_result makes a result that adds up: log-normal times, a stall at two thirds, and the
    failures asked for. `facts` go into the document as they are; what is None is left out."""
    chance = random.Random(seed)
    failures = failures or {}
    ok = int(rate * seconds)
    failed = sum(failures.values())
    resumed = int(ok * resumed_share)
    response = _times(chance, ok, response_ms, 0.45)
    intervals = max(1, round(seconds)) if ok + failed else 0
    timeline = _timeline(chance, intervals, response, failed)
    document = {
        "cleat_bench": 1,
        "kind": "load",
        "name": name,
        "command": f"cleat-bench load 127.0.0.1:8443 --rate {rate:g} --duration {seconds:g}s",
        "target": "127.0.0.1:8443",
        "started": "2026-11-21T20:00:00.000000Z",
        "measured_ns": int(seconds * 1e9),
        "partial": False,
        "asked": {"rate": f"{rate:g}/s", "duration": f"{seconds:g} s", "arrivals": "Poisson"},
        "rate_asked": rate,
        "limits": [],
        "cures": [],
        "environment": {
            "machine": "AMD EPYC 7763, 8 of 128 CPUs, 31.3 GB",
            "kernel": "Linux 6.1.0-28-amd64",
            "TLS library": "AWS-LC 1.61.0",
            "cleat-bench": "0.1.0, release",
        },
        "worker_cpu_ns": [int(seconds * share * 1e9) for share in (0.41, 0.38)],
        "server": {"pids": [4711, 4712], "cpu_ns": int(ok * response_ms * 180_000)},
        "attempts": ok + failed,
        "ok": ok,
        "failed": failed,
        "failures": [
            {"stage": stage, "kind": kind, "count": count}
            for (stage, kind), count in failures.items()
        ],
        "connections": ok + failed,
        "handshakes": _handshakes(ok, resumed),
        "bytes": {"up": ok * 97, "down": ok * 16_630},
        "latency": _latencies(chance, ok, resumed, response_ms, response),
        "timeline": {"interval_ns": 1_000_000_000, **timeline},
        "cpu_ns": ok * 61_000,
        **facts,
    }
    for lists in ("asked", "environment"):  # Pairs: merged results have a name several times.
        document[lists] = [list(pair) for pair in document[lists].items()]
    return {key: value for key, value in document.items() if value is not None}


def staircase_result(
    name: str = "cleat", capacity: float = 900, steps: int = 8, **facts: object
) -> Facts:
    """staircase_result is of a server that can do so much, and breaks beyond."""
    rates = [capacity * (number + 1) / (steps - 1) for number in range(steps)]
    climbed = []
    for rate in rates:
        over = max(0.0, rate - capacity)
        lost = int(over * 0.3)
        climbed.append({
            "rate": rate,
            "length_ns": 2_000_000_000,
            "attempted": int(2 * rate),
            "ok": int(2 * rate) - lost,
            "failed": lost,
            "done": int(2 * min(rate, capacity)),
            "broken": lost > 0.05 * 2 * rate or over > 0.1 * capacity,
            "response_mean_ns": 2e6 + (over / capacity) * 4e9 + rate * 1000,
            "response_max_ns": int(9e6 + (over / capacity) * 9e9),
        })
    highest = [
        {"criterion": "mean response below 100 ms", "rate": rates[-2]},
        {"criterion": "mean response below 500 ms", "rate": rates[-2]},
        {"criterion": "failures below 0.01 %", "rate": rates[-2]},
        {"criterion": "failures below 0.1 %", "rate": None},
    ]
    failed = sum(step["failed"] for step in climbed)
    return load_result(
        name=name, seconds=2.0 * steps, rate=capacity / 2, steps=climbed, highest=highest,
        failures={("answer", "timeout"): failed} if failed else {}, **{"knee": rates[0], **facts}
    )


def idle_result(
    name: str = "cleat", each: float | None = 12_345.0, flat: int = 0, **facts: object
) -> Facts:
    """idle_result has so many flat levels before those that grow."""
    counts = [0, 1000, 2000, 3000, 4000]
    levels = [
        {
            "connections": count,
            "pss_bytes": int(9e6 + (each or 40) * max(0, count - 1000 * flat)),
            "flat": each is None and count != 0 or 0 < number <= flat,
        }
        for number, count in enumerate(counts)
    ]
    return {
        "cleat_bench": 1,
        "kind": "idle",
        "name": name,
        "command": "cleat-bench idle --server-pid 4711 127.0.0.1:8443",
        "target": "127.0.0.1:8443",
        "started": "2026-11-21T20:00:00.000000Z",
        "partial": False,
        "levels": levels,
        "bytes_per_connection": each,
        "environment": [["kernel", "Linux 6.1.0-28-amd64"]],
        **facts,
    }


def probed_host(target: str = "example.org:443", error: str | None = None, weak: int = 1) -> Facts:
    if error:
        return {
            "cleat-bench probe": 1,
            "target": target,
            "when": "2026-11-21T20:00:00.000000Z",
            "error": error,
        }
    way = {
        "offered": True, "tickets": 2, "lifetime_s": 7200, "tried": 4, "resumed": 4,
        "renews": True, "taken_twice": None,
    }
    certificate = {
        "subject": target.split(":")[0], "issuer": "Authority of a Long Name Inc. R3",
        "names": [target], "key": "ECDSA", "key_bits": 256, "signature": "ecdsa-with-SHA256",
        "not_before": "2026-10-01", "not_after": "2026-12-30", "days_left": 39,
        "self_signed": False, "sha256": "00", "chain_length": 2, "verified": weak == 0,
        "reason": "" if weak == 0 else "unable to get local issuer certificate",
        "chain_incomplete": False, "name_matches": True,
    }
    return {
        "cleat-bench probe": 1,
        "target": target,
        "when": "2026-11-21T20:00:00.000000Z",
        "error": None,
        "address": "192.0.2.1:443",
        "client": "AWS-LC 5.12.0",
        "incomplete": "",
        "preferred": {
            "version": "TLSv1.3", "suite": "TLS_AES_128_GCM_SHA256", "group": "X25519MLKEM768",
            "signature_scheme": "ecdsa_secp256r1_sha256",
        },
        "versions": [
            {"version": "TLS 1.3", "suites": ["TLS_AES_128_GCM_SHA256"], "order": "unknown"},
            {
                "version": "TLS 1.2",
                "suites": ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384"],
                "order": "server",
            },
        ],
        "groups": ["X25519MLKEM768", "X25519"],
        "other_groups": ["P-521"],
        "post_quantum": True,
        "alpn": ["http/1.1"],
        "certificates": [certificate],
        "without_sni": {"answer": "same", "detail": ""},
        "unknown_sni": {"answer": "refused", "detail": "alert unrecognized_name"},
        "client_certificate_required": False,
        "resumption": {
            "tls_1_3_tickets": way, "tls_1_2_tickets": way, "tls_1_2_session_ids": way,
        },
        "median_ns": {"tcp": 61_000, "tls_full": 1_230_000, "tls_resumed": None},
        "verdict": [
            *({"good": False, "text": f"the certificate is weak ({n})"} for n in range(weak)),
            {"good": True, "text": "a post-quantum group is offered"},
        ],
    }


def probe_result(*hosts: Facts) -> Facts:
    return {"cleat_bench": 1, "kind": "probe", "hosts": list(hosts)}


def write(folder: Path, *results: Facts) -> list[Path]:
    """write gives each result a file, in their order."""
    paths = []
    for number, each in enumerate(results, 1):
        paths.append(folder / f"result-{number}.json")
        paths[-1].write_text(json.dumps(each))
    return paths
