"""docs/reference/reasons.md has each reason that the log and the metrics may name."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/reasons.md").read_text()
NAME = r"[a-z]+(?:-[a-z]+)*"


def explained(part: str) -> set[str]:
    """explained has the names in the first column of a part's table."""
    text = PAGE.split(f"\n## {part}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", text, re.M)
    return {name for row in rows for name in re.findall(f"`({NAME})`", row)}


def test_each_reason_has_a_row():
    source = (ROOT / "apps/cleat/counts/close_reason.cpp").read_text()
    names = set(re.findall(rf'return "({NAME})";', source)) - {"unknown"}
    assert len(names) > 30
    assert explained("reason") == names


def test_each_error_has_a_row():
    source = (ROOT / "src/cleat/core/error.cpp").read_text()
    names = set(re.findall(rf'return \{{\s*"({NAME})",', source)) - {"unknown"}
    assert len(names) > 50
    assert explained("reason") | explained("error") == names | explained("reason")
    assert not explained("reason") & explained("error")
