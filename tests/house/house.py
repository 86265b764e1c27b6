"""Checks the house rules of docs/style.md that a program can check.

    python3 tests/house/house.py [FOLDER]

Prints one line for each place, FILE:LINE: RULE: what is wrong, and ends with exit code 1 if any
of them is an error. A warning is a question, not a failure.

A rule may be broken where the line, or the one above it, says so and why:

    // house(mutex): the sink is shared by design; no worker waits for it
"""

import ast
import os
import posixpath
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Callable, Iterator

COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 60
CLASS_LINES_MAX = 250
FILE_LINES_ASK = 400
FILE_LINES_MAX = 600

CPP = {".cpp", ".hpp", ".c", ".h"}
CODE = CPP | {".py", ".cmake", ".sh", ".txt", ".go"}
TEXT = CODE | {".md", ".json", ".in", ".yml", ".yaml", ".service", ".toml", ".conf", ".html", ".js"}


@dataclass(frozen=True)
class Finding:
    """Finding is one broken rule at one place. Only errors fail the check."""

    path: str
    line: int
    rule: str
    text: str
    is_error: bool = True

    def __str__(self) -> str:
        kind = "" if self.is_error else "warning: "
        return f"{self.path}:{self.line}: {kind}{self.rule}: {self.text}"


@dataclass(frozen=True)
class File:
    """File is one file of the tree: its path from the root, its lines, and what is beside it."""

    path: str
    lines: tuple[str, ...]
    tree: frozenset[str] = frozenset()  # every file and folder, from the root

    @property
    def suffix(self) -> str:
        name = PurePosixPath(self.path)
        if name.suffix in TEXT:
            return name.suffix
        # Programs without a suffix say in their first line what they are.
        return ".sh" if self.lines and re.match(r"#!.*\b(sh|bash|python3)\b", self.lines[0]) else ""

    @property
    def is_cpp(self) -> bool:
        return self.suffix in CPP

    @property
    def is_test(self) -> bool:
        return self.path.startswith("tests/") or bool(re.search(r"_tests?\.cpp$", self.path))

    def is_under(self, *folders: str) -> bool:
        return any(self.path.startswith(folder) for folder in folders)

    def matches(self, pattern: str) -> Iterator[tuple[int, re.Match[str]]]:
        """matches yields each line number where pattern is found, and the first match in it."""
        for number, line in enumerate(self.lines, 1):
            if found := re.search(pattern, line):
                yield number, found

    def excuses(self, line: int, rule: str) -> bool:
        """excuses says whether a comment at line, or right above it, breaks rule with a reason."""
        near = self.lines[max(0, line - 2) : line]
        return any(re.search(rf"house\({rule}\): \S+", text) for text in near)


Rule = Callable[[File], Iterator[Finding]]


def layout(file: File) -> Iterator[Finding]:
    """Lines end where they should, and at most 100 columns from where they start."""
    for number, line in enumerate(file.lines, 1):
        if file.suffix in CODE and len(line) > COLUMNS_MAX:
            yield Finding(file.path, number, "columns", f"{len(line)} columns, {COLUMNS_MAX} fit")
        if line != line.rstrip() and file.suffix != ".md":
            yield Finding(file.path, number, "space", "space at the end of the line")
        if "\t" in line and file.suffix in CPP | {".py", ".cmake"}:
            yield Finding(file.path, number, "space", "a tab")


def file_length(file: File) -> Iterator[Finding]:
    """400 lines are a question; 600 want their answer in the file's first comment."""
    if file.suffix not in CODE or len(file.lines) <= FILE_LINES_ASK:
        return
    count = len(file.lines)
    head = "\n".join(file.lines[:15])
    if count > FILE_LINES_MAX and not re.search(r"\blines\b", head):
        answer = f"{count} lines, and the first comment does not say why"
        yield Finding(file.path, 1, "file-length", answer)
    elif count <= FILE_LINES_MAX:
        yield Finding(file.path, 1, "file-length", f"{count} lines: is this one idea?", False)


def function_length(file: File) -> Iterator[Finding]:
    """A function fits a screen."""
    bodies = cpp_functions(file) if file.is_cpp else python_functions(file)
    for first, last in bodies:
        if last - first + 1 > FUNCTION_LINES_MAX:
            size = f"{last - first + 1} lines, {FUNCTION_LINES_MAX} fit a screen"
            yield Finding(file.path, first, "function-length", size)


def class_length(file: File) -> Iterator[Finding]:
    """A class body fits a few screens."""
    for number, found in file.matches(r"^( *)(class|struct)\b[^;()]*$") if file.is_cpp else ():
        for last in range(number, len(file.lines)):
            if re.match(rf"{found[1]}\}}", file.lines[last]):
                if last - number > CLASS_LINES_MAX:
                    size = f"{last - number} lines, {CLASS_LINES_MAX} are allowed"
                    yield Finding(file.path, number, "class-length", size)
                break


