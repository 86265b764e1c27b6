"""Terminators on staircases: the study of docs/studies/terminators.md.

Each server is started by `cleat-bench serve` with the settings of a scenario. A closed
loop finds its capacity; then `cleat-bench staircase` opens more and more new connections a second,
from well below that to above it. Servers take turns, round after round.
"""

import argparse
import re
import sys
from pathlib import Path

from cleat_perf import builds, environment, serve
from cleat_perf.results import TREE, read
from cleat_perf.serve import Unable, settings

SERVERS = "cleat,nginx,haproxy,haproxy-awslc,hitch,stunnel,envoy"
SCENARIOS = (
    "resumed-4-rsa-2048,resumed-80-rsa-2048,full-rsa-2048,resumed-4-rsa-1024,full-rsa-3072,"
    "full-rsa-4096,resumed-4-tickets,full-ecdsa-p256,full-ed25519,resumed-4-aes-256-gcm,"
    "resumed-4-chacha20,resumed-4-cbc-tls12"
)
# The first step and the last, as parts of what a closed loop got through.
FIRST, LAST = 0.3, 1.2
CAPACITY_S = 2


def arguments(words: list[str]) -> argparse.Namespace:
    parse = argparse.ArgumentParser(prog="study.py terminators", description=__doc__)
    parse.add_argument("--binaries", type=Path, default=TREE / "build/release/bin")
    parse.add_argument("--servers", default=SERVERS)
    parse.add_argument("--scenarios", default=SCENARIOS)
    parse.add_argument("--rounds", type=builds.at_least_one, default=3)
    parse.add_argument("--steps", type=builds.at_least_one, default=7)
    parse.add_argument("--hold", default="1s", help="how long a step is")
    parse.add_argument(
        "--workers", type=builds.at_least_one, default=1,
        help="of each server, on the first cores; clients and origin have the others, or the last",
    )  # fmt: skip
    parse.add_argument(
        "--beside", type=Path, metavar="RESULT",
        help="what is not measured now is taken from this result",
    )  # fmt: skip
    parse.add_argument("--out", type=Path, help="default: a new file in perf/results; - for none")
    use = parse.parse_args(words)
    use.servers = builds.listed("--servers", use.servers, SERVERS.split(","))
    known = sorted(path.stem for path in serve.SCENARIOS.glob("*.scenario"))
    use.scenarios = builds.listed("--scenarios", use.scenarios, known)
    if not (use.binaries / "cleat-bench").exists():
        sys.exit(f"{use.binaries / 'cleat-bench'} is not there: build the target cleat-bench")
    return use


def cores(use: argparse.Namespace) -> tuple[list[int], list[int]]:
    """cores of the servers, and of clients and origin: they share only where there are too few."""
    usable = sorted(environment.cores())
    return usable[: use.workers], usable[use.workers :] or usable[-1:]


def climb(use: argparse.Namespace, name: str, scenario: str, top: float | None) -> dict:
    """climb is one staircase of one server. Raises Unable."""
    own, others = cores(use)
    what = settings(scenario)
    words = ["--reuse", what.get("reuse", "1"), "--close", "reset", "--workers", "1"]
    path = what.get("answer", "1024")
    with serve.serving(
        use.binaries, name, scenario=scenario, workers=use.workers, server_cores=own,
        client_cores=others,
    ) as server:  # fmt: skip
        if top is None:
            found = server.ask(
                "load", path, *words, "-d", f"{CAPACITY_S}s", "-c", "16", cores=others
            )
            if not found["ok"]:
                raise Unable("no transaction succeeds")
            top = found["ok"] / (found["measured_ns"] / 1e9)
        step = top * (LAST - FIRST) / max(1, use.steps - 1)
        found = server.ask(
            "staircase", path, *words, "--from", f"{top * FIRST:.0f}", "--to", f"{top * LAST:.0f}",
            "--step", f"{max(1, step):.0f}", "--hold", use.hold, "--server-pid", server.pid,
            cores=others,
        )  # fmt: skip
    return {
        "capacity": top,
        "steps": found["steps"],
        "highest": {each["criterion"]: each["rate"] for each in found["highest"]},
        "knee": found.get("knee"),
        "ok": found["ok"],
        "cpu_us": found["server"]["cpu_ns"] / max(1, found["ok"]) / 1e3,
        "limits": found["limits"],
        # Envoy prints its path, which is of this machine only.
        "version": re.sub(r"\S*/peers/", "", server.version),
    }


def main(words: list[str]) -> None:
    use = arguments(words)
    about = environment.describe(TREE)
    names, scenarios = use.servers, use.scenarios
    found = {each: {name: {"rounds": []} for name in names} for each in scenarios}
    for scenario in scenarios:
        for number in range(use.rounds):
            for name in names:
                row = found[scenario][name]
                if "left_out" in row:
                    continue
                before = row["rounds"][0]["capacity"] if row["rounds"] else None
                try:
                    row["rounds"].append(climb(use, name, scenario, before))
                except Unable as why:
                    row["left_out"] = str(why)
                    print(f"  {scenario}: {name} is left out: {why}", file=sys.stderr)
            print(f"  {scenario}: round {number + 1} of {use.rounds}", file=sys.stderr)
    document = {"environment": about, "rounds": use.rounds, "workers": use.workers}
    titles = {each: settings(each).get("title", each) for each in scenarios}
    # Of each scenario: when and where it was measured.
    measured = dict.fromkeys(scenarios, about)
    if use.beside:
        other = read(use.beside)
        titles, found = other["titles"] | titles, other["scenarios"] | found
        measured = other["measured"] | measured
    document["measured"] = measured
    builds.keep(use, "terminators", {**document, "titles": titles, "scenarios": found})
