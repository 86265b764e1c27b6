"""scripts/test counts what passed, failed and was skipped, and names each reason. No test is run
again. Its tests here are shell commands, which ctest takes for a build's."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTEST = "echo 'SKIPPED [2] a/test_b.py:3: no gadget here'; echo '3 passed, 2 skipped in 0.1s'"
COUNTS = re.compile(r"\d+ passed, \d+ failed, \d+ skipped")
ONCE = "test -e been-here || { touch been-here; exit 1; }"


class Tree:
    """Tree is a clone with scripts/test, and with a build whose tests are shell commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shell = "sh"
        for name in ("scripts/test", "tests/summary/summary.py"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        self.listed("")
        self.build = folder / "build" / "some"
        self.build.mkdir(parents=True)
        self.tests = self.build / "CTestTestfile.cmake"

    def listed(self, lines: str) -> None:
        (self.folder / "tests" / "skips").write_text("# A comment.\n\n" + lines)

    def run(self, tests: dict[str, str], **settings: str) -> tuple[int, list[str]]:
        """run returns the exit code, and the lines from the summary on."""
        with self.tests.open("w") as file:
            for name, command in tests.items():
                file.write(f'add_test([=[{name}]=] "{self.shell}" "-c" [=[{command}]=])\n')
                file.write(f"set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 5)\n")
        mine = ("CLEAT_", "CTEST_")  # Of the run that these tests belong to.
        own = {key: value for key, value in os.environ.items() if not key.startswith(mine)}
        ran = subprocess.run(
            [self.folder / "scripts" / "test", "some"], env=own | settings, text=True, timeout=120,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.output = ran.stdout
        lines = self.output.splitlines()
        begin = [number for number, line in enumerate(lines) if COUNTS.fullmatch(line)]
        return ran.returncode, lines[begin[-1] :] if begin else []


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_cases_are_counted(tree):
    doctest = "echo '[doctest] test cases:  7 |  7 passed | 0 failed | 0 skipped'"
    code, said = tree.run({"python": PYTEST, "unit": doctest, "plain": "true"})
    assert code == 0, tree.output
    assert said == [
        "11 passed, 0 failed, 2 skipped",
        "skipped: 2 of python: no gadget here (not listed in tests/skips)",
    ]


def test_a_file_of_which_nothing_ran_is_skipped(tree):
    """pytest ends with code 5 then."""
    reason = "SKIPPED [1] test_c.py:1: no module"
    files = {"named": f"echo '{reason}'; echo '1 skipped in 0.1s'; exit 5", "mute": "exit 5"}
    code, said = tree.run(files | {"plain": "true"})
    assert code == 0, tree.output
    assert said[0] == "1 passed, 0 failed, 2 skipped"
    assert "skipped: 1 of named: no module (not listed in tests/skips)" in said
    assert "skipped: 1 of mute: no reason was given (not listed in tests/skips)" in said


@pytest.mark.parametrize(
    "command, failed",
    [
        ("echo '2 failed, 1 error, 3 passed in 0.1s'; exit 1", 3),
        ("echo '[doctest] test cases: 5 | 4 passed | 1 failed | 0 skipped'; exit 1", 1),
        ("echo '3 passed in 0.1s'; exit 1", 1),  # It failed after its last line.
        ("kill -SEGV $$", 1),
    ],
)
def test_a_failure_is_counted(tree, command, failed):
    code, said = tree.run({"bad": command, "plain": "true"})
    assert code == 1
    assert f" {failed} failed, 0 skipped" in said[0]


def test_a_program_that_is_not_there_is_a_failure(tree):
    tree.shell = "/nowhere/sh"
    assert tree.run({"gone": "true"}) == (1, ["0 passed, 1 failed, 0 skipped"])


@pytest.mark.parametrize(
    "line, code",
    [
        ("some python no gadget here", 0),
        ("other,so* pyt* no * here", 0),
        ("other python no gadget here", 1),
        ("some plain no gadget here", 1),
        ("some python no gadget", 1),
    ],
)
def test_in_ci_a_skip_is_listed_or_a_failure(tree, line, code):
    tree.listed(line + "\n")
    assert tree.run({"python": PYTEST}, CLEAT_STRICT="1")[0] == code, tree.output
    assert tree.run({"python": PYTEST})[0] == 0


def test_a_failure_is_not_run_again(tree):
    code, said = tree.run({"flaky": ONCE, "plain": "true"})
    assert (code, said) == (1, ["1 passed, 1 failed, 0 skipped"])


def test_without_tests_it_fails(tree):
    assert tree.run({})[0] == 1


def test_the_list_of_this_project_can_be_read():
    """Each line has its three parts."""
    lines = (ROOT / "tests" / "skips").read_text().splitlines()
    assert all(len(line.split(None, 2)) == 3 for line in lines if line and line[0] != "#")
