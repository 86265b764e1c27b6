"""WebSockets: opened, echoed over and held, and each way in which a server can be wrong."""

import csv
import re
import subprocess
import threading

import pytest

import browser
import nginx_server
import program
from deadlines import DEADLINE, eventually
from http_handlers import http, says
from origins import Origin
from unsent import failures_of_sent, sent
from websocket_server import (
    BINARY, CLOSE, FIN, PING, PONG, TEXT, Client, Seen, close_frame, echo, echoes, frame, serves,
)  # fmt: skip

BEAST = program.binary().parent / "perf-echo-cleat"
with_beast = pytest.mark.skipif(not BEAST.exists(), reason="built without perf/")


def load(bench, server, *words: object, code: int = 0) -> dict:
    return bench.load("--websocket", *words, getattr(server, "address", server), code=code)


def failure(found: dict) -> tuple[str, str]:
    (only,) = found["failures"]
    return only["stage"], only["kind"]


@pytest.mark.several_workers
def test_openings(bench, server):
    """A transaction is an opening. Each has a key of its own, and the server sees a clean end."""
    seen = Seen()
    found = load(bench, server(echo(seen)), "-c", 4, "-n", 40, "--path", "/chat", "--no-preflight")
    assert found["ok"] == found["connections"] == 40
    about = found["websocket"]
    assert about["use"] == "open"
    assert about["openings"] == about["opened"] == about["opened_in_time"] == 40
    assert about["opening"]["count"] == about["opening"]["of"] == 40
    assert about["opening"]["p50_ns"] == found["latency"]["response"]["p50_ns"]
    assert about["opening"]["min_ns"] > found["latency"]["tls"]["min_ns"]
    assert len(set(seen.keys)) == 40 and set(seen.paths) == {"/chat"}
    assert seen.closes == [(1000).to_bytes(2, "big")] * 40
    assert found["opening_rate"] == pytest.approx(found["rate"])
    assert re.search(r"\(40 openings ok in ", found["text"])
    assert re.search(r"openings +40, 0 failed \(0 %\), [\d.]+/s", found["text"])
    assert "to the end of the opening" in found["text"]


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536, 3_000_000])
def test_an_echo_of_each_size(bench, server, size):
    seen = Seen()
    found = load(bench, server(echo(seen)), "-c", 2, "-n", 12, "--messages", 6, "--message-size",
                 size, "--no-preflight", "--workers", 1)
    assert found["ok"] == found["websocket"]["messages"] == 12
    assert found["websocket"]["use"] == "echo" and found["websocket"]["opened"] == 2
    assert [(kind, len(text)) for kind, text in seen.messages] == [(TEXT, size)] * 12
    assert found["bytes"]["down"] >= 12 * size
    if size >= 16:
        assert len({text for _, text in seen.messages}) == 12, "each message is another one"
    for _, text in seen.messages:
        text.decode("ascii")
    # A Close has its mask too; a mask is four random bytes.
    assert len(set(seen.masks)) == len(seen.masks) == 14


def test_binary_messages_in_fragments_with_pings_between(bench, server):
    seen = Seen()

    def in_parts(kind: int, payload: bytes) -> bytes:
        half = len(payload) // 2
        return b"".join([
            frame(kind, payload[:half], 0), frame(PING, b"are you there"), frame(0, b"", 0),
            frame(PONG, b"nobody asked"), frame(0, payload[half:]),
        ])  # fmt: skip

    found = load(bench, server(echo(seen, in_parts)), "-c", 1, "-n", 20, "--messages", 20,
                 "--message-size", "1K", "--message-type", "binary", "--no-preflight")
    assert found["ok"] == 20 and found["websocket"]["pings"] == 20
    assert {kind for kind, _ in seen.messages} == {BINARY}
    assert seen.pongs and set(seen.pongs) == {b"are you there"}


@pytest.mark.several_workers
def test_a_kept_websocket_sends_until_a_number_is_met(bench, server):
    found = load(bench, server(echo()), "-c", 3, "-n", 50, "--keep")
    assert found["attempts"] == found["ok"] == 50
    assert found["connections"] == found["websocket"]["openings"] <= 3


