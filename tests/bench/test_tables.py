"""perf/show.py makes the tables of the documentation from comparisons."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compare_results import (
    CALLS, DOWN, ESTABLISHED, HANDSHAKE, IDLE, PACED, RESUMED, WORKERS, comparison, left_out, trial,
)
from load_results import Facts

ROOT = Path(__file__).resolve().parents[2]


def tables(folder: Path, *documents: Facts, page: str | None = None):
    """tables of documents, printed, or filled into folder/page.md."""
    files = []
    for number, each in enumerate(documents):
        files.append(folder / f"{number}.json")
        files[-1].write_text(json.dumps(each))
    words: list[object] = [sys.executable, ROOT / "perf/show.py", *files]
    if page is not None:
        (folder / "page.md").write_text(page)
        words += ["--page", folder / "page.md"]
    return subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=60
    )


def test_a_row_for_each_scenario_and_a_column_for_each_server(tmp_path: Path) -> None:
    ran = tables(tmp_path, comparison(trial(), trial(DOWN)), comparison(trial(IDLE)))
    assert ran.returncode == 0, ran.stderr
    assert "| | cleat | nginx | hitch | epoll |" in ran.stdout
    (row, *_) = [each for each in ran.stdout.splitlines() if each.startswith("| Full handshakes")]
    ours, nginx, hitch, epoll = row.split(" | ")[1:]
    assert ours == "242 µs"
    assert nginx.startswith("2.") and nginx.endswith(")")
    assert "[" in epoll, "whose spread includes 1 is in brackets"
    assert "ms/GB |" in ran.stdout and "kB |" in ran.stdout
    assert ran.stdout.index("## Full handshakes") < ran.stdout.index("## Bytes")


def test_a_comparison_of_builds_has_a_table_of_its_own(tmp_path: Path) -> None:
    costs = {"now": (1.0, 0.0), "before": (1.5, 0.0)}
    files = {
        "2026-11-24-builds-work.json": comparison(
            trial(CALLS, costs), trial(WORKERS, costs), trial(DOWN, costs), trial(IDLE, costs)
        ),
        "2026-11-23-builds-work.json": comparison(),  # The newer counts.
        "2026-11-24-builds-waits.json": comparison(trial(ESTABLISHED, costs)),
    }
    for name, document in files.items():
        (tmp_path / name).write_text(json.dumps(document))
    command = [sys.executable, ROOT / "perf/show.py", *(tmp_path / name for name in files)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    waits, work = (
        ran.stdout.split(f"<!-- builds/{name} -->\n")[1].split("\n\n")[0].splitlines()
        for name in ("waits", "work")
    )
    assert work[0] == "| | now | before |"
    assert work[2:] == [
        "| system-calls | 18.0 | 27.0, 1.50 (1.50..1.50) |",
        "| two-workers | 1.00 [1.00..1.00] | 1.50 (1.50..1.50), 1.50 (1.50..1.50) |",
        "| down-1m | 660 ms/GB | 990 ms/GB, 1.50 (1.50..1.50) |",
        "| idle | 4.80 kB | 7.20 kB, 1.50 (1.50..1.50) |",
    ]
    assert waits[0] == "| p50 and p99, done beside | now | before |"
    assert waits[2].endswith("| 4.9 and 9.5 ms, 2800/s | 7.3 and 14.2 ms, 1867/s |")


def test_a_target_is_held_against_the_best_that_is_no_control(tmp_path: Path) -> None:
    near = {"cleat": (1.0, 0.0), "nginx": (1.25, 0.0), "hitch": (3.0, 0.0), "epoll": (0.9, 0.0)}
    found = comparison(trial(HANDSHAKE, near), trial(DOWN, near))
    ran = tables(tmp_path, found)
    assert "| ECDSA handshake | 0.90 | 0.80 (0.80..0.80) | nginx | met |" in ran.stdout
    assert "| GB down | 0.60 | 0.80 (0.80..0.80) | nginx | **not met** |" in ran.stdout


def test_what_was_not_resumed_is_marked(tmp_path: Path) -> None:
    found = trial(RESUMED)
    (nginx,) = [each for each in found["servers"] if each["name"] == "nginx"]
    for each in nginx["rounds"]:
        hands = each["load"]["handshakes"]
        hands["full"], hands["resumed"] = hands["full"] + hands["resumed"], 0
    ran = tables(tmp_path, comparison(found))
    assert ran.returncode == 0, ran.stderr
    (row, *_) = [each for each in ran.stdout.splitlines() if each.startswith("| One full")]
    assert [cell.endswith("†") for cell in row.split(" | ")[1:-1]] == [False, True, False]
    assert "- † nginx: resumed 0 % of its handshakes (resumed-4-tickets)" in ran.stdout


LATENCY = PACED | {"name": "latency-70", "title": "Latency at a given rate"}


def limit(found: Facts, name: str, *rounds: int) -> None:
    """limit makes the generator the limit of a server's rounds."""
    (server,) = [each for each in found["servers"] if each["name"] == name]
    for number in rounds:
        server["rounds"][number]["load"]["limits"] = ["1 % of the transactions began 2 ms late"]


