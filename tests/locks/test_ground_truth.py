"""Counts, waits and holds agree with the program's own. Its clock stands still except where it
lets time pass, so the times agree exactly, on any machine."""

import json
import re

import pytest

from recording import LIBRARY, locks

# A report's quotients are floating point.
EXACTLY = 1e-9

# libc's function in which a thread starts: its name is in the debugging information only.
STARTS_A_THREAD = re.compile(r"start_thread|libc\.so\.6\+0x[0-9a-f]+")


def sums(report, weight, functions):
    """sums adds up a weight of all stacks with a function of such a name in them."""
    names = report["functions"]
    found = dict.fromkeys(functions, 0)
    for stack in report["stacks"]:
        for name in functions:
            if any(name in names[function] for function in stack["functions"]):
                found[name] += stack[weight]
    return found


def test_waits_and_holds_of_a_mutex(record_stepped):
    run = record_stepped("holds", 4, 100, 1000, options=["--every-hold"])
    lock = run.lock("held_mutex")
    truth = run.truth
    assert lock["acquisitions"] == truth["acquisitions"] == 400
    assert lock["wait_ns"] == truth["wait_ns"] > 3 * 90 * 1_000_000
    held = lock["exclusive"]
    assert held["timed_holds"] == 400
    assert held["mean_hold_ns"] * 400 == pytest.approx(truth["hold_ns"], rel=EXACTLY)
    # While one holds it, no other does.
    assert truth["hold_ns"] == truth["lived_ns"] > 390 * 1_000_000
    assert held["max_hold_ns"] == 1_500_000
    assert lock["threads"] == 4
    assert lock["kind"] == "mutex"


def test_a_sample_of_holds_is_like_all_of_them(record_stepped):
    """The recorder chooses by the thread's number, so the sample is the same in each run."""
    run = record_stepped("holds", 1, 1200, 500)
    held = run.lock("held_mutex")["exclusive"]
    assert 30 < held["timed_holds"] < 200  # One of 16.
    assert held["mean_hold_ns"] == pytest.approx(run.truth["hold_ns"] / 1200, rel=0.25)
    low, high = held["mean_hold_low_ns"], held["mean_hold_high_ns"]
    assert low < run.truth["hold_ns"] / 1200 < high
    assert high - low < held["mean_hold_ns"]


def test_each_hold_that_a_thread_waited_for_is_timed(record_stepped):
    """Each thread waits for the other's holds while both have holds left, and that is most of the
    time."""
    run = record_stepped("holds", 2, 600, 500)
    held = run.lock("held_mutex")["exclusive"]
    assert 900 < held["waited_holds"] <= held["timed_holds"]
    assert held["mean_hold_ns"] == pytest.approx(run.truth["hold_ns"] / 1200, rel=0.05)


def test_rare_long_holds_that_a_thread_waited_for(record_stepped):
    """Ten of 200 ms among 2,900 of 2 us. A sample of one in 16 has none of them, or too much."""
    run = record_stepped("rare", 2900, 290, 2, 200_000)
    truth = run.truth
    lock = run.lock("rare_mutex")
    held = lock["exclusive"]
    assert lock["acquisitions"] == truth["acquisitions"] == 2910
    assert lock["wait_ns"] == truth["wait_ns"] == 10 * 200_000_000
    assert held["max_hold_ns"] == 200_000_000
    # The first long hold had begun before the lock was known to be waited for.
    assert held["waited_holds"] >= 9
    assert held["mean_hold_ns"] * 2910 == pytest.approx(truth["hold_ns"], rel=0.11)
    assert held["mean_hold_low_ns"] <= held["mean_hold_ns"] <= held["mean_hold_high_ns"]
    said = locks("per-operation", run.trace, "-n", 2900).stdout
    (row,) = [line for line in said.splitlines() if "rare_mutex" in line]
    (rate,) = re.findall(r" ([\d.]+k?)/s", row)
    assert float(rate.rstrip("k")) * (1000 if "k" in rate else 1) == pytest.approx(
        2900 / (truth["hold_ns"] / 1e9), rel=0.15
    )
    assert "holds kept other threads waiting: these took" in run.text()


def test_waits_that_contradict_the_holds_leave_no_figure(record_stepped):
    """One long hold, which began before the lock was known to be waited for."""
    run = record_stepped("rare", 290, 290, 2, 200_000)
    lock = run.lock("rare_mutex")
    assert lock["wait_ns"] == 200_000_000
    assert lock["exclusive"]["max_hold_ns"] < 200_000_000
    assert "a wait took 200 ms" in lock["hold_is_too_low"]
    prices = json.loads(locks("per-operation", run.trace, "-n", 290, "--json", "-").stdout)
    (price,) = [each for each in prices["locks"] if "rare_mutex" in each["name"]]
    assert price["refused"] == lock["hold_is_too_low"]
    assert price["operations_per_second_max"] == 0
    assert "long ones are missing" in run.text()


