"""The histograms in a result are HdrHistogram's own format: its library reads them, and finds what
we say that they hold."""

import pytest

from http_handlers import http

hdrh = pytest.importorskip(
    "hdrh.histogram", reason="pip install hdrhistogram (scripts/setup check does)"
)


def test_hdrhistogram_reads_what_we_write(bench, server):
    found = bench.load("-c", 8, "-n", 300, server(http()).address)
    for stage in ("tcp", "tls", "first_byte", "response"):
        ours = found["latency"][stage]
        theirs = hdrh.HdrHistogram.decode(ours["hdr"])
        assert theirs.get_total_count() == ours["count"] == 300
        levels = {"p50_ns": 50, "p90_ns": 90, "p99_ns": 99, "p99_9_ns": 99.9}
        for ours_name, percent in levels.items():
            # Ours never says more than the largest value that there was.
            assert min(theirs.get_value_at_percentile(percent), ours["max_ns"]) == ours[ours_name]


def test_we_read_what_hdrhistogram_writes(bench, server):
    import json

    bench.load("-n", 20, server(http()).address)
    path = bench.folder / "1.json"
    found = json.loads(path.read_text())
    theirs = hdrh.HdrHistogram(1, 3_600_000_000_000, 3)
    for value in range(1, 21):
        theirs.record_value(value * 1_000_000)
    found["latency"]["response"].update(
        hdr=theirs.encode().decode(), min_ns=1_000_000, max_ns=20_000_000
    )
    path.write_text(json.dumps(found))
    ran = bench.run("merge", path, "--json", "again.json")
    assert ran.returncode == 0, ran.stderr
    again = json.loads((bench.folder / "again.json").read_text())["latency"]["response"]
    assert again["count"] == 20
    assert again["p50_ns"] == theirs.get_value_at_percentile(50)
