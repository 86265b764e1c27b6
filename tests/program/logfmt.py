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


def pairs(line: str, at: int = 0, fields: dict[str, str] | None = None) -> dict[str, str]:
    """pairs reads key=value pairs, from a column on."""
    fields = fields or {}
    while at < len(line):
        begin = at + 1 if fields else at
        key = KEY.match(line, begin)
        if (fields and line[at] != " ") or not key or line[key.end() : key.end() + 1] != "=":
            raise NotALogLine(f"no key at column {at} of {line!r}")
        if key[0] in fields:
            raise NotALogLine(f"{key[0]} twice in {line!r}")
        fields[key[0]], at = value(line, key.end() + 1)
    return fields


def value(line: str, at: int) -> tuple[str, int]:
    """value reads one value, and returns it with the column behind it."""
    if line[at : at + 1] != '"':
        bare = BARE.match(line, at)
        return (bare[0], bare.end()) if bare else ("", at)
    text = ""
    at += 1
    while line[at : at + 1] != '"':
        if at >= len(line) or not " " <= line[at] <= "~":
            raise NotALogLine(f"no end of the quotes, or a raw byte in them, in {line!r}")
        if line[at] != "\\":
            text += line[at]
            at += 1
        elif line[at + 1 : at + 2] == "u":
            text += chr(int(line[at + 2 : at + 6], 16))
            at += 6
        else:
            text += ESCAPES[line[at + 1]]
            at += 2
    return text, at + 1
