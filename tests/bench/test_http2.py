"""Requests by HTTP/2: over new and kept connections, on several streams at once, at a rate, and
each way in which a server can be wrong."""

import csv
import re
import socket
import time

import pytest

import browser
import nghttpd_server
import nginx_server
from deadlines import eventually
from http2_server import (
    ALPN, CANCEL, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, HEADERS, INITIAL_WINDOW_SIZE,
    INTERNAL_ERROR, MAX_CONCURRENT_STREAMS, NO_ERROR, PING, REFUSED_STREAM, Seen, after, answer,
    frame, goaway, reset, serves, settings, slow,
)  # fmt: skip
from http_handlers import http
from unsent import failures_of_sent, sent

with_nginx = pytest.mark.skipif(nginx_server.PROGRAM is None, reason=nginx_server.MISSING)


def load(bench, target, *words: object, code: int = 0) -> dict:
    return bench.load("--http2", *words, getattr(target, "address", target), code=code)


def failure(found: dict) -> tuple[str, str]:
    (only,) = found["failures"]
    return only["stage"], only["kind"]


@pytest.fixture
def nginx(certs, tmp_path):
    """nginx starts one with these settings."""
    running = []

    def start(settings: str = "", log: str = "$status $uri $server_protocol $connection"):
        folder = tmp_path / f"nginx{len(running)}"
        folder.mkdir()
        made = nginx_server.Nginx(
            folder, certs.ecdsa, settings + ' location / { return 200 "hello"; }', log, "http2")
        running.append(made.__enter__())
        return made

    yield start
    for each in running:
        each.__exit__()


# Counts are those of the server's log.


@with_nginx
@pytest.mark.parametrize(
    "words, connections",
    [
        ((), 60),
        (("--requests", 10), 6),
        (("--requests", 10, "--streams", 4), 6),
        (("--keep",), 3),
        (("--keep", "--streams", 7), 3),
    ],
)
def test_the_server_logs_each_request(bench, nginx, words, connections):
    target = nginx()
    found = load(bench, target, "-c", 3, "-n", 60, *words, "--expect-body", "hello",
                 "--no-preflight", "--workers", 1)
    assert found["attempts"] == found["ok"] == 60
    assert found["connections"] == found["handshakes"]["full"] == connections
    assert found["http2"]["connections"] == connections
    eventually("nginx logs all", lambda: len(target.requests()) == 60)
    assert {each.rsplit(" ", 1)[0] for each in target.requests()} == {"200 / HTTP/2.0"}
    assert len({each.rsplit(" ", 1)[1] for each in target.requests()}) == connections


@with_nginx
@pytest.mark.several_workers
def test_several_paths_are_requested_by_their_weights(bench, nginx):
    target = nginx("location /b { return 404; }")
    found = load(bench, target, "-c", 2, "-n", 200, "--keep", "--streams", 5, "--path", "/a 3",
                 "--path", "/b", "--no-preflight")
    a, b = found["paths"]
    assert (a["path"], b["path"]) == ("/a", "/b")
    assert a["ok"] == a["attempts"] > b["attempts"] > 0 == b["ok"]
    eventually("nginx logs all", lambda: len(target.requests()) == 200)
    logged = [each.split()[:2] for each in target.requests()]
    assert logged.count(["200", "/a"]) == a["attempts"]
    assert logged.count(["404", "/b"]) == b["attempts"]
    assert failure(found) == ("answer", "wrong status 404")


@with_nginx
def test_a_request_has_the_users_method_fields_and_body(bench, nginx):
    target = nginx("client_body_buffer_size 1m; location /up { proxy_pass http://127.0.0.1:1; }",
                   "$request_method $host $http_x_own $http_user_agent $content_length")
    found = load(bench, target, "-n", 1, "-c", 1, "--path", "/up", "--method", "POST",
                 "--body-size", "300K", "--header", "X-Own: yes", "--header", "Host: a.example",
                 "--expect-status", "502", "--no-preflight")
    assert found["ok"] == 1 and found["bytes"]["up"] > 300 * 1024
    eventually("nginx logs it", target.requests)
    assert target.requests() == ["POST a.example yes cleat-bench 307200"]
    head = load(bench, target, "-n", 1, "-c", 1, "--method", "HEAD", "--no-preflight")
    assert head["ok"] == 1


