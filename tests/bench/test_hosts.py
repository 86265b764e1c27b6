"""`load --hosts`: one load on several hosts, with a program in the place of ssh. What comes of a
host that is slow, away, of another kind or lost, and of Ctrl-C."""

import datetime
import os
import re
import signal
import xml.etree.ElementTree as xml

import pytest

from deadlines import DEADLINE, SANITIZED, eventually
from fake_ssh import BENCH, FakeHosts, counted
from http_handlers import http
from wrong_clock import clock_ahead

OLD = """#!/bin/sh
[ "$1" != --version ] || { echo "cleat-bench 0.0.1 on OpenSSL 1.0.1"; exit; }
echo an old one >&2
exit 1
"""
# The start comes to it late: a slow way.
SLOW = """while read -r line; do
    case $line in start*) sleep {seconds} ;; esac
    echo "$line"
done | sh -c "$1"
"""


@pytest.fixture
def hosts(tmp_path):
    made = FakeHosts(tmp_path)
    yield made
    eventually("nothing is left on the hosts", lambda: not made.left())


def test_the_sum_is_what_the_server_counted(bench, server, hosts):
    for name in ("a", "b", "user@c"):
        hosts.add(name)
    requests: list[str] = []
    target = server(counted(requests))
    found = bench.load("--hosts", "a,b,user@c:2222", *hosts.words,
                       "-r", 40, "-d", "2s", "--no-preflight", target.address)
    assert found["attempts"] == found["ok"] == len(requests) == 3 * 80
    assert found["rate_asked"] == 120
    assert [each["name"] for each in found["hosts"]] == ["a", "b", "user@c:2222"]
    for each in found["hosts"]:
        assert each["attempts"] == each["ok"] == 80
        assert each["lost"] is None and not each["copied"]
    assert found["asked"][0] == ["host", "a"]
    assert ["host", "b"] in found["asked"] and ["host", "user@c:2222"] in found["environment"]
    assert found["command"].startswith("cleat-bench load --workers 2 -q ")
    assert "\n" not in found["command"]
    assert "rate asked            120.0/s, 40.0/s of each of 3 hosts" in found["text"]
    assert re.search(r"hosts +3 of 3, which began within [\d.]+ [mun]s of each other",
                     found["text"])
    assert found["timeline"]["attempted"][:2] == [120, 120]


def test_the_sum_is_seen_while_it_runs_and_what_each_host_does_is_said(bench, server, hosts):
    hosts.add("a")
    hosts.add("b", bench=None)
    hosts.add("c", bench=OLD)
    ran = bench.run("load", "--hosts", "a,b,c", *hosts.words, "-r", 20, "-d", "6s",
                    server(http()).address)
    assert ran.returncode in (0, 4), ran.stderr
    assert re.search(
        r"^3 hosts: a, b \(it has no cleat-bench, so with a copy of this one\), c \(it has "
        r"cleat-bench 0\.0\.1 on OpenSSL 1\.0\.1, so with a copy of this one\): each with "
        r"20\.0/s, 60\.0/s together$", ran.stderr, re.M), ran.stderr
    assert "of 60/s asked" in ran.stderr and "generator" in ran.stderr
    assert "  attempts              360" in ran.stdout
    assert ran.stdout.count("with a copy of cleat-bench") == 2


def test_arrivals_of_chance_differ_from_host_to_host(bench, server, hosts):
    hosts.add("a")
    hosts.add("b")
    found = bench.load("--hosts", "a,b", *hosts.words, "-r", 50, "-d", "1s", "--arrivals",
                       "poisson", "--seed", 7, server(http()).address)
    counts = [each["attempts"] for each in found["hosts"]]
    assert sum(counts) == found["attempts"] and all(counts)
    assert ["open loop", "50 connections/s, poisson"] in found["asked"]


def test_files_that_options_name_go_to_the_hosts(bench, server, hosts, certs, tmp_path):
    hosts.add("a")
    hosts.add("b", bench=None)
    target = server(http())
    found = bench.load("--hosts", "a,b", *hosts.words, "-r", 5, "-d", "1s", "--verify", "--ca",
                       certs.ecdsa.cert, "--sni", "localhost", target.address, code=0)
    assert found["ok"] == 10
    ran = bench.run("load", "--hosts", "a,b", *hosts.words, "-n", 5, "--raw-file",
                    tmp_path / "none", target.address)
    assert ran.returncode == 2 and "--raw-file" in ran.stderr


