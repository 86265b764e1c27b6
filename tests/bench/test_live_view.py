"""The live view on a terminal while a load runs, and its lines in a log."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from conftest import binary
from deadlines import DEADLINE
from http_handlers import http


def run_on_a_terminal(*words: object, code: int = 0, columns: int = 80) -> str:
    """run_on_a_terminal gives everything that the program drew on its standard error."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(
        [str(binary()), *map(str, words)], stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    drawn = b""
    try:
        while more := os.read(ours, 65536):
            drawn += more
    except OSError:
        pass  # The other end is closed: it has ended.
    finally:
        os.close(ours)
    # 4: a busy machine was the limit of a load at a rate.
    assert child.wait(DEADLINE) in ((0, 4) if code == 0 else (code,))
    return drawn.decode()


def test_a_terminal_is_redrawn_and_left_clean(server):
    drawn = run_on_a_terminal("load", "-r", 50, "-d", "2s", server(http()).address)
    assert "of 50/s asked" in drawn
    assert "of 0/s asked" not in drawn, "the last line is of the time before"
    assert "in flight" in drawn and "p99" in drawn and "slip" in drawn
    assert len(re.findall(r"\x1b\[[23]A\x1b\[J", drawn)) >= 2, "it is redrawn in place"
    assert drawn.rstrip().endswith("\x1b[J"), "nothing of it is left"


def lines_of(drawn: str) -> list[str]:
    return [re.sub(r"\x1b\[\d*[A-Z]", "", line) for line in drawn.split("\n")]


def test_no_line_is_wider_than_the_terminal(server):
    """A line that wraps is two lines, and one of them would stay."""
    target = server(http(status="503 Busy"))
    for columns in (80, 40):
        drawn = run_on_a_terminal(
            "load", "-r", 50, "-d", "2s", "--no-preflight", "--server-pid", target.pid,
            target.address, code=1, columns=columns)
        lines = [line.rstrip("\r") for line in lines_of(drawn)]
        assert max(map(len, lines)) <= columns, lines
        assert any("cores busy" in line for line in lines)


def test_failures_are_shown_while_they_come(server):
    target = server(http(status="503 Busy"))
    ours = run_on_a_terminal("load", "-r", 50, "-d", "2s", "--no-preflight", target.address, code=1)
    assert "answer wrong status 503: " in ours


def test_a_log_gets_plain_lines(bench, server):
    ran = bench.run("load", "-c", 1, "-d", "6s", server(http()).address)
    assert ran.returncode == 0
    assert "\x1b" not in ran.stderr + ran.stdout
    assert len(ran.stderr.splitlines()) == 1, "one line in five seconds"


def test_quiet_is_quiet(bench, server):
    ran = bench.run("load", "-q", "-n", 5, server(http()).address)
    assert ran.stderr == ""


def test_a_transfer_shows_how_far_it_is(server):
    target = server(http(body=b"x" * 1024, delay=0.1))
    drawn = run_on_a_terminal("transfer", "-c", 1, "-m", 15, "-s", 1024, target.address)
    assert " of 15  " in drawn and "in flight" in drawn
    assert drawn.rstrip().endswith("\x1b[J"), "nothing of it is left"
