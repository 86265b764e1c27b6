"""nghttpd of nghttp2 as a target, in a folder of files."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from certificates import Certificate
from deadlines import DEADLINE, eventually
from program import open_files

PROGRAM = shutil.which("nghttpd", path=f"{os.environ['PATH']}:/usr/sbin")
MISSING = "nghttpd is missing: apt-get install nghttp2-server"


def port_of(pid: int) -> int:
    """port_of a process is the one at which it listens; 0 before it does."""
    files = open_files(pid).values()
    sockets = {found[1] for each in files if (found := re.match(r"socket:\[(\d+)\]", each))}
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in sockets:
            return int(fields[1].split(":")[1], 16)
    return 0


class Nghttpd:
    """Nghttpd serves the files of a folder while its `with` lasts."""

    def __init__(self, folder: Path, certificate: Certificate, *flags: str) -> None:
        assert PROGRAM
        self.process = subprocess.Popen(
            [PROGRAM, "-a", "127.0.0.1", "-d", str(folder), *flags, "0", str(certificate.key),
             str(certificate.cert)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually("nghttpd listens", lambda: port_of(self.process.pid))
        self.address = f"127.0.0.1:{port_of(self.process.pid)}"

    def __enter__(self) -> "Nghttpd":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(DEADLINE)
