"""Formats for other programs: folded stacks, pprof, JSON; and the text report."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from recording import SUBJECT, locks


@pytest.fixture
def run(record_stepped):
    # Which of the other holds are measured is chance, and so is a mean of some of them.
    return record_stepped("holds", 3, 60, 1000, options=["--every-hold"])


def test_folded_stacks_begin_outside_and_end_in_the_lock(run):
    lines = locks("folded", run.trace).stdout.splitlines()
    assert all(re.fullmatch(r".+ \d+", line) for line in lines)
    heaviest = max(lines, key=lambda line: int(line.rsplit(" ", 1)[1]))
    stack, value = heaviest.rsplit(" ", 1)
    functions = stack.split(";")
    assert functions[-1] == "pthread_mutex_lock"
    assert any("hold_it" in function for function in functions[:-1])
    total = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
    assert total == pytest.approx(run.report()["total"]["blocked_ns"] / 1000, rel=0.01)


def test_folded_acquisitions_are_all_of_them(run):
    lines = locks("folded", run.trace, "--what", "acquisitions").stdout.splitlines()
    total = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
    assert total == run.report()["total"]["acquisitions"]


def test_pprof_opens_it(run, tmp_path):
    if shutil.which("go") is None:
        pytest.skip("pprof comes with Go")
    file = tmp_path / "locks.pb.gz"
    locks("report", run.trace, "--pprof", file)
    command = ["go", "tool", "pprof", "-top", "-sample_index=blocked", str(file)]
    # From Go 1.24 on, the first call compiles the tool.
    shown = subprocess.run(command, capture_output=True, text=True, timeout=500)
    if "no such tool" in shown.stderr:
        pytest.skip("this Go has no pprof")
    assert shown.returncode == 0, shown.stderr
    assert "pthread_mutex_lock" in shown.stdout
    assert re.search(r"Type: blocked", shown.stdout)


def test_the_report_names_the_lock_who_took_it_and_where(run):
    text = run.text()
    assert "locks_subject holds 3 60 1000" in text
    assert re.search(r"mutex \(anonymous namespace\)::held_mutex|mutex held_mutex", text)
    assert re.search(r"taken in hold_it", text)
    for part in ("Locks.", "Call stacks", "inverted call tree", "Threads", "Not seen:"):
        assert part in text


def test_text_and_json_show_the_same(run):
    report = run.report()
    text = run.text()
    assert f"{report['blocked_percent']:.2f} %" in text
    (lock,) = [each for each in report["locks"] if "held_mutex" in each["name"]]
    assert re.search(rf"\b{lock['acquisitions']}\b", text)


def test_diff_says_what_became_better(run, record, tmp_path):
    locks("run", "-o", tmp_path / "alone", "--", SUBJECT, "holds", 1, 60, 1000)
    text = locks("diff", run.trace, tmp_path / "alone").stdout
    (row,) = [line for line in text.splitlines() if "blocked on locks" in line]
    before, after, change = (float(part) for part in re.findall(r"[+-]?\d+\.\d+", row))
    assert row.count("%") == 2  # The change is in points.
    assert before > 10
    assert after == 0
    assert change == pytest.approx(after - before, abs=0.11)
    assert any("held_mutex" in line and "-" in line for line in text.splitlines())
    held = text[text.index("Locks: held on average") :]
    (row,) = [line for line in held.splitlines() if "held_mutex" in line]
    before, after = re.findall(r"[\d.]+ [mun]s", row)
    assert before == "1.00 ms"
    assert re.fullmatch(r"[\d.]+ ms", after)
    assert re.search(r" 180 +60 ", row)


def test_nothing_changed_between_a_trace_and_itself(run):
    assert "nothing changed" in locks("diff", run.trace, run.trace).stdout


def test_the_kernels_own_code_is_one_function_in_every_run(record, tmp_path):
    """Its address is another in every run, so without a common name it would show as changed."""
    if "[vdso]" not in Path("/proc/self/maps").read_text():
        pytest.skip("this kernel has no code in programs")
    run = record("asks", 300)
    locks("run", "-o", tmp_path / "again", "--", SUBJECT, "asks", 300)
    stacks = locks("folded", run.trace, "--what", "cpu").stdout
    functions = {name for line in stacks.splitlines() for name in line.rsplit(" ", 1)[0].split(";")}
    assert "[vdso]" in functions
    assert not [name for name in functions if name.startswith("0x")]
    changed = locks("diff", run.trace, tmp_path / "again").stdout
    # An offset in a file is the same in every run, ld.so+0xa3b5 say; an address is not.
    assert not re.search(r"(?<!\+)\b0x", changed), changed
    assert changed.count("[vdso]") <= 1