def row_of(text: str, title: str) -> list[str]:
    (row, *_) = [each for each in text.splitlines() if each.startswith(f"| {title}")]
    return row.removesuffix(" |").split(" | ")[1:]


def test_rounds_that_the_generator_limited_are_marked_and_counted(tmp_path: Path) -> None:
    found = trial(LATENCY, {"cleat": (1, 0), "nginx": (2, 0), "hitch": (20, 0), "epoll": (1, 0)})
    limit(found, "cleat", 0, 2)
    limit(found, "nginx", 1, 3)
    limit(found, "hitch", 0, 1, 2, 3, 4)
    for each in range(4):
        found["servers"][1]["rounds"][each]["p99_ns"] *= 5
    ran = tables(tmp_path, comparison(found))
    assert ran.returncode == 0, ran.stderr
    cells = row_of(ran.stdout, "Latency at a given rate")
    assert [cell.endswith(" ‡") for cell in cells] == [True, True, True, False]
    said = (
        "‡ Rounds in which the generator was the limit: latency-70: cleat 2 of 5, "
        "nginx 2 of 5 (2.00 without), hitch 5 of 5 (none without). Its lateness is in their p99."
    )
    matrix, targets, families = re.split("<!-- compare/(?:targets|families) -->", ran.stdout)
    assert matrix.rstrip().endswith(f"|\n\n{said}") and f"\n- {said}\n" in families
    # The targets are of cleat to the others, and so is what they would be without.
    assert "| 0.10 (0.10..0.50) ‡ | nginx |" in targets
    assert "nginx 2 of 5 (0.50 without). Its" in targets and "hitch" not in targets


def test_a_limit_that_does_not_touch_the_figure_is_told_as_that(tmp_path: Path) -> None:
    found = trial(DOWN)
    limit(found, "cleat", 4)
    limit(found, "epoll", 0)
    ran = tables(tmp_path, comparison(found))
    cells = row_of(ran.stdout, "Download")
    assert [cell.endswith(" ‡") for cell in cells] == [True, False, False, True]
    said = "the limit: down-1m: cleat 1 of 5, epoll 1 of 5. CPU is counted at the server, for each"
    assert said in ran.stdout and "p99" not in ran.stdout


def test_where_no_lead_is_shown_is_listed(tmp_path: Path) -> None:
    level = {"cleat": (1, 0), "nginx": (0.5, 0), "hitch": (1, 0), "envoy": (2, 0), "epoll": (1, 0)}
    ran = tables(tmp_path, comparison(trial(DOWN, level), trial(IDLE, {"cleat": (1, 0)})))
    table = ran.stdout.split("<!-- compare/not_ahead -->\n")[1]
    title = "Download, messages of 1 MiB"
    assert f"| {title} | nginx 0.50 (0.50..0.50), hitch 1.00 [1.00..1.00] |\n" in table
    assert table.count("\n| ") == 1
    ran = tables(tmp_path, comparison(trial(DOWN, {"cleat": (1, 0), "nginx": (2, 0)})))
    assert "<!-- compare/not_ahead -->\nA lead is shown in every cell." in ran.stdout


def test_who_could_not_is_named_with_its_reason(tmp_path: Path) -> None:
    found = trial()
    found["servers"].append(left_out("stunnel", "it has no such group"))
    ran = tables(tmp_path, comparison(found))
    assert ran.returncode == 0, ran.stderr
    assert "- – stunnel: it has no such group (full-ecdsa-p256)" in ran.stdout


def test_a_page_is_filled_in_between_its_marks(tmp_path: Path) -> None:
    page = "Before.\n<!-- show.py: compare/matrix -->\nold\n<!-- end -->\nAfter.\n"
    ran = tables(tmp_path, comparison(trial()), page=page)
    assert ran.returncode == 0 and ran.stdout == "", ran.stderr
    text = (tmp_path / "page.md").read_text()
    assert text.startswith("Before.\n<!-- show.py: compare/matrix -->\n| | cleat |")
    assert text.endswith(" |\n<!-- end -->\nAfter.\n") and "old" not in text
    tables(tmp_path, comparison(trial()), page=text)
    assert (tmp_path / "page.md").read_text() == text


