"""A trace outlives its process, however that ends, and follows it through fork and exec."""

import signal


def test_an_abort_leaves_what_was_recorded_so_far(record):
    run = record("abort")
    assert run.ran.returncode == 128 + signal.SIGABRT
    assert run.lock("held_mutex")["acquisitions"] == 5000
    assert not run.report()["processes"][0]["ended"]
    assert "did not end by itself" in run.text()


def test_a_kill_that_nobody_can_catch(record):
    run = record("killed")
    assert run.ran.returncode == 128 + signal.SIGKILL
    assert run.lock("held_mutex")["acquisitions"] == 5000


def test_a_child_has_a_trace_of_its_own(record):
    run = record("fork")
    parent, child = run.report()["processes"]
    counts = {
        process["pid"]: run.report("--pid", process["pid"])["total"]["acquisitions"]
        for process in (parent, child)
    }
    assert counts == {parent["pid"]: 20, child["pid"]: 20}
    assert run.report()["total"]["acquisitions"] == 40


def test_what_comes_after_an_exec_is_recorded_too(record):
    run = record("exec")
    before, after = run.report()["processes"]
    assert before["pid"] == after["pid"]
    assert not before["ended"]
    assert after["ended"]
    assert "readers" in after["command"]
    assert run.lock("read_lock")["acquisitions"] == 100
    assert run.lock("held_mutex")["acquisitions"] == 10


def test_threads_that_come_and_go(record):
    run = record("many", 500)
    report = run.report()
    assert sum(thread["threads"] for thread in report["threads"]) == 501
    assert len(report["threads"]) < 200  # What an ended thread leaves is used again.
    assert run.lock("held_mutex")["acquisitions"] == 500
    assert report["processes"][0]["lost"] == 0


def test_locks_after_the_end_of_a_thread_cost_no_time_twice(record):
    """Each thread works for 200 ms, and is met anew for what its keys lock when it has ended."""
    run = record("late", 200)
    report = run.report()
    assert run.lock("held_mutex")["acquisitions"] == 2 * (1 + 3)
    assert 400e6 <= report["cpu_ns"] < 700e6


def test_the_exit_code_is_the_programs(record):
    assert record("no such thing").ran.returncode == 2
