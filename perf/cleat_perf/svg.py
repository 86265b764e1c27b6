"""What every chart of the documentation is made of: a frame with a title, and text that XML takes.

The charts follow the reader's light or dark scheme, need nothing but a browser, and are the same
bytes whenever the figures are.
"""

import re
from xml.sax.saxutils import escape

WIDTH = 760
GAP = 10
LETTER = 7.0  # about the width of one, 13 px high

STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2933; }
  .title { font-size: 16px; font-weight: 600; }
  .soft { fill: #52606d; }
  .ours { font-weight: 600; }
  .bar { fill: #b3bdc7; } .bar.ours { fill: #2f6f9f; }
  .whisker { stroke: #1f2933; stroke-width: 1.3; fill: none; }
  .line { stroke: #9aa5b1; stroke-width: 1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb; } .soft { fill: #9aa5b1; }
    .bar { fill: #52606d; } .bar.ours { fill: #4f97c9; }
    .whisker { stroke: #e4e7eb; } .line { stroke: #616e7c; }
  }
"""


def text_of(raw: str) -> str:
    """text_of what may stand in XML: escaped, and without characters that XML does not have."""
    return escape(re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", raw))


def three(value: float) -> str:
    """three significant digits, and never fewer than the whole part has."""
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"


def framed(title: str, about: str, spoken: str, height: float, body: list[str]) -> str:
    """framed is the whole file; `spoken` is the chart for those who do not see it."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-labelledby="title desc">',
        f'<title id="title">{text_of(title)}</title>',
        f'<desc id="desc">{text_of(spoken)}</desc>',
        f"<style>{STYLE}</style>",
        f'<text x="{GAP}" y="24" class="title">{text_of(title)}</text>',
        f'<text x="{GAP}" y="45" class="soft">{text_of(about)}</text>',
        *body,
    ]
    return "\n".join(lines) + "\n</svg>\n"