@pytest.mark.figures
def test_messages_at_a_rate(bench, server):
    """WebSockets are open before the first message is due."""
    found = load(bench, server(echo()), "-c", 5, "-r", 100, "-d", "2s", "--keep")
    assert found["attempts"] == 200 and found["ok"] == sent(found) > 0
    assert found["websocket"]["openings"] == found["connections"] == 5
    assert found["websocket"]["opened_in_time"] == 0, "they were open before"
    assert found["handshakes"]["full"] == 5
    assert ["kept connections", "5, 100 messages/s together, constant"] in found["asked"]
    assert "from the intended start to the echo's last byte" in found["text"]
    assert re.search(r"openings +5, 0 failed \(0 %\)\n", found["text"])


@pytest.mark.figures
def test_a_stall_is_seen_by_all_messages_that_were_due_in_it(bench, server):
    stalled = threading.Event()

    def change(kind: int, payload: bytes) -> bytes:
        if not stalled.is_set():
            stalled.set()
            threading.Event().wait(1)  # It is the stall.
        return frame(kind, payload)

    found = load(bench, server(echo(change=change)), "-c", 1, "-r", 100, "-d", "3s", "--keep",
                 "--no-preflight")
    assert found["attempts"] == 300 and found["ok"] == sent(found)
    assert found["latency"]["response"]["max_ns"] > 0.95e9


@pytest.mark.figures
def test_openings_at_a_rate_that_is_too_high(bench, server):
    """A message counts from the end of the opening, and the opening from its intended start: a
    server that opens one after the other, in 20 ms each, shows there."""
    turn = threading.Lock()

    handle = echo()

    def one_by_one(upstream) -> None:
        with turn:
            threading.Event().wait(0.02)  # It is the time of an opening.
        handle(upstream)

    found = load(bench, server(one_by_one), "-r", 100, "-d", "1s", "--messages", 1)
    assert found["ok"] == 100 and not found["kept_up"]
    assert found["rate"] < 60
    opening = found["websocket"]["opening"]["p50_ns"]
    assert opening > 0.3e9
    assert "from the start of each message to the echo's last byte" in found["text"]
    assert found["latency"]["response"]["p50_ns"] < opening / 2
    assert found["websocket"]["opened_in_time"] < 60


@pytest.mark.several_workers
def test_paths_with_weights(bench, server):
    """All messages of a connection are of one path."""
    seen = Seen()
    found = load(bench, server(echo(seen)), "-c", 4, "-n", 200, "--messages", 2, "--path", "/a 3",
                 "--path", "/b", "--no-preflight")
    paths = {each["path"]: each["ok"] for each in found["paths"]}
    assert paths == {name: 2 * seen.paths.count(name) for name in ("/a", "/b")}


def test_subprotocols_and_fields(bench, server):
    def handle(upstream) -> None:
        client = Client(upstream, Seen())
        if client.accept("Sec-WebSocket-Protocol: soap"):
            echoes()(client)

    words = ("-c", 1, "-n", 2, "--messages", 2)
    target = server(handle)
    found = load(bench, target, *words, "--header", "Sec-WebSocket-Protocol: chat, soap")
    assert found["ok"] == 2
    found = load(bench, target, *words, "--no-preflight", code=1)
    assert failure(found) == ("upgrade", "subprotocol that was not offered")


# Held.


def held(bench, target, *words: object, is_seen) -> dict:
    """held is a load that holds WebSockets until the test has seen what it waits for, and is then
    ended as by Ctrl-C."""
    child = bench.start("load", "--websocket", "--hold", *words, "-d", "1h", "--no-preflight",
                        "--json", "held.json", "-q", target.address)
    eventually("what the test waits for", is_seen)
    out, _ = bench.interrupted(child)
    return bench.read(bench.folder / "held.json", out)


@pytest.mark.several_workers
def test_held_websockets_answer_pings_and_count_messages(bench, server):
    seen = Seen()

    def push(client) -> None:
        for number in range(5):
            client.send(frame(TEXT, b"news") + frame(PING, bytes([number])))
        assert client.message() is None

    # The latest ping is always answered.
    found = held(bench, server(serves(push, seen)), "-c", 8,
                 is_seen=lambda: seen.pongs.count(b"\x04") == 8)
    assert found["attempts"] == found["ok"] == 8
    about = found["websocket"]
    assert about["use"] == "hold" and about["messages"] == about["pings"] == 40
    eventually("all were closed", lambda: len(seen.closes) == 8)
    opening = about["opening"]
    assert found["latency"]["response"]["max_ns"] == opening["max_ns"], "it is the opening's"
    assert re.search(r"received +40 messages, 40 pings", found["text"])


