"""The pages beside the headers, in Doxygen's notation: the first page, the guides, the examples."""

import os
import re
from pathlib import Path

import headers

GUIDES = ("library", "from-asio-ssl", "ssl_writev")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^( *```\w*\n.*?^ *```)$", re.MULTILINE | re.DOTALL)


FOLDERS = {
    "net": "Streams and servers: cleat/net",
    "tls": "TLS without sockets: cleat/tls",
    "core": "Below both: cleat/core",
    "": "For C and C++",
}


def slug(heading: str) -> str:
    """slug is the anchor that a forge makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def example_page(name: str) -> str:
    """example_page is the file that Doxygen makes of an example."""
    return name.replace(".", "_8") + "-example.html"


def link(text: str, path: str, anchor: str) -> str:
    """link is a link to a file of the repository; its text and path where the file is not here."""
    name = os.path.basename(path)
    guide = name.removesuffix(".md")
    if path.startswith("docs/guides/") and guide in GUIDES:
        return f"[{text}](@ref guide-{guide}{anchor and '_' + anchor})"
    if path.startswith("src/cleat/"):
        return f"[{text}](@ref {path.removeprefix('src/')})"
    if path == "examples":
        return f"[{text}](index.html#examples)"
    if path.startswith("examples/"):
        return f"[{text}]({example_page(name)})"
    return f"{text} (`{path}`)"


def translate_links(text: str, page: str) -> str:
    """translate_links makes the links of a page lead to pages of the reference."""

    def one(found: re.Match[str]) -> str:
        image, words, target = found.groups()
        if "://" in target:
            return found[0]
        place, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), place)) if place else page
        if image:
            return f'<img src="{os.path.basename(path)}" alt="{words}"/>'  # As a file in Doxyfile.
        return link(words, path, anchor)

    return LINK.sub(one, text)


def guide(name: str, text: str) -> str:
    """guide is a guide with anchors for its headings."""
    label = f"guide-{name}"

    def heading(found: re.Match[str]) -> str:
        marks, words = found.groups()
        anchor = label if marks == "#" else f"{label}_{slug(words)}"
        return f"{marks} {words} {{#{anchor}}}"

    parts = FENCE.split(text)  # Code is at the odd places.
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"^(#+) (.*)$", heading, parts[index], flags=re.MULTILINE)
        parts[index] = translate_links(parts[index], f"docs/guides/{name}.md")
    return "".join(parts)


def first_sentence(text: str) -> str:
    """first_sentence is the first one of a header, which says what it is."""
    paragraph = re.split(r"\n(?://| \*|)\n", text, maxsplit=1)[0]
    words = " ".join(re.sub(r"^(/\*| \*|//) ?", "", paragraph, flags=re.MULTILINE).split())
    return re.split(r"(?<=[.?]) ", words, maxsplit=1)[0]


def index(root: Path) -> str:
    """index is the first page, with a line for each header and each example."""
    parts = []
    public = headers.public(root)
    for folder, title in FOLDERS.items():
        parts += [f"### {title}", "", "| header | |", "|---|---|"]
        for name in sorted(public):
            if name.split("/")[1] == folder or (folder == "" and name.count("/") == 1):
                said = re.sub(r"^\w+: |: @.*", "", first_sentence(public[name].read_text()))
                parts.append(f"| [{name}](@ref {name}) | {said} |")
        parts.append("")
    text = translate_links((root / "docs/api/index.md").read_text(), "docs/api/index.md")
    rows = [
        f"| [{path.name}]({example_page(path.name)}) | {first_sentence(path.read_text())} |"
        for path in examples(root)
    ]
    return text.replace("HEADERS", "\n".join(parts)).replace("EXAMPLES", "\n".join(rows))


def examples(root: Path) -> list[Path]:
    return sorted((root / "examples").glob("*.[ch]pp"))


# Doxygen lists the functions of a namespace only where it has a comment.
NAMESPACES = {
    "cleat": "Errors, limits, CPUs, deadlines and queues: what all layers use.",
    "cleat::limits": "The bounds of buffers, queues and waits, with their reasons.",
    "cleat::tls": "TLS as a state machine: bytes in, bytes out, without sockets.",
    "cleat::net": "Streams, servers and workers, for Boost.Asio.",
    "cleat::net::ssl": "The names of `boost::asio::ssl`, for a program that is already written.",
}


def namespaces() -> str:
    """namespaces has a comment for each namespace."""
    return "".join(f"/** @namespace {name}\n{said} */\n" for name, said in NAMESPACES.items())


def all_of(root: Path) -> dict[str, str]:
    """all_of is each page's file, and its text."""
    found = {"index.md": index(root)}
    found["namespaces.dox"] = namespaces()
    found["examples.dox"] = "".join(f"/** @example {path.name} */\n" for path in examples(root))
    for name in GUIDES:
        found[f"guide-{name}.md"] = guide(name, (root / f"docs/guides/{name}.md").read_text())
    return found
