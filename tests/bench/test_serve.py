"""`serve` starts one server as `compare` would, says where it is, and ends it."""

import os
import signal
import socket
from pathlib import Path

import pytest

from conftest import Bench
from deadlines import DEADLINE, eventually
from served import BINARIES, needs_origin, serving

pytestmark = needs_origin


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_end(bench: Bench, number: signal.Signals) -> None:
    with serving("cleat", "--scenario", "full-rsa-2048") as (child, facts):
        assert facts["server"] == "cleat" and "pem-file" in facts["configuration"]
        found = bench.load("-n", 20, f"https://{facts['address']}/1024")
        assert found["ok"] == 20
        probed = bench.run("probe", facts["address"])
        assert "RSA" in probed.stdout and "ECDSA" not in probed.stdout
        child.send_signal(number)
        assert child.wait(DEADLINE) == 0
    eventually("the server is gone", lambda: not lives(facts["pid"]))


def test_a_server_that_ends_by_itself_is_told_with_its_last_words() -> None:
    with serving("cleat") as (child, facts):
        os.kill(facts["pid"], signal.SIGKILL)
        assert child.wait(DEADLINE) == 1
        assert "cleat was ended by signal 9" in child.stderr.read()


def test_another_build_with_variables_of_its_own(bench: Bench) -> None:
    other = bench.folder / "cleat-of-before"
    other.symlink_to(BINARIES / "cleat")
    variables = ("--env", "CLEAT_TEST_WORD=a=b", "--env", "HOME=/nowhere")
    with serving("cleat", "--program", other, *variables, "--workers", 2) as (_, facts):
        assert facts["command"].startswith(f"{other} --config ")
        words = Path(f"/proc/{facts['pid']}/environ").read_bytes().decode().split("\0")
        assert "CLEAT_TEST_WORD=a=b" in words and "HOME=/nowhere" in words
        assert len([word for word in words if word.startswith("HOME=")]) == 1
        assert any(word.startswith("PATH=") for word in words)


def test_its_processes_and_the_origin_are_told() -> None:
    with serving("cleat") as (child, facts):
        assert facts["pids"] == [facts["pid"]]
        assert all(map(lives, [facts["pid"], facts["origin_pid"]]))
        host, port = facts["origin"].rsplit(":", 1)
        with socket.create_connection((host, int(port)), DEADLINE) as origin:
            origin.sendall(b"GET /5 HTTP/1.0\r\n\r\n")
            answer = b""
            while piece := origin.recv(4096):
                answer += piece
        assert answer.endswith(b"\r\n\r\nxxxxx")
        child.send_signal(signal.SIGTERM)
        assert child.wait(DEADLINE) == 0
    eventually("the origin is gone", lambda: not lives(facts["origin_pid"]))


@pytest.mark.skipif(
    not (BINARIES / "perf-asio-relay").exists(), reason="built without perf/: there is no control"
)
def test_the_threads_of_the_naive_control_are_its_workers() -> None:
    threads = []
    for workers in (2, 4):
        with serving("asio", "--workers", workers) as (_, facts):
            threads.append(len(os.listdir(f"/proc/{facts['pid']}/task")))
    # A sanitizer has a thread of its own beside them.
    assert threads[1] - threads[0] == 2


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("cleat", "--program", "/none"), "--program '/none' cannot be run: No such file", 2),
        (("cleat", "--env", "WORD"), "--env WORD: write NAME=VALUE", 2),
        (("cleat", "--env", "=x"), "--env =x: write NAME=VALUE", 2),
        (("nobody",), "no such server: take one of cleat", 2),
        (("cleat", "--scenario", "none"), "none", 2),
        (("epoll", "--workers", 2), "epoll has one worker only", 1),
    ],
)
def test_what_cannot_be_served_is_said(bench: Bench, words: tuple, said: str, code: int) -> None:
    ran = bench.run("serve", *words)
    assert ran.returncode == code and said in ran.stderr
