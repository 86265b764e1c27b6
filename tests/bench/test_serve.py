"""`serve` starts one server as `compare` would, says where it is, and ends it."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import program
from conftest import Bench, binary
from deadlines import DEADLINE, eventually

BINARIES = program.binary().parent

pytestmark = pytest.mark.skipif(
    not (BINARIES / "perf-origin").exists(), reason="built without perf/: there is no origin"
)


@contextmanager
def serving(*words: object) -> Iterator[tuple[subprocess.Popen, dict]]:
    command = [binary(), "serve", "--json", "--binaries", BINARIES, *words]
    child = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield child, json.loads(child.stdout.readline())
    finally:
        child.kill()
        child.communicate(timeout=DEADLINE)


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_end(bench: Bench, number: signal.Signals) -> None:
    with serving("cleat", "--scenario", "full-rsa-2048") as (child, told):
        assert told["server"] == "cleat" and "pem-file" in told["configuration"]
        found = bench.load("-n", 20, f"https://{told['address']}/1024")
        assert found["ok"] == 20
        probed = bench.run("probe", told["address"])
        assert "RSA" in probed.stdout and "ECDSA" not in probed.stdout
        child.send_signal(number)
        assert child.wait(DEADLINE) == 0
    eventually("the server is gone", lambda: not lives(told["pid"]))


def test_a_server_that_ends_by_itself_is_told_with_its_last_words() -> None:
    with serving("cleat") as (child, told):
        os.kill(told["pid"], signal.SIGKILL)
        assert child.wait(DEADLINE) == 1
        assert "cleat was ended by signal 9" in child.stderr.read()


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("nobody",), "no such server: take one of cleat", 2),
        (("cleat", "--scenario", "none"), "none", 2),
        (("epoll", "--workers", 2), "epoll has one worker only", 1),
    ],
)
def test_what_cannot_be_served_is_said(bench: Bench, words: tuple, said: str, code: int) -> None:
    ran = bench.run("serve", *words)
    assert ran.returncode == code and said in ran.stderr
