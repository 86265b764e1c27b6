"""The holders of locks that others waited for; deadlocks; locks in both orders."""


def names(report, place):
    return [report["functions"][each] for each in place["functions"]]


def test_each_wait_is_of_those_that_held_the_lock(record_stepped):
    run = record_stepped("rare", 2900, 290, 2, 200_000)
    report = run.report()
    assert run.lock("rare_mutex")["wait_ns"] == 10 * 200_000_000
    waits = [each for each in report["waits_for"] if "wait_for_long" in each["waiter"]["function"]]
    assert sum(each["ns"] for each in waits) == 10 * 200_000_000
    for each in waits:
        assert "rare_mutex" in each["lock"]
        assert each["waiter"]["tid"] != each["holder"]["tid"]
        # The first long hold had begun before the lock was known to be waited for. Its thread has
        # taken the lock at two places.
        if each["holder"]["function"]:
            assert "hold_long" in each["holder"]["function"]
            assert "hold_long" in names(report, each["holder"])[1]
            assert each["waits"] == 9 and each["ns"] == 9 * 200_000_000
        else:
            assert each["waits"] == 1 and each["ns"] == each["max_ns"] == 200_000_000
        assert "wait_for_long" in names(report, each["waiter"])[1]
    assert len(waits) == 2
    text = run.text()
    assert "Lock holders and waiters: 2.00 s of 2.00 s blocked" in text
    assert any(
        "1.80 s" in line and "in wait_for_long waited for" in line and "in hold_long" in line
        for line in text.splitlines()
    ), text


def test_a_wait_is_divided_among_several_holders(record_stepped):
    """Four threads, of which three wait all the time."""
    run = record_stepped("holds", 4, 100, 1000)
    report = run.report()
    lock = run.lock("held_mutex")
    attributed = sum(each["ns"] for each in report["waits_for"])
    assert attributed <= lock["wait_ns"]
    assert attributed > 0.97 * lock["wait_ns"]
    assert len({each["holder"]["tid"] for each in report["waits_for"]}) == 4
    for each in report["waits_for"]:
        assert "hold_it" in each["holder"]["function"]
        assert each["holder"]["tid"] != each["waiter"]["tid"]


def test_a_wait_through_very_many_holds_is_divided_among_them(record_stepped):
    """A thread takes the lock again and again while another one waits for it."""
    run = record_stepped("crowded", 2000, 100)
    report = run.report()
    lock = run.lock("rare_mutex")
    assert lock["wait_ns"] == run.truth["wait_ns"] == 2000 * 100_000
    waits = {each["holder"]["function"].split("::")[-1]: each for each in report["waits_for"]}
    # The first hold had begun before the lock was known to be waited for.
    assert waits["even_hold"]["ns"] == 999 * 100_000
    assert waits["odd_hold"]["ns"] == 1000 * 100_000
    assert all(each["waits"] == 1 for each in waits.values())


def test_the_threads_of_a_deadlock_are_named_with_their_stacks(record_stepped):
    run = record_stepped("deadlock", 300)
    report = run.report()
    (deadlock,) = report["deadlocks"]
    first, second = deadlock["threads"]
    assert first["waiter"]["tid"] == second["holder"]["tid"]
    assert second["waiter"]["tid"] == first["holder"]["tid"]
    assert first["waiter"]["tid"] != second["waiter"]["tid"]
    assert sorted(each["lock"].rpartition("::")[2] for each in (first, second)) == [
        "first_of_two",
        "second_of_two",
    ]
    for each in (first, second):
        assert each["ns"] == 300_000_000
        assert "embrace" in each["waiter"]["function"]
        assert "embrace" in each["holder"]["function"]
        assert "embrace" in names(report, each["waiter"])[1]
        assert "embrace" in names(report, each["holder"])[1]
    text = run.text()
    assert "DEADLOCK of 2 threads in process" in text
    assert "has waited 300 ms for" in text
    # By then nobody had it in both orders for a moment only.
    (inversion,) = report["inversions"]
    assert {inversion["first"].rpartition("::")[2], inversion["second"].rpartition("::")[2]} == {
        "first_of_two",
        "second_of_two",
    }


def test_waits_without_a_cycle_are_no_deadlock(record_stepped):
    report = record_stepped("holds", 4, 100, 1000).report()
    assert report["deadlocks"] == []
    assert report["inversions"] == []


def test_locks_that_two_threads_take_in_both_orders(record):
    """One after the other, so that they never wait."""
    run = record("inverted", 1)
    report = run.report()
    (inversion,) = report["inversions"]
    assert "upper" in inversion["first"] and "lower" in inversion["second"]
    forth, back = inversion["first_then_second"], inversion["second_then_first"]
    for side, function in ((forth, "upper_then_lower"), (back, "lower_then_upper")):
        for place in (side["had"], side["asked"]):
            assert function in place["function"]
            assert function in names(report, place)[1]
    assert forth["asked"]["tid"] != back["asked"]["tid"]
    text = run.text()
    assert "Locks taken in both orders" in text
    assert "asked for" in text and "in lower_then_upper" in text


def test_a_lock_that_is_only_tried_in_the_other_order_ends_in_no_deadlock(record):
    assert record("inverted", 0).report()["inversions"] == []
