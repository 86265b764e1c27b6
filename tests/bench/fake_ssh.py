"""A program in the place of ssh: its hosts are folders of this machine, each with what a host does
with the command that it gets. So a test has a host that is slow, away or of another kind."""

import shlex
from pathlib import Path

from conftest import binary
from http_handlers import head_of_request
from origins import Handler, Upstream
from rations import is_there

# The host and its command are the last two words of ssh's command line.
SSH = """#!/bin/sh
while [ $# -gt 2 ]; do shift; done
exec {folder}/$1/host "$2"
"""
# Its cleat-bench says under which process it runs, so that a test can end it.
BENCH = """#!/bin/sh
echo $$ > FOLDER/pid
exec PROGRAM "$@"
"""
RUN = 'exec sh -c "$1"'


class FakeHosts:
    """FakeHosts are hosts that --ssh reaches."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "hosts"
        self.folder.mkdir()
        self.program = self.folder / "ssh"
        self.write(self.program, SSH.format(folder=shlex.quote(str(self.folder))))

    @staticmethod
    def write(path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def add(
        self, name: str, script: str = RUN, bench: str | None = BENCH, uname: str | None = None
    ) -> Path:
        """add makes a host with a folder for programs, bin, and one for temporary files, tmp.
        `script` runs the command "$1"; `bench` is its cleat-bench, or None; `uname` what that
        program of its own says."""
        folder = self.folder / name
        (folder / "bin").mkdir(parents=True)
        (folder / "tmp").mkdir()
        if bench is not None:
            text = bench.replace("FOLDER", str(folder)).replace("PROGRAM", str(binary()))
            self.write(folder / "bin" / "cleat-bench", text)
        if uname is not None:
            self.write(folder / "bin" / "uname", f"#!/bin/sh\necho {uname}\n")
        head = f"#!/bin/sh\nexport PATH={folder}/bin:/usr/bin:/bin TMPDIR={folder}/tmp\n"
        self.write(folder / "host", head + script + "\n")
        return folder

    @property
    def words(self) -> tuple[str, str]:
        return "--ssh", shlex.quote(str(self.program))

    def left(self) -> list[str]:
        """left are the temporary files of all hosts, and the processes that run in their folders
        or from them."""
        found = [str(path) for path in self.folder.glob("*/tmp/*")]
        for path in self.folder.glob("*/pid"):
            pid = int(path.read_text())
            if is_host(pid):
                found.append(f"process {pid}")
        return found


def is_host(pid: int) -> bool:
    """is_host says whether a process runs the cleat-bench of a host. An ended process stays
    as a zombie where its shell has ended before it, and its number may be another program's."""
    try:
        return is_there(pid) and b"cleat-bench" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def counted(requests: list[str]) -> Handler:
    """counted answers each request, and notes it."""

    def handle(upstream: Upstream) -> None:
        while head_of_request(upstream):
            requests.append("")
            upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")

    return handle
