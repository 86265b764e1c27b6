"""A reload of many certificates builds the new configuration beside the old one, and yet the memory
of the process never doubles."""

from pathlib import Path

import pytest

from deadlines import SANITIZED
from many_certificates import ManyCertificates
from program import Cleat
from reloads import reload, wait_for_stamps

pytestmark = pytest.mark.skipif(SANITIZED, reason="a sanitizer keeps memory of its own")

COUNT = 10_000
# A certificate that stays the same costs a reload that looks at every file its name, for a moment:
# 240 to 320 bytes in most processes, and 500 to 580 in some, by what the allocator gives back.
BYTES_OF_A_NAME = 700


class Memory:
    """Memory is what the process has at the start, and the most that it has had since begin()."""

    def __init__(self, server: Cleat) -> None:
        self.server = server
        self.at_start = self.line("VmRSS")

    def line(self, name: str) -> int:
        for line in Path(f"/proc/{self.server.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
        raise AssertionError(f"no {name}")

    def begin(self) -> None:
        Path(f"/proc/{self.server.pid}/clear_refs").write_text("5")  # proc(5): VmHWM begins anew.

    def growth(self) -> int:
        """growth is over the start: what a reload frees may stay with the process or not."""
        return self.line("VmHWM") - self.at_start


def test_memory_never_doubles(cleat, certs, tmp_path):
    many = ManyCertificates(certs, tmp_path / "pems", COUNT)
    wait_for_stamps(many.path(COUNT - 1))
    server = cleat("--pem-dir", many.folder, "--pem-dir-recursive", pem=[])
    memory = Memory(server)

    memory.begin()
    assert reload(server)["certificates_changed"] == "0"
    assert memory.growth() < COUNT * BYTES_OF_A_NAME, f"{memory.growth() / COUNT} for each"

    many.write(range(10), 1)
    wait_for_stamps(many.path(9))
    memory.begin()
    assert reload(server)["certificates_changed"] == "10"
    assert memory.growth() < COUNT * BYTES_OF_A_NAME, f"{memory.growth() / COUNT} for each"

    # The old store serves until the new one is whole: both are there, and nothing else.
    many.write(range(COUNT), 2)
    wait_for_stamps(many.path(COUNT - 1))
    memory.begin()
    assert reload(server)["certificates_changed"] == str(COUNT)
    assert memory.growth() < memory.at_start
