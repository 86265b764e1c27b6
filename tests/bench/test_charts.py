"""perf/show.py draws comparisons for the documentation: SVG, the same bytes every time."""

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from compare_results import DOWN, HANDSHAKE, IDLE, PACED, comparison, left_out, trial
from load_results import Facts

PERF = Path(__file__).resolve().parents[2] / "perf"
SVG = "{http://www.w3.org/2000/svg}"


def charts(folder: Path, *documents: Facts | Path) -> subprocess.CompletedProcess[str]:
    """charts draws documents into folder/out."""
    files = []
    for number, each in enumerate(documents):
        if not isinstance(each, Path):
            written = folder / f"{number}.json"
            written.write_text(json.dumps(each))
            each = written
        files.append(each)
    command = [sys.executable, PERF / "show.py", *files, "--out", folder / "out"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


class Drawn:
    """Drawn is a file of it, as XML."""

    def __init__(self, path: Path) -> None:
        self.bytes = path.read_bytes()
        self.root = ElementTree.fromstring(self.bytes)
        self.texts = ["".join(each.itertext()) for each in self.root.iter(f"{SVG}text")]
        self.bars = [float(each.get("width")) for each in self.root.iter(f"{SVG}rect")]
        paths = [each.get("class") for each in self.root.iter(f"{SVG}path")]
        self.whiskers = [each for each in paths if each == "whisker"]

    def one(self, name: str) -> str:
        (found,) = list(self.root.iter(SVG + name))
        return found.text or ""


def test_each_scenario_is_a_file_with_a_bar_for_each_server(tmp_path: Path) -> None:
    two = comparison(trial(histograms=False), trial(IDLE))
    ran = charts(tmp_path, two, comparison(trial(DOWN)))
    assert ran.returncode == 0, ran.stderr
    names = sorted(each.name for each in (tmp_path / "out").iterdir())
    assert names == ["down-1m.svg", "full-ecdsa-p256.svg", "idle.svg"]
    for name, what in zip(names, ("CPU per GB", "CPU per handshake", "Memory per connection")):
        drawn = Drawn(tmp_path / "out" / name)
        assert len(drawn.bars) == len(drawn.whiskers) == 4
        assert drawn.bars[1] > 1.5 * drawn.bars[0]
        assert drawn.texts[1] == f"{what}, less is better; 5 rounds, 2026-11-22"
        assert re.search(r"[a-zB]2\.\d\d× \(\d\.\d\d to \d\.\d\d\)$", drawn.texts[5])
        assert drawn.one("title") == drawn.texts[0]
        assert "nginx" in drawn.one("desc") and "× is times cleat" in drawn.one("desc")
        assert b"prefers-color-scheme: dark" in drawn.bytes


def test_where_no_difference_is_shown_that_is_said(tmp_path: Path) -> None:
    equals = trial(costs={"cleat": (1, 0.1), "b": (1, 0.1)})
    assert charts(tmp_path, comparison(equals)).returncode == 0
    assert Drawn(tmp_path / "out/full-ecdsa-p256.svg").texts[-1].endswith(", no difference shown")


def test_the_same_documents_give_the_same_bytes(tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        assert charts(tmp_path, comparison(trial())).returncode == 0
        found.append((tmp_path / "out/full-ecdsa-p256.svg").read_bytes())
    assert found[0] == found[1]


def test_ratios_are_to_cleat_whatever_the_base_was(tmp_path: Path) -> None:
    found = trial(costs={"nginx": (2, 0), "cleat": (1, 0)})
    assert found["base"] == "nginx"
    assert charts(tmp_path, comparison(found)).returncode == 0
    texts = Drawn(tmp_path / "out/full-ecdsa-p256.svg").texts
    assert "2.00×" in texts[3] and "×" not in texts[5]


def test_a_given_rate_is_judged_by_latency(tmp_path: Path) -> None:
    assert charts(tmp_path, comparison(trial(PACED))).returncode == 0
    about = Drawn(tmp_path / "out/paced-70.svg").texts[1]
    said = "p99 at 1234/s, 70 % of what the weakest (stunnel) can do"
    assert about.startswith(said)


def test_one_round_has_no_whiskers_and_who_is_left_out_is_said(tmp_path: Path) -> None:
    one = trial(rounds=1)
    one["servers"].append(left_out("envoy", "left out: it cannot do this", rounds=1))
    nobody = trial(IDLE, {})
    ran = charts(tmp_path, comparison(one, nobody, partial=True))
    assert ran.returncode == 0 and "idle: no server was measured" in ran.stderr
    drawn = Drawn(tmp_path / "out/full-ecdsa-p256.svg")
    assert len(drawn.bars) == 4 and not drawn.whiskers
    assert drawn.texts[-2:] == ["envoy", "not measured"]
    assert "PARTIAL" in drawn.texts[1] and "(one round)" in drawn.texts[5]


def test_rounds_that_the_generator_limited_are_marked_and_counted(tmp_path: Path) -> None:
    costs = {f"a-long-name-{n}": (2 + n, 0.1) for n in range(6)}
    found = trial(PACED, {"cleat": (1, 0.1)} | costs)
    assert charts(tmp_path, comparison(found)).returncode == 0
    plain = Drawn(tmp_path / "out/paced-70.svg")
    assert "‡" not in "".join(plain.texts)
    for server in found["servers"][1:]:
        server["rounds"][3]["load"]["limits"] = ["1 % of the transactions began 2 ms late"]
    assert charts(tmp_path, comparison(found)).returncode == 0
    drawn = Drawn(tmp_path / "out/paced-70.svg")
    assert ["‡" in each for each in drawn.texts[3:16:2]] == [False] + [True] * 6
    foot = " ".join(drawn.texts[16:])
    assert foot.startswith("‡ rounds in which the generator was the limit: a-long-name-0 1 of 5, ")
    assert foot.endswith(" a-long-name-5 1 of 5") and foot in drawn.one("desc")
    # It takes two lines, and the image is so much higher.
    assert len(drawn.texts) == 18 and max(map(len, drawn.texts[16:])) * 7 < 760
    heights = [float(each.root.get("viewBox").split()[3]) for each in (plain, drawn)]
    assert heights[1] - heights[0] == 36


def test_names_are_text(tmp_path: Path) -> None:
    evil = "</title><script>&\x00"
    found = trial(HANDSHAKE | {"title": evil}, {"cleat": (1, 0.1), evil: (2, 0.1)})
    assert charts(tmp_path, comparison(found)).returncode == 0
    drawn = Drawn(tmp_path / "out/full-ecdsa-p256.svg")
    assert drawn.one("title") == drawn.texts[0] == "</title><script>&\ufffd"


def test_what_is_much_longer_than_the_least_is_cut_off(tmp_path: Path) -> None:
    found = trial(HANDSHAKE, {"cleat": (1, 0.1), "nginx": (2, 0.1), "stunnel": (500, 0.1)})
    assert charts(tmp_path, comparison(found)).returncode == 0
    drawn = Drawn(tmp_path / "out/full-ecdsa-p256.svg")
    assert drawn.texts[1].endswith("; » goes on")
    (cut,) = [number for number, each in enumerate(drawn.texts) if each.startswith("» ")]
    assert drawn.texts[cut - 1] == "stunnel"
    # The others can be seen all the same.
    assert min(drawn.bars) > 10


@pytest.mark.parametrize(
    "path", sorted((PERF / "results").glob("*-compare-*.json")), ids=lambda path: path.stem
)
def test_recorded_comparisons_are_drawn(tmp_path: Path, path: Path) -> None:
    ran = charts(tmp_path, path)
    assert ran.returncode == 0, ran.stderr
    for written in (tmp_path / "out").iterdir():
        assert Drawn(written).bars


@pytest.mark.parametrize(
    "document, complaint",
    [
        ({"kind": "load"}, "not of cleat-bench compare"),
        ([], "no recorded result"),
        ({"kind": "compare", "cleat_bench": 1}, "damaged: KeyError('trials')"),
        ({"kind": "compare", "cleat_bench": 2}, "another version"),
        (comparison(trial(HANDSHAKE | {"name": "../escape"})), "cannot be the name of a file"),
    ],
)
def test_a_document_that_cannot_be_drawn_is_named(
    tmp_path: Path, document: Facts, complaint: str
) -> None:
    ran = charts(tmp_path, document)
    assert ran.returncode == 1
    assert f"{tmp_path / '0.json'}: " in ran.stderr and complaint in ran.stderr
    assert not (tmp_path / "out").exists()


def test_of_a_scenario_in_two_documents_the_last_is_drawn(tmp_path: Path) -> None:
    both, last = tmp_path / "both", tmp_path / "last"
    both.mkdir(), last.mkdir()
    assert charts(both, comparison(trial()), comparison(trial(seed=2))).returncode == 0
    assert charts(last, comparison(trial(seed=2))).returncode == 0
    name = "out/full-ecdsa-p256.svg"
    assert (both / name).read_bytes() == (last / name).read_bytes()
