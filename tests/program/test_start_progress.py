"""A start that takes longer than a second shows on a terminal how far it has come."""

import os
import pty
import re
import subprocess
import time

import pytest

from deadlines import DEADLINE, eventually
from held_thread import let_go, stop_at_call, trace_me
from program import binary

COUNT = 3
LATE_S = 1.2  # A line comes after a second.


@pytest.fixture
def slow_check(sites, tmp_path):
    """Runs `cleat --test`, which stands still while it reads the first certificate, and returns its
    standard error."""
    folder = tmp_path / "pems"
    folder.mkdir()
    for number in range(COUNT):
        (folder / f"{number}.pem").write_text(sites[number].pem.read_text())

    def check(reading: int, errors: int) -> str:
        flags = ["--pem-dir", folder, "--certificate-cache", 1, "--backend", "[127.0.0.1]:1"]
        command = [*map(str, [binary(), "--test", *flags])]
        process = subprocess.Popen(command, stderr=errors, preexec_fn=trace_me)
        os.close(errors)
        stop_at_call(process.pid, f"{folder}/0.pem".encode())
        held = time.monotonic()
        eventually("it is late", lambda: time.monotonic() > held + LATE_S)
        let_go(process.pid)
        text = read_all(reading)
        assert process.wait(DEADLINE) == 0, text
        return text

    return check


def read_all(reading: int) -> str:
    text = b""
    while True:
        try:
            more = os.read(reading, 4096)
        except OSError:  # A terminal whose other end is closed.
            more = b""
        if not more:
            os.close(reading)
            return text.decode()
        text += more


def test_a_terminal_shows_it(slow_check):
    text = slow_check(*pty.openpty())
    assert re.search(rf"\rcleat: \d+ of {COUNT} certificates read", text), repr(text)
    # At the end the line is cleared: what follows does not stand behind it.
    assert text.rindex("\r\x1b[K") > text.rindex("certificates read")


def test_another_program_that_reads_gets_no_line(slow_check):
    assert "certificates read" not in slow_check(*os.pipe())