@pytest.mark.parametrize(
    "say, kind",
    [
        (close_frame(1001, b"restart"), "closed with code 1001, going away"),
        (close_frame(4000), "closed with code 4000"),
        (frame(CLOSE), "closed without a code"),
        (b"", "closed without a Close frame"),
        (frame(TEXT, b"x", FIN | 0x40), "protocol: reserved bits"),
        (bytes([0x81, 0x81]) + b"maskx", "protocol: masked frame"),
        (close_frame(1005), "protocol: invalid Close frame"),
    ],
)
def test_a_held_websocket_that_the_server_ends(bench, server, say, kind):
    """The first connection is ended at once. Another one takes its place, and stays."""
    answered = []
    seen = Seen()
    turn = threading.Lock()

    def end_first(client) -> None:
        with turn:
            is_first = not answered
            answered.append(b"")
        if is_first:
            client.send(say)
            if say[:1] == bytes([FIN | CLOSE]) and "protocol" not in kind:
                answered[0] = client.frame()
            client.upstream.close()
        else:
            client.send(frame(PING))
            client.message()

    found = held(bench, server(serves(end_first, seen)), "-c", 1, is_seen=lambda: seen.pongs)
    assert failure(found) == ("open", kind)
    assert found["ok"] == 1 and found["failed"] == 1
    assert found["websocket"]["opened"] == 2
    if say[:1] == bytes([FIN | CLOSE]) and "protocol" not in kind:
        assert answered[0] == (CLOSE, say[2:4]), "a Close is answered by one with its code"
    # Half of the attempts failed: no percentile above is known.
    assert found["latency"]["response"]["p90_ns"] is None


@pytest.mark.figures
def test_websockets_that_are_opened_at_a_pace_and_held(bench, server):
    """Six open in 0.3 s, and are held until the end of the duration. The server closes two of them
    later: nothing had to wait for these, so there is no queue."""
    turn = threading.Lock()
    count = 0
    all_open = threading.Event()

    def end_two(client) -> None:
        nonlocal count
        with turn:
            count += 1
            is_late = count <= 2
            if count == 6:
                all_open.set()
        if is_late:
            assert all_open.wait(DEADLINE)
            client.send(close_frame(1001))
        client.message()

    found = load(bench, server(serves(end_two)), "-n", 6, "-r", 20, "-d", "2s", "--hold",
                 "--no-preflight")
    assert found["measured_ns"] == 0.3e9 and found["drain_ns"] > 1.5e9
    assert found["ok"] == 4 and found["drained"] == 0
    assert failure(found) == ("open", "closed with code 1001, going away")
    assert found["rate"] == pytest.approx(4 / 0.3)


@pytest.mark.several_workers
def test_a_held_load_that_is_interrupted(bench, server):
    """A WebSocket that was open to the end of the load was held."""
    seen = Seen()

    def ping(client) -> None:
        client.send(frame(PING))
        client.message()

    child = bench.start("load", "--websocket", "--hold", "-c", 2, "-d", "1h", "--no-preflight",
                        "--json", "held.json", "-q", server(serves(ping, seen)).address)
    eventually("both are open", lambda: len(seen.pongs) == 2)
    out, _ = bench.interrupted(child)
    assert out.startswith("PARTIAL")
    found = bench.read(bench.folder / "held.json")
    assert found["attempts"] == found["ok"] == 2
    eventually("both were closed", lambda: len(seen.closes) == 2)


