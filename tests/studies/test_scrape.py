"""perf/scrape.py: it scrapes as often as it says, and its ratios are those of a round."""

import argparse
import http.client
import http.server
import os
import threading
from pathlib import Path
from typing import Iterator

import pytest

import scrape

ROOT = Path(__file__).resolve().parents[2]
KINDS = [kind.name for kind in scrape.KINDS]


def a_round(named: int, *p99_ms: float) -> dict:
    windows = {
        name: {"p50_ms": 0.1, "p99_ms": p99, "scrapes_ms": []}
        for name, p99 in zip(KINDS, p99_ms, strict=True)
    }
    return {"certificates": 5, "certificate_metrics": named, "windows": windows}


def test_rows_are_medians_and_ratios_are_taken_within_a_round() -> None:
    rounds = [
        a_round(0, 1.0, 1.0, 2.0, 3.0),
        a_round(0, 2.0, 2.2, 3.0, 2.0),
        a_round(0, 4.0, 3.6, 4.0, 4.0),
    ]
    rows = scrape.beside_rows(rounds)
    assert [[*row[:3], row[4]] for row in rows] == [
        ["0", KINDS[0], "0.10 ms", "2.00 ms"],
        ["0", KINDS[1], "0.10 ms", "2.20 ms"],
        ["0", KINDS[2], "0.10 ms", "3.00 ms"],
        ["0", KINDS[3], "0.10 ms", "3.00 ms"],
    ]
    assert [row[3] for row in rows] == ["", *["1.00 (1.00..1.00)"] * 3]
    assert [row[5] for row in rows] == [
        "", "1.00 (0.90..1.10)", "1.50 (1.00..2.00)", "1.00 (1.00..3.00)",
    ]  # fmt: skip
    assert all(len(row) == len(scrape.BESIDE_HEADS) for row in rows)


class Counted(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = 0
    third = threading.Event()

    def do_GET(self) -> None:
        Counted.asked += 1
        if Counted.asked == 3:
            Counted.third.set()
        self.send_response(200)
        self.send_header("Content-Length", "1")
        self.end_headers()
        self.wfile.write(b"x")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[http.client.HTTPConnection]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Counted) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield http.client.HTTPConnection("127.0.0.1", made.server_port)
        made.shutdown()
        thread.join()


def test_a_scraper_asks_until_it_is_left(server: http.client.HTTPConnection) -> None:
    before = os.nice(0)
    with scrape.Scraper(server, "/", 100) as page:
        assert Counted.third.wait(60)
    assert len(page.times_ms) == Counted.asked >= 3
    assert os.nice(0) == before  # Only its thread gives way.
    server.close()


def test_a_round_has_a_window_of_each_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A connection has two seconds for an answer: other tests run beside.
    monkeypatch.setattr(scrape, "REQUESTS", 20)
    monkeypatch.setattr(scrape, "ESTABLISHED", 40)
    binaries = Path(os.environ.get("CLEAT_BIN", ROOT / "build/release/bin"))
    options = argparse.Namespace(binaries=binaries, count=3, window=2)
    scrape.make_certificates(tmp_path / "certificates", 3, scrape.Issuer())
    affinity = os.sched_getaffinity(0)
    found = scrape.beside(options, tmp_path / "certificates", tmp_path, 2, 1)["windows"]
    assert os.sched_getaffinity(0) == affinity
    assert sorted(found) == sorted(KINDS)
    assert all(each["requests"] == scrape.REQUESTS * options.window for each in found.values())
    assert found["without"]["scrapes_ms"] == []
