"""`cleat-locks lines` on a program that moves its cache lines in a known way."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from recording import BIN, locks

SUBJECT = BIN / "locks_lines_subject"
TURNS = 5_000  # Of each of two threads.


@pytest.fixture
def lines(tmp_path: Path) -> Any:
    """lines runs the subject under the recorder, and gives the rows by the name of their memory."""

    def run(what: str, turns: int = TURNS) -> dict[str, list[dict[str, Any]]]:
        file = tmp_path / f"{what}.lines"
        locks("lines", "-o", file, "--", SUBJECT, what, turns)
        found = json.loads(locks("lines-report", file, "--json", "-").stdout)
        assert found["moves_lost"] == found["stacks_lost"] == 0
        names = [each["name"] for each in found["threads"]]
        assert {"left", "right"} <= set(names)
        rows: dict[str, list[dict[str, Any]]] = {}
        for row in found["rows"]:
            for stack in ("stack", "stack_before", "allocated"):
                row[stack] = [found["functions"][each] for each in found["stacks"][row[stack]]]
            row["threads"] = {names[row["thread"]], names[row["thread_before"]]}
            rows.setdefault(row["memory"], []).append(row)
        return rows

    return run


def named(rows: dict[str, list[dict[str, Any]]], name: str) -> list[dict[str, Any]]:
    """named are the rows between the two threads of memory whose name has `name` in it."""
    return [
        row
        for memory, found in rows.items()
        for row in found
        if name in memory and row["threads"] == {"left", "right"}
    ]


def total(rows: list[dict[str, Any]], *what: str) -> int:
    return sum(row[each] for row in rows for each in what)


def test_a_counter_that_two_threads_write_moves_twice_a_turn(lines):
    """A turn reads what the other thread has written, and writes what it still has."""
    rows = named(lines("counter"), "shared_counter")
    # The first turn finds the counter as main() has left it.
    assert total(rows, "reads") == 2 * TURNS - 1
    assert total(rows, "writes") == 2 * TURNS - 1
    assert total(rows, "other_bytes") == 0
    for row in rows:
        assert "add_to_counter" in row["stack"][0]
        assert "add_to_counter" in row["stack_before"][0]
        assert row["stack"][1:2] == ["operator()"]  # That of play().
        assert row["memory_kind"] == "global"


def test_threads_that_write_neighbouring_variables_share_falsely(lines):
    rows = named(lines("neighbours"), "false_neighbours")
    assert total(rows, "writes") == total(rows, "other_bytes") == 2 * TURNS - 1


def test_a_line_of_its_own_for_each_thread_does_not_move(lines):
    assert named(lines("private"), "private_counters") == []


def test_memory_that_all_only_read_does_not_move_again(lines):
    """main() has written the table: each of its 128 lines comes once to each thread."""
    rows = lines("table")
    moves = [row for memory, found in rows.items() if "read_only_table" in memory for row in found]
    assert total(moves, "reads") == 2 * 128
    assert total(moves, "writes") == 0


def test_a_copy_by_libc_writes_its_line(lines):
    rows = named(lines("copy"), "copied_bytes")
    assert total(rows, "writes") == 2 * TURNS - 1
    assert all(any("copy_bytes" in name for name in row["stack"][:2]) for row in rows)


def test_taking_a_lock_of_libc_writes_its_line(lines):
    """In each turn it comes once, and giving it back finds it here."""
    rows = named(lines("mutex"), "shared_mutex")
    assert total(rows, "writes") == 2 * TURNS - 1


def test_memory_of_the_heap_is_named_by_the_function_that_allocated_it(lines):
    rows = named(lines("heap"), "make_shared_box")
    assert total(rows, "writes") == 2 * TURNS - 1
    assert all(row["memory_kind"] == "heap" for row in rows)
    assert all(any("on_heap" in name for name in row["allocated"]) for row in rows)


def test_a_variable_on_a_stack_is_named_by_its_thread(lines):
    rows = named(lines("stack"), "stack or thread-local variable of ")
    assert total(rows, "writes") >= 2 * TURNS - 1


def test_threads_that_do_not_wait_for_each_other_are_told_apart(lines):
    """However they meet: each takes the line from the code of the other."""
    rows = named(lines("contend", 300_000), "contended")
    for row in rows:
        present, before = " ".join(row["stack"]), " ".join(row["stack_before"])
        assert ("add_left" in present) != ("add_left" in before), row


def test_pages_that_the_kernel_has_just_made_come_from_no_thread(lines):
    rows = lines("map", 40 << 20)
    between = [row for row in named(rows, "") if row["memory_kind"] in ("heap", "other")]
    assert total(between, "reads", "writes") < 1000


def test_new_without_exceptions_is_named_like_the_other(lines):
    rows = named(lines("nothrow"), "make_box_without_exception")
    assert total(rows, "writes") == 2 * TURNS - 1


def test_bytes_that_were_written_before_others_are_the_threads_own(lines):
    """`left` writes one variable, has it read by a third thread, and writes another beside it."""
    rows = named(lines("rewritten", 50), "written")
    read_by_right = [row for row in rows if row["reads"]]
    assert total(read_by_right, "reads") >= 50
    assert total(read_by_right, "other_bytes") == 0


def test_accesses_are_those_of_the_counted_part(tmp_path):
    file = tmp_path / "part.lines"
    locks("lines", "--wait", "-o", file, "--", SUBJECT, "private", TURNS)
    found = json.loads(locks("lines-report", file, "--json", "-").stdout)
    assert [each["accesses"] for each in found["threads"]] == [0, 0, 0]


def test_a_record_that_may_only_be_read_is_read(tmp_path):
    file = tmp_path / "read-only.lines"
    locks("lines", "-o", file, "--", SUBJECT, "counter", TURNS)
    file.chmod(0o444)
    rights = ["setpriv", "--bounding-set=-dac_override"] if os.getuid() == 0 else []
    ran = subprocess.run([*rights, BIN / "cleat-locks", "lines-report", file], capture_output=True)
    assert ran.returncode == 0, ran.stderr
    begun = [*rights, BIN / "cleat-locks", "lines-mark", file, "begin"]
    assert b"Permission denied" in subprocess.run(begun, capture_output=True).stderr


def test_only_the_marked_part_counts(tmp_path):
    file = tmp_path / "marked.lines"
    program = subprocess.Popen(
        [BIN / "cleat-locks", "lines", "--wait", "-o", file, "--", SUBJECT, "counter", "50"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    said = program.communicate(timeout=60)[1]
    assert "recorded into" in said
    assert json.loads(locks("lines-report", file, "--json", "-").stdout)["moves"] == 0
    # A mark clears what was counted, and one of a program that has ended is harmless.
    locks("lines-mark", file, "begin")
    locks("lines-mark", file, "end")
    assert json.loads(locks("lines-report", file, "--json", "-").stdout)["moves"] == 0


def test_the_text_names_memory_threads_and_code(tmp_path):
    file = tmp_path / "text.lines"
    locks("lines", "-o", file, "--", SUBJECT, "counter", TURNS)
    text = locks("lines-report", file, "--operations", 2 * TURNS, "--top", "50").stdout
    assert "cache lines moved between 3 threads" in text
    assert "for each operation" in text
    assert "shared_counter" in text
    assert "from left to right" in text
    assert "add_to_counter" in text


def test_a_program_that_is_not_built_for_it_is_named_with_the_cure(tmp_path):
    ran = locks("lines", "-o", tmp_path / "none", "--", "/bin/true", check=False)
    assert ran.returncode == 1
    assert "/bin/true ended with exit code 0, and nothing was recorded" in ran.stderr
    assert "lines-flags" in ran.stderr
    assert not (tmp_path / "none").exists()
    assert "-lcleat-lines" in locks("lines-flags").stdout


def test_a_file_of_another_kind_is_refused(tmp_path):
    other = tmp_path / "other"
    other.write_text("text")
    for command in (["lines-report", other], ["lines-mark", other, "begin"]):
        ran = locks(*command, check=False)
        assert ran.returncode == 1
        assert f"{other}: this is no record of cache lines" in ran.stderr
    ran = locks("lines-report", tmp_path / "missing", check=False)
    assert "missing: No such file or directory" in ran.stderr


def test_the_file_of_a_run_before_is_kept(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("")
    ran = locks("lines", "-o", kept, "--", SUBJECT, "counter", 1, check=False)
    assert ran.returncode == 1
    assert "exists: remove it" in ran.stderr
    assert kept.read_text() == ""


def test_the_programs_exit_code_is_passed_on(tmp_path):
    ran = locks("lines", "-o", tmp_path / "bad", "--", SUBJECT, "nothing", check=False)
    assert ran.returncode == 1
    killed = subprocess.run(
        [BIN / "cleat-locks", "lines", "-o", tmp_path / "killed", "--", "sh", "-c",
         "kill -TERM $$"], capture_output=True, text=True, env=os.environ,
    )  # fmt: skip
    assert "exit code 143" in killed.stderr
