"""`make run`, the first command of the README: it serves, prints the command to try, and Ctrl-C
ends all that it has started."""

import os
import shlex
import signal
import socket
import subprocess

import pytest

import program
from deadlines import DEADLINE, eventually

TREE = program.ROOT
OF_MAKE = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PRESET")

pytestmark = pytest.mark.skipif(
    program.binary().resolve() != (TREE / "build/release/bin/cleat").resolve(),
    reason="it is the release that it builds",
)


def reserved_port():
    """reserved_port is a port that the kernel gives to no other program for a minute: a connection
    that was closed here first lingers there. A server may listen on it all the same."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()):
            server.accept()[0].close()
        return server.getsockname()[1]


def are_there(group):
    """are_there says whether a process of the group still runs."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def serving():
    """serving is `make run` in a session of its own: the process, and the command it prints."""
    # The tests may have been begun by another make.
    own = {key: value for key, value in os.environ.items() if key not in OF_MAKE}
    child = subprocess.Popen(
        ["make", "run", f"PORT={reserved_port()}"],
        cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True, env=own,
    )  # fmt: skip
    said = ""
    for line in child.stdout:
        said += line
        if line.strip().startswith("curl "):
            yield child, shlex.split(line)
            if are_there(child.pid):
                os.killpg(child.pid, signal.SIGKILL)
            child.communicate(timeout=DEADLINE)
            return
    pytest.fail(f"it ended before it served:\n{said}")


def test_it_serves_and_ends_whole(serving):
    child, curl = serving
    got = subprocess.run(
        [*curl, "--silent", "--show-error", "--max-time", str(DEADLINE)],
        cwd="/", capture_output=True, text=True,
    )  # fmt: skip
    assert got.returncode == 0, got.stderr
    assert "the demo origin" in got.stdout
    os.killpg(child.pid, signal.SIGINT)  # As a terminal does for Ctrl-C.
    said, _ = child.communicate(timeout=DEADLINE)
    assert "***" not in said, "make calls Ctrl-C an error"
    eventually("nothing is left of it", lambda: not are_there(child.pid))