def test_hosts_that_are_away_refuse_the_run_before_anything_has_begun(bench, server, hosts):
    hosts.add("a")
    hosts.add("b", 'echo "ssh: connect to host b port 22: Connection refused" >&2; exit 255')
    hosts.add("c", "exec tail -f /dev/null")
    hosts.add("d", bench=None, uname="sparc64")
    requests: list[str] = []
    ran = bench.run("load", "--hosts", "a,b,c,d", *hosts.words, "--ssh-timeout", "3s",
                    "--no-preflight", server(counted(requests)).address)
    assert ran.returncode == 1 and ran.stdout == ""
    assert "host b: ssh: connect to host b port 22: Connection refused" in ran.stderr
    assert "host c: ssh has not come to it for 3.00 s" in ran.stderr
    assert "host d: it is a sparc64 sparc64 machine with no cleat-bench" in ran.stderr
    assert "host a" not in ran.stderr and "nothing was begun" in ran.stderr
    assert requests == []


def test_a_server_that_the_hosts_do_not_reach_refuses_the_run(bench, hosts):
    hosts.add("a")
    ran = bench.run("load", "--hosts", "a", *hosts.words, "127.0.0.1:1")
    assert ran.returncode == 1
    assert "host a: cleat-bench: 127.0.0.1:1: the first transaction failed" in ran.stderr
    # A command line that the host's cleat-bench refuses is a wrong one here, too.
    ran = bench.run("load", "--hosts", "a", *hosts.words, "--source", "192.0.2.1", "127.0.0.1:1")
    assert ran.returncode == 2 and "host a: cleat-bench: --source" in ran.stderr


def test_a_host_that_is_lost_is_named_and_the_sum_is_of_the_others(bench, server, hosts):
    hosts.add("a")
    lost = hosts.add("b")
    requests: list[str] = []
    target = server(counted(requests))
    child = bench.start("load", "-q", "--hosts", "a,b", *hosts.words, "-r", 50, "-d", "3s",
                        "--no-preflight", "--json", "sum.json", "--junit", "gate.xml",
                        "--prometheus", "metrics", "--fail-if", "failed > 50%", target.address)
    eventually("both are at work", lambda: len(requests) > 20)
    os.kill(int((lost / "pid").read_text()), signal.SIGKILL)
    out, err = child.communicate(timeout=DEADLINE)
    assert child.returncode == 5, out + err
    found = bench.read(bench.folder / "sum.json", out)
    assert found["attempts"] == 150 and found["rate_asked"] == 50
    one, other = found["hosts"]
    assert one["lost"] is None and "Killed" in other["lost"]
    assert "cleat-bench: the host b was lost: " in err
    assert "LOST: " in out
    assert "NOTE: the host b was lost, and the figures are of the other 1" in out
    assert any("the host b was lost" in each for each in found["remarks"])
    assert "cleat_bench_hosts_lost{" in (bench.folder / "metrics").read_text()
    suite = xml.parse(bench.folder / "gate.xml").getroot()
    assert suite.find("testcase[@name='a host was lost']/failure") is not None


def test_a_host_that_begins_late_says_by_how_much(bench, server, hosts):
    hosts.add("a")
    hosts.add("b", SLOW.format(seconds=1.5))
    found = bench.load("--hosts", "a,b", *hosts.words, "-r", 20, "-d", "8s",
                       server(http()).address)
    on_time, late = found["hosts"]
    assert on_time["late_ns"] < late["late_ns"] > 100_000_000
    assert any("the host b began" in each for each in found["remarks"])
    assert re.search(r"  b +[\d.]+/s, 160 ok of 160, began \d+ ms late", found["text"])


@pytest.mark.skipif(SANITIZED, reason="a sanitizer cannot be loaded after the clock")
def test_clocks_of_hosts_need_not_agree(bench, server, hosts, tmp_path):
    hosts.add("a")
    wrapper = " ".join(clock_ahead(tmp_path, 3600))
    hosts.add("b", bench=BENCH.replace("exec PROGRAM", f"exec {wrapper} PROGRAM"))
    before = datetime.datetime.now(datetime.timezone.utc)
    found = bench.load("--hosts", "a,b", *hosts.words, "-r", 20, "-d", "2s",
                       server(http()).address)
    assert [each["late_ns"] for each in found["hosts"]] == [0, 0]
    assert found["timeline"]["attempted"][:2] == [40, 40]
    assert found["measured_ns"] == 2_000_000_000  # To the nanosecond: all have one begin.
    started = datetime.datetime.fromisoformat(found["started"].replace("Z", "+00:00"))
    assert datetime.timedelta() < started - before < datetime.timedelta(seconds=DEADLINE)


@pytest.mark.parametrize(("words", "code"), [(("-r", 20, "-d", "1s"), 4),
                                             (("-c", 1, "-n", 20), 0)])
