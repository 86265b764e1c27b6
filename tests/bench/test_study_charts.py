"""perf/cleat_perf/chart.py draws lines and bars: what was measured, and what was not, is said."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "perf"))
from cleat_perf.chart import LABEL, Bars, Series, bars, lines, steps  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]


def bandwidth(*series: Series) -> ElementTree.Element:
    drawn = lines("Bandwidth", "more is better", "threads", "MB/s", list(series), x_log=True)
    return ElementTree.fromstring(drawn)


def test_a_line_goes_through_its_points_and_is_named_at_its_end() -> None:
    root = bandwidth(Series("naive", [(1, 400), (2, 300), (8, 200)]), Series("cleat", [(1, 400)]))
    dots = [(float(each.get("cx")), float(each.get("cy"))) for each in root.iter(f"{SVG}circle")]
    assert len(dots) == 4
    # Twice the threads are the same step to the right; less is lower.
    assert dots[2][0] - dots[1][0] == pytest.approx(2 * (dots[1][0] - dots[0][0]), abs=0.2)
    assert dots[0][1] < dots[1][1] < dots[2][1]
    assert dots[3] == dots[0]
    assert {"naive", "cleat", "threads", "MB/s", "1", "2", "8"} <= set(texts(root))
    assert "naive: 1 400, 2 300, 8 200" in root.find(f"{SVG}desc").text


def test_names_of_lines_that_end_together_do_not_cover_each_other() -> None:
    same = [Series(f"arm {number}", [(1, 5), (2, 100 + number / 10)]) for number in range(5)]
    all_texts = bandwidth(*same).iter(f"{SVG}text")
    named = [each for each in all_texts if "arm" in "".join(each.itertext())]
    heights = sorted(float(each.get("y")) for each in named)
    assert all(b - a >= LABEL - 0.2 for a, b in zip(heights, heights[1:]))


def test_a_bar_is_as_long_as_its_value_and_a_missing_one_is_said() -> None:
    drawn = bars(
        "Handshakes", "per second", ["RSA", "P-256 & <more>"],
        [Bars("OpenSSL", [1000.0, 3000.0]), Bars("cleat", [2000.0, None])], lambda v: f"{v:.0f}/s",
    )
    root = ElementTree.fromstring(drawn)
    widths = [float(each.get("width")) for each in root.iter(f"{SVG}rect")]
    assert widths[1] == pytest.approx(2 * widths[0], abs=0.2)
    assert widths[2] == pytest.approx(3 * widths[0], abs=0.2)
    assert texts(root).count("not measured") == 1
    assert {"RSA", "P-256 & <more>", "1000/s", "2000/s", "3000/s"} <= set(texts(root))


@pytest.mark.parametrize("most", [0.003, 0.9, 1, 7, 10, 33, 850, 1000, 123_456])
def test_an_axis_has_few_round_steps_and_reaches_all(most: float) -> None:
    found = steps(most)
    assert found[0] == 0 and most <= found[-1] * 1.0001
    assert 4 <= len(found) <= 9


def test_nothing_measured_is_still_a_chart() -> None:
    assert "Bandwidth" in texts(bandwidth())
    ElementTree.fromstring(bars("None", "none", [], [], str))
