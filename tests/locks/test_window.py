"""A part of a run counts: set-up and shutdown are not in its figures."""

import contextlib
import subprocess

import pytest

from deadlines import DEADLINE, eventually
from recording import BIN, SUBJECT, Recording, locks


class Phases:
    """Phases is a recorded program that takes a mutex as often as it is asked to."""

    def __init__(self, folder, options=()):
        self.run = Recording.__new__(Recording)
        self.run.trace = folder / "t.locks"
        command = [BIN / "cleat-locks", "run", "-o", self.run.trace, *options, "--", SUBJECT]
        self.process = subprocess.Popen(
            [*map(str, command), "phases"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def started(self):
        """started gives the trace's folder once the program has begun."""
        self.take(1)
        return self.run.trace

    def take(self, times):
        self.process.stdin.write(f"{times}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def window(self, times, after):
        """window takes the mutex so often in a window of marks, and so often after it."""
        locks("mark", self.run.trace, "begin")
        self.take(times)
        assert self.acquisitions() == times
        locks("mark", self.run.trace, "end")
        self.take(after)

    def end(self):
        _, said = self.process.communicate(timeout=DEADLINE)
        return said

    def acquisitions(self):
        return self.run.lock("held_mutex")["acquisitions"]


@contextlib.contextmanager
def phases(folder, *options):
    made = Phases(folder, options)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.communicate()


def test_marks_from_outside_begin_and_end_the_window(tmp_path):
    with phases(tmp_path) as program:
        program.take(1000)
        program.window(70, 500)
        program.end()
        assert program.acquisitions() == 70
        report = program.run.report()
        (process,) = report["processes"]
        assert process["window"] and process["acquisitions"] == 70
        assert report["total"]["acquisitions"] == 70
        # The window is a part of the thread's life.
        assert 0 < report["thread_ns"] == process["lived_ns"]
        assert "between two marks" in program.run.text()


def test_a_second_mark_begins_the_window_anew(tmp_path):
    with phases(tmp_path) as program:
        program.started()
        program.window(70, 500)
        program.window(40, 300)
        program.end()
        assert program.acquisitions() == 40


def test_waits_are_sampled_again_after_a_second_mark(tmp_path):
    """The program waits for its input all the time."""
    with phases(tmp_path) as program:

        def samples():
            return program.run.report()["off_cpu"]["samples"]

        locks("mark", program.started(), "begin")
        eventually("its waits are sampled", samples)
        locks("mark", program.run.trace, "end")
        assert samples() > 0
        locks("mark", program.run.trace, "begin")
        assert samples() == 0
        eventually("its waits are sampled again", samples)
        report = program.run.report()
        places = report["off_cpu"]["places"]
        assert "read" in {each["in"] for each in places}
        # The time before the second mark, and that between the two windows, is no part of it.
        assert sum(each["ns"] for each in places) <= report["thread_ns"]


def test_waits_of_a_process_that_ended_before_the_window_are_no_part_of_it(record):
    run = record("unseen", 300)
    assert run.report()["off_cpu"]["samples"] > 0
    locks("mark", run.trace, "begin")
    assert run.report()["off_cpu"]["samples"] == 0
    assert run.report()["off_cpu"]["places"] == []


def test_marks_by_the_program_itself(tmp_path):
    with phases(tmp_path) as program:
        program.take(1000)
        program.take(0)
        program.take(30)
        program.take(-1)
        program.take(500)
        program.end()
        assert program.acquisitions() == 30


def test_a_second_mark_by_the_program_itself_begins_the_window_anew(tmp_path):
    with phases(tmp_path) as program:
        program.take(0)
        program.take(30)
        program.take(-1)
        program.take(500)
        program.take(0)
        program.take(20)
        program.end()
        assert program.acquisitions() == 20


def test_a_window_without_an_end_is_until_the_program_ends(tmp_path):
    with phases(tmp_path) as program:
        program.take(1000)
        program.take(0)
        program.take(30)
        program.end()
        assert program.acquisitions() == 30
        assert program.run.report()["processes"][0]["ended"]


def test_times_begin_and_end_the_window(tmp_path):
    """The window ends before the program does, however slow the machine is."""
    with phases(tmp_path, "--from", "0.2", "--to", "0.4") as program:
        program.take(1000)
        while not list(program.run.trace.glob("*.end")):
            program.take(1)
        program.take(500)
        program.end()
        copies = {each.suffix for each in program.run.trace.iterdir()}
        assert {".begin", ".end"} <= copies
        assert 0 < program.acquisitions()
        assert not [1 for each in program.run.report()["processes"] if not each["window"]]


def test_a_program_that_ends_before_its_window_is_warned_of(tmp_path):
    with phases(tmp_path, "--from", "1000") as program:
        program.take(1000)
        assert "warning: " in (said := program.end())
        assert "ended before --from: the record is of the whole run" in said
        assert program.acquisitions() == 1000


@pytest.mark.parametrize("words", [["--to", "0"], ["--from", "5", "--to", "4"]])
def test_a_window_that_ends_before_it_begins(tmp_path, words):
    ran = locks("run", "-o", tmp_path / "t", *words, "--", SUBJECT, "many", 1, check=False)
    assert ran.returncode == 2
    assert "--to: " in ran.stderr


def test_a_mark_keeps_the_end_of_a_process_that_was_killed(record):
    run = record("killed")
    lived = [each["lived_ns"] for each in run.report()["processes"]]
    locks("mark", run.trace, "end")
    assert [each["lived_ns"] for each in run.report()["processes"]] == lived


def test_a_mark_needs_a_trace(tmp_path):
    ran = locks("mark", tmp_path, "begin", check=False)
    assert ran.returncode == 1
    assert f"{tmp_path}: no process has left a trace in this folder yet" in ran.stderr