def test_a_thread_that_tries_a_lock_again_and_again_waits_for_it(record_stepped):
    run = record_stepped("tries", 50)
    truth = run.truth
    lock = run.lock("rare_mutex")
    assert lock["wait_ns"] == lock["max_wait_ns"] == truth["wait_ns"] == 50_000_000
    assert (lock["acquisitions"], lock["contended"]) == (2, 1)
    assert lock["failed"] == truth["failed"]
    (where,) = lock["failed_in"]
    assert "try_until_taken" in where["function"] and where["count"] == truth["failed"]
    assert run.report()["total"]["blocked_ns"] == 50_000_000
    assert "in try_until_taken" in run.text()


def test_a_thread_that_tries_once_and_does_something_else_does_not_wait(record_stepped):
    run = record_stepped("gives-up", 50)
    lock = run.lock("rare_mutex")
    assert (lock["acquisitions"], lock["contended"], lock["failed"]) == (2, 0, 1)
    assert lock["wait_ns"] == 0


def test_the_first_function_is_the_programs_own(record):
    run = record("wrapped", 10)
    report = run.report()
    for name, function in (("guarded", "lock_by_guard"), ("shared_one", "read_by_guard")):
        lock = run.lock(name)
        assert function in lock["taken_by"][0], lock["taken_by"]
    names = report["functions"]
    taken = [stack for stack in report["stacks"] if stack["acquisitions"] >= 10]
    assert len(taken) >= 2
    for stack in taken:
        assert "by_guard" in names[stack["functions"][1]]


def test_holds_are_timed_beside_semaphores_too(record_stepped):
    """Each hold is the third acquisition: a sample must not be spent on those without a hold."""
    every = record_stepped("beside", 300, 500, options=["--every-hold"])
    held = every.lock("held_mutex")["exclusive"]
    assert held["timed_holds"] == 300
    assert held["mean_hold_ns"] * 300 == pytest.approx(every.truth["hold_ns"], rel=EXACTLY)


def test_a_sample_beside_semaphores(record_stepped):
    held = record_stepped("beside", 1600, 20).lock("held_mutex")["exclusive"]
    assert 50 < held["timed_holds"] < 200  # One of 16, at random.


def test_the_hold_after_a_wait_for_a_condition(record_stepped):
    """A mutex that a wait released is held again after it, and that is no acquisition. Time passes
    only while one of the two threads holds the mutex: a hold that went on through its wait would
    contain the other thread's hold, too."""
    run = record_stepped("consumer", 100, 1000, options=["--every-hold"])
    lock = run.lock("held_mutex")
    held = lock["exclusive"]
    truth = run.truth
    waits = truth["acquisitions"]
    assert waits >= 100
    assert lock["acquisitions"] == held["acquisitions"] == 101
    assert held["taken_again"] == waits
    assert held["timed_holds"] == 101 + waits
    assert held["interrupted_holds"] == 0
    assert truth["hold_ns"] == truth["lived_ns"] == 200 * 1_000_000
    assert held["mean_hold_ns"] * (101 + waits) == pytest.approx(truth["hold_ns"], rel=EXACTLY)
    said = locks("per-operation", run.trace, "-n", 100, "--json", "-").stdout
    (price,) = [each for each in json.loads(said)["locks"] if "held_mutex" in each["name"]]
    # Taking it again counts: the consumer has one acquisition, and about a half of the holds.
    assert not price["one_threads_own"] and price["operations_per_second_max"] > 0
    assert price["held_ns"] * 100 == pytest.approx(truth["hold_ns"], rel=EXACTLY)


@pytest.mark.parametrize("options", [["--every-hold"], []])
def test_a_recursive_mutex_is_held_until_its_last_release(record_stepped, options):
    """Inner acquisitions by its thread do not change the time of the hold."""
    run = record_stepped("recursive", 2, 600, 500, options=options)
    held = run.lock("held_mutex")["exclusive"]
    assert held["acquisitions"] == run.truth["acquisitions"] == 4800
    if options:
        assert held["timed_holds"] == held["holds"] == 1200
    # All outer holds are equally long, so a sample has their mean; and a quarter are outer ones.
    assert held["mean_hold_ns"] * 1200 == pytest.approx(run.truth["hold_ns"], rel=EXACTLY)
    assert held["holds"] == pytest.approx(1200, rel=0.3)