def test_what_cannot_be_shown_is_said_in_one_line(tmp_path: Path) -> None:
    page = "<!-- show.py: compare/other -->\n<!-- end -->\n"
    for documents, text, words in (
        ([{"kind": "load"}], None, "not of cleat-bench compare"),
        ([comparison(trial()) | {"trials": [{}]}], None, "damaged"),
        ([comparison(trial(costs={"nginx": (1.0, 0.1)}))], None, "no scenario has cleat"),
        ([comparison(trial())], page, "there is no table 'compare/other'"),
    ):
        ran = tables(tmp_path, *documents, page=text)
        assert ran.returncode == 1 and words in ran.stderr, (words, ran.stderr)
        assert len(ran.stderr.splitlines()) == 1, ran.stderr


@pytest.mark.parametrize("name, least", [("performance.md", 0), ("studies/compare.md", 21)])
def test_what_the_text_quotes_is_in_a_table(name: str, least: int) -> None:
    page = (ROOT / "docs" / name).read_text()
    filled_in = r"<!-- show\.py: \S+ -->.*?<!-- end -->"
    cells = "".join(re.findall(filled_in, page, re.DOTALL))
    text = re.sub(r"\s+", " ", re.sub(filled_in, "", page, flags=re.DOTALL))
    quoted = re.findall(r"\d+\.\d+ [\[(]\d[\d.]*\.\.\d[\d.]*[\])]", text)
    assert [each for each in quoted if each not in cells] == []
    assert len(quoted) >= least


# None of this machine's settings, and no repository that runs the tests from a hook of its own.
NO_SETTINGS = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def kept(program: Path, found: Facts, folder: Path, path: str = os.environ["PATH"]) -> Facts:
    """kept is what is kept of a comparison; what is kept once more is the same."""
    (folder / "found.json").write_text(json.dumps(found))
    source = "found.json"
    for after in ("kept.json", "again.json"):
        words = [sys.executable, str(program), source, after]
        ran = subprocess.run(
            words,
            cwd=folder,
            env=NO_SETTINGS | {"PATH": path},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert ran.returncode == 0, ran.stderr
        source = after
    text = (folder / "kept.json").read_text()
    assert (folder / "again.json").read_text() == text
    facts: Facts = json.loads(text)
    return facts


def commits(document: Facts) -> list[str]:
    return [value for key, value in document["environment"] if key == "commit when kept"]


def test_what_is_kept_has_the_limits_and_no_latencies(tmp_path: Path) -> None:
    found = trial()
    limit(found, "nginx", 2)
    document = kept(ROOT / "perf/keep.py", comparison(found), tmp_path)
    rounds = document["trials"][0]["servers"][1]["rounds"]
    assert [len(each["load"]["limits"]) for each in rounds] == [0, 0, 1, 0, 0]
    assert "latency" not in rounds[0]["load"]
    assert len((tmp_path / "kept.json").read_text().splitlines()) < 60


def test_what_is_kept_has_no_commit_where_there_is_no_git(tmp_path: Path) -> None:
    document = kept(ROOT / "perf/keep.py", comparison(trial()), tmp_path, path=str(tmp_path))
    assert commits(document) == []


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_what_is_kept_has_the_commit(tmp_path: Path) -> None:
    """Of a repository made here: this tree may be none, and who runs the tests may change it."""
    tree = tmp_path / "tree"
    (tree / "perf/results").mkdir(parents=True)
    program = Path(shutil.copy(ROOT / "perf/keep.py", tree / "perf"))
    shutil.copytree(ROOT / "perf/cleat_perf", tree / "perf/cleat_perf")
    found = comparison(trial())

    def git(*words: str) -> str:
        who = ["-c", "user.name=cleat", "-c", "user.email=cleat@localhost"]
        ran = subprocess.run(
            ["git", *who, *words], cwd=tree, env=NO_SETTINGS, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    assert commits(kept(program, found, tmp_path)) == []
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "Keep what was found")
    head = git("rev-parse", "HEAD")
    assert len(head) >= 40
    assert commits(kept(program, found, tmp_path)) == [head]
    (tree / "perf/results/found.json").write_text("{}")
    assert commits(kept(program, found, tmp_path)) == [head]
    (tree / "perf/found.py").write_text("")
    assert commits(kept(program, found, tmp_path)) == [f"{head}, changed"]
