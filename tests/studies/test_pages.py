"""The pages of the studies and the figures they were made of do not part: what page.py makes of the
newest result is in the page, and its charts are those that the page shows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ROOT / "perf/studies"
NAMES = ("asio", "cost", "gather", "libraries", "terminators")


def newest(study: str) -> Path:
    return sorted((ROOT / "perf/results").glob(f"*-study-{study}.json"))[-1]


def show(study: str, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, STUDIES / study / "page.py", *words]
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("study", NAMES)
def test_every_row_of_the_tables_is_in_the_page(study: str) -> None:
    ran = show(study, newest(study))
    assert ran.returncode == 0, ran.stderr
    page = (ROOT / "docs/studies" / f"{study}.md").read_text().splitlines()
    rows = [line for line in ran.stdout.splitlines() if line.startswith("|")]
    assert rows
    assert [row for row in rows if row not in page] == []


@pytest.mark.parametrize("name", ["asio", "asio-locks", "libraries"])
def test_a_page_that_is_filled_in_is_filled_in_from_the_newest_result(
    name: str, tmp_path: Path
) -> None:
    """So a sentence with figures in it cannot contradict the table that it stands below."""
    page = ROOT / "docs/studies" / f"{name}.md"
    copy = tmp_path / page.name
    copy.write_text(page.read_text())
    study = name.split("-")[0]
    ran = show(study, newest(study), "--page", copy)
    assert ran.returncode == 0, ran.stderr
    assert copy.read_text() == page.read_text()


@pytest.mark.parametrize("study", NAMES)
def test_charts_are_of_the_newest_result(study: str, tmp_path: Path) -> None:
    ran = show(study, newest(study), "--out", tmp_path / "new" / "folder")
    assert ran.returncode == 0, ran.stderr
    drawn = sorted((tmp_path / "new" / "folder").glob("*.svg"))
    assert drawn
    for each in drawn:
        assert each.read_text() == (ROOT / "docs/charts" / each.name).read_text(), each.name


@pytest.mark.parametrize("study", NAMES)
def test_a_reader_that_has_seen_enough_is_no_error(study: str) -> None:
    command = [sys.executable, str(STUDIES / study / "page.py"), str(newest(study))]
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as nowhere:
        ran = subprocess.run(
            command, stdout=nowhere, stderr=subprocess.PIPE, text=True, timeout=120
        )
    assert ran.stderr == ""


@pytest.mark.parametrize("study", NAMES)
def test_what_is_no_result_is_said_in_one_line(study: str, tmp_path: Path) -> None:
    (tmp_path / "words.json").write_text("words")
    (tmp_path / "other.json").write_text('{"study": "another"}')
    (tmp_path / "list.json").write_text("[]")
    for name in ("none.json", "words.json", "other.json", "list.json"):
        ran = show(study, tmp_path / name)
        assert ran.returncode == 1 and ran.stdout == ""
        assert ran.stderr.startswith(f"{tmp_path / name}: ") and len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "study, words, said",
    [
        ("terminators", ["--scenarios", "full-rsa-2048,no-such"], "no 'no-such'; there are down-"),
        ("terminators", ["--servers", "cleat,apache"], "no 'apache'; there are cleat, nginx,"),
        ("terminators", ["--rounds", "0"], "'0': write a whole number, at least 1"),
        ("libraries", ["--check", "--libraries", "wolfssl"], "no 'wolfssl'; there are openssl,"),
        ("libraries", ["--rounds", "many"], "'many': write a whole number, at least 1"),
        ("asio", ["--build", "release"], "--build wants NAME=FOLDER"),
        ("asio", ["--rounds", "-1"], "'-1': write a whole number, at least 1"),
        ("cost", ["--server-core", "9999"], "core 9999 is none that may be used here"),
        ("gather", ["--iterations", "0"], "'0': write a whole number, at least 1"),
    ],
)
def test_what_cannot_be_understood_is_said_and_ends_with_2(
    study: str, words: list[str], said: str
) -> None:
    command = [sys.executable, str(STUDIES / study / "run.py"), *words]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert said in ran.stderr and "Traceback" not in ran.stderr