def test_cpu_time_is_counted_once_over_an_exec(record):
    """The kernel's count goes on over an exec. The CPU time of a process between its last sample
    and its exec is not recorded; samples are some milliseconds apart."""
    run = record("chain", 3, 500)
    report = run.report()
    assert len(report["processes"]) == 3
    burned_ns = 3 * 500_000_000
    # Counted again in each process it would be 500, 1000 and 1500 ms; beside what it burns, the
    # program does next to nothing.
    assert burned_ns * 0.8 < report["cpu_ns"] < run.truth["cpu_ns"] + burned_ns * 0.2


def test_the_share_of_time_blocked(record_stepped):
    """All threads live from the first hold to the last one."""
    run = record_stepped("holds", 4, 100, 1000)
    truth = run.truth
    report = run.report()
    # Four workers, and the main thread that waits for their end.
    assert truth["threads_ns"] == 4 * truth["lived_ns"]
    assert report["thread_ns"] == 5 * truth["lived_ns"]
    share = 100 * truth["wait_ns"] / report["thread_ns"]
    assert report["blocked_percent"] == pytest.approx(share, rel=EXACTLY)
    # Three of the threads wait for the first hold.
    assert report["total"]["contended"] >= 3


def test_a_read_write_lock(record):
    run = record("readers", 3, 1000)
    lock = run.lock("read_lock")
    assert lock["kind"] == "rwlock"
    assert lock["acquisitions"] == 3000
    assert lock["exclusive"]["acquisitions"] == 300
    assert lock["readers"]["acquisitions"] == 2700


def test_conditions_are_waiting_and_not_blocked(record_stepped):
    run = record_stepped("handover", 400)
    report = run.report()
    truth = run.truth
    (condition,) = [each for each in report["locks"] if each["kind"] == "condition"]
    assert condition["acquisitions"] == truth["acquisitions"]
    assert condition["wait_ns"] == truth["wait_ns"]
    assert report["total"]["waiting_ns"] == truth["wait_ns"]
    # Time passes while one thread holds the mutex and the other waits for the condition.
    assert truth["wait_ns"] == 400 * 1_000_000
    assert report["total"]["blocked_ns"] == 0


def test_a_semaphore(record_stepped):
    run = record_stepped("semaphore", 200)
    (semaphore,) = [each for each in run.report()["locks"] if each["kind"] == "semaphore"]
    assert semaphore["acquisitions"] == run.truth["acquisitions"] == 200
    assert semaphore["wait_ns"] == run.truth["wait_ns"] == 200 * 1_000_000


def test_a_spin_lock(record_stepped):
    run = record_stepped("spin", 200)
    (spin,) = [each for each in run.report()["locks"] if each["kind"] == "spin"]
    # The first thread's acquisition is in the lock's own entry, though it was not yet shared.
    assert spin["acquisitions"] == 2
    assert spin["shared_acquisitions"] == 1
    assert not spin["group"]
    assert "made in" in spin["name"]
    assert spin["contended"] == 1
    assert spin["wait_ns"] == run.truth["wait_ns"] == 200 * 1_000_000


def test_each_way_to_ask_for_a_lock(record_stepped):
    """One thread holds the lock. Another tries it, waits until a deadline in the past, and waits
    until it has the lock: of each lock two acquisitions, one of which waited, and two failures."""
    run = record_stepped("ways", 50)
    for name, truth in run.truth.items():
        assert truth["well"] == 1, name
        lock = run.lock(name)
        assert (lock["acquisitions"], lock["contended"], lock["failed"]) == (2, 1, 2), name
        assert lock["wait_ns"] == truth["wait_ns"] == 50 * 1_000_000, name
        readers = 1 if name.endswith("_read") else 0
        assert lock["readers"]["acquisitions"] == readers, name


def test_a_condition_of_a_program_that_was_linked_long_ago(record_stepped):
    """Its version of the functions has the same names, and other data."""
    run = record_stepped("old-condition", 100)
    if run.truth["waits"] == 0:
        pytest.skip("this architecture has one version only")
    (condition,) = [each for each in run.report()["locks"] if each["kind"] == "condition"]
    assert condition["acquisitions"] == run.truth["waits"]
    assert condition["wait_ns"] == run.truth["wait_ns"] == 100 * 2_000_000


def test_mutexes_and_conditions_of_c11(record_stepped):
    run = record_stepped("c11", 100)
    truth = run.truth
    assert truth["well"] == 1
    lock = run.lock("c11_mutex")
    assert lock["acquisitions"] == truth["acquisitions"]
    assert lock["exclusive"]["taken_again"] == truth["waits"]
    condition = run.lock("c11_condition")
    assert condition["acquisitions"] == truth["waits"]
    assert condition["wait_ns"] == truth["wait_ns"] == 100 * 2_000_000


