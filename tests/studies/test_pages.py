"""The pages and the results that they show do not part: perf/show.py makes every table and chart of
docs/ from perf/results/."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PERF = ROOT / "perf"
PLACE = re.compile(r"(<!-- show\.py: (\S+) -->)\n.*?(<!-- end -->)", re.DOTALL)


def show(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, PERF / "show.py", *words]
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120
    )


def test_pages_and_charts_are_made_of_the_recorded_results(tmp_path: Path) -> None:
    """Of a copy whose places are empty and which has no charts, --docs makes docs/ again."""
    docs = tmp_path / "docs"
    shutil.copytree(ROOT / "docs", docs)
    places = []
    for page in docs.rglob("*.md"):
        text = page.read_text()
        places += [found[2] for found in PLACE.finditer(text)]
        page.write_text(PLACE.sub(r"\1\n\3", text))
    assert len(places) == len({*places}) + 1  # The machine of the Asio study is in both its pages.
    drawn = [*(docs / "charts").iterdir()]
    assert len(drawn) > 30
    for path in drawn:
        path.unlink()
    ran = show("--docs", docs)
    assert ran.returncode == 0, ran.stderr
    for path in docs.rglob("*.*"):
        assert path.read_bytes() == (ROOT / "docs" / path.relative_to(docs)).read_bytes(), path
    assert {path.name for path in (docs / "charts").iterdir()} == {
        path.name for path in (ROOT / "docs/charts").iterdir()
    }


def test_a_reader_that_ends_early_is_no_error() -> None:
    result = sorted((PERF / "results").glob("*-study-asio.json"))[-1]
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as nowhere:
        ran = subprocess.run(
            [sys.executable, str(PERF / "show.py"), str(result)],
            stdout=nowhere, stderr=subprocess.PIPE, text=True, timeout=120,
        )  # fmt: skip
    assert ran.stderr == ""


def test_a_file_that_is_no_result_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "words.json").write_text("words")
    (tmp_path / "other.json").write_text('{"study": "another"}')
    (tmp_path / "part.json").write_text('{"study": "cost"}')
    (tmp_path / "list.json").write_text("[]")
    for name in ("none.json", "words.json", "other.json", "part.json", "list.json"):
        ran = show(tmp_path / name)
        assert ran.returncode == 1 and ran.stdout == ""
        assert ran.stderr.startswith(f"{tmp_path / name}: ") and len(ran.stderr.splitlines()) == 1


def test_charts_go_into_a_new_folder(tmp_path: Path) -> None:
    results = sorted((PERF / "results").glob("*-study-gather.json"))
    assert show(*results, "--out", tmp_path / "new/folder").returncode == 0
    assert len([*(tmp_path / "new/folder").glob("study-gather-*.svg")]) == 8


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
    command = [sys.executable, str(PERF / "study.py"), study, *words]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert said in ran.stderr and "Traceback" not in ran.stderr
