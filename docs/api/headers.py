"""The public headers of the library, and their comments in the notation of Doxygen.

The headers keep to docs/style.md, without commands of Doxygen's: the first comment of a file says
what it is, and a `///` holds for all declarations below it up to the next blank line or comment. A
translation has the same lines, so that a warning names the header's own line.
"""

import re
from pathlib import Path

SETS = re.compile(r"FILE_SET HEADERS(?: BASE_DIRS[^\n]*?)? FILES([^)]*)\)", re.DOTALL)

# In place of the values that CMake puts into tls_library.h.
PLACEHOLDERS = {"@CLEAT_TLS_NAME@": "AWS-LC, BoringSSL or OpenSSL", "@CLEAT_TLS_CONDITION@": "1"}


def public(root: Path) -> dict[str, Path]:
    """public is each installed header, as programs include it, and its file."""
    found = {}
    for listed in sorted((root / "src/cleat").glob("*/CMakeLists.txt")):
        for names in SETS.findall(listed.read_text()):
            for name in names.split():
                if not name.startswith("${"):
                    path = (listed.parent / name).resolve()
                    found[path.relative_to(root / "src").as_posix()] = path
    # CMake makes this one of the name of the TLS library.
    found["cleat/tls_library.h"] = root / "cmake/tls_library.h.in"
    return found


# The declarations that need no comment, and what the reference says of each.
SPECIAL = (
    (r"^(\w+)\((?:\1 const&|\1&&)[^)]*\) = delete", "It cannot be copied or moved"),
    (r"^\w+& operator=\(.*= delete", "It cannot be assigned"),
    (r"^(\w+)\(\1&&", "Moves"),
    (r"^(\w+)\(\1 const&", "Copies"),
    (r"^\w+& operator=\(.*&&", "Moves"),
    (r"^\w+& operator=\(", "Copies"),
    (r"^~", "Destroys it"),
    (r"^\w+\(\)(?: noexcept)?(?: = default)?;", "It is empty, or has the defaults of its members"),
    (r"^(?:friend )?(?:bool|auto) operator(?:==|<=>)\(.*= default", "Compares all members"),
)
CONTAINER = re.compile(r"^(template <.*> )?(class|struct|enum|namespace|extern \"C\")\b[^;]*$")
# A template of Boost's for a type of cleat's: no name of cleat's.
BOOST = re.compile(r"^template <>\nstruct boost::.*?^};$", re.MULTILINE | re.DOTALL)
# Doxygen understands such a condition in parentheses only.
REQUIRES = re.compile(r"^( *requires )(\w[^\n{]*)$", re.MULTILINE)
LABEL = re.compile(r"^(public|protected|private):$")
# How style.css and search.js find such declarations.
SHARED = '<span class="shared">As {}</span>.'
PLAIN = '<span class="special">{}</span>.'


def translate(text: str) -> str:
    """translate gives a header's comments to Doxygen. No line is added or removed."""
    for placeholder, value in PLACEHOLDERS.items():
        text = text.replace(placeholder, value)
    if text.startswith("/*"):
        return translate_c(text)
    text = BOOST.sub(lambda found: "\n" * found[0].count("\n"), text)
    text = REQUIRES.sub(r"\1(\2)", text.replace("[[nodiscard]] ", ""))
    lines = text.split("\n")
    return "\n".join(share_comments(name_file(lines)))


def translate_c(text: str) -> str:
    """translate_c is translate for C, whose comments of declarations begin with their names."""
    text = re.sub(r"^/\* (?=(?:cleat_\w+|SSL) )", "/** ", text, flags=re.MULTILINE)
    return re.sub(r"\A/\*+(.*?)\*/", r"/**\1 @file */", text, count=1, flags=re.DOTALL)


def name_file(lines: list[str]) -> list[str]:
    """name_file makes the first comment that of the file."""
    end = lines.index("#pragma once")
    head = [re.sub("^//", "///", line) or "///" for line in lines[:end]]
    return [*head, "/// @file", *lines[end + 1 :]]


def brackets(line: str) -> int:
    """brackets is how many more brackets a line opens than it closes."""
    code = re.sub(r'"[^"]*"|\'.\'|//.*', "", line)
    return sum(code.count(each) for each in "({[") - sum(code.count(each) for each in ")}]")


def end_of(lines: list[str], begin: int) -> int:
    """end_of is the line behind the declaration that begins at a line."""
    depth = 0
    for number in range(begin, len(lines)):
        depth += brackets(lines[number])
        ended = re.search(r"[;},]\s*(//.*)?$", lines[number])
        body = lines[number + 1 : number + 2] and lines[number + 1].strip().startswith("{")
        if depth <= 0 and ended and not body:
            return number + 1
    return len(lines)


def special(declaration: str) -> str:
    """special is the comment of a declaration that needs none; empty for any other."""
    plain = re.sub(r"^(explicit|constexpr|inline) ", "", declaration)
    return next((said for form, said in SPECIAL if re.search(form, plain)), "")


def name_of(declaration: str) -> str:
    """name_of is the name that a declaration gives."""
    plain, again = re.sub(r"\brequires ?\(.*?\)(?= \w)", "", declaration), 1
    while again:
        plain, again = re.subn(r"<[^<>]*>", "", plain)
    forms = (r"\busing (\w+) =", r"(operator[^\s(]+)(?=\()", r"(\w+)(?=\()", r"(\w+)(?= ?[={;])")
    return next((found[1] for form in forms if (found := re.search(form, plain))), "the one before")


def share_comments(lines: list[str]) -> list[str]:
    """share_comments lets a comment hold for each declaration in the lines below it."""
    out = list(lines)
    commented = False  # By the lines right above.
    shared = ""  # The name of the declaration whose comment holds.
    number = 0
    while number < len(lines):
        line = lines[number].strip()
        if line.startswith("///"):
            commented, shared = True, ""
        elif not line or line.startswith(("//", "#", "}")) or LABEL.match(line):
            commented, shared = False, ""
        elif CONTAINER.match(" ".join(map(str.strip, lines[number : number + 2]))):
            while "{" not in lines[number]:
                number += 1
            commented, shared = False, ""
        else:
            end = end_of(lines, number)
            declaration = " ".join(map(str.strip, lines[number:end]))
            said = special(declaration)
            own = commented or any("///<" in each for each in lines[number:end])
            indent = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
            if not own and (said or shared):
                comment = PLAIN.format(said) if said else SHARED.format(shared)
                out[number] = f"{indent}/** {comment} */ {line}"
            if own:
                shared = name_of(declaration) if commented else ""
            commented = False
            number = end
            continue
        number += 1
    return out
