"""The study of TLS libraries: what its profiles rest on, and what its page shows of them."""

from pathlib import Path
from typing import Any

import pytest

from studies.libraries import page, profiles

def report(samples: int) -> dict[str, Any]:
    """report is what cleat-locks says of a run, as far as it is read."""
    weights = {"blocked_ns": 0, "contended": 0}
    rare = {"functions": [1, 2], "cpu_samples": 2, "blocked_ns": 100, "contended": 2}
    return {
        "blocked_percent": 1.0,
        "lock_cpu_percent": 0.0,
        "reference_cpu_percent": 100 * 2 / samples,
        "functions": ["often", "rarely", "caller"],
        "stacks": [{"functions": [0, 2], "cpu_samples": samples - 2, **weights}, rare],
        "locks": [],
        "total": {"cpu_samples": samples},
    }


def profiled(
    monkeypatch: pytest.MonkeyPatch, per_second: float, longest_s: float
) -> tuple[dict[str, Any], list[float]]:
    """profiled is a profile on a machine that gives so many samples a second, and its runs."""
    runs = list[float]()

    def recorded(locks: Path, program: Path, case: object, pems: dict, seconds: float) -> tuple:
        runs.append(seconds)
        return {"handshakes": 100 * seconds}, report(max(4, int(per_second * seconds)))

    monkeypatch.setattr(profiles, "recorded", recorded)
    nowhere = Path("nowhere")
    return profiles.profile(nowhere, nowhere, None, {}, longest_s), runs


def test_a_profile_takes_as_long_as_its_samples_do(monkeypatch: pytest.MonkeyPatch) -> None:
    found, runs = profiled(monkeypatch, 400, 30)
    assert runs == [0, 1] and found["cpu_samples"] == 400
    found, runs = profiled(monkeypatch, 60, 30)
    assert len(runs) == 3 and found["cpu_samples"] >= 400
    assert found["profiled_seconds"] == round(runs[-1], 1) < 10


def test_a_profile_takes_no_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    found, runs = profiled(monkeypatch, 10, 5)
    assert runs[-1] == 5 and found["cpu_samples"] == 50
    found, runs = profiled(monkeypatch, 10, 0.5)
    assert runs == [0, 0.5]


def test_a_stack_says_on_how_many_samples_it_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = profiled(monkeypatch, 500, 30)
    often, rarely = found["stacks_by_cpu"]
    assert (often["count"], rarely["count"]) == (498, 2)
    (waited,) = found["stacks_by_blocked"]
    assert waited["count"] == 2


def shown(profile: dict[str, Any]) -> tuple[str, str]:
    """shown are the table and the stacks of a result that has one profile."""
    kind = {"library": "aws-lc", "kind": "full", "contexts": "shared", "threads": 8}
    document = {
        "environment": {"libraries": {"aws-lc": "AWS-LC"}},
        "command": "run.py",
        "seconds": 1,
        "cases": [kind],
        "profiles": [kind | profile],
    }
    result = page.Result(document)
    table = "\n\n".join([*page.too_few_samples(result), page.locks(result)])
    return table, page.stacks(result)


def test_what_rests_on_two_samples_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = profiled(monkeypatch, 500, 30)
    table, stacks = shown(found)
    assert "| 1.0 | 0.0 | < 0.6 | 500 | 0.0 |" in table  # Reference counts: 2 of 500.
    assert "are wanted" not in table
    assert "of the 500 CPU samples\n 99.6 %  often < caller\nof the waits" in stacks
    assert "rarely" not in stacks
    assert "of the waits for locks: none that rests on 3 or more" in stacks


def test_a_profile_of_too_few_samples_is_said_to_be_rough(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = profiled(monkeypatch, 60, 1)
    table, stacks = shown(found)
    assert "have 60 to 60 CPU samples each; 400 are wanted" in table
    assert " 96.7 %  often < caller" in stacks and "  3.3 %" not in stacks
