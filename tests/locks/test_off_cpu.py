"""Time that threads are off the CPU and that no lock explains: zero is not "nothing waits"."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from deadlines import DEADLINE, eventually
from recording import BIN, LIBRARY, SUBJECT, locks


def test_a_futex_of_the_programs_own_is_a_row(record_stepped):
    run = record_stepped("own-futex", 80)
    lock = run.lock("own_futex")
    assert lock["kind"] == "futex"
    assert lock["wait_ns"] == run.truth["wait_ns"] == 80_000_000
    assert lock["acquisitions"] == lock["contended"] == 1
    assert "wait_in_own_futex" in lock["taken_by"][0]
    report = run.report()
    assert report["total"]["blocked_ns"] == 0
    assert report["off_cpu"]["own_futex_ns"] == 80_000_000
    text = run.text()
    assert re.search(r"futex .*own_futex", text)
    assert "80.0 ms futexes of the program's own" in text


def test_what_a_thread_waits_in_outside_of_recorded_functions(record):
    """The main thread sleeps, one waits at a barrier of libc's, and one for a pipe."""
    run = record("unseen", 600)
    off_cpu = run.report()["off_cpu"]
    assert off_cpu["not_sampled"] == []
    assert off_cpu["samples"] > 5
    places = off_cpu["places"]
    for what in ("futex", "read", "sleep"):
        ns = sum(each["ns"] for each in places if each["in"] == what)
        assert 300e6 < ns < 1500e6, places
    (barrier,) = [each for each in places if each["in"] == "futex" and each["ns"] > 300e6]
    assert barrier["object"].startswith("0x")
    assert barrier["function"]
    # Three threads, and each waits for nearly all of its life.
    assert off_cpu["unexplained_ns"] > 3 * 550e6
    assert off_cpu["unexplained_ns"] == pytest.approx(
        sum(off_cpu["kinds_ns"].values()), rel=0.05
    )
    text = run.text()
    assert "0.00 %  of the threads' time was spent blocked on locks" in text
    (line,) = [each for each in text.splitlines() if "no lock below explains that" in each]
    assert float(line.split()[0]) > 80
    assert re.search(r"in: .*futexes that were not recorded", text)
    assert "Off the CPU in no recorded wait" in text


def test_names_of_threads_and_locks_that_are_no_text(record):
    """Both are Latin-1: a thread's name, and that of a mutex in a library."""
    places = record("unseen", 300).report()["off_cpu"]["places"]
    assert {each["thread"] for each in places if each["in"] == "read"} == {"caf\ufffd"}
    run = record("opens", LIBRARY, 10)
    assert run.lock("mutex_of_caf\ufffd")["acquisitions"] == 2
    assert "mutex_of_caf\ufffd" in run.text()


def test_recorded_waits_are_not_sampled_once_more(record):
    """One of the threads holds a mutex while it sleeps, and the others wait for it."""
    run = record("holds", 3, 4, 100_000)
    report = run.report()
    lock = run.lock("held_mutex")
    assert lock["wait_ns"] > 500e6
    unexplained = report["off_cpu"]["unexplained_ns"]
    assert unexplained + report["total"]["blocked_ns"] == pytest.approx(
        report["off_cpu"]["ns"], rel=0.01
    )
    futexes = [
        each
        for each in report["off_cpu"]["places"]
        if each["in"] == "futex" and "held_mutex" in each["object"]
    ]
    assert sum(each["ns"] for each in futexes) < 0.2 * lock["wait_ns"]


def test_a_run_that_is_too_short_to_be_sampled_has_the_time_only(record):
    run = record("leave")
    text = run.text()
    assert "no lock below explains that" in text
    if run.report()["off_cpu"]["samples"] == 0:
        assert "Off the CPU in no recorded wait" not in text


def test_a_process_that_has_ended_is_sampled_no_more(tmp_path):
    """After its end the process's number may be another process's. cleat-locks finds a sampled
    process by the trace that it has mapped."""
    trace = tmp_path / "t.locks"
    script = f"{SUBJECT} phases; exec cat"
    command = [BIN / "cleat-locks", "run", "-o", trace, "--", "sh", "-c", script]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*map(str, command)], text=True, **pipes) as run:
        try:
            print(1, file=run.stdin, flush=True)
            assert run.stdout.readline() == "done\n"
            (pid,) = [
                each["pid"]
                for each in json.loads(locks("report", trace, "--json", "-").stdout)["processes"]
                if each["command"] == f"{SUBJECT} phases"
            ]
            child = trace / f"{pid}.trace"
            maps = Path(f"/proc/{run.pid}/maps")
            eventually("it is sampled", child.with_suffix(".waits").exists)
            assert str(child) in maps.read_text()
            print("no number", file=run.stdin, flush=True)  # It ends.
            eventually("it is sampled no more", lambda: str(child) not in maps.read_text())
            off_cpu = json.loads(locks("report", child, "--json", "-").stdout)["off_cpu"]
            assert "read" in {each["in"] for each in off_cpu["places"]}
        finally:
            run.kill()
            run.communicate(timeout=DEADLINE)


def test_a_record_of_waits_that_is_damaged_is_named(record):
    run = record("unseen", 100)
    (file,) = run.trace.glob("*.waits")
    file.write_text("cleat-locks waits 2\nmany\n")
    assert f'{file.name}: "many" is no number' in locks("report", run.trace).stdout


def test_a_process_that_runs_already_is_sampled_and_its_locks_are_refused(tmp_path):
    command = [SUBJECT, "dozes", "60000"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        try:
            text = locks("attach", program.pid, "-d", "0.5").stdout
        finally:
            program.kill()
    assert "its locks cannot be recorded" in text
    assert "start it under `cleat-locks run`" in text
    assert re.search(rf"ms +{program.pid} +locks_subject +sleep", text), text


def test_a_process_that_is_recorded_already_is_said_to_be_that(tmp_path):
    trace = tmp_path / "t.locks"
    command = [BIN / "cleat-locks", "run", "-o", trace, "--", SUBJECT, "dozes", "60000"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*map(str, command)], **pipes) as run:
        (maps,) = eventually("it is recorded", lambda: list(trace.glob("*.maps")))
        try:
            text = locks("attach", maps.stem, "-d", "0.1", "--top", 5).stdout
        finally:
            os.kill(int(maps.stem), signal.SIGKILL)
            run.communicate(timeout=DEADLINE)
    assert "its locks are recorded already" in text
    assert f"cleat-locks report {trace}\n" in text
    assert "cannot be recorded" not in text
    assert "Off the CPU in no recorded wait" in text


def test_a_process_that_is_not_there():
    ran = locks("attach", 4194303, check=False)
    assert ran.returncode == 1
    assert ran.stderr == "cleat-locks: 4194303: there is no such process\n"
