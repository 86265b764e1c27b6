"""A command that cannot work says why, with a cure, and leaves no files."""

import json
import os
import resource
import shutil
import subprocess

import pytest

from deadlines import DEADLINE
from recording import BIN, SUBJECT, locks


def refused(*arguments):
    ran = locks(*arguments, check=False)
    assert ran.returncode in (1, 2), ran.stdout
    assert ran.stderr.startswith("cleat-locks: ")
    return ran.stderr


def test_no_such_program(tmp_path):
    said = refused("run", "-o", tmp_path / "t", "--", "no-such-program-anywhere")
    assert "no-such-program-anywhere: there is no such program" in said
    assert not (tmp_path / "t").exists()


def test_a_trace_that_exists_is_not_written_over(tmp_path):
    (tmp_path / "t").mkdir()
    said = refused("run", "-o", tmp_path / "t", "--", SUBJECT, "many", 10)
    assert "exists: remove it, or name another trace with -o" in said


def test_a_folder_that_cannot_be_made():
    assert "/proc/t" in refused("run", "-o", "/proc/t", "--", SUBJECT, "many", 10)


def test_a_program_that_is_linked_statically(tmp_path):
    source = tmp_path / "still.c"
    source.write_text("int main(void) { return 3; }\n")
    compiler = shutil.which("cc") or shutil.which("gcc")
    made = subprocess.run([compiler, "-static", source, "-o", tmp_path / "still"])
    if made.returncode != 0:
        pytest.skip("no static libc here")
    said = refused("run", "-o", tmp_path / "t", "--", tmp_path / "still")
    assert "exit code 3, and nothing was recorded: it is linked statically" in said
    assert not (tmp_path / "t").exists()


