"""Failures of honest clients: which of them a soak expects."""

import pytest

from soak.failures import IN_FLOOD, WITH_SERVER, Phase


def result(*failures: tuple[str, str, int], offered: int = 0, resumed: int = 0) -> dict:
    return {
        "attempts": 100,
        "failures": [
            {"stage": stage, "kind": kind, "count": count} for stage, kind, count in failures
        ],
        "handshakes": {"offered": offered, "resumed": resumed},
    }


def test_a_phase_without_failures_is_sound() -> None:
    phase = Phase("calm")
    phase.add(result(offered=30, resumed=30))
    assert phase.unexpected() == []


@pytest.mark.parametrize("failure", sorted(WITH_SERVER | IN_FLOOD))
def test_every_failure_in_calm_is_unexpected(failure: tuple[str, str]) -> None:
    phase = Phase("calm")
    phase.add(result((*failure, 2)))
    assert phase.unexpected() == [f"calm: 2 in {failure[0]}: {failure[1]}"]


def test_a_killed_server_takes_its_own_clients_only() -> None:
    phase = Phase("faults", expected=WITH_SERVER, expected_max=3)
    phase.add(result(("answer", "answer cut off", 2)))
    phase.add(result(("answer", "reset", 1)))
    assert phase.unexpected() == []
    phase.add(result(("request", "reset", 1)))
    assert phase.unexpected() == ["faults: 4 clients were cut, and 3 were on the killed server"]


def test_a_killed_server_refuses_nobody() -> None:
    """A client that comes later goes to the other server."""
    phase = Phase("faults", expected=WITH_SERVER, expected_max=3)
    phase.add(result(("handshake", "reset", 1), ("answer", "reset", 1)))
    assert phase.unexpected() == ["faults: 1 in handshake: reset"]


def test_a_flood_makes_clients_wait_or_sheds_them_and_cuts_no_established_one() -> None:
    phase = Phase("flood", expected=IN_FLOOD)
    phase.add(result(("handshake", "timeout", 80), ("handshake", "reset", 1)))
    assert phase.unexpected() == []
    phase.add(result(("answer", "reset", 1)))
    assert phase.unexpected() == ["flood: 1 in answer: reset"]


def test_a_session_that_does_not_resume_is_a_failure() -> None:
    phase = Phase("reloads")
    phase.add(result(offered=30, resumed=28))
    assert phase.unexpected() == ["reloads: 2 sessions did not resume"]


def test_a_request_that_was_due_at_the_end_is_no_failure_and_many_are() -> None:
    phase = Phase("calm")
    phase.add(result(("start", "connection busy", 5)))
    assert phase.unexpected() == []
    phase.add(result(("start", "connection busy", 6)))
    assert phase.unexpected() == ["calm: 11 in start: connection busy"]
