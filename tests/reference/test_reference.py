"""The reference of the library: every public name has its place, every link leads somewhere, and
the pages are legible in a browser."""

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Iterator
from urllib.parse import unquote, urlsplit

import pytest

from declared import declared

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs/api"), str(ROOT / "tests/bench")]

import headers  # noqa: E402
import names  # noqa: E402
from browser import Browser, missing  # noqa: E402
from pages import CONTRAST, PAPER, is_dark  # noqa: E402

pytestmark = pytest.mark.skipif(
    shutil.which("doxygen") is None, reason="install the package doxygen"
)

SHOWN = ("index", "names", "guide-library", "guide-from-asio-ssl", "classcleat_1_1net_1_1stream",
         "structcleat_1_1tls_1_1context__spec", "namespacecleat_1_1tls", "stream_8hpp",
         "echo_8cpp-example")
WIDTHS = (1200, 760, 360)


def run(tree: Path, out: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([tree / "scripts/docs", out], capture_output=True, text=True)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """out is the folder of a reference that was made without a warning."""
    folder = tmp_path_factory.mktemp("reference")
    ran = run(ROOT, folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    return folder


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """copied is a copy of what a reference is made of, to be changed."""
    tree = tmp_path / "tree"
    for part in ("src/cleat", "docs", "examples", "cmake"):
        shutil.copytree(ROOT / part, tree / part)
    (tree / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/docs", tree / "scripts")
    return tree


def change(file: Path, old: str, new: str) -> int:
    """change returns the line of the change."""
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


class Page(HTMLParser):
    """Page is the links and anchors of an HTML page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.anchors |= {value for key in ("id", "name") if (value := found.get(key))}
        if target := found.get("href"):
            (self.links if tag == "a" else self.loaded).append(target)
        if target := found.get("src") or found.get("data"):
            self.loaded.append(target)


def test_the_headers_are_those_that_are_installed() -> None:
    if "CLEAT_PUBLIC_HEADERS" not in os.environ:
        pytest.skip("ctest names the installed headers")
    installed = [Path(each) for each in os.environ["CLEAT_PUBLIC_HEADERS"].split(":")]
    assert sorted(name for name in headers.public(ROOT)) == sorted(
        re.sub(r".*/(?=cleat/(?!.*/cleat/))", "", os.path.normpath(each)) for each in installed
    )


def test_every_public_class_and_function_has_an_entry(out: Path) -> None:
    listed = names.read(out / "libcleat.tag")
    classes, functions = set(), set()
    for name, path in headers.public(ROOT).items():
        if name.endswith(".hpp"):
            of_header = declared(path.read_text())
            classes |= of_header[0]
            functions |= of_header[1]
    assert len(classes) > 90 and len(functions) > 400

    def found(*kinds: str) -> set[str]:
        return {f"{each.scope}::{each.name}" for each in listed if each.kind in kinds}

    assert found("class", "struct") == classes
    of_cpp = {each for each in found("function") if not each.startswith("::")}
    assert {each for each in of_cpp if "operator" not in each} == functions
    assert found("function") - of_cpp == {"::cleat_ssl_writev", "::cleat_ssl_writev_ex"}


def test_no_internal_name_has_a_page(out: Path) -> None:
    internal = re.compile(r"::(detail|backend|bssl|openssl)(::|$)")
    assert [each for each in names.read(out / "libcleat.tag") if internal.search(each.scope)] == []
    pages = [path.name for path in (out / "html").glob("*.html")]
    assert [name for name in pages if re.search("detail|backend|_for_tests|private_1", name)] == []


def test_every_link_leads_to_a_page_and_an_anchor_that_exist(out: Path) -> None:
    pages = {path.name: Page(path) for path in (out / "html").glob("*.html")}
    broken = []
    for name, page in pages.items():
        for target in page.links + page.loaded:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https") and target in page.links:
                continue
            place = unquote(parts.path) or name
            if not (out / "html" / place).is_file() or (
                parts.fragment and unquote(parts.fragment) not in pages[place].anchors
            ):
                broken.append((name, target))
    assert broken[:20] == []


def test_no_link_is_guessed(out: Path) -> None:
    text = "".join(path.read_text() for path in (out / "html").glob("*.html"))
    assert re.search(r"<a [^>]*>tls::context_spec</a>", text)
    assert re.findall(r"<a [^>]*>(?:void|const|what\(\)|pem_text)</a>", text) == []


def test_every_name_that_the_search_finds_exists(out: Path) -> None:
    targets = re.findall(r'"([^"]+)"\],?$', (out / "html/names.js").read_text(), re.MULTILINE)
    pages = {path.name: Page(path) for path in (out / "html").glob("*.html")}
    assert len(targets) > 800
    for page, _, anchor in (each.partition("#") for each in targets):
        assert not anchor or anchor in pages[page].anchors


def test_a_public_function_without_a_comment_is_an_error_with_its_line(copied: Path) -> None:
    header = copied / "src/cleat/core/unique_fd.hpp"
    comment = "    /// get is the descriptor, which stays owned; -1: there is none.\n"
    line = change(header, comment, "")
    ran = run(copied, copied / "out")
    assert ran.returncode == 1
    assert re.match(rf"src/cleat/core/unique_fd.hpp:{line}: .*get\(\).*not documented", ran.stderr)
    assert not (copied / "out/html/names.html").exists()


def test_a_wrong_reference_in_a_comment_is_an_error_with_its_line(copied: Path) -> None:
    header = copied / "src/cleat/core/unique_fd.hpp"
    line = change(header, "/// release gives", "/// @ref no_such_name. release gives")
    ran = run(copied, copied / "out")
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"src/cleat/core/unique_fd.hpp:{line}: ")
    assert "no_such_name" in ran.stderr


def test_a_comment_holds_for_the_declarations_below_it() -> None:
    text = (
        "// one: it.\n\n#pragma once\n\nclass one\n{\npublic:\n    /// first and\n    /// second.\n"
        "    void first();\n    template <class T>\n    void second(T);\n"
        "    one(one&&) = delete;\n\n    void third();\n};\n"
    )
    lines = headers.translate(text).split("\n")
    assert len(lines) == len(text.split("\n"))
    assert lines[:3] == ["/// one: it.", "///", "/// @file"]
    assert lines[9] == "    void first();"
    assert lines[10].strip().startswith('/** <span class="shared">As first</span>. */ template')
    assert "It cannot be copied or moved" in lines[12]
    assert lines[14] == "    void third();"


@pytest.fixture(scope="module")
def shown() -> Iterator[Browser]:
    if missing():
        pytest.skip(missing())
    running = Browser()
    yield running
    running.close()


def test_pages_are_legible_on_every_screen(out: Path, shown: Browser) -> None:
    for name in SHOWN:
        shown.open(out / f"html/{name}.html")
        assert shown.log("browser") == [], name
        assert all(each.startswith("file:") for each in shown.requests()), name
        for width, dark in product(WIDTHS, (False, True)):
            shown.show(width, dark=dark)
            seen = f"{name}, {width}, {'dark' if dark else 'light'}"
            assert shown.run("return document.documentElement.scrollWidth") <= width, seen
            assert shown.run(CONTRAST.replace("main *", "body *")) >= 4.5, seen
            assert is_dark(shown.run(PAPER)) == dark, seen


def test_declarations_with_one_comment_are_one_item(out: Path, shown: Browser) -> None:
    shown.show(1200)
    shown.open(out / "html/classcleat_1_1net_1_1ssl_1_1context.html")
    items = """return [...document.querySelectorAll('.memitem')].map((each) =>
        [...each.querySelectorAll('.memproto')].map((one) => one.innerText.split('(')[0].trim()))"""
    found = [[name.split()[-1] for name in item] for item in shown.run(items)]
    assert ["use_certificate_chain"] * 3 + ["use_certificate_chain_file"] * 2 in found
    assert ["check"] * 2 in found


def test_the_search_opens_a_name_from_the_keyboard(out: Path, shown: Browser) -> None:
    shown.show(1200)
    shown.open(out / "html/index.html")
    type_in = """const field = document.querySelector('#search input');
        field.focus(); field.value = 'RELOAD';
        field.dispatchEvent(new Event('input'));
        return [...document.querySelectorAll('#search a')].map((each) => each.innerText)"""
    assert shown.run(type_in)[0] == "reloadcleat::net::server"
    shown.press("Enter")
    address = "return location.pathname.split('/').pop()"
    assert shown.run(address) == "classcleat_1_1net_1_1server.html"
    wrong = type_in.replace("'RELOAD'", "'no such thing'")
    assert shown.run(wrong) == []
    assert shown.run("return document.querySelector('#search ul').innerText") == "no such name"
