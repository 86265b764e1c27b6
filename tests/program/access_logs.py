"""The file of an access log, and cleats that have one."""

import json

import pytest

from client_bytes import say
from deadlines import eventually

ACCESS_LOG_ROOM = (1 << 20) // 250  # Lines of a flood that a worker keeps (access_log_ring).


class AccessLog:
    """AccessLog is the file of an access log, in JSON."""

    def __init__(self, path):
        self.path = path

    def entries(self):
        text = self.path.read_text() if self.path.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def wait_for(self, times=1, **wanted):
        """wait_for is the last of so many lines that have these values."""

        def look():
            found = [each for each in self.entries() if wanted.items() <= each.items()]
            return found[times - 1] if len(found) >= times else None

        return eventually(f"a line has {wanted}", look)


@pytest.fixture
def access(tmp_path):
    return AccessLog(tmp_path / "access.log")


@pytest.fixture
def serve(cleat, access):
    """Starts cleat with an access log in JSON."""

    def serve(*flags, **options):
        return cleat("--access-log", access.path, "--access-log-format", "json", *flags, **options)

    return serve


def flood(port: int, count: int) -> None:
    """flood makes connections that are no TLS: each has a line, and costs little."""
    for _ in range(count):
        say(port, b"GET / HTTP/1.1\r\n\r\n")