@pytest.mark.figures
def test_a_websocket_that_ends_between_two_messages(bench, server):
    """The message whose echo came with the Close was ok. The next one fails by the reason, and the
    one after it has a new connection."""
    seen = Seen()

    def five(client) -> None:
        for number in range(5):
            if not (got := client.message()):
                return
            client.send(frame(*got) + (close_frame(1012) if number == 4 else b""))
        client.message()

    found = load(bench, server(serves(five, seen)), "-c", 1, "-r", 20, "-d", "1s", "--keep",
                 "--no-preflight")
    assert found["attempts"] == 20
    reason = ("open", "closed with code 1012, service restart")
    assert failures_of_sent(found) == {reason: sent(found) // 6}
    assert found["websocket"]["openings"] in {-(-sent(found) // 6), 4}


# Refused, and wrong.


def test_a_refused_upgrade(bench, server):
    target = server(http(b"no", status="403 Forbidden"))
    found = load(bench, target, "-c", 2, "-n", 6, "--no-preflight", code=1)
    assert failure(found) == ("upgrade", "refused with status 403")
    about = found["websocket"]
    assert (about["openings"], about["opened"]) == (6, 0)
    assert found["handshakes"]["full"] == 6
    assert "6, 6 failed (100 %)" in found["text"]
    ran = bench.run("load", "--websocket", target.address)
    assert ran.returncode == 1
    assert "(upgrade: refused with status 403): the server opens no WebSocket here" in ran.stderr


HEAD = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"


@pytest.mark.parametrize(
    "answer, kind",
    [
        (HEAD + b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
         "wrong Sec-WebSocket-Accept"),
        (HEAD + b"\r\n", "no Sec-WebSocket-Accept"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "refused with status 200"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: we", "closed early"),
        (b"", "closed early"),
        (b"220 mail.example ESMTP\r\n", "no HTTP answer"),
    ],
)  # fmt: skip
def test_an_answer_that_opens_nothing(bench, server, answer, kind):
    found = load(bench, server(says(answer)), "-c", 1, "-n", 3, "--no-preflight", code=1)
    assert failure(found) == ("upgrade", kind)


def test_an_opening_that_is_never_answered(bench, server):
    def silent(upstream) -> None:
        upstream.receive_to_end()

    found = load(bench, server(silent), "-c", 1, "-n", 1, "--answer-timeout", "200ms",
                 "--no-preflight", code=1)
    assert failure(found) == ("upgrade", "timeout")


WRONG = {
    "wrong echo": lambda kind, text: frame(kind, text[:-1] + b"~"),
    "short echo": lambda kind, text: frame(kind, text[:-1]),
    "long echo": lambda kind, text: frame(kind, text + b"x"),
    "echo of another type": lambda kind, text: frame(BINARY, text),
    "protocol: unknown opcode 3": lambda kind, text: frame(3, text),
    "protocol: oversized message": lambda kind, text: b"\x81\x7f" + (1 << 40).to_bytes(8, "big"),
    "closed with code 1009, message too big": lambda kind, text: close_frame(1009),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_echo(bench, server, kind):
    """One message of each connection is echoed, the next is not."""
    lock = threading.Lock()
    count = 0

    def change(opcode: int, text: bytes) -> bytes:
        nonlocal count
        with lock:
            count += 1
            return frame(opcode, text) if count % 2 else WRONG[kind](opcode, text)

    found = load(bench, server(echo(change=change)), "-c", 1, "-n", 10, "--messages", 2,
                 "--no-preflight")
    assert found["ok"] == found["failed"] == 5
    assert failure(found) == ("answer", kind)
    assert found["websocket"]["opened"] == 5


def test_an_echo_that_never_comes(bench, server):
    """A ping is no echo: the time-out comes all the same."""
    end = threading.Event()

    def pings(client) -> None:
        client.message()
        client.send(frame(PING))
        while not end.wait(0.05):  # It is the pace of the pings.
            client.send(frame(PING))

    found = load(bench, server(serves(pings)), "-c", 1, "-n", 1, "--messages", 1,
                 "--answer-timeout", "400ms", "--no-preflight", code=1)
    end.set()
    assert failure(found) == ("answer", "timeout")
    assert found["websocket"]["pings"] >= 1


def pings_without_a_pause(client) -> None:
    block = frame(PING) * 10_000
    while True:
        client.send(block)


def test_deadlines_come_while_a_server_sends_pings_without_a_pause(bench, server):
    found = load(bench, server(serves(pings_without_a_pause)), "-c", 1, "-n", 1, "--workers", 1,
                 "--messages", 1, "--answer-timeout", "400ms", "--no-preflight", code=1)
    assert failure(found) == ("answer", "timeout")


def test_the_end_of_the_time_comes_while_a_server_sends_pings_without_a_pause(bench, server):
    """It ends within the second in which a server may answer the Close, and not with the drain,
    whose two minutes the test would not wait for."""
    found = load(bench, server(serves(pings_without_a_pause)), "-c", 1, "-d", "1s", "--hold",
                 "--workers", 1, "--answer-timeout", "60s", "--no-preflight")
    assert found["ok"] == 1


@pytest.mark.figures
def test_a_long_message_that_the_server_reads_slowly(bench, server):
    """The time-out is of a silence: this message takes longer, and goes on all the time. The server
    closes before it has read all, so that the client never waits for an echo of 60 MB."""

    def slow(client) -> None:
        for _ in range(40):
            client.take(1 << 20)
            threading.Event().wait(0.1)  # It is the pace of the server.
        client.send(close_frame(1009))
        client.upstream.receive_to_end()

    found = load(bench, server(serves(slow)), "-c", 1, "-n", 1, "--messages", 1, "--message-size",
                 "60M", "--answer-timeout", "3s", "--no-preflight", code=1)
    assert failure(found) == ("answer", "closed with code 1009, message too big")
    assert found["measured_ns"] > 3.9e9


def test_the_end_of_a_connection_in_the_middle_of_an_echo(bench, server):
    def half(client) -> None:
        kind, text = client.message()
        client.send(frame(kind, text)[:50])

    found = load(bench, server(serves(half)), "-c", 1, "-n", 3, "--messages", 1, "--no-preflight",
                 code=1)
    assert failure(found) == ("answer", "closed without a Close frame")


def test_the_first_echo_is_tried_before_the_load(bench, server):
    target = server(echo(change=lambda kind, text: frame(kind, b"hello")))
    ran = bench.run("load", "--websocket", "--messages", 5, target.address)
    assert ran.returncode == 1
    assert "(answer: wrong echo): the server has to send back each message" in ran.stderr
    target = server(echo(change=lambda kind, text: frame(BINARY, text)))
    ran = bench.run("load", "--websocket", "--messages", 5, target.address)
    assert ran.returncode == 1
    assert "(answer: echo of another type): " in ran.stderr and "--message-type" in ran.stderr


# Other documents, and other servers.


def test_figures_for_other_tools(bench, server):
    found = load(bench, server(echo()), "-c", 1, "-n", 10, "--messages", 5, "--csv", "a.csv",
                 "--prometheus", "a.prom", "--html", "a.html")
    (row,) = csv.DictReader((bench.folder / "a.csv").open())
    assert (row["openings"], row["openings_failed"], row["messages"]) == ("2", "0", "10")
    assert float(row["opening_p50_seconds"]) == pytest.approx(
        found["websocket"]["opening"]["p50_ns"] / 1e9)
    assert float(row["opening_rate"]) > 0
    metrics = (bench.folder / "a.prom").read_text()
    assert re.search(r"\ncleat_bench_openings\{[^}]*\} 2\n", metrics)
    assert "cleat_bench_opening_p99_seconds" in metrics
    plain = bench.load("-n", 1, "--csv", "b.csv", server(http()).address)
    assert "websocket" not in plain and "openings" not in plain["text"]
    (other,) = csv.DictReader((bench.folder / "b.csv").open())
    assert other.keys() == row.keys() and other["openings"] == other["pings"] == ""


@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing())
def test_the_page(bench, server, shown):
    load(bench, server(echo()), "-c", 2, "-n", 40, "--messages", 10, "--html", "a.html")
    shown.open(bench.folder / "a.html")
    text = str(shown.run("return document.body.innerText"))
    assert "messages/s" in text and "0 of 4 failed" in text
    assert "WebSocket opening" in text and "WebSockets opened" in text
    assert "Response is of each message alone" in text and "of each message alone" in text
    plain = bench.load("-n", 1, server(http()).address)
    assert plain["ok"] == 1
    ran = bench.run("report", "1.json", "2.json", "--out", "both.html")
    assert ran.returncode == 0, ran.stderr
    shown.open(bench.folder / "both.html")
    text = str(shown.run("return document.body.innerText"))
    assert "openings, ok" in text and "4 of 4" in text
    assert shown.log("browser") == []


def test_a_baseline_of_another_use(bench, server):
    target = server(echo())
    load(bench, target, "-c", 1, "-n", 4, "--messages", 2)
    words = ("load", "--websocket", "-c", "1", "-n", "4", "--baseline", "1.json", target.address)
    ran = bench.run(*words)
    assert ran.returncode == 2 and "WebSockets" in ran.stderr


@pytest.mark.skipif(nginx_server.PROGRAM is None, reason=nginx_server.MISSING)
def test_through_nginx(bench, certs, tmp_path):
    """nginx before a WebSocket server: one location passes the Upgrade on, and one does not."""
    seen = Seen()
    origin = Origin(echo(seen))
    folder = tmp_path / "nginx"
    folder.mkdir()
    passed = f"proxy_pass http://127.0.0.1:{origin.port}; proxy_http_version 1.1;"
    settings = (
        "location /echo { %s proxy_set_header Upgrade $http_upgrade; "
        'proxy_set_header Connection "Upgrade"; } location / { return 404; }' % passed
    )
    with nginx_server.Nginx(folder, certs.ecdsa, settings, "$status $uri") as target:
        found = load(bench, target, "-c", 2, "-n", 60, "--messages", 20, "--message-size", "100K",
                     "--path", "/echo", "--workers", 1)  # fmt: skip
        refused = load(bench, target, "-c", 1, "-n", 2, "--no-preflight", code=1)
        # The preflight's too.
        eventually("nginx logs all", lambda: len(target.requests()) == 6)
    assert found["ok"] == 60 and found["websocket"]["opened"] == 3
    assert failure(refused) == ("upgrade", "refused with status 404")
    assert sorted(target.requests()) == ["101 /echo"] * 4 + ["404 /"] * 2
    origin.close()


@with_beast
@pytest.mark.parametrize("words", [("--message-size", "1M"), ("--keep", "-r", 200, "-d", "1s")])
def test_a_server_of_boost_beast(bench, certs, words):
    child = subprocess.Popen(
        [BEAST, "--listen", "127.0.0.1:0", "--pem", certs.ecdsa.pem, "--websocket"],
        stdout=subprocess.PIPE, text=True)
    try:
        port = re.search(r"(\d+)\s*$", child.stdout.readline())[1]
        way = () if "--keep" in words else ("-n", 40, "--messages", 10)
        found = load(bench, f"127.0.0.1:{port}", "-c", 2, *way, "--message-type", "binary", *words)
        assert found["ok"] == sent(found) > 0
    finally:
        child.kill()
        child.wait(DEADLINE)


@pytest.mark.parametrize(
    "words, said",
    [
        (["--messages", "5"], "--messages: has no effect here: add --websocket"),
        (["--message-size", "5"], "--message-size: has no effect here: add --websocket"),
        (["--hold"], "--hold: has no effect here: add --websocket"),
        (["--websocket", "--message-size", "5"], "add --messages or --keep"),
        (["--websocket", "--message-type", "binary"], "add --messages or --keep"),
        (["--websocket", "--method", "POST"], "--method: has no effect here"),
        (["--websocket", "--body-size", "1K"], "--body-size: has no effect here"),
        (["--websocket", "--raw", "x"], "--raw: has no effect here"),
        (["--websocket", "--requests", "5"], "give --messages"),
        (["--websocket", "--expect-status", "101"], "--expect-status: has no effect here"),
        (["--websocket", "--early-data", "--reuse", "2"], "--early-data: does not go with"),
        (["--websocket", "--hold", "--messages", "5"], "--hold: sends no messages"),
        (["--websocket", "--hold", "--keep"], "--hold: sends no messages"),
        (["--websocket", "--keep", "--messages", "5"], "until the time is up"),
        (["--websocket", "--keep", "--message-size", "1G"], "at most 64M"),
        (["--websocket", "--header", "Upgrade: h2c"], "itself writes this field"),
        (["--websocket", "--header", "sec-websocket-key: x"], "itself writes this field"),
    ],
)
def test_words_that_make_no_sense(bench, words, said):
    ran = bench.run("load", *words, "--no-preflight", "127.0.0.1")
    assert ran.returncode == 2
    assert said in ran.stderr