@with_nginx
def test_resumed_sessions(bench, nginx):
    target = nginx("ssl_session_cache shared:a:1m; ssl_protocols TLSv1.3;")
    found = load(bench, target, "-c", 1, "-n", 20, "--reuse", 4, "--workers", 1)
    assert (found["handshakes"]["full"], found["handshakes"]["resumed"]) == (5, 15)


@with_nginx
def test_a_graceful_goaway_is_no_failure(bench, nginx):
    """nginx ends a connection so after a number of requests, and leaves later ones out."""
    target = nginx("keepalive_requests 20;")
    found = load(bench, target, "-c", 2, "-n", 500, "--keep", "--streams", 8, "--no-preflight",
                 "--workers", 1)
    assert found["attempts"] == found["ok"] == 500 and found["failed"] == 0
    eventually("nginx logs all", lambda: len(target.requests()) == 500)
    assert found["http2"]["goaways"] >= 20
    assert found["connections"] == found["handshakes"]["full"] >= 25
    assert re.search(r"\n +\d+ ended by GOAWAY, \d+ requests? sent again", found["text"])


@with_nginx
@pytest.mark.several_workers
def test_a_server_that_allows_fewer_streams(bench, nginx):
    found = load(bench, nginx("http2_max_concurrent_streams 3;"), "-c", 2, "-n", 300, "--keep",
                 "--streams", 10)
    about = found["http2"]
    assert found["ok"] == 300
    assert (about["streams"], about["streams_open_max"], about["streams_allowed_min"]) == (10, 3, 3)
    assert about["limited"] == about["connections"] == 2
    said = "the server allowed 3 of 10 streams on 2 of 2 connections"
    assert said in found["text"] and any(said in each for each in found["remarks"])
    assert "fewer allowed on 2 of 2 connections" in found["text"]


@pytest.mark.skipif(nghttpd_server.PROGRAM is None, reason=nghttpd_server.MISSING)
@pytest.mark.several_workers
def test_nghttpd(bench, certs, tmp_path):
    """Files of each size, beyond the windows that a client begins with; and uploads."""
    files = tmp_path / "files"
    files.mkdir()
    for size in (0, 1, 16384, 70000, 3_000_000):
        (files / str(size)).write_bytes(b"x" * size)
    with nghttpd_server.Nghttpd(files, certs.ecdsa) as target:
        for size in (0, 1, 16384, 70000, 3_000_000):
            found = load(bench, target, "-c", 2, "-n", 24, "--requests", 6, "--streams", 3,
                         "--path", f"/{size}", "--expect-size", size)
            assert found["ok"] == 24 and found["connections"] <= 5
            assert found["bytes"]["down"] >= 24 * size
        up = load(bench, target, "-c", 1, "-n", 8, "--keep", "--streams", 4, "--path", "/1",
                  "--method", "POST", "--body-size", "1M")
        assert up["ok"] == 8 and up["bytes"]["up"] >= 8 << 20
        wrong = load(bench, target, "-c", 1, "-n", 2, "--path", "/none", "--no-preflight", code=1)
        assert failure(wrong) == ("answer", "wrong status 404")


# Times.


@pytest.mark.figures
@pytest.mark.parametrize("way", [("-n", 20), ("-n", 20, "--keep", "--streams", 5),
                                 ("-r", 40, "-d", "1s"),
                                 ("-r", 40, "-d", "1s", "--keep", "--streams", 5)])