def cpp_functions(file: File) -> Iterator[tuple[int, int]]:
    """cpp_functions yields first and last line of each body, as clang-format lays them out."""
    for number, found in file.matches(r"^( *)\{$"):
        start = number - 1
        while (
            start > 0
            and re.match(r"\s+\S", file.lines[start - 1])
            and not re.search(r"[;{}]$", file.lines[start - 1])
        ):
            start -= 1
        head = " ".join(file.lines[max(0, start - 1) : number - 1])
        if re.search(r"\b(class|struct|union|enum|namespace)\b[^()]*$", head):
            continue
        for last in range(number, len(file.lines)):
            if re.match(rf"{found[1]}\}}", file.lines[last]):
                yield number, last + 1
                break


def python_functions(file: File) -> Iterator[tuple[int, int]]:
    """python_functions yields first and last line of each function."""
    if file.suffix != ".py":
        return
    for node in ast.walk(ast.parse("\n".join(file.lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno or node.lineno


def headers(file: File) -> Iterator[Finding]:
    """A header starts with a sentence that says what it is, and is read once."""
    if not file.path.endswith(".hpp"):
        return
    if not file.lines or not re.match(r"//+ \S", file.lines[0]):
        yield Finding(file.path, 1, "header", "does not start with a sentence saying what it is")
    if "#pragma once" not in file.lines:
        yield Finding(file.path, 1, "header", "no #pragma once")
    for number, _ in file.matches(r"^\s*using namespace\b"):
        yield Finding(file.path, number, "header", "using namespace in a header")


def conditionals(file: File) -> Iterator[Finding]:
    """A difference is a file: no #if but where a TLS library or libc is met."""
    if not file.is_cpp or file.is_under("src/cleat/tls/backend/", "apps/cleat-locks/preload/"):
        return
    for number, found in file.matches(r"^\s*#\s*(if|ifdef|ifndef|elif)\b(.*)"):
        # A header for C needs a guard of its own, and extern "C" for the other language.
        if file.suffix == ".h" and f"{found[1]}{found[2]}" in ("ifdef __cplusplus", guard(file)):
            continue
        yield Finding(file.path, number, "conditional", f"#{found[1]}: a difference is a file")


def guard(file: File) -> str:
    """guard is the line that starts the include guard of a header, less its #."""
    return "ifndef " + re.sub(r"\W", "_", file.path.removeprefix("src/")).upper()


# Which layers of the library, and which other folders, a layer may include from.
LAYERS = {
    "src/cleat/core/": ("core",),
    "src/cleat/tls/": ("core", "tls"),
    "src/cleat/net/": ("core", "tls", "net"),
}
INCLUDE = r'^\s*#\s*include\s*([<"])([^">]+)[">]'


def layers(file: File) -> Iterator[Finding]:
    """Includes go downward only, and never sideways between programs."""
    if not file.is_cpp:
        return
    for number, found in file.matches(INCLUDE):
        name = found[2]
        if ".." in PurePosixPath(name).parts:
            yield Finding(file.path, number, "layers", f"{name} climbs out of its folder")
        layer = re.match(r"cleat/(core|tls|net)/", name)
        for folder, below in LAYERS.items():
            if file.is_under(folder) and layer and layer[1] not in below:
                yield Finding(file.path, number, "layers", f"{name} is above {folder}")
        other = re.match(r"(?:apps/)?(cleat-[a-z]+|cleat)/", name)
        if file.is_under("src/") and (name.startswith("apps/") or "cleat-" in name):
            yield Finding(file.path, number, "layers", f"{name}: a program, from the library")
        own = re.match(r"apps/([a-z-]+)/", file.path)
        if own and other and not layer and other[1] != own[1] and name.startswith("apps/"):
            yield Finding(file.path, number, "layers", f"{name}: a program includes another")


def seams(file: File) -> Iterator[Finding]:
    """Only layer 1 includes the TLS library, and Asio begins with layer 2."""
    if not file.is_cpp:
        return
    for number, found in file.matches(INCLUDE):
        name = found[2]
        if name.startswith("openssl/") and not file.is_under(
            "src/cleat/tls/", "src/cleat/ssl_writev", "cmake/probes/", "perf/", "tests/", "fuzz/"
        ):
            yield Finding(file.path, number, "tls-seam", f"<{name}> outside src/cleat/tls")
        if re.match(r"boost/(asio|beast|cobalt)\b", name) and file.is_under(
            "src/cleat/core/", "src/cleat/tls/", "src/cleat/ssl_writev"
        ):
            yield Finding(file.path, number, "asio-seam", f"<{name}> below layer 2")


def names(file: File) -> Iterator[Finding]:
    """Names are words of the field."""
    vague = {"common", "util", "utils", "helper", "helpers", "misc"}
    for part in PurePosixPath(file.path).parts:
        if part.split(".")[0] in vague:
            yield Finding(file.path, 1, "names", f"'{part}' says nothing about what is in it")
    if not file.is_cpp:
        return
    vague_type = r"\b(?:class|struct)\s+(\w*(?:[Mm]anager|[Hh]elper|[Ii]mpl))\b"
    for number, found in file.matches(vague_type):
        yield Finding(file.path, number, "names", f"{found[1]}: name what it is")
    # Asio and the language ask for these by name.
    asked_for = "executor|allocator|cancellation_slot|return_object"
    for number, found in file.matches(rf"(?<![\w.:>])get_(?!(?:{asked_for})\b)\w+(?=\()"):
        yield Finding(file.path, number, "names", f"{found[0]}: no get_ in front of a name")
    for number, found in file.matches(r"\bnamespace\s+[\w:]*\b(util|utils|helpers|common|misc)\b"):
        yield Finding(file.path, number, "names", f"namespace {found[1]} says nothing")


def promises(file: File) -> Iterator[Finding]:
    """What is left to do carries its price; what is broken is not committed."""
    if file.path == "tests/house/house.py" or file.path.startswith("tests/house/test_"):
        return
    if file.suffix in CODE:
        for number, _ in file.matches(r"\bFIXME\b|\bXXX\b"):
            yield Finding(file.path, number, "promises", "fix it, or write its price down")
        for number, _ in file.matches(r"\bTODO\b(?!\(\w+\): \S)"):
            yield Finding(file.path, number, "promises", "TODO(topic): and the price of leaving it")
    for number, found in file.matches(r"(?<![\w.$}/-])/(root|home|work|Users)/[\w.]+"):
        yield Finding(file.path, number, "machine-path", f"{found[0]} is on one machine only")


def workers(file: File) -> Iterator[Finding]:
    """Everything that changes belongs to one worker: no lock, and nothing owned by two."""
    if not file.is_cpp or file.is_test or not file.is_under("src/cleat/", "apps/cleat/"):
        return
    lock = r"\bstd::(?:(?:recursive_|shared_|timed_)*mutex|lock_guard|unique_lock|scoped_lock)\b"
    for number, found in file.matches(lock + r"|\bpthread_(?:mutex|rwlock|spin)_\w+"):
        yield Finding(file.path, number, "mutex", f"{found[0]}: workers share nothing that changes")
    for number, found in file.matches(r"\b(?:enable_)?shared_from_this\b"):
        yield Finding(file.path, number, "mutex", f"{found[0]}: one coroutine owns a connection")
    for number, _ in file.matches(r"(?<![\w_])assert\("):
        yield Finding(file.path, number, "assert", "assert is off in a release; CLEAT_ASSERT is on")


def waiting(file: File) -> Iterator[Finding]:
    """A test waits for what happens, never for the clock."""
    if not (file.is_cpp and file.is_test):
        return
    for number, found in file.matches(r"\b(?:sleep_for|sleep_until|usleep|nanosleep|sleep)\("):
        yield Finding(file.path, number, "sleep", f"{found[0]}) in a test")


def test_imports(file: File) -> Iterator[Finding]:
    """What two files of tests need is in a module that is none of them."""
    if file.is_under("tests") and PurePosixPath(file.path).match("test_*.py"):
        for number, found in file.matches(r"^(?:from|import) (test_\w+)"):
            yield Finding(file.path, number, "test-import", f"{found[1]} is another file of tests")


def links(file: File) -> Iterator[Finding]:
    """What a page points to is there."""
    if file.suffix != ".md":
        return
    folder = posixpath.dirname(file.path)
    for number, line in enumerate(file.lines, 1):
        for target in re.findall(r"\]\(([^()\s#]+)(?:#[^()\s]*)?\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            if posixpath.normpath(posixpath.join(folder, target)) not in file.tree:
                yield Finding(file.path, number, "links", f"{target} is not there")


def prose(file: File) -> Iterator[tuple[int, str]]:
    """prose yields the lines that people read as English: comments, and pages without headings."""
    in_block = False
    for number, line in enumerate(file.lines, 1):
        if file.suffix == ".md":
            in_block ^= line.startswith("```")
            if not in_block and not re.match(r"#|    |(\d+\.)? *>", line):
                yield number, line.strip()
        elif found := re.search(r"(?:^|\s)(?://[/!]?<?|#|\*|\"\"\")\s*([A-Za-z].*)", line):
            yield number, found[1]


CLAUSE = r"(?:^|[.!?:;] )(Who|Whoever|What|One that|One who|Nobody|That which|Those who) "
RIDDLE = r"\b(is told|was told|are told|is said of|has had what|comes to nothing|nobody hears)\b"


def sentences(file: File) -> Iterator[Finding]:
    """The subject of a sentence is a noun that names the thing (docs/style.md, How we write)."""
    if file.suffix not in CODE | {".md"} or file.path.startswith("tests/house/"):
        return
    for number, text in prose(file):
        if (found := re.search(rf"{CLAUSE}(?!if )[a-z]", text)) and "?" not in text:
            yield Finding(file.path, number, "sentences", f"'{found[1]} ...': name the thing")
        if found := re.search(RIDDLE, text):
            yield Finding(file.path, number, "sentences", f"'{found[1]}': say who does what")


# Names that say nothing. In C++ a type comes before a name, so more of them can be told from words.
NAMELESS = "of|at|by|on|in|with|told|here|wish|into|there"
CPP_OBJECT = (
    rf"(?:(?<=[\w>])(?:&&?|\*+)|\S>|\b(?:auto|int|bool|char|\w+_t|\w+_view)) "
    rf"({NAMELESS}|again|said)(?=[,;){{}} =])"
)
JS_OBJECT = (
    rf"\b(?:const|let|var) ({NAMELESS})\b"
    rf"|[(,] ?({NAMELESS})(?=[,)].*(?:=>|\{{$))|(?<![\w.])({NAMELESS}) =>"
)


def objects(file: File) -> Iterator[Finding]:
    """Objects have nouns for names, not prepositions."""
    if file.suffix == ".py":
        found = python_objects(file)
    elif file.is_cpp:
        found = matches_in_code(file, CPP_OBJECT, r"//|/\*|^\s*\*")
    elif file.suffix == ".js":
        found = matches_in_code(file, JS_OBJECT, r"//|/\*|^\s*\*|['`\"]")
    else:
        return
    for number, name in found:
        yield Finding(file.path, number, "objects", f"an object called '{name}'")


def matches_in_code(file: File, pattern: str, end: str) -> Iterator[tuple[int, str]]:
    """matches_in_code looks for names in each line before a comment, or what else ends code."""
    for number, line in enumerate(file.lines, 1):
        if found := re.search(pattern, re.split(end, line)[0]):
            yield number, next(filter(None, found.groups()))


def python_objects(file: File) -> Iterator[tuple[int, str]]:
    """python_objects yields the parameters, variables and attributes that have such names."""
    for node in ast.walk(ast.parse("\n".join(file.lines))):
        name = ""
        if isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.attr
        if re.fullmatch(NAMELESS, name):
            yield node.lineno, name


RULES: tuple[Rule, ...] = (
    layout,
    file_length,
    function_length,
    class_length,
    headers,
    conditionals,
    layers,
    seams,
    names,
    promises,
    workers,
    waiting,
    test_imports,
    links,
    sentences,
    objects,
)


def tracked(root: Path) -> list[str]:
    """tracked lists the files that are, or would be, in version control; all files without git."""
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others"]
        found = subprocess.run([*command, "--exclude-standard"], capture_output=True, check=True)
        return sorted({name for name in found.stdout.decode().split("\0") if name})
    walked = []
    for folder, below, found in os.walk(root):
        below[:] = [name for name in below if name not in ("build", ".git", "__pycache__")]
        walked += [(Path(folder) / name).relative_to(root).as_posix() for name in found]
    return sorted(walked)


def read(root: Path, path: str, tree: frozenset[str]) -> File | None:
    """read gives the file, or nothing if it is not text that people write here."""
    try:
        text = (root / path).read_text(encoding="utf-8")
    except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
        return None
    file = File(path, tuple(text.removesuffix("\n").split("\n")), tree)
    return file if file.suffix else None


def check(root: Path) -> list[Finding]:
    """check applies every rule to every file below root."""
    findings = []
    paths = [path for path in tracked(root) if (root / path).exists()]
    folders = {above.as_posix() for path in paths for above in PurePosixPath(path).parents}
    tree = frozenset(paths) | folders
    for path in paths:
        if (file := read(root, path, tree)) is None:
            continue
        for rule in RULES:
            found = rule(file)
            findings += [one for one in found if not file.excuses(one.line, one.rule)]
    return findings


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2]
    findings = check(root)
    for finding in findings:
        print(finding)
    errors = sum(finding.is_error for finding in findings)
    print(f"house rules: {errors} errors, {len(findings) - errors} warnings")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
