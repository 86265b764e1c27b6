"""Which classes and functions a header of C++ declares for its users, found without Doxygen."""

import re

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
DIRECTIVE = re.compile(r"^ *#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
STRING = re.compile(r'"[^"\n]*"')
BRACED_MEMBER = re.compile(r"\)[^()]*(?<!:):(?!:).*[\w>]$", re.DOTALL)  # Of a constructor's list.
CLASS = re.compile(r"(?<!enum )\b(?:class|struct)(?: \[\[\w+\]\])? ([\w:]+)(?: :(?!:).*)?$")
NAMESPACE = re.compile(r"\bnamespace ([\w:]+)$")
INTERNAL = {"detail", "backend"}


def without_arguments(text: str) -> str:
    """without_arguments has no <...> any more."""
    again = 1
    while again:
        text, again = re.subn(r"<[^<>]*>", "", text)
    return text


def function_name(text: str) -> str:
    """function_name is that of a function's declaration, or empty."""
    plain = re.sub(r"\brequires\s*\([^()]*(?:\([^()]*\)[^()]*)*\)", "", without_arguments(text))
    if re.match(r"(?:using|typedef|friend|static_assert|extern)\b", plain) or "operator" in plain:
        return ""
    found = re.match(r"[^(=]*?([\w:~]+)\s*\(", plain)
    return found[1] if found and "(*" not in plain.partition(")")[0] else ""


class Scanner:
    """Scanner goes through a header, and knows the scope that it is in."""

    def __init__(self, text: str) -> None:
        code = DIRECTIVE.sub("", COMMENT.sub("", text))
        self.text = " ".join(STRING.sub('""', code).split())
        self.offset = 0
        self.scopes: list[tuple[str, bool]] = []  # The name, and whether the rest of it is public.
        self.classes: set[str] = set()
        self.functions: set[str] = set()
        self.promised: set[str] = set()  # Classes that another one declares, and that follow it.

    def skip_block(self) -> None:
        """skip_block goes behind the } of the { that was read."""
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.text[self.offset], 0)
            self.offset += 1

    def is_public(self) -> bool:
        names = [part for name, _ in self.scopes for part in name.split("::")]
        return all(public for _, public in self.scopes) and not INTERNAL & set(names)

    def whole(self, name: str) -> str:
        return "::".join([scope for scope, _ in self.scopes] + [name])

    def add(self, found: set[str], name: str) -> None:
        if name and self.is_public() and ("::" not in name or self.whole(name) in self.promised):
            found.add(self.whole(name))

    def open_block(self, head: str) -> str:
        """open_block is for a { behind `head`; it returns the part of a declaration before it."""
        if named := NAMESPACE.search(head):
            self.scopes.append((named[1], True))
        elif (named := CLASS.search(without_arguments(head))) and "(" not in head:
            self.add(self.classes, named[1])
            is_hidden = "::" in named[1] and self.whole(named[1]) not in self.promised
            name = f"detail::{named[1]}" if is_hidden else named[1]
            self.scopes.append((name, "class " not in CLASS.search(without_arguments(head))[0]))
        else:
            self.skip_block()
            if BRACED_MEMBER.search(without_arguments(head)):
                return head + ")"  # More of the list, or the body, follows.
            self.add(self.functions, function_name(head))
        return ""

    def scan(self) -> None:
        head = ""
        while self.offset < len(self.text):
            letter = self.text[self.offset]
            self.offset += 1
            if letter == "{":
                head = self.open_block(head.strip())
            elif letter == "}":
                self.scopes.pop()
                head = ""
            elif letter == ";":
                self.add(self.functions, function_name(head.strip()))
                if named := CLASS.search(head):
                    self.add(self.promised, named[1])
                head = ""
            elif label := re.search(r"\b(public|protected|private):$", head + letter):
                if not self.text[self.offset : self.offset + 1] == ":":
                    self.scopes[-1] = (self.scopes[-1][0], label[1] == "public")
                    head = ""
            else:
                head += letter


def declared(text: str) -> tuple[set[str], set[str]]:
    """declared are the public classes and functions of a header, with their scopes."""
    scanner = Scanner(text)
    scanner.scan()
    return scanner.classes, scanner.functions
