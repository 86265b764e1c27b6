"""Memory of the server per connection that is held."""

import json

from stories import http


def test_the_slope(bench, server):
    target = server(http())
    ran = bench.run("idle", "--server-pid", target.pid, "--counts", "50,100,150", "--settle",
                    "100ms", "--json", "i.json", target.address)
    assert ran.returncode == 0, ran.stderr
    found = json.loads((bench.folder / "i.json").read_text())
    assert [each["connections"] for each in found["levels"]] == [0, 50, 100, 150]
    sizes = [each["pss_bytes"] for each in found["levels"]]
    assert sizes[-1] > sizes[0] > 0
    assert found["bytes_per_connection"] > 500
    assert "KiB for each idle connection" in ran.stdout


def test_whose_memory(bench):
    ran = bench.run("idle", "127.0.0.1:1")
    assert ran.returncode == 2 and "--server-pid" in ran.stderr
    ran = bench.run("idle", "--server-pid", 1, "--counts", "5,4", "127.0.0.1:1")
    assert ran.returncode == 2 and "go up" in ran.stderr
