"""Reads a line of the log, by the rules of the manual and none of the program's code."""

import re

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
BARE = re.compile(r"[!#-<>-\[\]-~]+")  # Visible ASCII but for the quote, = and the backslash.
KEY = re.compile(r"[A-Za-z0-9_-]+")
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


class NotALogLine(ValueError):
    """NotALogLine says at which column a line stops being one."""


def parse(line: str) -> dict[str, str]:
    """parse returns the fields of a line, the moment as "time". NotALogLine for anything else."""
    moment = MOMENT.match(line)
    if not moment:
        raise NotALogLine(f"no moment at the start of {line!r}")
    return pairs(line, moment.end(), {"time": moment[0]})


def pairs(line: str, column: int = 0, fields: dict[str, str] | None = None) -> dict[str, str]:
    """pairs reads key=value pairs, from a column on."""
    fields = fields or {}
    while column < len(line):
        begin = column + 1 if fields else column
        key = KEY.match(line, begin)
        if (fields and line[column] != " ") or not key or line[key.end() : key.end() + 1] != "=":
            raise NotALogLine(f"no key at column {column} of {line!r}")
        if key[0] in fields:
            raise NotALogLine(f"{key[0]} twice in {line!r}")
        fields[key[0]], column = value(line, key.end() + 1)
    return fields


def value(line: str, column: int) -> tuple[str, int]:
    """value reads one value, and returns it with the column behind it."""
    if line[column : column + 1] != '"':
        bare = BARE.match(line, column)
        return (bare[0], bare.end()) if bare else ("", column)
    text = ""
    column += 1
    while line[column : column + 1] != '"':
        if column >= len(line) or not " " <= line[column] <= "~":
            raise NotALogLine(f"no end of the quotes, or a raw byte in them, in {line!r}")
        if line[column] != "\\":
            text += line[column]
            column += 1
        elif line[column + 1 : column + 2] == "u":
            text += chr(int(line[column + 2 : column + 6], 16))
            column += 6
        else:
            text += ESCAPES[line[column + 1]]
            column += 2
    return text, column + 1
