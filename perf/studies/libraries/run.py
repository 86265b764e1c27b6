"""Lays TLS libraries side by side: handshakes in memory, client and server of each.

docs/studies/libraries.md explains it. Build the programs first: the target study-handshakes of each
preset, study-handshakes-gnutls and study-handshakes-nss of one of them; that of rustls is built
here. A library whose program is not there is left out, and named.
"""

import argparse
import itertools
import statistics
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from cleat_perf import builds as built
from cleat_perf import environment
from cleat_perf.results import TREE
from studies.libraries import profiles, programs
from studies.libraries.programs import Case

VERSIONS = ("1.2", "1.3")
KINDS = ("full", "ticket", "id", "renegotiate")
KEYS = ("ecdsa-p256", "rsa-2048")
GROUPS = ("x25519", "x25519mlkem768")
THREADS = (1, 2, 4, 8)
CONTEXTS = ("shared", "thread", "library")
FIGURES = ("per_second", "server_cpu_us", "client_cpu_us", "cpu_percent")


def arguments(words: list[str]) -> argparse.Namespace:
    parse = argparse.ArgumentParser(prog="study.py libraries", description=__doc__)
    built.add_arguments(parse)
    parse.add_argument("--libraries", help="only these, by name: aws-lc,rustls")
    parse.add_argument("--rounds", type=built.at_least_one, default=5)
    parse.add_argument("--seconds", type=float, default=0.4, help="of a slice")
    parse.add_argument("--full", action="store_true", help="the whole matrix: about an hour")
    parse.add_argument(
        "--cleat-locks", type=Path, default=TREE / "build/release/bin/cleat-locks",
        help="without it there are no locks and stacks",
    )  # fmt: skip
    parse.add_argument(
        "--profile-seconds", type=float, default=30,
        help=f"the longest run with locks and stacks; it ends after {profiles.SAMPLES} samples of "
        "CPU time",
    )  # fmt: skip
    parse.add_argument(
        "--check", action="store_true", help="one handshake of each kind; builds nothing"
    )
    return parse.parse_args(words)


def possible(case: Case) -> bool:
    """possible leaves out what TLS does not have."""
    if case.version == "1.2":
        return case.group == "x25519"
    return case.kind != "renegotiate"


def chosen(full: bool) -> list[Case]:
    """chosen cases: each handshake on one thread; on more threads, the two that servers do most."""
    if full:
        every = itertools.product(VERSIONS, KINDS, KEYS, GROUPS, THREADS, CONTEXTS)
        return [case for words in every if possible(case := Case(*words))]
    alone = [Case(*words) for words in itertools.product(VERSIONS, KINDS, KEYS, GROUPS)]
    # A resumption does not use the key, and there is one post-quantum case of it.
    alone = [
        case
        for case in alone
        if case.group == "x25519" or case.kind == "full" or case == Case("1.3", "ticket",
        "ecdsa-p256", "x25519mlkem768")
    ]  # fmt: skip
    shared = [
        Case(kind=kind, threads=threads, contexts=contexts)
        for kind, threads, contexts in itertools.product(("full", "ticket"), THREADS, CONTEXTS)
    ]
    return list(dict.fromkeys(case for case in alone + shared if possible(case)))


def profiled() -> list[Case]:
    """profiled cases: the most threads, where locks would show."""
    return [
        Case(kind=kind, threads=max(THREADS), contexts=contexts)
        for kind, contexts in itertools.product(("full", "ticket"), CONTEXTS)
    ]


def figures_of(answer: dict, case: Case) -> dict:
    """figures_of one slice. CPU is of the cores that its threads could have used."""
    usable = min(case.threads, len(environment.cores()))
    return {
        "per_second": round(answer["handshakes"] / answer["seconds"], 1),
        "server_cpu_us": answer["server_cpu_us"],
        "client_cpu_us": answer["client_cpu_us"],
        "cpu_percent": round(100 * answer["cpu_seconds"] / answer["seconds"] / usable, 1),
    }