def test_a_program_that_will_not_be_recorded_is_warned_of_before_it_runs(tmp_path):
    """The program reads its input, which ends only after the warning."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 10, resource.RLIM_INFINITY))

    command = [BIN / "cleat-locks", "run", "-o", tmp_path / "t", "--", "cat"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limit
    ) as started:
        said = started.stderr.readline()
        assert said.startswith("cleat-locks: warning: nothing of cat will be recorded: no file may")
        started.communicate(timeout=DEADLINE)


def test_a_name_that_is_empty():
    said = refused("run", "-o", "", "--", SUBJECT, "many", 1)
    assert "-o: the name is empty" in said


@pytest.mark.parametrize(
    "words",
    [["report", "--json"], ["report", "--pprof"], ["html", "-o"],
     ["per-operation", "-n", "1", "--json"]],
)  # fmt: skip
def test_a_file_without_a_name(record, words):
    said = refused(words[0], record("many", 1).trace, *words[1:], "")
    assert f"{words[-1]}: the name is empty" in said


def test_a_trace_that_was_overwritten_is_named_beside_others(record):
    run = record("fork")
    traces = sorted(run.trace.glob("*.trace"))
    traces[0].write_bytes(b"written over" * 10_000)
    report = run.report()
    assert len(report["processes"]) == len(traces)
    assert any("cannot be read" in each["command"] for each in report["processes"])


def test_a_program_that_has_changed_since(tmp_path):
    """The functions of a program that was built anew may have other addresses."""
    program = tmp_path / "program"
    shutil.copy(SUBJECT, program)
    locks("run", "-o", tmp_path / "t", "--", program, "many", 10)
    assert "names may be wrong" not in locks("report", tmp_path / "t").stderr
    shutil.copy(SUBJECT, program)
    ran = locks("report", tmp_path / "t", "--json", tmp_path / "t.json")
    assert f"names may be wrong: {program} has changed since that was recorded" in ran.stderr
    assert json.loads((tmp_path / "t.json").read_text())["changed_files"] == [str(program)]
    program.unlink()
    assert f"{program} has changed" in locks("report", tmp_path / "t").stderr


def test_a_text_that_cannot_run(tmp_path):
    script = tmp_path / "words"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    assert f"{script}: No such file" in refused("run", "-o", tmp_path / "t", "--", script)


def test_no_such_trace(tmp_path):
    assert "there is no such trace" in refused("report", tmp_path / "none")


def test_a_folder_without_a_trace(tmp_path):
    assert "no process has left a trace" in refused("report", tmp_path)


def test_a_file_that_is_no_trace(tmp_path):
    (tmp_path / "x.trace").write_text("hello")
    assert "x.trace: this is no trace of cleat-locks" in refused("report", tmp_path)


def test_a_trace_that_was_cut(tmp_path, record):
    run = record("many", 10)
    (file,) = run.trace.glob("*.trace")
    os.truncate(file, 100_000)
    assert "the trace is cut short" in refused("report", run.trace)


def test_a_trace_that_was_cut_in_the_middle_of_its_threads(tmp_path, record):
    run = record("many", 10)
    (file,) = run.trace.glob("*.trace")
    before = run.report()["processes"][0]
    assert before["blocks"] >= 1 and before["blocks_cut"] == 0
    os.truncate(file, file.stat().st_size - 4096)
    said = "the trace is cut short: 1 of its"
    assert said in run.text().splitlines()[1]
    assert run.report()["processes"][0]["blocks_cut"] == 1
    others = (
        ["folded", run.trace],
        ["diff", run.trace, run.trace],
        ["per-operation", run.trace, "-n", 1],
        ["html", run.trace, "-o", tmp_path / "t.html"],
    )
    for words in others:
        assert said in locks(*words).stderr


def test_a_device_is_no_trace():
    said = refused("report", "/dev/null")
    assert "/dev/null: this is neither a file nor a folder: give what `cleat-locks run" in said


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
@pytest.mark.parametrize(
    "words",
    [
        ["report", "TRACE"],
        ["report", "TRACE", "--json", "-"],
        ["diff", "TRACE", "TRACE"],
        ["folded", "TRACE", "--what", "acquisitions"],
        ["html", "TRACE", "-o", "-"],
        ["per-operation", "TRACE", "-n", 10],
        ["--help"],
    ],
    ids=lambda words: " ".join(map(str, words)),
)
def test_what_did_not_reach_standard_output_is_an_error(record, words):
    trace = record("holds", 2, 10, 100).trace
    command = [BIN / "cleat-locks", *(trace if word == "TRACE" else str(word) for word in words)]
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=DEADLINE
        )
    assert ran.returncode == 1
    assert ran.stderr == "cleat-locks: standard output: No space left on device\n"


def test_a_limit_that_no_trace_fits_into_is_named(tmp_path):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 10, resource.RLIM_INFINITY))

    command = [BIN / "cleat-locks", "run", "-o", tmp_path / "t", "--", SUBJECT, "many", "1"]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=DEADLINE, preexec_fn=limit
    )
    assert ran.returncode == 1
    assert "nothing was recorded: no file may be larger than 100 KiB here" in ran.stderr
    assert "raise that limit (ulimit -f)" in ran.stderr


def test_a_process_that_is_not_in_it(record):
    said = refused("report", record("many", 10).trace, "--pid", 1)
    assert "process 1 has left no trace here" in said


def test_no_operations(record):
    assert "--operations" in refused("per-operation", record("many", 10).trace, "-n", 0)


@pytest.mark.parametrize("operations", [0, -1, "many"])
def test_a_page_for_no_operations(record, tmp_path, operations):
    page = tmp_path / "t.html"
    said = refused("html", record("many", 10).trace, "-o", page, f"--operations={operations}")
    assert "--operations" in said
    assert not page.exists()


def test_an_unknown_measure(record):
    assert "--what luck" in refused("folded", record("many", 10).trace, "--what", "luck")


def test_a_file_that_cannot_be_written(record):
    said = refused("report", record("many", 10).trace, "--json", "/no/such/folder/x.json")
    assert "/no/such/folder/x.json: No such file" in said


def test_a_program_with_address_sanitizer_is_warned_of(tmp_path):
    """The program would end before its main."""
    program = tmp_path / "sanitized"
    shutil.copy("/bin/true", program)
    with open(program, "ab") as file:
        file.write(b"\0__asan_init\0")
    command = ["run", "-o", tmp_path / "t", "--", program]
    said = locks(*command, check=False).stderr
    assert "it has AddressSanitizer" in said
    assert "set ASAN_OPTIONS=verify_asan_link_order=0" in said
    shutil.rmtree(tmp_path / "t", ignore_errors=True)
    allowed = {"ASAN_OPTIONS": "verify_asan_link_order=0"}
    assert "AddressSanitizer" not in locks(*command, check=False, settings=allowed).stderr


def test_a_full_disk_is_named(tmp_path):
    disk = tmp_path / "small"
    disk.mkdir()
    script = (
        f"mount -t tmpfs -o size=1m none {disk} || exit 77; "
        f"exec {BIN}/cleat-locks run -o {disk}/t -- {SUBJECT} many 10"
    )
    command = ["unshare", "-m", "sh", "-c", script]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    if ran.returncode == 77 or "unshare" in ran.stderr:
        pytest.skip("no file system can be mounted here")
    first, last = ran.stderr.splitlines()
    for said in (first, last):
        assert f"the disk of {disk}/t is full: " in said
        assert "KiB are free, and a trace takes" in said
    assert ran.returncode == 1


def test_a_trace_without_its_memory_map_says_so(record):
    run = record("many", 10)
    (file,) = run.trace.glob("*.maps")
    file.unlink()
    assert f"{file.name} is missing, so its functions have no names" in run.text()
    assert run.report()["processes"][0]["map_missing"] is True