def test_the_sum_of_hosts_that_did_not_run_together_says_so(bench, server, hosts, words, code):
    """A load of a number lasts some milliseconds, and is easily over before another host begins."""
    hosts.add("a")
    hosts.add("b", SLOW.format(seconds=2.5))
    requests: list[str] = []
    ran = bench.run("load", "-q", "--hosts", "a,b", *hosts.words, *words, "--no-preflight",
                    "--json", "sum.json", "--html", "sum.html", server(counted(requests)).address)
    assert ran.returncode == code, ran.stdout + ran.stderr
    found = bench.read(bench.folder / "sum.json", ran.stdout)
    assert found["attempts"] == found["ok"] == len(requests) == 40
    assert found["client_limited"]
    together = "all ran together for 0.00 ns of "
    (said,) = [each for each in found["limits"] if each.startswith(together)]
    assert said.endswith("s only, so that this is not one load") and said in ran.stdout
    assert any("the host b began" in each for each in found["remarks"])
    assert found["hosts"][1]["late_ns"] > 1e9 and found["measured_ns"] > 1e9
    assert said in (bench.folder / "sum.html").read_text()


def test_ctrl_c_ends_all_hosts_and_the_sum_until_then_is_told(bench, server, hosts):
    for name in ("a", "b"):
        hosts.add(name)
    requests: list[str] = []
    child = bench.start("load", "-q", "--hosts", "a,b", *hosts.words, "-r", 50, "-d", "60s",
                        "--no-preflight", "--json", "sum.json", server(counted(requests)).address)
    eventually("both are at work", lambda: len(requests) > 150)
    out, _ = bench.interrupted(child)
    found = bench.read(bench.folder / "sum.json", out)
    assert found["partial"] and found["attempts"] >= len(requests) > 150
    assert out.startswith("PARTIAL")
    assert found["measured_ns"] < 60e9


def test_ctrl_c_before_the_start_ends_the_hosts_too(bench, server, hosts):
    hosts.add("a", bench=None)
    hosts.add("b", "exec tail -f /dev/null")
    requests: list[str] = []
    child = bench.start("load", "-q", "--hosts", "a,b", *hosts.words, "--no-preflight",
                        server(counted(requests)).address)
    eventually("it was copied", lambda: list(hosts.folder.glob("a/tmp/*/cleat-bench")))
    out, err = bench.interrupted(child)
    assert out == "" and "interrupted before there was anything to tell" in err
    assert not hosts.left() and not requests


@pytest.mark.parametrize("moment", ["connecting", "at work"])
def test_a_program_that_is_killed_leaves_nothing_on_the_hosts(bench, server, hosts, moment):
    hosts.add("a", bench=None)
    if moment == "connecting":
        hosts.add("b", "exec tail -f /dev/null")
    requests: list[str] = []
    child = bench.start("load", "-q", "--hosts", "a,b" if moment == "connecting" else "a",
                        *hosts.words, "-r", 50, "-d", "60s", "--no-preflight",
                        server(counted(requests)).address)
    eventually("it was copied", lambda: list(hosts.folder.glob("a/tmp/*/cleat-bench")))
    if moment == "at work":
        eventually("it is at work", lambda: requests)
    child.kill()
    child.wait(DEADLINE)
    eventually("the copy is gone", lambda: not hosts.left())


@pytest.mark.parametrize(("words", "said"), [
    (("--hosts", "a,a"), "a is there twice"),
    (("--hosts", "a", "--start-at", "2030-01-01T00:00:00Z"), "the hosts begin together"),
    (("--hosts", "a", "--server-pid", "1"), "--server-pid: has no effect here"),
    (("--hosts", "a", "--as-host"), "--as-host: has no effect here"),
    (("--hosts", "a", "--ssh", "'"), "a quote ' has no end"),
    (("--hosts", "a", "--ssh-timeout", "soon"), "--ssh-timeout soon"),
    (("--hosts", "a", "-r", "-1"), "--rate"),
    (("--ssh", "ssh -v"), "--ssh: has no effect here"),
    (("--as-host", "--json", "a.json"), "--json: has no effect here"),
])
def test_options_that_make_no_sense_are_refused(bench, words, said):
    ran = bench.run("load", *words, "127.0.0.1:1")
    assert ran.returncode == 2 and said in ran.stderr


def test_a_program_that_is_not_there_is_said_with_the_cure(bench):
    ran = bench.run("load", "--hosts", "a", "--ssh", "/nowhere/ssh", "127.0.0.1:1")
    assert ran.returncode == 1
    assert "/nowhere/ssh: cannot be started: No such file" in ran.stderr
    assert "openssh-client" in ran.stderr


def test_a_host_alone_is_led_over_its_standard_input(bench, server):
    """The lines are few, and a host whose input ends does nothing."""
    child = bench.start("load", "--as-host", "-n", 3, server(http()).address)
    out, err = child.communicate(timeout=DEADLINE)
    assert child.returncode == 130 and out.splitlines() in ([], ["cleat-bench-host: ready"]), err
