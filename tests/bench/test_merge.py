"""Results of several generators add up exactly, and what does not fit together is refused."""

import json

from stories import http


def test_two_results_are_one(bench, server):
    target = server(http())
    for name, count in (("a", 30), ("b", 50)):
        words = ("-q", "-c", 2, "-n", count, "--json", f"{name}.json")
        ran = bench.run("load", *words, target.address)
        assert ran.returncode == 0, ran.stderr
    ran = bench.run("merge", "a.json", "b.json", "--json", "sum.json")
    assert ran.returncode == 0, ran.stderr
    a, b, both = (bench.read(bench.folder / f"{name}.json") for name in ("a", "b", "sum"))
    assert both["ok"] == 80
    for stage in ("tcp", "tls", "first_byte", "response"):
        one, other, merged = (x["latency"][stage] for x in (a, b, both))
        assert merged["count"] == one["count"] + other["count"]
        assert merged["min_ns"] == min(one["min_ns"], other["min_ns"])
        assert merged["max_ns"] == max(one["max_ns"], other["max_ns"])
        mean = (one["mean_ns"] * one["count"] + other["mean_ns"] * other["count"]) / merged["count"]
        assert abs(merged["mean_ns"] - mean) < 1


def test_one_result_merged_alone_is_itself(bench, server):
    bench.run("load", "-q", "-n", 10, "--json", "a.json", server(http()).address)
    bench.run("merge", "a.json", "--json", "b.json")
    one, same = (json.loads((bench.folder / name).read_text()) for name in ("a.json", "b.json"))
    assert one == same


def test_what_is_no_result(bench):
    (bench.folder / "x.json").write_text("{}")
    ran = bench.run("merge", "x.json")
    assert ran.returncode == 1 and "x.json" in ran.stderr
    (bench.folder / "x.json").write_text("no JSON")
    ran = bench.run("merge", "x.json")
    assert ran.returncode == 1 and "x.json: not JSON" in ran.stderr
    assert "boost" not in ran.stderr and "(" not in ran.stderr.replace("(syntax error)", "")
    ran = bench.run("merge", "nowhere.json")
    assert ran.returncode == 1 and "nowhere.json" in ran.stderr


def test_an_open_and_a_closed_loop_do_not_fit(bench, server):
    target = server(http())
    bench.run("load", "-q", "-n", 5, "--json", "a.json", target.address)
    bench.run("load", "-q", "-r", 10, "-d", "1s", "--json", "b.json", target.address)
    ran = bench.run("merge", "a.json", "b.json")
    assert ran.returncode == 1 and "open loop" in ran.stderr


def test_no_result_is_overwritten_with_what_is_made_of_it(bench, server):
    """Files are told apart by what they are, not by their names."""
    bench.run("load", "-q", "-n", 3, "--json", "a.json", server(http()).address)
    (bench.folder / "link.json").symlink_to("a.json")
    before = (bench.folder / "a.json").read_text()
    for words in (
        ("report", "a.json", "--out", "a.json"),
        ("report", "a.json", "--out", "link.json"),
        ("merge", "a.json", "--html", "./a.json"),
        ("merge", "link.json", "--json", "a.json"),
    ):
        ran = bench.run(*words)
        assert ran.returncode == 1 and "overwrite" in ran.stderr, words
        assert (bench.folder / "a.json").read_text() == before
