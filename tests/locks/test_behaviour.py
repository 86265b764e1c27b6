"""A program behaves under the recorder as it does without."""

import resource
import subprocess

import pytest

from recording import BIN, SUBJECT, locks


def test_a_program_that_takes_all_descriptors_keeps_its_files(record):
    run = record("descriptors", 4)
    assert run.ran.returncode == 0
    assert run.truth == {"size": 0}
    assert run.report()["total"]["acquisitions"] == 40


def test_few_descriptors_are_enough(tmp_path):
    few = f"ulimit -n 24; exec {BIN}/cleat-locks run -o {tmp_path}/t -- {SUBJECT} many 20"
    subprocess.run(["sh", "-c", few], check=True, capture_output=True, timeout=60)
    assert "held_mutex" in locks("report", tmp_path / "t").stdout


def test_cancelling_and_leaving_a_thread(record):
    assert record("cancel").truth == {"cancelled": 1, "left": 1}


def test_a_thread_is_cancelled_only_where_it_would_be_without(record):
    """It runs for more than a second, after which the recorder reads the memory map again."""
    assert record("unasked", 1300).truth == {"cancelled": 1, "held": 0}


def test_a_program_that_closes_all_descriptors_gets_the_first_ones(record, tmp_path):
    run = record("closes", tmp_path / "opened")
    assert (tmp_path / "opened").read_text() == "012"
    assert run.lock("own_mutex")["acquisitions"] == 1


def test_a_child_of_a_process_that_has_cleared_its_environment(record):
    run = record("clears")
    assert run.report()["total"]["acquisitions"] == 101
    assert len(run.report()["processes"]) == 2


def test_threads_are_called_as_they_call_themselves(record):
    names = {each["name"] for each in record("named").report()["threads"]}
    assert {"reads", "writes"} <= names


def test_threads_that_lock_in_their_last_destructors_have_ended(record):
    run = record("late-words", 200)
    report = run.report()
    assert report["total"]["acquisitions"] == run.truth["acquisitions"]
    (process,) = report["processes"]
    assert process["blocks"] < 40
    assert report["thread_ns"] < 3 * process["lived_ns"]


def test_a_program_keeps_its_exit_status_where_standard_error_is_full(tmp_path):
    with open("/dev/full", "w") as full:
        command = [BIN / "cleat-locks", "run", "-o", tmp_path / "t", "--", SUBJECT, "leave"]
        assert subprocess.run(command, stderr=full, timeout=60).returncode == 7
        unknown = [BIN / "cleat-locks", "report", tmp_path / "none"]
        assert subprocess.run(unknown, stderr=full, timeout=60).returncode == 1


def test_words_that_are_no_text(tmp_path):
    command = [bytes(BIN / "cleat-locks"), b"run", b"-o", bytes(tmp_path / "t"), b"--",
               bytes(SUBJECT), b"many", b"1", b"\xff\xc3\xa4"]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    said = locks("report", tmp_path / "t", "--json", "-").stdout
    assert "many 1 \ufffd\u00e4" in said


def test_names_are_kept_where_main_has_left(record):
    """The process's own map is empty then, and a thread's is not."""
    run = record("mainless")
    assert run.truth == {"acquisitions": 100}
    assert "lock_without_main" in run.text()


def test_what_cannot_be_locked_is_answered_as_before(record):
    plain = subprocess.run([SUBJECT, "answers"], capture_output=True, text=True, timeout=60)
    assert record("answers").ran.stdout == plain.stdout
    assert '"once": 2' in plain.stdout


def test_errno_is_the_programs(record):
    assert record("errors").truth == {"changed": 0, "said": 1}


def test_a_program_that_sets_all_signals_back_is_not_ended_by_samples(record):
    run = record("signals", 300)
    assert run.ran.returncode == 0
    assert run.report()["total"]["cpu_samples"] > 10


def test_children_of_a_process_that_holds_a_lock(record):
    """Each is interrupted while it holds it; a restartable sequence is inherited over a fork."""
    run = record("children", 12, options=["--every-hold"])
    assert run.ran.returncode == 0
    assert run.truth == {"well": 12}
    assert run.report()["total"]["acquisitions"] == 1 + 12 * 2000


def test_a_restartable_sequence_of_another_library_is_left_alone(record):
    run = record("sequences", 200, options=["--every-hold", "--no-cpu"])
    truth = run.truth
    if not truth["registered"]:
        pytest.skip("this C library registers no restartable sequences")
    # The kernel clears them when it stops the thread, which may be at any moment.
    assert truth["kept"] > 150
    assert truth["replaced"] > 150


def test_without_restartable_sequences_the_report_says_what_is_not_known(record, monkeypatch):
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0")
    run = record("beside", 50, 100, options=["--every-hold"])
    assert run.report()["interruptions_known"] is False
    assert "Which holds were interrupted is not known" in run.text()
    assert run.lock("held_mutex")["exclusive"]["timed_holds"] == 50


def test_a_handler_that_jumps_out_of_a_sample_does_not_end_the_recording(record):
    run = record("timeouts", 300, options=["--hz", 1000])
    assert run.report()["total"]["acquisitions"] == run.truth["acquisitions"] == 300


@pytest.mark.parametrize("apart", [0, 1])
def test_a_handler_that_jumps_out_of_the_recorder_does_not_end_the_recording(record, apart):
    run = record("handlers", 300, 1, apart)
    truth = run.truth
    assert truth["handled"] >= 300
    # Each jump may have left one acquisition noted in part.
    lost = truth["acquisitions"] - run.report()["total"]["acquisitions"]
    assert abs(lost) <= truth["handled"]


@pytest.mark.parametrize("apart", [0, 1])
def test_locks_of_a_handler_inside_the_recorder_are_counted(record, apart):
    run = record("handlers", 500, 0, apart)
    report = run.report()
    (process,) = report["processes"]
    assert process["nested"] > 10
    assert report["total"]["acquisitions"] + process["nested"] == run.truth["acquisitions"]
    assert "by signal handlers that interrupted the recorder" in run.text()


def test_a_lock_that_cannot_be_read_does_not_end_the_program(record):
    """As if it were unmapped: a thread waits for it and has the mutex that another one wants."""
    run = record("unreadable")
    assert run.ran.returncode == 0
    assert run.truth == {"timed_out": 1}
    assert run.report()["deadlocks"] == []


def test_an_end_without_exit_handlers_is_an_end(record):
    run = record("leave")
    assert run.ran.returncode == 7
    assert run.report()["processes"][0]["ended"]


def test_a_folder_on_a_full_disk_changes_nothing_but_that(tmp_path):
    """A file may be no larger than a limit: the trace finds no room, and the program runs."""

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    command = [BIN / "cleat-locks", "run", "-o", tmp_path / "t", "--", SUBJECT, "errors"]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=60, preexec_fn=little, check=False
    )
    assert '"changed": 0' in ran.stdout
    assert "nothing was recorded" in ran.stderr


@pytest.mark.parametrize("pipeline", ["echo a | cat | wc -l", "(exit 3); (kill $$BASHPID); :"])
def test_a_shell_and_what_it_runs(tmp_path, pipeline):
    plain = subprocess.run(["bash", "-c", pipeline], capture_output=True, text=True, timeout=60)
    ran = locks("run", "-o", tmp_path / "t", "--", "bash", "-c", pipeline, check=False)
    assert ran.stdout == plain.stdout
    assert ran.returncode == plain.returncode
    assert "bash" in locks("report", tmp_path / "t").stdout
