"""Every C and C++ block of the guides compiles.

A guide has one frame beside this file, such as library.cpp, with the code around each block: a
comment `block: FIRST WORDS` is replaced by the one block that begins so. A frame is one translation
unit, and is not linked.
"""

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GUIDES = ROOT / "docs/guides"
FRAMES = sorted([*HERE.glob("*.cpp"), *HERE.glob("*.c")])

# The blocks that no frame has: guide and first words, and why they are not compiled.
NOT_COMPILED: dict[tuple[str, str], str] = {}

FENCE = re.compile(r"^( *)```(\w*) *\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"^ *(?://|/\*) block: (.*?)(?: \*/)?$")
# A block is a part of a program, which uses its names elsewhere.
WARNINGS = "-Wall -Wextra -Wpedantic -Werror -Wno-unused"


@dataclass(frozen=True)
class Block:
    guide: str
    line: int  # of its first line of code
    code: str

    @property
    def name(self) -> str:
        return f"docs/guides/{self.guide}.md:{self.line}"


def fences() -> list[tuple[str, Block]]:
    """The language of each block of the guides, and the block."""
    found = []
    for guide in sorted(GUIDES.glob("*.md")):
        text = guide.read_text()
        for match in FENCE.finditer(text):
            line = text[: match.start(3)].count("\n") + 1
            found.append((match[2], Block(guide.stem, line, match[3])))
    return found


BLOCKS = [block for language, block in fences() if language in ("cpp", "c")]


def choose(guide: str, first_words: str) -> Block:
    """The only block of a guide that begins with these words."""
    found = [
        block
        for block in BLOCKS
        if block.guide == guide and block.code.lstrip().startswith(first_words)
    ]
    assert len(found) == 1, f"{len(found)} blocks of {guide}.md begin with {first_words!r}"
    return found[0]


def places(frame: Path) -> list[str]:
    return [found[1] for line in frame.read_text().splitlines() if (found := PLACE.match(line))]


def fill(frame: Path) -> str:
    """The frame with its blocks. The compiler names lines of the guide and of the frame."""
    lines = []
    for number, line in enumerate(frame.read_text().splitlines(), 1):
        if place := PLACE.match(line):
            block = choose(frame.stem, place[1])
            lines += [f'#line {block.line} "docs/guides/{block.guide}.md"', block.code.rstrip("\n")]
            lines += [f'#line {number + 1} "tests/guides/{frame.name}"']
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def compile_text(text: str, suffix: str) -> subprocess.CompletedProcess:
    compiler, language = {
        ".cpp": (os.environ.get("CXX", "c++"), ["-x", "c++", "-std=c++20"]),
        ".c": (os.environ.get("CC", "cc"), ["-x", "c", "-std=c11"]),
    }[suffix]
    folders = [f"-I{each}" for each in os.environ["CLEAT_INCLUDES"].split(":")]
    return subprocess.run(
        [compiler, *language, *shlex.split(WARNINGS), *folders, "-fsyntax-only", "-"],
        input=text,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: frame.name)
def test_the_blocks_of_a_guide_compile(frame: Path) -> None:
    result = compile_text(fill(frame), frame.suffix)
    assert result.returncode == 0, result.stderr


def test_no_block_is_left_out_or_used_twice() -> None:
    used = [choose(frame.stem, words) for frame in FRAMES for words in places(frame)]
    excused = [choose(*each) for each in NOT_COMPILED]
    assert sorted(block.name for block in used + excused) == sorted(block.name for block in BLOCKS)


def test_every_block_of_c_and_cpp_says_its_language() -> None:
    unnamed = [
        block.name
        for language, block in fences()
        if language == "" and re.search(r"#include <|\w::\w", block.code)
    ]
    assert unnamed == []


def test_a_program_on_sockets_of_asio_does_not_compile_a_worker() -> None:
    """Its header needs <filesystem> and <thread>: 4 % of a small program's compile time."""
    folders = [f"-I{each}" for each in os.environ["CLEAT_INCLUDES"].split(":")]
    result = subprocess.run(
        [os.environ.get("CXX", "c++"), "-x", "c++", "-std=c++20", *folders, "-M", "-"],
        input="#include <cleat/net/ssl.hpp>\n",
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    included = result.stdout.split()
    assert [each for each in included if each.endswith("cleat/net/stream.hpp")]
    dear = ("cleat/net/worker.hpp", "/filesystem", "/thread", "posix/stream_descriptor.hpp")
    assert [each for each in included if each.endswith(dear)] == []


def test_each_translation_unit_has_its_own_size_of_asios_operations(tmp_path: Path) -> None:
    """An inline variable would be one for a program and a cleat whose macros differ."""
    source = (
        "#include <cleat/net/server.hpp>\n"
        "extern std::size_t const* const seen;\n"
        "std::size_t const* const seen = &cleat::net::asio_operation_size;\n"
    )
    folders = [f"-I{each}" for each in os.environ["CLEAT_INCLUDES"].split(":")]
    made = tmp_path / "size.o"
    compiler = os.environ.get("CXX", "c++")
    subprocess.run(
        [compiler, "-x", "c++", "-std=c++20", *folders, "-c", "-", "-o", str(made)],
        input=source,
        text=True,
        check=True,
    )
    symbols = subprocess.check_output(["nm", "--demangle", str(made)], text=True).splitlines()
    kinds = [line.split()[1] for line in symbols if line.endswith("asio_operation_size")]
    assert kinds == ["r"], symbols  # Local to this file; a shared one is "u" or "V".


def test_the_compiler_names_the_line_of_the_guide() -> None:
    wrong = '#line 7 "docs/guides/library.md"\nint none() { return missing; }\n'
    result = compile_text(wrong, ".cpp")
    assert result.returncode != 0
    assert "docs/guides/library.md:7:" in result.stderr
