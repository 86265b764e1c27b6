"""Every page of a report, on every screen, is drawn, legible, and fetches nothing."""

import json
import re
from pathlib import Path

import browser

SCREENS = {"desk": (1200, False), "desk, dark": (1200, True), "phone": (360, False)}
SCREENS["phone, dark"] = (360, True)

# Says of every canvas how many colours it has; an empty one has a single one, or no size at all.
COLOURS = """
return [...document.querySelectorAll('canvas')].map((canvas) => {
    if (!Chart.getChart(canvas) || !canvas.width || !canvas.height) return 0;
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(new Uint32Array(pixels.buffer)).size;
});
"""
PAPER = "return getComputedStyle(document.body).backgroundColor"
# The contrast, as WCAG defines it, of all words with what is behind them; the lowest.
CONTRAST = """
const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const linear = parts.map((p) => (p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
        const found = getComputedStyle(at).backgroundColor;
        if (found !== 'rgba(0, 0, 0, 0)') return found;
    }
    return 'rgb(255, 255, 255)';
};
const words = [...document.querySelectorAll('main *')].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
return Math.min(...words.map((element) => {
    const pair = [light(getComputedStyle(element).color), light(behind(element))];
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
}));
"""


def words(shown: browser.Browser, selector: str = "main") -> str:
    return str(shown.run(f"return document.querySelector({json.dumps(selector)}).innerText"))


def plain(text: str) -> str:
    """plain has blanks in place of the narrow and the fixed ones of numbers."""
    return text.replace("\u00a0", " ").replace("\u202f", "")


def is_dark(colour: object) -> bool:
    return sum(map(int, re.findall(r"\d+", str(colour)))) < 3 * 64


def check(shown: browser.Browser, page: Path, screen: str, charts: int | None) -> None:
    """check opens a page, and holds it against all that. None: as many charts as there are."""
    width, dark = SCREENS[screen]
    shown.show(width, dark=dark)
    shown.open(page)

    assert shown.log("browser") == []
    assert shown.requests() == [page.as_uri()]

    colours = shown.run(COLOURS)
    assert len(colours) == charts if charts is not None else len(colours) > 0
    assert all(count > 10 for count in colours), colours

    assert shown.run("return document.documentElement.scrollWidth") <= width
    assert shown.run(CONTRAST) >= 4.5
    assert is_dark(shown.run(PAPER)) == dark
