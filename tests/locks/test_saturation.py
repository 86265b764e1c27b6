"""The throughput at which a lock saturates, computed from a run far below it, agrees with a run
that reaches it."""

import json
import os

import pytest

from deadlines import in_some_round
from recording import SUBJECT, Recording, locks


@in_some_round
def test_the_throughput_that_a_lock_lets_through(tmp_path):
    """One thread never waits; eight wait for the lock, and for nothing else. A hold is long beside
    the time that the machine takes to wake the next waiter."""
    alone = Recording(tmp_path, [SUBJECT, "holds", 1, 80, 5000], ["--every-hold"])
    found = json.loads(
        locks("per-operation", alone.trace, "-n", 80, "--json", "-").stdout
    )
    (lock,) = [each for each in found["locks"] if "held_mutex" in each["name"]]
    assert lock["acquisitions"] == 1
    held_ns = lock["held_ns"]
    crowd = Recording(tmp_path, [SUBJECT, "holds", 8, 25, 5000], []).truth
    reached = 200 / (crowd["lived_ns"] / 1e9)
    # A busy machine wakes a holder late. The program has measured how much later in one run than in
    # the other.
    later = (crowd["hold_ns"] / 200) / (alone.truth["hold_ns"] / 80)
    assert 1e9 / (held_ns * later) == pytest.approx(reached, rel=0.10)

    # A lock that threads share has its figure in the table.
    two = Recording(tmp_path / "two", [SUBJECT, "holds", 2, 100, 1000], ["--every-hold"])
    text = locks("per-operation", two.trace, "-n", 200).stdout
    (row,) = [line for line in text.splitlines() if "held_mutex" in line]
    assert "/s" in row
    assert "Assumed:" in text
    assert "128 cores" in text


def test_a_lock_of_one_thread_saturates_nothing(tmp_path):
    alone = Recording(tmp_path, [SUBJECT, "holds", 1, 20, 100], ["--every-hold"])
    found = json.loads(locks("per-operation", alone.trace, "-n", 20, "--json", "-").stdout)
    assert [each["operations_per_second_max"] for each in found["locks"]] == [0]


def test_a_lock_that_was_only_made_by_another_saturates_nothing(tmp_path):
    """A thread that took it once keeps no other thread out later."""
    lent = Recording(tmp_path, [SUBJECT, "lent", 300, 100], ["--every-hold"])
    found = json.loads(locks("per-operation", lent.trace, "-n", 300, "--json", "-").stdout)
    (lock,) = [each for each in found["locks"] if "held_mutex" in each["name"]]
    assert lock["acquisitions"] == pytest.approx(301 / 300)
    assert lock["operations_per_second_max"] == 0
    assert lock["one_threads_own"]
    said = " one thread's own: others took it less than once in a hundred times"
    assert said in locks("per-operation", lent.trace, "-n", 300).stdout


def test_a_lock_that_threads_use_after_each_other_may_saturate(tmp_path):
    """The trace has one block for all of them, as for one thread; at the same time they would wait
    for each other."""
    many = Recording(tmp_path, [SUBJECT, "relay", 300, 100], ["--every-hold"])
    found = json.loads(locks("per-operation", many.trace, "-n", 300, "--json", "-").stdout)
    (lock,) = [each for each in found["locks"] if "held_mutex" in each["name"]]
    assert lock["threads"] > 1 and not lock["one_threads_own"]
    assert lock["operations_per_second_max"] > 0


@in_some_round
def test_holds_that_were_interrupted_make_no_lock_look_slower(tmp_path):
    """With many more threads than cores, some lose their core while they hold the mutex. The truth
    is the time of the other holds."""
    threads = 8 * len(os.sched_getaffinity(0))
    operations = 200 * threads
    run = Recording(tmp_path, [SUBJECT, "crowd", threads, 200, 950, 50], ["--every-hold"])
    found = json.loads(locks("per-operation", run.trace, "-n", operations, "--json", "-").stdout)
    if not found["interruptions_known"]:
        pytest.skip("no restartable sequences here: which holds were interrupted is not known")
    (lock,) = [each for each in found["locks"] if "held_mutex" in each["name"]]
    assert 0 < lock["interrupted_holds"] < operations / 4
    assert lock["timed_holds"] == operations
    truth = run.truth
    undisturbed = truth["undisturbed_ns"] / truth["undisturbed"]
    assert lock["held_ns"] == pytest.approx(undisturbed, rel=0.15)
    assert lock["held_ns"] < truth["hold_ns"] / operations
    assert lock["operations_per_second_max"] == pytest.approx(1e9 / lock["held_ns"])