def test_locks_that_were_destroyed_leave_room_for_others(record):
    """They are more than the trace has slots."""
    run = record("churns", 300_000, options=["--no-cpu"])
    assert run.report()["total"]["acquisitions"] == run.truth["acquisitions"]
    assert run.report()["processes"][0]["lost"] == 0


def test_a_library_that_was_unloaded_has_its_names(record):
    run = record("unloads", LIBRARY, 1300)
    lock = run.lock("library_mutex")
    assert "lock_in_library" in lock["taken_by"][0]


def test_a_library_that_is_opened_while_the_program_runs(record):
    run = record("opens", LIBRARY, 500)
    lock = run.lock("library_mutex")
    assert lock["acquisitions"] == run.truth["acquisitions"] == 1000
    assert lock["shared_acquisitions"] == 500
    assert "lock_in_library" in lock["taken_by"][0]


def test_waits_of_a_deadlock(record_stepped):
    """They end with the program, and are in the figures and in a table of their own."""
    run = record_stepped("deadlock", 300)
    report = run.report()
    waits = [each for each in report["unended_waits"] if each["kind"] == "mutex"]
    names = sorted(each["lock"].rpartition("::")[2] for each in waits)
    assert names == ["first_of_two", "second_of_two"]
    assert len({each["tid"] for each in waits}) == 2
    for each in waits:
        assert each["ns"] == 300_000_000
        assert "embrace" in each["waits_in"]
    assert report["total"]["blocked_ns"] == 600_000_000
    for name in ("first_of_two", "second_of_two"):
        lock = run.lock(name)
        assert (lock["acquisitions"], lock["contended"]) == (1, 0)
        assert lock["wait_ns"] == 300_000_000
    said = run.text()
    assert "Waits that had not ended" in said
    assert "first_of_two, in embrace" in said
    # The whole stack was taken before the wait: through libstdc++, down to where libc starts a
    # thread.
    names = report["functions"]
    blocked = [each for each in report["stacks"] if each["blocked_ns"] > 0]
    assert blocked
    for each in blocked:
        called = [names[function] for function in each["functions"]]
        assert called[1].endswith("embrace"), called
        assert any(STARTS_A_THREAD.fullmatch(name) for name in called[2:]), called


def test_callers_that_lock_at_one_place_have_their_own_counts(record):
    """They take turns: a sample of every second acquisition would show one caller only."""
    run = record("callers", 200_000, options=["--no-cpu"])
    report = run.report()
    found = sums(report, "acquisitions", ("first_caller", "second_caller"))
    assert sum(found.values()) == run.truth["acquisitions"]
    assert found["first_caller"] == pytest.approx(200_000, rel=0.4)


def test_the_first_hold_of_each_thread_is_like_the_others(record_stepped):
    """The recorder chooses by the thread's number, so the sample is the same in each run."""
    run = record_stepped("uneven", 600, 200)
    held = run.lock("own_mutex")["exclusive"]
    assert 300 < held["timed_holds"] < 1200
    assert held["mean_hold_ns"] == pytest.approx(run.truth["mean_hold_ns"], rel=0.5)


def test_many_short_lived_locks_are_one_group_of_private_ones(record):
    run = record("heap", 20_000)
    lock = run.lock("make_one")
    assert lock["group"]
    assert lock["instances"] == lock["acquisitions"] == run.truth["acquisitions"] == 40_000
    assert lock["threads"] == 1
    assert lock["shared_acquisitions"] == 0


def test_shared_acquisitions_begin_with_the_second_thread(record):
    run = record("many", 20)
    lock = run.lock("held_mutex")
    assert lock["acquisitions"] == 20
    assert lock["threads"] == 20
    assert lock["shared_acquisitions"] == 19


def test_cpu_samples_are_where_the_time_went(record):
    """The program blocks all signals, which must leave the sampler's unblocked."""
    run = record("cpu", 1500)
    report = run.report()
    truth = run.truth
    names = report["functions"]
    share = sums(report, "cpu_samples", ("burn_seventy", "burn_thirty"))
    total = sum(share.values())
    assert total > 100
    seventy = truth["seventy_ns"] / (truth["seventy_ns"] + truth["thirty_ns"])
    # Each function ends after a tick, and so with all of its samples: one may be missing, and some
    # are in the tick's own functions.
    assert share["burn_seventy"] / total == pytest.approx(seventy, abs=0.02)
    # Names go down to where the thread began.
    deep = max(report["stacks"], key=lambda stack: stack["cpu_samples"])
    said = " ".join(names[function] for function in deep["functions"])
    assert "burn_seventy" in said and "cpu" in said
