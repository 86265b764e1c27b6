"""The names of the reference, from Doxygen's tag file: for the search, and for a page of names."""

import json
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

KINDS = {"function", "typedef", "enumeration", "enumvalue", "variable", "define"}


@dataclass(frozen=True, order=True)
class Name:
    """Name is a class, a function, or another name; scope is its class or namespace."""

    scope: str
    name: str
    kind: str
    page: str  # With the anchor.


def scope_of(compound: ElementTree.Element) -> str:
    """scope_of is empty for a header, whose macros and functions in C have no scope."""
    return "" if compound.get("kind") == "file" else compound.findtext("name", "")


def read(tags: Path) -> list[Name]:
    """read has each name once, in order."""
    found = set()
    for compound in ElementTree.parse(tags).getroot().iter("compound"):
        kind, whole = compound.get("kind", ""), compound.findtext("name", "")
        if kind in ("class", "struct", "concept"):
            scope, _, name = whole.rpartition("::")
            found.add(Name(scope, name, kind, page_of(compound.findtext("filename", ""))))
        if kind not in ("class", "struct", "namespace", "file"):
            continue
        for member in compound.iter("member"):
            page = page_of(member.findtext("anchorfile", ""))
            # A header repeats the names of its namespaces.
            if member.get("kind") in KINDS and (kind != "file" or not page.startswith("namespace")):
                anchor = member.findtext("anchor", "")
                found.add(
                    Name(scope_of(compound), member.findtext("name", ""), member.get("kind", ""),
                         f"{page}#{anchor}")
                )
    return sorted(found)


def page_of(file: str) -> str:
    return file if file.endswith(".html") else f"{file}.html"


def script(names: list[Name]) -> str:
    """script is the data of the search: one entry for all functions of a name in a scope."""
    first: dict[tuple[str, str], str] = {}
    for each in names:
        first.setdefault((each.name, each.scope), each.page)
    rows = [json.dumps([name, scope, page]) for (name, scope), page in first.items()]
    return "const names = [\n" + ",\n".join(rows) + "\n];\n"


def listing(names: list[Name], header: str, footer: str) -> str:
    """listing is the page: the names of each namespace, without the members of classes."""
    classes = {f"{each.scope}::{each.name}" for each in names if each.kind in ("class", "struct")}
    top = [each for each in names if each.scope not in classes and each.kind != "enumvalue"]
    parts = [header.replace("$title", "Names").replace("$projectname", "libcleat")]
    parts = [parts[0].replace("$relpath^", "").replace("$stylesheet", "style.css"), "</div>"]
    parts.append('<div class="header"><div class="title">Names</div></div><div class="contents">')
    parts.append("<p>Classes, functions, types and constants. The search finds members, too.</p>")
    for scope, group in groupby(top, key=lambda each: each.scope):
        parts.append(f"<h2>{escape(scope) or 'Macros and C'}</h2><ul class=\"names\">")
        pages = {each.name: each.page for each in reversed(list(group))}
        for name, page in sorted(pages.items()):
            parts.append(f'<li><a href="{page}">{escape(name)}</a></li>')
        parts.append("</ul>")
    return "\n".join([*parts, "</div>", footer])
