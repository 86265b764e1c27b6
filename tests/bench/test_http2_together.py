"""Requests by HTTP/2 of several processes: from hosts, and as merged results."""

import time

from deadlines import eventually
from fake_ssh import FakeHosts
from http2_server import ALPN, Seen, serves
from unsent import sent


def test_the_sum_of_hosts(bench, server, tmp_path):
    hosts = FakeHosts(tmp_path)
    hosts.add("a")
    hosts.add("b")
    seen = Seen()
    target = server(serves(seen=seen), *ALPN)
    found = bench.load("--http2", "--hosts", "a,b", *hosts.words, "-c", 1, "-r", 20, "-d", "1s",
                       "--keep", "--streams", 4, "--no-preflight", target.address)
    assert found["ok"] == seen.requests == 40
    assert found["http2"]["streams"] == 4 and found["http2"]["connections"] == 2
    assert ["HTTP/2", "4 streams on each connection"] in found["asked"]
    eventually("nothing is left on the hosts", lambda: not hosts.left())


def test_merged_results(bench, server):
    target = server(serves(), *ALPN)
    words = ("-c", 1, "-r", 20, "-d", "2s", "--keep", "--streams", 2)
    begin = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 8))
    both = [bench.start("load", "--http2", *words, "--start-at", begin, "-q", "--workers", 1,
                        "--json", name, target.address) for name in ("1.json", "2.json")]
    for each in both:
        out, err = each.communicate()
        assert each.returncode in (0, 4), err
    ran = bench.run("merge", "1.json", "2.json", "--json", "sum.json")
    assert ran.returncode == 0, ran.stderr
    found = bench.read(bench.folder / "sum.json")
    assert found["attempts"] == 80 and found["ok"] == sent(found)
    assert found["http2"]["connections"] == 2
