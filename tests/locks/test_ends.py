"""A trace survives every end of its process, and covers fork and exec."""

import contextlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys

import pytest

from deadlines import DEADLINE
from recording import BIN, SUBJECT, Recording, locks


def test_an_abort_leaves_what_was_recorded_so_far(record):
    run = record("abort")
    assert run.ran.returncode == 128 + signal.SIGABRT
    assert run.lock("held_mutex")["acquisitions"] == 5000
    assert not run.report()["processes"][0]["ended"]
    assert "did not end by itself: signal 6 (Aborted)" in run.text()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of its system call")
def test_a_program_that_ends_without_libc(tmp_path):
    """Go programs call the kernel. Their end is no signal's."""
    words = "import ctypes; ctypes.CDLL(None).syscall(231, 3)"
    run = Recording(tmp_path, [sys.executable, "-c", words], [])
    assert run.ran.returncode == 3
    assert "ended with exit code 3, without libc's exit" in run.text()
    (process,) = run.report()["processes"]
    assert not process["ended"] and not process["lived_at_least"]


def test_a_kill_that_cannot_be_caught(record):
    run = record("killed")
    assert run.ran.returncode == 128 + signal.SIGKILL
    assert run.lock("held_mutex")["acquisitions"] == 5000


@contextlib.contextmanager
def dozing(folder):
    """dozing runs a program that works for 40 ms and then sleeps for half a second. It gives the
    recorder's process, the program's own figures, and its trace so far."""
    run = Recording.__new__(Recording)
    run.trace = folder / "t.locks"
    command = [BIN / "cleat-locks", "run", "-o", run.trace, "--", SUBJECT, "dozes", "500"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as recorder:
        try:
            yield recorder, json.loads(recorder.stdout.readline()), run
        finally:
            recorder.stdin.close()
            recorder.wait(DEADLINE)


def test_a_program_that_slept_until_it_was_killed_has_lived_until_then(tmp_path):
    """A thread that sleeps records nothing, and only `run` knows of an end by a signal."""
    with dozing(tmp_path) as (recorder, truth, run):
        recorder.send_signal(signal.SIGTERM)
        assert recorder.wait(DEADLINE) == 128 + signal.SIGTERM
        report = run.report()
        (process,) = report["processes"]
        assert not process["ended"] and not process["runs"] and not process["lived_at_least"]
        assert process["lived_ns"] >= truth["lived_ns"] > 500e6
        assert report["thread_ns"] >= truth["lived_ns"]
        assert 0 < report["blocked_percent"] <= 105 * truth["wait_ns"] / truth["lived_ns"]
        assert "at least" not in run.text()
        assert "did not end by itself" in run.text()


@pytest.mark.parametrize("number", ["HUP", "INT", "QUIT", "TERM", "USR1", "USR2"])
def test_a_signal_to_the_recorder_alone_is_passed_on(tmp_path, number):
    with dozing(tmp_path) as (recorder, _, run):
        sent = signal.Signals[f"SIG{number}"]
        recorder.send_signal(sent)
        assert recorder.wait(DEADLINE) == 128 + sent
        assert run.lock("held_mutex")["acquisitions"] > 0


def test_a_program_that_runs_has_lived_until_now(tmp_path):
    with dozing(tmp_path) as (_, truth, run):
        before = run.report()["processes"][0]
        assert before["runs"] and not before["ended"] and not before["lived_at_least"]
        assert before["lived_ns"] >= truth["lived_ns"]
        assert run.report()["processes"][0]["lived_ns"] > before["lived_ns"]
        assert ", still runs" in run.text()
    assert run.report()["processes"][0]["ended"]


def test_a_lifetime_whose_end_is_unknown_is_at_least_so_long(tmp_path):
    """A copy of the trace, as on another machine."""
    with dozing(tmp_path) as (_, truth, run):
        shutil.copytree(run.trace, tmp_path / "copy")
        report = json.loads(locks("report", tmp_path / "copy", "--json", "-").stdout)
        (process,) = report["processes"]
        assert process["lived_at_least"] and report["thread_ns_at_least"] and not process["runs"]
        assert process["lived_ns"] < truth["lived_ns"]
        # The two threads that held it have recorded their end; main has not ended.
        assert sorted(each["lived_at_least"] for each in report["threads"])[-1]
        assert not all(each["lived_at_least"] for each in report["threads"])
        text = locks("report", tmp_path / "copy").stdout
        assert re.search(r"blocked on locks \(.* of at least ", text)
        assert re.search(r"process \d+, 3 threads, at least ", text)
        assert "shares of the threads' time are at most so high" in " ".join(text.split())
        assert "before: The end of process" in locks("diff", tmp_path / "copy", run.trace).stdout


def test_the_end_of_a_program_that_is_not_recorded_is_not_that_of_the_one_before(tmp_path):
    """env takes the recorder out of the environment, and true is executed without it."""
    run = Recording(tmp_path, ["sh", "-c", "exec env -i true"], [])
    processes = run.report()["processes"]
    assert processes[-1]["command"].startswith("env -i")
    assert processes[-1]["lived_at_least"] and not processes[-1]["ended"]


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
    assert not before["lived_at_least"]
    assert "readers" in after["command"]
    assert run.lock("read_lock")["acquisitions"] == 100
    assert run.lock("held_mutex")["acquisitions"] == 10


def test_threads_that_come_and_go(record):
    run = record("many", 500)
    report = run.report()
    assert sum(thread["threads"] for thread in report["threads"]) == 501
    assert len(report["threads"]) < 200  # The block of a thread that has ended is used again.
    assert run.lock("held_mutex")["acquisitions"] == 500
    assert report["processes"][0]["lost"] == 0


def test_locks_after_the_end_of_a_thread_cost_no_time_twice(record):
    """Each thread works for 200 ms, and is registered again for the locks of its destructors."""
    run = record("late", 200)
    report = run.report()
    assert run.lock("held_mutex")["acquisitions"] == 2 * (1 + 3)
    assert 400e6 <= report["cpu_ns"] < 700e6


def test_the_exit_code_is_the_programs(record):
    assert record("no such thing").ran.returncode == 2


def test_the_traces_of_many_short_processes_are_small_and_one_line(tmp_path):
    run = Recording(tmp_path, ["sh", "-c", "/bin/true\n" * 30 + ":"], [])
    assert run.ran.returncode == 0, run.ran.stderr
    files = list(run.trace.glob("*.trace"))
    assert len(files) == 31
    if os.statvfs(run.trace).f_bsize > 4096:
        pytest.skip("this file system has large blocks")
    used = sum(file.stat().st_blocks * 512 for file in files)
    assert used < 31 * 500_000
    text = run.text()
    assert re.search(r"^and 3[01] processes that took no lock: (sh, )?30 true$", text, re.M), text
    assert len([line for line in text.splitlines() if "/bin/true" in line]) == 0


def test_the_trace_of_a_killed_process_becomes_small_too(record):
    run = record("killed")
    (file,) = run.trace.glob("*.trace")
    assert file.stat().st_blocks * 512 < 1_000_000
    assert run.lock("held_mutex")["acquisitions"] == 5000
