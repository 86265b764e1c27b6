"""The cost of shared locks for a handshake, as perf/lock_cost.py makes it from cleat-locks'
reports; what recording them costs, as lock_overhead.py has it; how shared_locks.py keeps what it
counted; and the tables of them."""

import argparse

import pytest

import lock_cores as cores
import lock_cost
import lock_overhead as overhead
import shared_locks as counted
from studies import performance


def lock(taken_by: list[str], **other: object) -> dict:
    return {
        "name": "0x1, made in CRYPTO_THREAD_lock_new",
        "threads": 2,
        "one_threads_own": False,
        "shared_acquisitions": 1000,
        "contended": 10,
        "wait_ns": 500,
        "exclusive": {"acquisitions": 900, "taken_again": 100, "mean_hold_ns": 20.0},
        "taken_by": taken_by,
        **other,
    }


def test_what_recording_costs_is_a_ratio_within_a_round():
    """A round in which the machine was twice as slow changes no ratio."""
    names = list(overhead.ARMS)
    quiet = dict(zip(names, (100.0, 103.0, 105.0)))
    slow = {arm: 2 * us for arm, us in quiet.items()}
    odd = dict(zip(names, (100.0, 90.0, 120.0)))
    found = overhead.medians([quiet, slow, odd])
    assert found["plain"]["of_plain"] == 1
    assert found["locks"]["of_plain"] == pytest.approx(1.03)
    assert found["locks"]["least"] == pytest.approx(0.9)
    assert found["locks and CPU"]["most"] == pytest.approx(1.2)
    assert found["plain"]["us"] == 100


def test_counts_are_kept_with_where_and_how_they_were_made():
    use = argparse.Namespace(scenario="full-rsa-2048", handshakes=1000, megabytes=256)
    row = (28.0, 0.5, 3, "CRYPTO_free_ex_data", "SSL_free", False)
    found = counted.record({"commit": "abc"}, use, {"handshake": [row], "MB of upload": []}, 16.0)
    assert found["environment"] == {
        "commit": "abc", "scenario": "full-rsa-2048", "handshakes": 1000, "megabytes": 256
    }
    assert found["parts"]["MB of upload"] == []
    assert found["hottest_lock"] == 16
    (kept,) = found["parts"]["handshake"]
    assert kept == {
        "acquisitions": 28.0, "contended": 0.5, "locks": 3, "function": "CRYPTO_free_ex_data",
        "caller": "SSL_free", "allowed": False,
    }  # fmt: skip


def test_the_lock_that_is_taken_most_is_one_lock():
    found = [{"lock": "a", "count": 5}, {"lock": "b", "count": 4}, {"lock": "b", "count": 3}]
    assert counted.hottest(found) == 7
    assert counted.hottest([]) == 0


def test_more_cores_help_until_one_locks_line_is_always_on_its_way():
    arm = {"cpu_us": 200.0, "hottest_lock": 100.0}
    # 20 ns each: one lock lets 500,000 of a hundred acquisitions through.
    assert cores.at_most(arm, 20.0, 8) == pytest.approx(8 / 200e-6)
    assert cores.at_most(arm, 20.0, 128) == pytest.approx(1e9 / (100 * 20))
    assert cores.ends_at(arm, 20.0) == pytest.approx(100)
    assert cores.ends_at(arm | {"hottest_lock": 0.0}, 20.0) is None


def test_the_limits_are_in_the_order_of_the_page():
    arms = {
        "asio, openssl-4": {"cpu_us": 500.0, "hottest_lock": 0.0},
        "cleat, aws-lc": {"cpu_us": 200.0, "hottest_lock": 100.0},
    }
    found = cores.limits({"line_ns": 20.0, "arms": arms})
    assert found.splitlines()[2:] == [
        "| cleat, AWS-LC | 200 | 10 k/s | 40 k/s | 160 k/s | 320 k/s | 100 cores |",
        "| naive Asio, OpenSSL 4 | 500 | 4 k/s | 16 k/s | 64 k/s | 128 k/s | never |",
    ]


def test_the_cost_has_a_row_for_each_lock_and_none_for_an_arm_that_shares_none():
    one = {"acquisitions": 16.03, "contended": 0.0661, "wait_ns": 4450.0, "held_ns": 438.04}
    read = {"acquisitions": 6.0, "contended": 0, "wait_ns": 0, "held_ns": 0}
    medians = {"OpenSSL 3.0": {"ex_data": one, "f": read}, "AWS-LC": {}, "HAProxy": {"g": read}}
    assert performance.lock_cost({"medians": medians}).splitlines()[2:] == [
        "| cleat, OpenSSL 3.0 | ex_data | 16 | 0.066 | 4.5 us | 438 ns |",
        "| | `f` | 6 | 0 | 0 | readers only |",
        "| HAProxy, the system's OpenSSL | `g` | 6 | 0 | 0 | readers only |",
    ]


def test_locks_that_one_function_takes_are_added_up_and_ones_own_left_out():
    found = lock_cost.sums(
        [
            lock(["CRYPTO_THREAD_write_lock", "libcrypto.so.3+0x23265d", "CRYPTO_free_ex_data"]),
            lock(["CRYPTO_free_ex_data"], threads=3),
            lock(["RAND_get_rand_method"], threads=1),
            lock(["RAND_bytes"], one_threads_own=True),
            lock(["CRYPTO_THREAD_read_lock"]),
        ]
    )
    assert found == {
        "ex_data": {
            "acquisitions": 2000, "contended": 20, "wait_ns": 1000, "held_ns": 40000, "locks": 2,
        },
        # No other function is known.
        "CRYPTO_THREAD_read_lock": {
            "acquisitions": 1000, "contended": 10, "wait_ns": 500, "held_ns": 20000, "locks": 1,
        },
    }  # fmt: skip


def test_a_price_is_a_run_less_a_start(monkeypatch):
    class Use:
        handshakes = 100

    runs = {
        0: [lock(["a"], shared_acquisitions=400), lock(["b"], shared_acquisitions=50)],
        100: [lock(["a"], shared_acquisitions=1000), lock(["b"], shared_acquisitions=50)],
    }
    monkeypatch.setattr(lock_cost, "traced", lambda *words: runs[words[-1]])
    found = lock_cost.price(Use(), "cleat", None)
    assert list(found) == ["a"]  # b is taken at the start only.
    assert found["a"]["acquisitions"] == pytest.approx(6)
    assert found["a"]["held_ns"] == 0


def test_the_middle_of_rounds_leaves_out_what_most_do_not_have():
    row = {"acquisitions": 6.0, "contended": 0.0, "wait_ns": 1.0, "held_ns": 2.0, "locks": 1}
    rare = dict(row, acquisitions=0.02)
    more = dict(row, acquisitions=16.0)
    found = lock_cost.middle([{"a": row, "b": more}, {"a": row, "b": more, "c": rare}, {"b": more}])
    assert list(found) == ["b", "a"]
    assert found["a"] == row
