"""Reloads by SIGHUP, the files that change before them, and how much cleat has read by then."""

import signal
import time
from pathlib import Path

from deadlines import eventually
from program import Cleat

# Of a certificate's file: reading one more of them shows, also beside what a sanitizer reads at a
# start (200 KB). A file may have 1 MiB.
PADDING = "# padding\n" * 90_000
STAMPS_COUNT_AFTER_S = 3  # A file that has changed later than this is read again.


def replace(path: Path, text: str, mode: int | None = None) -> None:
    """replace writes a file as an editor or certbot does it: nobody sees half of the new one, and
    cleat does not count it before, because its name begins with a dot."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text)
    if mode is not None:
        new.chmod(mode)
    new.rename(path)


def reload(server: Cleat) -> dict[str, str]:
    """A reload that succeeds: the log's line about it."""
    before = len(server.log(event="reloaded"))
    server.signal(signal.SIGHUP)
    return server.wait_for_log(times=before + 1, event="reloaded")


def rewrite(server: Cleat, before: str, after: str) -> None:
    """rewrite puts other text into the configuration that a test has started the server with; with
    nothing before, at its end."""
    text = server.config.read_text()
    assert before in text
    replace(server.config, text.replace(before, after) if before else text + after, 0o644)


def reload_with(server: Cleat, before: str, after: str) -> dict[str, str]:
    """reload_with is a reload after a rewrite."""
    rewrite(server, before, after)
    return reload(server)


def reload_is_refused(server: Cleat) -> list[str]:
    """A reload that fails: the errors and warnings in the log."""
    kinds = ("reload-problem", "reload-warning")
    before = len(server.log(event="reload-refused"))
    known = [len(server.log(event=kind)) for kind in kinds]
    server.signal(signal.SIGHUP)
    server.wait_for_log(times=before + 1, event="reload-refused")
    return [
        line["problem"]
        for kind, count in zip(kinds, known)
        for line in server.log(event=kind)[count:]
    ]


def bytes_read(server: Cleat) -> int:
    """bytes_read is the number of bytes of all read calls since the start of the program."""
    fields = Path(f"/proc/{server.pid}/io").read_text().split()
    return int(fields[fields.index("rchar:") + 1])


def wait_for_stamps(*files: Path) -> None:
    """wait_for_stamps waits until the files are so old that cleat knows them again by their
    times."""
    newest = max(file.stat().st_ctime for file in files)
    eventually("stamps count", lambda: time.time() > newest + STAMPS_COUNT_AFTER_S)