def measure(use: argparse.Namespace, found: dict[str, Path], pems: dict[str, Path]) -> list[dict]:
    """measure runs the libraries in turns, case by case, A B C A B C in each round."""
    rows = {}
    for turn in range(use.rounds):
        for case in chosen(use.full):
            for name, program in found.items():
                row = rows.setdefault((name, case), {"library": name, **asdict(case)})
                if "unsupported" in row:
                    continue
                answer = programs.ask(program, case, pems, use.seconds)
                if "unsupported" in answer:
                    row["unsupported"] = answer["unsupported"]
                else:
                    rounds = row.setdefault("rounds", {figure: [] for figure in FIGURES})
                    for figure, value in figures_of(answer, case).items():
                        rounds[figure].append(value)
        print(f"  round {turn + 1} of {use.rounds}", file=sys.stderr)
    for row in rows.values():
        if "rounds" in row:
            row["median"] = {name: statistics.median(row["rounds"][name]) for name in FIGURES}
    return list(rows.values())


def profile(use: argparse.Namespace, found: dict[str, Path], pems: dict[str, Path]) -> list[dict]:
    if not use.cleat_locks.exists():
        print("cleat-locks is not built: no locks and stacks", file=sys.stderr)
        return []
    rows = []
    for case, (name, program) in itertools.product(profiled(), found.items()):
        seen = profiles.profile(use.cleat_locks, program, case, pems, use.profile_seconds)
        if "unsupported" not in seen:
            rows.append({"library": name, **asdict(case), **seen})
    print("  locks and stacks", file=sys.stderr)
    return rows


def check(found: dict[str, Path], pems: dict[str, Path]) -> int:
    """check makes one handshake of each kind on each program, by two threads, verified."""
    failures = 0
    every = itertools.product(VERSIONS, KINDS, KEYS, GROUPS, (2,), CONTEXTS)
    cases = [case for words in every if possible(case := Case(*words))]
    for name, program in found.items():
        done, missing = 0, set[str]()
        for case in cases:
            try:
                answer = programs.ask(program, case, pems, 0)
            except RuntimeError as failure:
                print(f"FAIL  {failure}")
                failures += 1
                continue
            wanted = 2 if case.kind in ("ticket", "id") else 0
            if "unsupported" in answer:
                missing.add(answer["unsupported"])
                failures += unexpected(answer, case)
            elif answer["handshakes"] != 2 or answer["resumed"] != wanted:
                print(f"FAIL  {name}, {case}: {answer}")
                failures += 1
            else:
                done += 1
        print(f"{name}: {done} kinds of handshake; {'; '.join(sorted(missing)) or 'all there are'}")
    return 1 if failures else 0


def unexpected(answer: dict, case: Case) -> int:
    """unexpected is 1 for a handshake that every library must be able to do."""
    rare = case.kind == "renegotiate" or (case.kind == "id" and case.version == "1.3")
    if rare or case.group != "x25519" or case.contexts == "library":
        return 0
    print(f"FAIL  {case}: {answer}")
    return 1


def main(words: list[str]) -> int:
    use = arguments(words)
    known = dict.fromkeys([*built.FOLDERS, *built.folders(use), *programs.OTHERS, "rustls"])
    wanted = built.listed("--libraries", use.libraries, known) if use.libraries else known
    if not use.check:
        programs.build_rustls()
    found = programs.find(built.folders(use))
    if use.libraries:
        found = {name: program for name, program in found.items() if name in wanted}
    if not found:
        sys.exit("no program was built: cmake --build --preset release --target study-handshakes")
    absent = {*built.FOLDERS, *programs.OTHERS, "rustls"} - {*found}
    if absent and not use.check and not use.libraries:
        print(f"no program, so left out: {', '.join(sorted(absent))}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="cleat-study-") as name:
        folder = Path(name)
        pems = environment.certificates(folder)
        if use.check:
            return check(found, pems)
        machine = environment.describe(TREE)
        machine["libraries"] = {
            name: programs.ask(program, Case(), pems, 0)["library"]
            for name, program in found.items()
        }
        record = {
            "environment": machine,
            "seconds": use.seconds,
            "cases": measure(use, found, pems),
            "profiles": profile(use, found, pems),
        }
    built.keep(use, "libraries", record)
    return 0
