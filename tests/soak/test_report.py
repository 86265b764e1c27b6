"""The report of a soak: which series fail a run, and which cycles are compared."""

from collections import Counter
from types import SimpleNamespace

import pytest

from soak.failures import Phase
from soak.report import MIB, SERIES, findings, shown

COUNT = 8
STEADY = {"memory": 16 * MIB, "descriptors": 233, "threads": 5, "connections": 100,
          "upstream_connections": 100, "queued": 0, "configurations": 3,
          "metric_series": 321}  # fmt: skip


class Rows:
    """Rows are samples at rest, one a cycle: those of STEADY, or of a series that grows."""

    def __init__(self, **growing: list[float]) -> None:
        self.rows = [
            {"seconds": 15.0 * number, "cycle": number}
            | STEADY
            | {name: values[number] for name, values in growing.items()}
            for number in range(COUNT)
        ]

    def at_rest(self, name: str, first_cycle: int) -> tuple[list[float], list[float]]:
        rows = self.rows[first_cycle:]
        return [each["seconds"] for each in rows], [each[name] for each in rows]

    def least(self, name: str, first_cycle: int) -> tuple[list[float], list[float]]:
        return self.at_rest(name, first_cycle)

    def columns(self) -> dict[str, list]:
        return {key: [each[key] for each in self.rows] for key in self.rows[0]}


def cycles(p99_ms: list[float], other_cores: list[float]) -> list[SimpleNamespace]:
    return [
        SimpleNamespace(
            seconds=15.0 * number, p99_ms=p99, other_cores=other, faults=[],
            flood={"rate": 900.0, "rate_asked": 3000.0}, phases=[Phase(f"cycle {number}, calm")],
        )
        for number, (p99, other) in enumerate(zip(p99_ms, other_cores))
    ]  # fmt: skip


def found(rows: Rows, each: list[SimpleNamespace] | None = None) -> dict:
    idlers = SimpleNamespace(asked=1, cut_with_server=0, cut=Counter())
    own = each or cycles([5.0] * COUNT, [0.0] * COUNT)
    return findings(own, rows, idlers, 1) | {"capacity": 1000.0}


def test_a_run_in_which_nothing_grows_is_sound() -> None:
    document = found(Rows())
    assert document["faults"] == []
    assert {each["verdict"] for each in document["trends"]} == {"steady"}
    assert "Nothing has failed." in shown(document)


@pytest.mark.parametrize("name", sorted(STEADY))
def test_each_series_fails_a_run_in_which_it_grows(name: str) -> None:
    step = 10 * SERIES[name].bound.amount / COUNT
    grown = [STEADY[name] + step * number for number in range(COUNT)]
    document = found(Rows(**{name: grown}))
    assert document["faults"] == [f"{SERIES[name].title}: it grows"]
    assert f"FAILED: {SERIES[name].title}: it grows" in shown(document)


def test_the_first_cycle_is_a_warm_up() -> None:
    memory = [2 * MIB] + [16 * MIB] * (COUNT - 1)
    document = found(Rows(memory=memory))
    assert document["faults"] == []
    assert document["trends"][0]["start"] == 16 * MIB


def test_a_latency_that_grows_fails_the_run() -> None:
    document = found(Rows(), cycles([5 + 2.0 * number for number in range(COUNT)], [0.0] * COUNT))
    assert document["faults"] == ["p99 of the quiet stream, ms: it grows"]


def test_a_latency_beside_other_work_is_not_compared() -> None:
    """The last two cycles had other work beside them."""
    document = found(
        Rows(), cycles([5.0] * (COUNT - 2) + [70.0, 80.0], [0.1] * (COUNT - 2) + [1.5, 1.6])
    )
    assert document["faults"] == []
    assert document["trends"][-1]["points"] == COUNT - 3


def test_too_few_cycles_to_compare_do_not_tell() -> None:
    document = found(Rows(), cycles([5.0] * COUNT, [0.5 * number for number in range(COUNT)]))
    assert document["trends"][-1]["verdict"] == "cannot tell"
    assert "| p99 of the quiet stream, ms | 1 | | | | cannot tell |" in shown(document)


def test_a_failure_without_a_reason_fails_the_run() -> None:
    every = cycles([5.0] * COUNT, [0.0] * COUNT)
    every[3].phases[0].failures["answer", "wrong body"] += 1
    document = found(Rows(), every)
    assert document["faults"] == ["cycle 3, calm: 1 in answer: wrong body"]
    assert "1 answer: wrong body" in shown(document)