def test_a_server_that_takes_50_ms(bench, server, way):
    where = () if way[0] == "-r" and "--keep" not in way else ("-c", 2)
    found = load(bench, server(serves(slow(0.05)), *ALPN), *where, *way)
    assert found["ok"] == sent(found) > 0
    if way[0] == "-r":
        assert found["attempts"] == 40 and found["rate_asked"] == 40
    # The shortest of them: other programs of the machine can make none shorter.
    assert 50e6 <= found["latency"]["first_byte"]["min_ns"] < 100e6
    assert 50e6 <= found["latency"]["response"]["min_ns"] < 100e6


@pytest.mark.figures
def test_one_stream_is_a_queue_where_several_are_none(bench, server):
    """One connection to a server of 50 ms: 20/s on one stream, and 4 times that on four."""
    target = server(serves(slow(0.05)), *ALPN)
    one = load(bench, target, "-c", 1, "-r", 40, "-d", "2s", "--keep")
    assert not one["kept_up"] and 0 < one["rate"] <= 20
    assert one["ok"] == sent(one) <= 40 and not failures_of_sent(one)
    four = load(bench, target, "-c", 1, "-r", 40, "-d", "2s", "--keep", "--streams", 4)
    assert four["ok"] == sent(four) > one["ok"]
    assert four["http2"]["streams_open_max"] in (2, 3, 4)
    assert four["latency"]["response"]["min_ns"] < 100e6
    assert four["connections"] == 1


@pytest.mark.figures
def test_a_stall_is_seen_by_all_requests_that_were_due_in_it(bench, server):
    def act(client, stream):
        if client.number == 20:
            time.sleep(0.5)  # It is the stall that is to be found.
        client.answer(stream)

    found = load(bench, server(serves(act), *ALPN), "-c", 1, "-r", 40, "-d", "2s", "--keep",
                 "--streams", 4, "--no-preflight")
    assert found["attempts"] == 80 and found["ok"] == sent(found)
    response = found["latency"]["response"]
    assert 500e6 < response["max_ns"]
    if sent(found) == 80:  # No percentile is known where a tenth was not sent.
        assert response["p90_ns"] > 200e6, "20 of 80 were due while it stood still"
    # The wait is the server's: the generator was in time for nine of ten.
    assert found["latency"]["slip"]["p90_ns"] < 200e6


@pytest.mark.figures
def test_a_closed_loop_has_as_many_requests_open_as_streams(bench, server):
    seen = Seen()
    found = load(bench, server(serves(slow(0.05), seen=seen), *ALPN), "-c", 2, "--keep",
                 "--streams", 10, "-d", "2s", "--no-preflight")
    assert found["failed"] == 0 and found["attempts"] == seen.requests
    assert 1 < seen.open_max <= found["http2"]["streams_open_max"] == 10
    assert 20 <= found["ok"] <= 820, "20 streams of 50 ms are 400/s at most"


# Servers that refuse, and those that are wrong.


@pytest.mark.parametrize(
    "act, kind",
    [
        (lambda c, s: c.send(reset(s, INTERNAL_ERROR)), "RST_STREAM INTERNAL_ERROR"),
        (lambda c, s: c.send(reset(s, REFUSED_STREAM)), "RST_STREAM REFUSED_STREAM"),
        (lambda c, s: c.send(answer(s, b"half", whole=False) + reset(s, CANCEL)),
         "RST_STREAM CANCEL"),
        (lambda c, s: c.send(goaway(0, ENHANCE_YOUR_CALM)),
         "unprocessed, GOAWAY ENHANCE_YOUR_CALM"),
        (lambda c, s: c.send(goaway(0, NO_ERROR)), "unprocessed, GOAWAY NO_ERROR"),
        (lambda c, s: c.send(goaway(s, INTERNAL_ERROR)) or False, "GOAWAY INTERNAL_ERROR"),
        (lambda c, s: False, "closed early"),
        (lambda c, s: c.send(answer(s, b"half", whole=False)) or False, "closed early"),
        (lambda c, s: c.send(frame(PING, payload=b"short")), "protocol: FRAME_SIZE_ERROR"),
        (lambda c, s: c.send(frame(HEADERS, END_HEADERS | END_STREAM, s, b"\x00\x01x\x011")),
         "protocol: malformed answer"),
        (lambda c, s: c.answer(s, b"", "503"), "wrong status 503"),
    ],
)  # fmt: skip
def test_a_request_that_fails(bench, server, act, kind):
    """Two requests of each connection are answered, the third one fails."""
    found = load(bench, server(serves(after(2, act)), *ALPN), "-c", 1, "-n", 6, "--requests", 3,
                 "--no-preflight")
    assert failure(found) == ("answer", kind)
    assert (found["ok"], found["failed"], found["connections"]) == (4, 2, 2)


