"""`load --hosts` by OpenSSH, with an sshd in each of three network namespaces, against a server in
the test's own: what it counted is the sum, all begin at one time, and nothing is left behind."""

import os
import re
import signal
import ssl
import threading
import time
from collections import Counter

import pytest

from deadlines import DEADLINE, eventually
from http_handlers import head_of_request, over_tls
from origins import Origin, Upstream
from ssh_machines import machines

OLD = """#!/bin/sh
[ "$1" != --version ] || exec echo "cleat-bench 0.0.1 on OpenSSL 1.0.1"
exit 1
"""
APART_MAX = 0.25  # Seconds: what the server sees on a machine of two cores, with its own delays.


class CountingServer:
    """CountingServer is a TLS server that counts requests by client, and when the first came."""

    def __init__(self, certs) -> None:
        self.requests: Counter[str] = Counter()
        self.first: dict[str, float] = {}
        self.turn = threading.Lock()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certs.ecdsa.cert, certs.ecdsa.key)
        self.origin = Origin(self.accepted(over_tls(context, self.answer)), host="0.0.0.0")

    def accepted(self, handle):
        def noted(upstream: Upstream) -> None:
            with self.turn:
                self.first.setdefault(upstream.socket.getpeername()[0], time.monotonic())
            handle(upstream)

        return noted

    def answer(self, upstream: Upstream) -> None:
        client = upstream.socket.getpeername()[0]
        while head_of_request(upstream):
            with self.turn:
                self.requests[client] += 1
            upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")


@pytest.fixture
def reached(tmp_path):
    with machines(tmp_path) as made:
        yield made
        eventually("nothing is left on the machines", lambda: not made.left())


@pytest.fixture
def counting(reached, certs):
    made = CountingServer(certs)
    yield made
    made.origin.close()


def target_of(reached, counting) -> str:
    return f"{reached.all[0].server}:{counting.origin.port}"


@pytest.mark.figures
def test_the_machines_begin_together_and_the_sum_is_what_the_server_counted(
    bench, reached, counting
):
    one, two, three = (reached.add(), reached.add(port=2222), reached.add())
    names = [each.name for each in (one, two, three)]
    found = bench.load("--hosts", ",".join(names), *reached.ssh, "-r", 20, "-d", "2s",
                       "--no-preflight", target_of(reached, counting))
    assert found["attempts"] == found["ok"] == sum(counting.requests.values()) == 120
    assert counting.requests == {each.address: 40 for each in (one, two, three)}
    assert found["rate_asked"] == 60
    assert [each["name"] for each in found["hosts"]] == names
    for each in found["hosts"]:
        assert each["late_ns"] == 0 and not each["copied"]
        assert each["clock_error_ns"] < 5_000_000
    firsts = counting.first.values()
    assert max(firsts) - min(firsts) < APART_MAX


def test_a_machine_without_cleat_bench_and_one_with_another_version_get_a_copy(
    bench, reached, counting
):
    one, two, three = (reached.add(), reached.add(), reached.add(bench=OLD))
    (two.folder / "bin" / "cleat-bench").unlink()
    ran = bench.run(
        "load", "--hosts", ",".join(each.name for each in (one, two, three)), *reached.ssh,
        "-c", 1, "-n", 10, target_of(reached, counting))
    assert ran.returncode == 0, ran.stderr
    assert f"{two.name} (it has no cleat-bench, so with a copy of this one)" in ran.stderr
    assert f"{three.name} (it has cleat-bench 0.0.1 on OpenSSL 1.0.1, so with" in ran.stderr
    assert "each with 1 connections, 3 together" in ran.stderr
    assert re.search(r"attempts +30\n", ran.stdout)
    # One more of each host: the preflight.
    assert counting.requests == {each.address: 11 for each in (one, two, three)}


def test_a_machine_that_is_away_refuses_the_run_in_the_words_of_ssh(bench, reached, counting):
    one, two, three = (reached.add(), reached.add(), reached.add())
    three.sshd.kill()
    three.sshd.wait(DEADLINE)
    ran = bench.run("load", "--hosts", f"{one.name},{two.name},{three.name},nobody.invalid",
                    *reached.ssh, "--no-preflight", target_of(reached, counting))
    assert ran.returncode == 1
    assert f"host {three.name}: ssh: connect to host {three.address} port 22: " in ran.stderr
    assert "host nobody.invalid: ssh: Could not resolve hostname nobody.invalid" in ran.stderr
    assert f"host {one.name}" not in ran.stderr
    assert not counting.requests


@pytest.mark.parametrize("victim", ["cleat-bench", "sshd"])
def test_a_machine_that_is_lost_in_the_middle_is_named(bench, reached, counting, victim):
    one, two, three = (reached.add(), reached.add(), reached.add())
    child = bench.start(
        "load", "-q", "--hosts", ",".join(each.name for each in (one, two, three)), *reached.ssh,
        "-r", 20, "-d", "4s", "--no-preflight", "--json", "sum.json", target_of(reached, counting))
    eventually("all are at work", lambda: len(counting.requests) == 3)
    for pid in three.pids_of(victim):
        os.kill(pid, signal.SIGKILL)
    out, err = child.communicate(timeout=DEADLINE)
    assert child.returncode == 5, out + err
    found = bench.read(bench.folder / "sum.json", out)
    assert found["attempts"] == 160
    assert [each["name"] for each in found["hosts"] if each["lost"]] == [three.name]
    assert f"cleat-bench: the host {three.name} was lost: " in err
    assert found["ok"] == sum(counting.requests[each.address] for each in (one, two))


def test_a_machine_that_nothing_is_heard_of_is_given_up(bench, reached, counting):
    """Its link is down: neither end of the connection gets an error."""
    one, two = (reached.add(), reached.add())
    ssh = f"{reached.ssh[1]} -o ServerAliveInterval=1 -o ServerAliveCountMax=2"
    child = bench.start(
        "load", "-q", "--hosts", f"{one.name},{two.name}", "--ssh", ssh, "-r", 20, "-d", "6s",
        "--no-preflight", "--json", "sum.json", target_of(reached, counting))
    eventually("both are at work", lambda: len(counting.requests) == 2)
    two.unplug()
    out, err = child.communicate(timeout=DEADLINE)
    for pid in two.pids_of("sshd"):  # TCP takes minutes to notice that the other end has gone.
        os.kill(pid, signal.SIGKILL)
    assert child.returncode == 5, out + err
    found = bench.read(bench.folder / "sum.json", out)
    assert found["attempts"] == found["ok"] == 120 == counting.requests[one.address]
    assert "not responding" in found["hosts"][1]["lost"]


def test_ctrl_c_ends_the_load_on_all_machines(bench, reached, counting):
    all_of_them = (reached.add(), reached.add(), reached.add())
    (all_of_them[1].folder / "bin" / "cleat-bench").unlink()  # Its copy has to go, too.
    child = bench.start(
        "load", "-q", "--hosts", ",".join(each.name for each in all_of_them), *reached.ssh,
        "-r", 20, "-d", "60s", "--no-preflight", "--json", "sum.json",
        target_of(reached, counting))
    eventually("all are at work", lambda: min(counting.requests[each.address]
                                              for each in all_of_them) > 20)
    out, _ = bench.interrupted(child)
    found = bench.read(bench.folder / "sum.json", out)
    assert found["partial"] and found["attempts"] >= 60
    assert [each["lost"] for each in found["hosts"]] == [None, None, None]
