"""HTTP/2 in `compare`: the same frames over each server, and why one has no part in it."""

import os
import shutil
from pathlib import Path

import pytest

from compared import Compared, scenario
from http2_server import ALPN, MAX_CONCURRENT_STREAMS, serves
from served import BINARIES, needs_origin, serving

pytestmark = needs_origin
PATH = f"{os.environ['PATH']}:/usr/sbin"
CONTROLS = [name for name in ("epoll", "asio") if (BINARIES / f"perf-{name}-relay").exists()]
PEERS = [name for name in ("nginx", "haproxy", "hitch") if shutil.which(name, path=PATH)]
OWN = f"{BINARIES / 'cleat'} -f [127.0.0.1]:{{port}} -b {{origin}} {{pem}}"


def over_http2(folder: Path, **words: object) -> Path:
    few = {"kind": "transfer-down", "bytes": "1K", "messages": 80, "connections": 2, "streams": 4,
           "warm_up": 8}
    return scenario(folder, **(few | words))


def test_requests_over_kept_connections(bench):
    names = ["cleat", *CONTROLS, *PEERS]
    found = Compared(
        bench, "--servers", ",".join(names), "--rounds", 1, "--scenario", over_http2(bench.folder)
    )
    assert found.trial["scenario"]["streams"] == 4
    for name in names:
        one = found.server(name)
        assert one["left_out"] is None and not one["complaints"], one
        (figures,) = one["rounds"]
        load = figures["load"]
        assert load["ok"] == load["attempts"] == 80 and load["connections"] == 2
        about = load["http2"]
        assert (about["streams"], about["streams_open_max"], about["limited"]) == (4, 4, 0)
        assert ["HTTP/2", "4 streams on each connection"] in load["asked"]
        assert load["bytes"]["down"] > 80 * 1024
    assert "\n  HTTP/2, 4 streams on each connection\n" in found.text
    assert 'alpn-protos = "h2"' in found.server("cleat")["config"]


def test_large_answers_have_all_of_their_bytes(bench):
    """They are more than one frame, and more than a socket takes at once."""
    found = Compared(
        bench, "--servers", "cleat", "--rounds", 1, "--scenario",
        over_http2(bench.folder, bytes="3M", messages=16),
    )
    (figures,) = found.server("cleat")["rounds"]
    assert figures["load"]["ok"] == 16 and figures["load"]["bytes"]["down"] > 16 * 3 * (1 << 20)


@pytest.mark.figures
def test_established_connections(bench):
    found = Compared(
        bench, "--servers", "cleat", "--rounds", 1, "--scenario",
        scenario(bench.folder, kind="established", connections=10, every="20ms", duration="1s",
                 streams=3),
    )
    (figures,) = found.server("cleat")["rounds"]
    load = figures["load"]
    assert 490 <= load["attempts"] == load["ok"] <= 510
    assert load["handshakes"]["full"] == 0 and load["http2"]["connections"] == 10


def test_a_server_without_http_2_is_named_with_the_reason(bench, server):
    """One of the user's own that selects no protocol, and one that runs already."""
    plain = server(serves())
    found = Compared(
        bench, "--servers", "cleat,stunnel", "--start", f"mine={OWN}", "--target",
        f"running={plain.address}", "--rounds", 1, "--scenario", over_http2(bench.folder),
    )
    names = ["mine", "running"] + ["stunnel"] * bool(shutil.which("stunnel4", path=PATH))
    for name in names:
        why = "left out: it cannot do this: no HTTP/2: the server selected no protocol"
        assert found.server(name)["left_out"].startswith(why)
        assert not found.server(name)["at_fault"]
        assert f"\n  - {name}: {why}" in found.text
    assert found.server("cleat")["left_out"] is None


def test_a_server_of_the_users_own_that_allows_fewer_streams(bench, server):
    running = server(
        serves(lambda client, stream: client.answer(stream, b"x" * 1024),
               {MAX_CONCURRENT_STREAMS: 3}), *ALPN)
    found = Compared(
        bench, "--target", f"mine={running.address}", "--rounds", 1, "--scenario",
        over_http2(bench.folder),
    )
    (figures,) = found.server("mine")["rounds"]
    assert figures["load"]["ok"] == 80 and figures["load"]["http2"]["streams_open_max"] == 3
    assert "- mine: it allowed 3 of 4 streams (SETTINGS_MAX_CONCURRENT_STREAMS)" in found.text


def test_a_served_server_and_its_origin_speak_it(bench):
    """GET and POST, as by HTTP/1.1, which the same origin speaks too."""
    with serving("cleat", "--scenario", "down-1k-http2") as (_, found):
        words = ("--no-preflight", found["address"])
        load = bench.load("--http2", "--keep", "--streams", 5, "-c", 2, "-n", 50, "--path", "/77",
                          "--expect-size", 77, *words)
        assert load["ok"] == 50 and load["http2"]["streams_open_max"] == 5
        load = bench.load("--http2", "-c", 2, "-n", 4, "--method", "POST", "--body-size", "300K",
                          "--expect-body", "307200", *words)
        assert load["ok"] == 4
        assert bench.load("-n", 4, "--path", "/7", "--expect-size", 7, *words)["ok"] == 4


@pytest.mark.parametrize(
    "words, complaint",
    [
        ({"streams": 0}, "streams = 0: write a number from 1 to 10000"),
        ({"messages": 7}, "a connection has 3 messages for 4 streams: ask for more messages"),
        ({"kind": "transfer-up"}, "kind = transfer-up has no such key"),
    ],
)
def test_a_scenario_that_makes_no_sense(bench, words, complaint):
    ran = bench.run("compare", "--servers", "cleat", "--scenario",
                    over_http2(bench.folder, **words))
    assert ran.returncode == 2 and complaint in ran.stderr, ran.stderr
