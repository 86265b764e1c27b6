"""Finds names that two files of one target give to different things in their anonymous namespaces.

    python3 tests/house/batches.py [FOLDER]

Builds compile several files of a target as one (cmake/CleatBatches.cmake). There two definitions of
one name do not compile, or, which is worse, a call takes the other file's function. So a name in an
anonymous namespace is that of one file of a library's layer or of a program, and of no function or
type in its headers. The names of a file of unit tests are in a namespace of that file's own. Prints
one line for each finding.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path, PurePosixPath
from typing import Iterator

ANONYMOUS = re.compile(r"^namespace \{$(.*?)^\} // namespace$", re.MULTILINE | re.DOTALL)
# What begins in the first column is defined there; longer definitions go on indented.
DEFINITIONS = (
    re.compile(r"^(?:struct|class|enum class|union) (\w+)(?! *;)"),
    re.compile(r"^[\w\[].*?(?<![\w:.])(\w+)\((?!.*\);$)"),
    re.compile(r"^(?:inline )?(?:constexpr|const|constinit|static)\b.*?(\w+)(?:\[\w*\])? *[={]"),
)
# A backend is one of these folders; what AWS-LC and BoringSSL share is in both.
BACKEND = re.compile(r"^src/cleat/tls/backend/(\w+)/")
FAMILY = {"openssl": {"openssl"}, "bssl": {"awslc", "boringssl"}}


def builds_of(path: str) -> set[str]:
    """builds_of are the layers or programs that a file is compiled into; tests are in none."""
    parts = PurePosixPath(path).parts
    if path.endswith("_test.cpp") or "for_tests" in path:
        return set()
    if parts[:2] == ("src", "cleat"):
        libraries = {"openssl", "awslc", "boringssl"}
        if found := BACKEND.match(path):
            libraries = FAMILY.get(found[1], {found[1]})
        return {f"src/cleat/{parts[2]} with {each}" for each in libraries}
    if parts[0] == "apps" and parts[-1] != "main.cpp":
        return {"/".join(parts[:2])}
    return set()


def names_in(text: str) -> Iterator[str]:
    """names_in are the names that a file's anonymous namespaces define."""
    for body in ANONYMOUS.findall(text):
        for line in body.split("\n"):
            for each in DEFINITIONS:
                if found := each.match(line):
                    yield found[1]
                    break


DECLARATION = re.compile(r"^[\w\[].*?(?<![\w:.])(\w+)\(")


def declared_in(text: str) -> set[str]:
    """declared_in are the names that a header declares outside of its classes."""
    found = set()
    for line in text.split("\n"):
        if match := DEFINITIONS[0].match(line) or DECLARATION.match(line):
            found.add(match[1])
    return found


def declarations(root: Path) -> dict[str, dict[str, str]]:
    """declarations are the names that each layer's and program's headers declare, with a header."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for file in sorted((*root.glob("src/cleat/**/*.hpp"), *root.glob("apps/**/*.hpp"))):
        path = file.relative_to(root)
        if "for_tests" not in file.name:
            depth = 3 if path.parts[0] == "src" else 2
            folder = "/".join(path.parts[:depth])
            for name in declared_in(file.read_text(encoding="utf-8")):
                found[folder][name] = path.as_posix()
    return found


def clashes(root: Path) -> list[str]:
    """clashes are a sentence each for the names of two files, and for tests without a namespace."""
    files: dict[tuple[str, str], set[str]] = defaultdict(set)
    declared = declarations(root)
    found = []
    for folder in ("src", "apps"):
        for file in sorted((root / folder).rglob("*.cpp")):
            path = file.relative_to(root).as_posix()
            text = file.read_text(encoding="utf-8")
            for build in builds_of(path):
                for name in names_in(text):
                    files[build, name].add(path)
                    for folder in ("src/cleat/core", build.split()[0]):
                        if header := declared[folder].get(name):
                            files[build, name].add(header)
            if file.name.endswith("_test.cpp") and not re.search(
                rf"^namespace (?:[\w:]+::)?{file.stem} \{{$", text, re.MULTILINE
            ):
                found.append(f"{path}: put its tests into a namespace that ends with {file.stem}")
    repeated = {
        (name, tuple(sorted(paths))) for (_, name), paths in files.items() if len(paths) > 1
    }
    return found + [f"{name}: defined in {' and '.join(paths)}" for name, paths in sorted(repeated)]


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2]
    found = clashes(root)
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
