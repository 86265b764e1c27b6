"""Recorded results are compact: rows on lines, and no more digits than a measurement has."""

import json
from pathlib import Path

import pytest

from cleat_perf import results


def test_what_fits_a_line_is_a_line(tmp_path: Path) -> None:
    document = {"rows": [{"name": "é" * 100, "rounds": [1 / 3] * 50}] * 20, "few": [1, {"a": None}]}
    results.write(tmp_path / "new/result.json", document)
    lines = (tmp_path / "new/result.json").read_text().splitlines()
    assert len(lines) == 20 + 5 and max(map(len, lines)) < results.LINE
    found = results.read(tmp_path / "new/result.json")
    assert found["few"] == document["few"]
    assert found["rows"][0]["rounds"][0] == 0.333333333
    results.write(tmp_path / "again.json", found)
    assert (tmp_path / "again.json").read_text().splitlines() == lines


def test_every_recorded_result_is_written_that_way() -> None:
    for path in results.RESULTS.glob("*.json"):
        document = json.loads(path.read_text())
        assert path.read_text() == results.compact(results.rounded(document)) + "\n", path.name


@pytest.mark.parametrize("value", [12, 1e9 + 0.5, 0.1 + 0.2, "text", None, True, [], {}])
def test_only_figures_are_rounded(value: object) -> None:
    found = results.rounded(value)
    assert found == (pytest.approx(value, rel=1e-8) if isinstance(value, float) else value)
