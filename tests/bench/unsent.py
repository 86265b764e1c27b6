"""Requests at a rate, over kept connections, that were not sent before the time was up. A server
that is too slow makes them, and so does a busy machine: tests of other things count them apart."""

from load_results import Facts


def is_unsent(failure: Facts) -> bool:
    return (failure["stage"], failure["kind"]) == ("start", "connection busy")


def sent(found: Facts) -> int:
    """sent are the requests of a load that it had a free connection, or stream, for."""
    busy = sum(each["count"] for each in found["failures"] if is_unsent(each))
    return found["attempts"] - busy


def failures_of_sent(found: Facts) -> dict[tuple[str, str], int]:
    """failures_of_sent are the other failures, by stage and kind."""
    others = [each for each in found["failures"] if not is_unsent(each)]
    return {(each["stage"], each["kind"]): each["count"] for each in others}
