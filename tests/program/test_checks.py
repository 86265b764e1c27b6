"""Active checks: a server that is killed, frozen or silent is noticed, and comes back."""

import json
import signal
import subprocess

import pytest

from admin_client import admin_of
from deadlines import DEADLINE, eventually
from origins import echo
from program import binary
from reloads import reload_with
from server_process import CHECK, servers
from tls_client import TlsClient
from upstream_blocks import answer, saying, upstream

# A worker by itself must not find out first.
NO_EJECTION = ["eject-after = 0"]


def name_of_server(port):
    with TlsClient(port) as client:
        client.send(b"who\n")
        return client.receive_exactly(2).decode().strip()


def test_a_server_that_is_killed_is_down_until_it_is_back(serve):
    with servers("a", "b") as (a, b):
        lines = ["balance = first", *CHECK, *NO_EJECTION]
        server = serve(upstream(a.address, b.address, lines=lines) + 'upstream = "app"')
        assert name_of_server(server.port) == "a"
        a.kill()
        line = server.wait_for_log(event="server-down")
        assert (line["upstream"], line["server"], line["checks"]) == ("app", a.address, "2")
        assert line["reason"] == "Connection refused"
        assert name_of_server(server.port) == "b"
        a.start()
        assert server.wait_for_log(event="server-up")["server"] == a.address
        eventually("it is back", lambda: name_of_server(server.port) == "a")


@pytest.mark.usefixtures("no_look_for_leaks")
def test_checks_need_no_more_than_the_sandbox_allows(serve):
    with servers("a", "b") as (a, b):
        lines = ["balance = first", *CHECK, *NO_EJECTION]
        text = upstream(a.address, b.address, lines=lines) + 'upstream = "app"\n'
        server = serve(text + "sandbox = seccomp\n")
        a.freeze()
        assert server.wait_for_log(event="server-down")["server"] == a.address
        a.thaw()
        assert server.wait_for_log(event="server-up")["server"] == a.address


def test_a_server_that_is_frozen_is_noticed(serve):
    with servers("a", "b") as (a, b):
        lines = ["balance = first", *CHECK, *NO_EJECTION]
        server = serve(upstream(a.address, b.address, lines=lines) + 'upstream = "app"')
        assert name_of_server(server.port) == "a"
        a.freeze()
        line = server.wait_for_log(event="server-down")
        assert (line["server"], line["reason"]) == (a.address, "no answer within 1000 ms")
        assert {name_of_server(server.port) for _ in range(5)} == {"b"}
        a.thaw()
        server.wait_for_log(event="server-up")
        eventually("it is back", lambda: name_of_server(server.port) == "a")


def test_a_wrong_answer_is_no_service(serve, origin):
    wrong, right = origin(saying("500 broken")), origin(saying("200 fine"))
    lines = ["balance = first", "check = tcp", "check-interval = 1", 'check-expect = "200 "']
    server = serve(upstream(wrong.address, right.address, lines=lines) + 'upstream = "app"')
    line = server.wait_for_log(event="server-down")
    assert line["server"] == wrong.address
    assert line["reason"] == "the answer has ended without the expected text"
    eventually("the other one serves", lambda: answer(server.port) == "200 fine")


def test_where_all_are_down_they_are_tried(serve, origin):
    only = origin(saying("only"))
    lines = ["check = tcp", "check-interval = 1", 'check-expect = "never said"']
    server = serve(upstream(only.address, lines=lines) + 'upstream = "app"')
    server.wait_for_log(event="server-down")
    assert answer(server.port) == "only"


def test_established_connections_go_on_when_their_server_is_down(serve, origin):
    one = origin(echo)
    lines = ["check = tcp", "check-interval = 1", 'check-expect = "never said"']
    server = serve(upstream(one.address, lines=lines) + 'upstream = "app"')
    with TlsClient(server.port) as client:
        assert client.exchange(b"before") == b"before"
        server.wait_for_log(event="server-down")
        assert client.exchange(b"after") == b"after"


def test_a_reload_keeps_what_the_checks_have_found_and_takes_new_ones(serve, origin):
    with servers("a", "b") as (a, b):
        lines = ["balance = first", *CHECK, *NO_EJECTION]
        text = upstream(a.address, b.address, lines=lines) + 'upstream = "app"'
        server = serve(text + '\nfrontend = "[127.0.0.1]:0"\n')
        a.freeze()
        server.wait_for_log(event="server-down")
        reload_with(server, "", "keepalive = 3599\n")
        assert {name_of_server(server.port) for _ in range(3)} == {"b"}
        assert reload_with(server, "PONG", "pong")["keys"] == "upstream"
        lines = server.wait_for_log(event="server-down", server=b.address)
        assert lines["reason"] == "no answer within 1000 ms"


@pytest.mark.parametrize("harm", ["kill", "freeze"])
def test_a_server_of_three_that_fails_costs_no_connection_under_load(
    cleat, config, certs, tmp_path, harm
):
    """As many new connections as the machine makes. Only what the server had accepted may be lost:
    a frozen one answers when it goes on, and the kernel ends the connections of a killed one, with
    a reset where it had bytes to read."""
    bench = binary().with_name("cleat-bench")
    if not bench.exists():
        pytest.skip("cleat-bench was not built")
    at_once = 8
    with servers("a", "b", "c") as three:
        text = upstream(*(each.address for each in three), lines=CHECK) + 'upstream = "app"\n'
        text += 'admin = "[127.0.0.1]:0"\n'
        path = config(text + f'pem-file = "{certs.ecdsa.pem}"\n')
        server = cleat("--config", path, "--workers", 2, pem=[], backend="")
        admin = admin_of(server)
        admin.post("/log-level?level=1")  # No line for each connection.
        result = tmp_path / "result.json"
        words = ["load", "--no-preflight", "-c", str(at_once), "-d", "1h", "--close", "reset"]
        words += ["--raw", "who\n", "--expect-size", "2", "--answer-timeout", f"{DEADLINE:.0f}s"]
        load = subprocess.Popen(
            [bench, *words, "--json", str(result), f"127.0.0.1:{server.port}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

        def wait_for_load(more):
            before = admin.metrics().value("cleat_connections_total")
            eventually(
                "there is load",
                lambda: admin.metrics().value("cleat_connections_total") > before + more,
            )

        wait_for_load(50)
        getattr(three[0], harm)()
        server.wait_for_log(event="server-down", server=three[0].address)
        if harm == "kill":
            wait_for_load(50)  # A frozen one may hold all connections until it goes on.
            three[0].start()
        else:
            three[0].thaw()
        server.wait_for_log(event="server-up", server=three[0].address)
        wait_for_load(50)
        load.send_signal(signal.SIGINT)
        out, _ = load.communicate(timeout=DEADLINE)
        failures = json.loads(result.read_text())["failures"]
        lost = [each for each in failures if each["kind"] != "unfinished"]
        assert {each["stage"] for each in lost} <= {"answer"}, out
        assert sum(each["count"] for each in lost) <= (at_once if harm == "kill" else 0), out
        assert not server.log(event="connect-failed")
