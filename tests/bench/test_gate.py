"""A load as a gate in CI: conditions, an earlier result, and files for other tools."""

import csv
import io
import itertools
import xml.etree.ElementTree as xml

import pytest
from http_handlers import http
from load_results import load_result, write


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
    ran = bench.run("load", "-r", 80, "-d", "1s", "--baseline", "1.json", fast.address)
    assert ran.returncode == 1 and "another kind or rate" in ran.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["--fail-if", "p99"], "FIGURE > LIMIT"),
        (["--fail-if", "p99 > 50"], "like 50ms"),
        (["--tolerance", "5%"], "--baseline"),
        (["--junit", "x"], "--fail-if"),
        (["--baseline", "/nowhere.json"], "/nowhere.json"),
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
