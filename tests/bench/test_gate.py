"""A load as a gate in CI: conditions, an earlier result, and files for other tools."""

import csv
import io
import itertools
import json
import xml.etree.ElementTree as xml

import pytest
from http_handlers import http
from load_results import idle_result, load_result, staircase_result, write


def test_a_run_passes_or_fails_by_its_conditions(bench, server):
    target = server(http())
    words = ("load", "-q", "-n", 50, "-c", 2, "--junit", "j.xml", "--csv", "f.csv",
             "--prometheus", "f.prom", target.address)
    good = bench.run(*words, "--fail-if", "p99 > 30s, failed > 0.1%, rate < 0.001")
    assert good.returncode == 0, good.stderr
    assert "passed: p99 > 30s: it was " in good.stdout
    suite = xml.parse(bench.folder / "j.xml").getroot()
    assert suite.attrib["tests"] == "3" and suite.attrib["failures"] == "0"
    (row,) = csv.DictReader(io.StringIO((bench.folder / "f.csv").read_text()))
    assert row["target"] == target.address and float(row["ok"]) == 50 and row["rate_asked"] == ""
    assert 'cleat_bench_failed{name="' in (bench.folder / "f.prom").read_text()

    bad = bench.run(*words, "--fail-if", "resumed < 99%, failed > 0.1%")
    assert bad.returncode == 3
    assert "FAILED: resumed < 99%: it was 0 %\npassed: failed > 0.1%: it was 0 %" in bad.stdout
    suite = xml.parse(bench.folder / "j.xml").getroot()
    assert suite.attrib["failures"] == "1"
    (failure,) = suite.iter("failure")
    assert failure.attrib["message"] == "resumed < 99%: it was 0 %"


@pytest.mark.figures
def test_a_run_beside_an_earlier_one(bench, server):
    # A busy machine's own delays are milliseconds: they are small beside the servers'.
    fast, slow = server(http(delay=0.1)), server(http(delay=0.4))
    bench.load("-r", 50, "-d", "2s", fast.address)
    words = ("-r", 50, "-d", "2s", "--baseline", "1.json", "--tolerance")
    bench.load(*words, "100%", fast.address)
    found = bench.load(*words, "30%", slow.address, code=3)
    assert "FAILED: p50 worse by 30 %: it was " in found["text"]


@pytest.mark.parametrize(
    "words, said",
    [
        (["--fail-if", "p99"], "FIGURE > LIMIT"),
        (["--fail-if", "p99 > 50"], "like 50ms"),
        (["--tolerance", "5%"], "--baseline"),
        (["--junit", "x"], "--fail-if"),
    ],
)
def test_gates_that_make_no_sense(bench, words, said):
    ran = bench.run("load", *words, "127.0.0.1")
    assert ran.returncode in (1, 2) and said in ran.stderr


OUTPUTS = ["--json", "--html", "--junit", "--csv", "--prometheus"]


@pytest.mark.parametrize("first, second", list(itertools.combinations(OUTPUTS, 2)))
def test_two_results_in_one_file(bench, first, second):
    ran = bench.run(
        "load", "--fail-if", "p99 > 1s", first, "x", second, "./x", "--no-preflight", "127.0.0.1"
    )
    assert ran.returncode == 2 and "one file" in ran.stderr
    assert first in ran.stderr and second in ran.stderr
    assert not list(bench.folder.iterdir())


@pytest.mark.parametrize("option", OUTPUTS)
def test_a_result_in_place_of_a_file_that_the_load_reads(bench, option):
    (path,) = write(bench.folder, load_result(seconds=1, rate_asked=None))
    before = path.read_text()
    for words in (("--baseline", path), ("--raw-file", path, "--fail-if", "p99 > 1s")):
        ran = bench.run("load", *words, option, path, "--no-preflight", "127.0.0.1")
        assert ran.returncode == 2 and f"{option} {path}: that would overwrite" in ran.stderr
        assert path.read_text() == before


def test_no_file_is_left_behind_by_one_that_cannot_be_written(bench):
    ran = bench.run("load", "--json", "x", "--csv", "/nowhere/y", "--no-preflight", "127.0.0.1")
    assert ran.returncode == 1 and "--csv /nowhere/y: cannot be written" in ran.stderr
    assert not list(bench.folder.iterdir())


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "not JSON (incomplete JSON)"),
        ("[]", "it is no document of cleat-bench"),
        ("{}", "it is no document of cleat-bench"),
        (load_result(cleat_bench=0), "it has version 0, and this program reads version 1"),
        (load_result(attempts=None), "'attempts' is missing"),
        (load_result(cpu_ns="much"), "'cpu_ns' is not a count"),
        ({"cleat_bench": 1, "kind": "compare"}, "it is a result of cleat-bench compare"),
        (idle_result(), "it is a result of cleat-bench idle"),
        (staircase_result(), "it is the result of a staircase"),
        (load_result(transfer={}), "it is the result of a transfer"),
        (load_result(rate=50), "its rate is 50/s, and that of this load 80/s"),
        (load_result(rate_asked=None), "'closed loop', and this load of the kind 'open loop'"),
        (
            load_result(rate=80, asked={"kept connections": "4, 80 requests/s together"}),
            "of the kind 'kept connections', and this load of the kind 'open loop'",
        ),
    ],
)
def test_a_baseline_that_says_nothing_of_the_load(bench, text, reason):
    """The load does not run: it would end without a judgement."""
    words = text if isinstance(text, str) else json.dumps(text)
    (bench.folder / "main.json").write_text(words)
    ran = bench.run(
        "load", "-r", 80, "-d", "1h", "--no-preflight", "--baseline", "main.json", "127.0.0.1"
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith("cleat-bench: --baseline main.json: ") and reason in ran.stderr
    assert "name a file that `load --json` of this version wrote" in ran.stderr
    assert "boost" not in ran.stderr


def test_a_baseline_that_is_missing(bench):
    ran = bench.run("load", "--baseline", "main.json", "127.0.0.1")
    assert ran.returncode == 2
    assert "--baseline main.json: cannot be read: No such file or directory: name" in ran.stderr
