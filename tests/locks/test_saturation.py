"""The throughput at which a lock saturates, computed from a run far below it, agrees with a run
that reaches it."""

import json

import pytest

from recording import STEPPED, SUBJECT, Recording, locks

# A report's quotients are floating point.
EXACTLY = 1e-9


def test_the_throughput_that_a_lock_lets_through(tmp_path):
    """One thread never waits; eight wait for the lock, and for nothing else."""
    options = ["--every-hold"]
    alone = Recording(tmp_path, [SUBJECT, "holds", 1, 81, 5000], options, STEPPED)
    found = json.loads(
        locks("per-operation", alone.trace, "-n", 81, "--json", "-").stdout
    )
    (lock,) = [each for each in found["locks"] if "held_mutex" in each["name"]]
    assert lock["acquisitions"] == 1
    crowd = Recording(tmp_path, [SUBJECT, "holds", 8, 24, 5000], options, STEPPED)
    reached = 8 * 24 / (crowd.truth["lived_ns"] / 1e9)
    assert reached == pytest.approx(200)
    assert 1e9 / lock["held_ns"] == pytest.approx(reached, rel=EXACTLY)
    said = locks("per-operation", crowd.trace, "-n", 8 * 24, "--json", "-").stdout
    (shared,) = [each for each in json.loads(said)["locks"] if "held_mutex" in each["name"]]
    assert shared["operations_per_second_max"] == pytest.approx(reached, rel=EXACTLY)

    # A lock that threads share has its figure in the table.
    text = locks("per-operation", crowd.trace, "-n", 8 * 24).stdout
    (row,) = [line for line in text.splitlines() if "held_mutex" in line]
    assert "/s" in row
    assert "Assumed:" in text
    assert "128 cores" in text


def test_readers_move_the_cache_line_of_their_lock(tmp_path):
    run = Recording(tmp_path, [SUBJECT, "readers", 3, 1000], ["--every-hold"], STEPPED)
    found = json.loads(locks("per-operation", run.trace, "-n", 3000, "--json", "-").stdout)
    if found["line_ns"] == 0:
        pytest.skip("one core: no cache line moves")
    assert 1 < found["line_ns"] < 100_000
    (lock,) = [each for each in found["locks"] if "read_lock" in each["name"]]
    assert lock["line_ns"] == pytest.approx(found["line_ns"] * 0.9, rel=EXACTLY)
    busy = lock["held_ns"] + lock["line_ns"]
    assert lock["operations_per_second_max"] == pytest.approx(1e9 / busy, rel=EXACTLY)
    assert "readers move its cache line" in locks("per-operation", run.trace, "-n", 3000).stdout


def test_a_lock_of_one_thread_saturates_nothing(tmp_path):
    alone = Recording(tmp_path, [SUBJECT, "holds", 1, 20, 100], ["--every-hold"], STEPPED)
    found = json.loads(locks("per-operation", alone.trace, "-n", 20, "--json", "-").stdout)
    assert [each["operations_per_second_max"] for each in found["locks"]] == [0]


def test_a_lock_that_was_only_made_by_another_saturates_nothing(tmp_path):
    """A thread that took it once keeps no other thread out later."""
    lent = Recording(tmp_path, [SUBJECT, "lent", 300, 100], ["--every-hold"], STEPPED)
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
    many = Recording(tmp_path, [SUBJECT, "relay", 300, 100], ["--every-hold"], STEPPED)
    found = json.loads(locks("per-operation", many.trace, "-n", 300, "--json", "-").stdout)
    (lock,) = [each for each in found["locks"] if "held_mutex" in each["name"]]
    assert lock["threads"] > 1 and not lock["one_threads_own"]
    assert lock["operations_per_second_max"] > 0


def test_holds_that_were_interrupted_make_no_lock_look_slower(tmp_path):
    """Two threads lose their core in every eighth hold, and each of these holds is a hundred times
    as long as the others. The kernel may interrupt other holds, too; it counts each time."""
    operations = 2 * 200
    run = Recording(
        tmp_path, [SUBJECT, "crowd", 200, 50, 5000], ["--every-hold"], {"SUBJECT_CLOCK": "stepped"}
    )
    found = json.loads(locks("per-operation", run.trace, "-n", operations, "--json", "-").stdout)
    if not found["interruptions_known"]:
        pytest.skip("no restartable sequences here: which holds were interrupted is not known")
    (lock,) = [each for each in found["locks"] if "held_mutex" in each["name"]]
    truth = run.truth
    assert truth["lost_in_holds"] == operations / 8
    assert truth["lost_in_holds"] <= lock["interrupted_holds"] <= truth["lost"]
    assert lock["timed_holds"] == operations
    assert truth["hold_ns"] == operations / 8 * (7 * 50_000 + 5_000_000)
    assert lock["held_ns"] == pytest.approx(50_000, rel=EXACTLY)
    assert lock["operations_per_second_max"] == pytest.approx(1e9 / lock["held_ns"])
