"""perf/server_faults.py: losses are summed over the rounds, and of times the longest counts."""

import server_faults


def window(harm: str, lost: int, longest_s: float) -> dict:
    return {
        "harm": harm, "connections": 7000, "lost": lost, "kinds": {}, "in_flight": 3,
        "p50_s": 0.001, "longest_s": longest_s, "noticed_s": 2.0, "back_s": 1.0,
    }  # fmt: skip


def test_one_loss_in_one_round_is_shown() -> None:
    rounds = [window("killed", 0, 0.5), window("refusing", 0, 0.1), window("killed", 1, 0.2)]
    killed, refusing = server_faults.rows(rounds)
    assert killed == ["killed", "14,000", "1", "6", "1.0 ms", "0.50 s", "2.0 s", "1.0 s"]
    assert refusing == ["refusing", "7,000", "0", "3", "1.0 ms", "0.10 s", "", "1.0 s"]


def test_losses_are_what_the_generator_has_counted() -> None:
    response = {"p50_ns": 1_000_000, "max_ns": 2_000_000_000}
    failures = [{"stage": "answer", "kind": "reset", "count": 2}]
    found = server_faults.losses(
        {"attempts": 10, "failed": 2, "failures": failures, "latency": {"response": response}}
    )
    assert (found["connections"], found["lost"]) == (10, 2)
    assert found["kinds"] == {"reset in answer": 2}
    assert (found["p50_s"], found["longest_s"]) == (0.001, 2.0)
