"""Names for the addresses of a dump, from its memory map and the symbol tables of its files."""

import bisect
import functools
import re
import subprocess


@functools.cache
def _symbols(path: str) -> tuple[list[int], list[tuple[int, str]]]:
    """Start, size and name of the functions of a file, from its full and its dynamic table."""
    found = {}
    for options in ([], ["-D"]):
        said = subprocess.run(
            ["nm", "-C", "-S", "--defined-only", *options, path], capture_output=True, text=True
        ).stdout
        for line in said.splitlines():
            match = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwWiu] (.+)", line)
            if match:
                name = match[3].split("@")[0]
                found.setdefault(int(match[1], 16), (int(match[2], 16), name))
    starts = sorted(found)
    return starts, [found[start] for start in starts]


@functools.cache
def _segments(path: str) -> list[tuple[int, int, int]]:
    """File offset, size in the file and virtual address of the loaded segments."""
    said = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True).stdout
    return [
        (int(m[1], 16), int(m[3], 16), int(m[2], 16))
        for m in re.finditer(r"LOAD\s+0x(\w+)\s+0x(\w+)\s+0x\w+\s+0x(\w+)", said)
    ]


class Names:
    """Turns addresses into function names; the map is the text of /proc/PID/maps."""

    def __init__(self, maps: list[str]):
        self.ranges = []
        for line in maps:
            words = line.split(maxsplit=5)
            if len(words) == 6 and "x" in words[1] and words[5].startswith("/"):
                low, high = (int(word, 16) for word in words[0].split("-"))
                self.ranges.append((low, high, int(words[2], 16), words[5].strip()))

    @functools.cache
    def function_at(self, address: int) -> str:
        call = address - 1  # a return address may already belong to the next function
        for low, high, offset, path in self.ranges:
            if not low <= call < high:
                continue
            in_file = call - low + offset
            for start, size, virtual in _segments(path):
                if start <= in_file < start + size:
                    return self._named(path, in_file - start + virtual)
        return f"0x{address:x}"

    @staticmethod
    def _named(path: str, virtual: int) -> str:
        starts, functions = _symbols(path)
        index = bisect.bisect_right(starts, virtual) - 1
        if index >= 0 and virtual < starts[index] + max(functions[index][0], 1):
            return functions[index][1].replace("(anonymous namespace)::", "").split("(")[0]
        return f"{path.rsplit('/', 1)[1]}+0x{virtual:x}"