@pytest.mark.parametrize("way", [("-n", 30), ("-r", 40, "-d", "1s")])
def test_a_kept_connection_is_replaced_after_a_failure(bench, server, way):
    act = after(4, lambda c, s: c.send(goaway(s, INTERNAL_ERROR)) or False)
    found = load(bench, server(serves(act), *ALPN), "-c", 1, "--keep", "--no-preflight", *way)
    of_sent = {("answer", "GOAWAY INTERNAL_ERROR"): sent(found) // 5}
    assert failures_of_sent(found) == of_sent and found["http2"]["goaways"] == sent(found) // 5
    # The one after the last failure may have no request before the time is up.
    assert found["connections"] in {-(-sent(found) // 5), -(-found["attempts"] // 5)}


def test_a_connection_that_ends_between_two_requests_is_no_failure(bench, server):
    """The end comes with the answer before it: a later end could meet the next request."""

    def act(client, stream):
        if client.number == 5:
            client.upstream.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        client.answer(stream)
        return client.number < 5

    found = load(bench, server(serves(act), *ALPN), "-c", 1, "-r", 40, "-d", "1s", "--keep",
                 "--no-preflight")
    assert found["attempts"] == 40 and not failures_of_sent(found)
    assert found["connections"] in {-(-sent(found) // 5), 8}


def test_a_request_that_is_left_out_is_sent_again(bench, server):
    """Of five streams the server answers the first two, and leaves the others out."""
    seen = Seen()

    def act(client, stream):
        if client.number < 5:
            return True
        first, second, *_ = sorted(client.open)
        client.send(goaway(second, NO_ERROR) + answer(first) + answer(second))
        return True

    found = load(bench, server(serves(act, seen=seen), *ALPN), "-c", 1, "-n", 8, "--keep",
                 "--streams", 5, "--no-preflight", "--answer-timeout", "2s")
    # 5, of them 2 ok; 3 again and 2 new ones, of them 2 ok; 3 again and 1 new one: 4 wait.
    assert found["ok"] == 4 and found["http2"]["resent"] == 6
    assert failure(found) == ("answer", "timeout") and found["failed"] == 4
    assert found["connections"] == 3 and seen.requests == 14


def test_requests_wait_for_as_long_as_their_own_silence(bench, server):
    """One stream of a connection is never answered, and the others go on."""

    def act(client, stream):
        if client.number != 3:
            client.answer(stream)

    seen = Seen()
    found = load(bench, server(serves(act, seen=seen), *ALPN), "-c", 1, "-r", 20, "-d", "1s",
                 "--keep", "--streams", 2, "--answer-timeout", "2s", "--no-preflight")
    assert failures_of_sent(found) == {("answer", "timeout"): 1}
    assert (found["ok"], found["connections"]) == (sent(found) - 1, 1)
    eventually("the client has reset the stream", lambda: seen.resets == [CANCEL])
    eventually("and ended the connection", lambda: seen.goaways == [NO_ERROR])


def test_a_silent_connection_is_replaced(bench, server):
    """After its time-out a request goes over another connection."""
    act = after(2, lambda client, stream: True)
    found = load(bench, server(serves(act), *ALPN), "-c", 1, "-n", 6, "--keep",
                 "--answer-timeout", "1s", "--no-preflight")
    assert failure(found) == ("answer", "timeout")
    assert (found["ok"], found["failed"], found["connections"]) == (4, 2, 2)


def test_a_window_that_stays_closed(bench, server):
    """The server never takes the whole request: a time-out, not a wait for ever."""
    found = load(bench, server(serves(values={INITIAL_WINDOW_SIZE: 100}), *ALPN), "-c", 1, "-n", 1,
                 "--method", "POST", "--body-size", "100K", "--answer-timeout", "1s",
                 "--no-preflight", code=1)
    assert failure(found) == ("answer", "timeout")
    assert 65535 < found["bytes"]["up"] < 70000, "the window before the server's settings"


def test_an_answer_before_the_whole_request(bench, server):
    seen = Seen()
    target = server(serves(seen=seen, first=settings({}) + answer(1, b"", "413")), *ALPN)
    found = load(bench, target, "-c", 1, "-n", 1, "--method", "POST", "--body-size", "10M",
                 "--expect-status", "413", "--no-preflight")
    assert found["ok"] == 1 and found["bytes"]["up"] < 200_000


@pytest.mark.parametrize(
    "first, kind",
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "protocol: SETTINGS expected"),
        (settings({INITIAL_WINDOW_SIZE: 1 << 31}), "protocol: "),
        (settings({}) + frame(DATA, END_STREAM, 1, b"no head"), "protocol: "),
        (settings({}) + answer(2), "protocol: "),
    ],
)
def test_a_server_that_breaks_the_protocol(bench, server, first, kind):
    found = load(bench, server(serves(lambda c, s: True, first=first), *ALPN), "-c", 1, "-n", 2,
                 "--no-preflight", code=1)
    assert failure(found)[0] == "answer" and failure(found)[1].startswith(kind)


def test_a_server_that_allows_no_stream(bench, server):
    target = server(serves(values={MAX_CONCURRENT_STREAMS: 0}), *ALPN)
    found = load(bench, target, "-c", 1, "-n", 4, "--requests", 2, "--no-preflight")
    assert failure(found) == ("request", "no stream allowed")
    assert found["ok"] == found["failed"] == 2, "the first request need not wait for the settings"


def test_settings_and_pings_are_answered(bench, server):
    seen = Seen()

    def act(client, stream):
        client.send(frame(PING, payload=b"are you?"))
        client.answer(stream)

    found = load(bench, server(serves(act, seen=seen), *ALPN), "-c", 1, "-n", 10,
                 "--keep", "--no-preflight")
    assert found["ok"] == 10
    eventually("they are", lambda: seen.pongs == [b"are you?"] * 10 and seen.acks == 1)


def test_a_server_without_http2(bench, server):
    target = server(http())
    found = load(bench, target, "-c", 1, "-n", 2, "--no-preflight", code=1)
    assert failure(found) == ("request", "no HTTP/2: the server selected no protocol")
    assert found["handshakes"]["full"] == 2
    ran = bench.run("load", "--http2", target.address)
    assert ran.returncode == 1
    assert "the first transaction failed (request: no HTTP/2: the server" in ran.stderr
    assert "or leave --http2 out" in ran.stderr


def test_a_server_that_has_only_another_protocol(bench, server):
    ran = bench.run("load", "--http2", server(http(), "--alpn-protos", "http/1.1").address)
    assert ran.returncode == 1 and "or leave --http2 out" in ran.stderr


def test_the_preflight_tries_each_path(bench, server):
    def act(client, stream):
        client.answer(stream, b"", "404" if client.seen.requests == 2 else "200")

    target = server(serves(act, seen=Seen()), *ALPN)
    ran = bench.run("load", "--http2", "--path", "/a", "--path", "/b", target.address)
    assert ran.returncode == 1
    assert "with /b failed (answer: wrong status 404): check the path" in ran.stderr


@pytest.mark.several_workers
def test_a_run_that_is_cut_off(bench, server):
    seen = Seen()
    target = server(serves(lambda c, s: True, seen=seen), *ALPN)
    child = bench.start("load", "--http2", "-c", 2, "--keep", "--streams", 3, "--no-preflight",
                        "--json", "cut.json", "-q", target.address)
    eventually("all are under way", lambda: seen.requests == 6)
    bench.interrupted(child)
    found = bench.read(bench.folder / "cut.json")
    assert failure(found) == ("answer", "unfinished") and found["failed"] == 6


@pytest.mark.figures
def test_a_staircase(bench, server):
    ran = bench.run("staircase", "--http2", "--from", 20, "--to", 40, "--step", 20, "--hold", "1s",
                    "-q", "--json", "s.json", server(serves(), *ALPN).address)
    assert ran.returncode in (0, 4), ran.stderr
    found = bench.read(bench.folder / "s.json")
    assert found["ok"] == 60 and found["http2"]["connections"] == 60


# Other documents.


def test_figures_for_other_tools(bench, server):
    target = server(serves(values={MAX_CONCURRENT_STREAMS: 2}), *ALPN)
    load(bench, target, "-c", 1, "-n", 10, "--keep", "--streams", 4, "--csv", "a.csv",
         "--prometheus", "a.prom", "--html", "a.html")
    (row,) = csv.DictReader((bench.folder / "a.csv").open())
    assert (row["http2_streams"], row["http2_streams_allowed_min"]) == ("4", "2")
    assert (row["http2_limited"], row["http2_goaways"], row["http2_resent"]) == ("1", "0", "0")
    metrics = (bench.folder / "a.prom").read_text()
    assert re.search(r"\ncleat_bench_http2_streams_open_max\{[^}]*\} 2\n", metrics)
    plain = bench.load("-n", 1, "--csv", "b.csv", server(http()).address)
    assert "http2" not in plain and "HTTP/2" not in plain["text"]
    (other,) = csv.DictReader((bench.folder / "b.csv").open())
    assert other.keys() == row.keys() and other["http2_streams"] == ""


@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing())
def test_the_page(bench, server, shown):
    target = server(serves(values={MAX_CONCURRENT_STREAMS: 2}), *ALPN)
    load(bench, target, "-c", 1, "-n", 10, "--keep", "--streams", 4, "--html", "a.html")
    shown.open(bench.folder / "a.html")
    text = str(shown.run("return document.body.innerText"))
    assert "4 on each connection, at most 2 open" in text
    assert "on 1 of 1 connections" in text
    assert "The server allowed 2 of 4 streams" in text
    assert shown.log("browser") == []


def test_a_baseline_of_another_protocol(bench, server):
    target = server(serves(), *ALPN)
    load(bench, target, "-c", 1, "-n", 4)
    words = ("load", "--http2", "-c", "1", "-n", "4", "--baseline", "1.json", target.address)
    assert bench.run(*words).returncode != 2
    ran = bench.run(*words, "--keep", "--streams", "2")
    assert ran.returncode == 2
    ran = bench.run(*words, "--requests", "2", "--streams", "2")
    assert ran.returncode == 2
    assert "its HTTP/2: '1 stream on each connection'" in ran.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["--streams", "5"], "--streams: has no effect here: add --http2"),
        (["--http2", "--streams", "5"], "give more with --requests, or add --keep"),
        (["--http2", "--streams", "5", "--requests", "4"], "a connection carries 4 requests"),
        (["--http2", "--raw", "x"], "--raw: has no effect here"),
        (["--http2", "--alpn", "h2"], "--alpn: has no effect here"),
        (["--http2", "--early-data", "--reuse", "2"], "--early-data: does not go with --http2"),
        (["--http2", "--websocket"], "does not go with --http2"),
        (["--http2", "--method", "CONNECT"], "opens a tunnel"),
        (["--http2", "--header", "Connection: close"], "HTTP/2 has no such field"),
        (["--http2", "--header", "transfer-encoding: chunked"], "HTTP/2 has no such field"),
        (["--http2", "--header", "TE: gzip"], "'TE: trailers'"),
    ],
)
def test_words_that_make_no_sense(bench, words, said):
    ran = bench.run("load", *words, "--no-preflight", "127.0.0.1")
    assert ran.returncode == 2
    assert said in ran.stderr
