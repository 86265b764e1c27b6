"""perf/preconnect.py: what is saved is the difference within a round, and not of two medians."""

import preconnect


def window(ready: int, p50_ms: float, upstream: str = "tcp") -> dict:
    figures = {"p99_s": p50_ms / 500, "ready": 0.75 if ready else 0, "cpu_s": 0.001}
    return {"upstream": upstream, "preconnect": ready, "p50_s": p50_ms / 1000, **figures}


def test_what_is_saved_is_of_the_same_round() -> None:
    rounds = [
        each
        for without, ready in ((20, 10), (40, 11), (22, 21))
        for each in (window(0, without), window(8, ready))
    ]
    without, ready = preconnect.rows(rounds)
    assert without == ["TCP", "none", "22.00 ms", "44.00 ms", "", "", "1000 us"]
    assert ready[:4] == ["TCP", "8", "11.00 ms", "22.00 ms"]
    assert ready[4:] == ["10.00 ms (1.00..29.00)", "75.0%", "1000 us"]


def test_each_upstream_has_its_rows() -> None:
    rounds = [window(0, 20), window(8, 10), window(0, 30, "tls"), window(8, 10, "tls")]
    shown = preconnect.rows(rounds)
    assert [each[0] for each in shown] == ["TCP", "TCP", "TLS 1.3", "TLS 1.3"]
    assert shown[3][4] == "20.00 ms (20.00..20.00)"
