"""preconnect: connections to the servers of an upstream are ready before clients need them."""

import queue
import socket
import statistics
import time
from urllib.parse import urlencode

import pytest

from admin_client import admin_of, eventually_counts
from deadlines import DEADLINE, eventually
from far_network import THERE, far_network
from origins import echo
from program import complaints
from reloads import reload_with
from tls_client import TLS_1_2, TLS_1_3, TlsClient
from tls_origins import noting_the_end, over_tls, settings
from upstream_blocks import frontend, route, sni, upstream

ADMIN = 'upstream = "app"\nfrontend = "[127.0.0.1]:0"\nadmin = "[127.0.0.1]:0"\n'
TLS = ["tls = on", "tls-verify = off"]


def block(*servers, count=2, lines=()):
    return upstream(*servers, lines=[f"preconnect = {count}", *lines])


def has_ended(connection, timeout=0.0):
    """cleat has ended a connection to an origin."""
    connection.socket.settimeout(timeout)
    try:
        return connection.socket.recv(1) == b""
    except (BlockingIOError, TimeoutError):
        return False
    except OSError:
        return True


def test_clients_get_connections_that_are_ready(serve, origin):
    behind = origin(echo)
    server = serve(block(behind.address) + ADMIN)
    admin = admin_of(server)
    one = {"upstream": "app", "server": behind.address}
    eventually_counts(admin, "cleat_upstream_server_connections_ready", 2, **one)
    for _ in range(5):
        with TlsClient(server.port) as client:
            assert client.exchange(b"hello") == b"hello"
        eventually_counts(admin, "cleat_upstream_server_connections_ready", 2, **one)
    # The origin's thread accepts what is connected already.
    eventually("the origin has accepted them", lambda: len(behind.all) >= 2 + 5)
    assert len(behind.all) == 2 + 5
    metrics = admin.metrics()
    assert metrics.value("cleat_upstream_server_ready_taken_total", **one) == 5
    assert metrics.value("cleat_upstream_server_ready_missed_total", **one) == 0
    assert metrics.value("cleat_upstream_server_connections_total", **one) == 5
    eventually_counts(admin, "cleat_upstream_server_connections_open", 0, **one)


def test_the_proxy_header_is_written_when_a_client_takes_it(serve, origin):
    behind = origin()
    server = serve(block(behind.address, count=1) + ADMIN + "write-proxy-v1 = on\n")
    ready = behind.accept()
    with TlsClient(server.port) as client:
        client.send(b"hello")
        host, port = client.socket.getsockname()
        line = f"PROXY TCP4 {host} 127.0.0.1 {port} {server.port}\r\nhello".encode()
        assert ready.receive_exactly(len(line)) == line


@pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3], ids=["1.2", "1.3"])
def test_with_tls_the_handshake_has_ended(serve, certs, origin, version):
    ends = []

    def talk(end):
        ends.append(end)
        while more := end.receive(1 << 14):
            end.send(more)

    tls = settings(certs.ecdsa, minimum_version=version, maximum_version=version)
    behind = origin(over_tls(tls, talk))
    server = serve(block(behind.address, count=1, lines=TLS) + ADMIN)
    one = {"upstream": "app", "server": behind.address}
    admin = admin_of(server)
    for i in range(3):
        eventually("the handshake has ended", lambda: len(ends) == i + 1)
        eventually_counts(admin, "cleat_upstream_server_connections_ready", 1, **one)
        with TlsClient(server.port) as client:
            assert client.exchange(b"hello") == b"hello"
    metrics = admin.metrics()
    assert metrics.value("cleat_upstream_server_ready_taken_total", **one) == 3
    name = "TLSv1.3" if version == TLS_1_3 else "TLSv1.2"
    assert metrics.value(
        "cleat_upstream_handshakes_total", version=name, resumption="full"
    ) >= 1
    assert not server.log(event="upstream-handshake-failed")


def failed_handshakes(server):
    assert not server.log(event="upstream-handshake-failed")
    return admin_of(server).metrics().sum("cleat_upstream_handshakes_failed_total")


def test_one_whose_time_is_over_ends_with_close_notify_and_has_not_failed(serve, certs, origin):
    ends = queue.Queue()
    behind = origin(over_tls(settings(certs.ecdsa), noting_the_end(ends)))
    lines = [*TLS, "preconnect-time = 1"]
    server = serve(block(behind.address, count=1, lines=lines) + ADMIN)
    assert ends.get(timeout=DEADLINE) == b""
    assert failed_handshakes(server) == 0


@pytest.mark.parametrize("why", ["drained", "removed"])
def test_one_that_cleat_ends_in_its_handshake_has_not_failed(serve, origin, why):
    """The server says nothing, and is drained, or removed by a reload."""
    silent = origin()
    text = block(silent.address, count=1, lines=TLS)
    server = serve(text + ADMIN)
    ready = silent.accept()
    ready.receive_exactly(1)  # Of its ClientHello.
    if why == "drained":
        order = {"upstream": "app", "server": silent.address, "state": "drain"}
        admin_of(server).post("/server?" + urlencode(order))
    else:
        other = upstream(origin(echo).address)
        assert reload_with(server, text, other)["keys"] == "upstream"
    ready.receive_to_end()
    assert failed_handshakes(server) == 0


@pytest.mark.parametrize("of_route", [False, True], ids=["for all routes", "of one route"])
def test_before_tls_only_the_connection_is_ready(serve, certs, origin, of_route):
    behind = origin()
    text = ADMIN + "write-proxy-v1 = on\n"
    if of_route:
        text = frontend(route("app", sni("a.test"), "write-proxy-v1 = on"))
        text += 'upstream = "app"\n'
    server = serve(block(behind.address, count=1, lines=TLS) + text)
    ready = behind.accept()
    with TlsClient(server.port, name="a.test") as client:
        client.send(b"hello")
        assert ready.receive_exactly(10) == b"PROXY TCP4"
        assert not has_ended(ready, timeout=5)
        client.reset()


def test_one_that_was_idle_for_its_time_is_replaced(serve, origin):
    behind = origin()
    server = serve(block(behind.address, count=1, lines=["preconnect-time = 1"]) + ADMIN)
    first, second = behind.accept(), behind.accept()
    assert has_ended(first, timeout=5)
    with TlsClient(server.port) as client:
        client.send(b"hello")
        assert second.receive_exactly(5) == b"hello"


def test_one_that_the_server_closes_is_replaced(serve, origin):
    behind = origin()
    server = serve(block(behind.address, count=1) + ADMIN)
    behind.accept().close()
    line = server.wait_for_log(event="preconnect-failed")
    assert (line["server"], line["reason"]) == (behind.address, "the server closes it at once")
    second = behind.accept()  # After a pause.
    server.wait_for_log(event="preconnect-recovered")
    with TlsClient(server.port) as client:
        client.send(b"hello")
        assert second.receive_exactly(5) == b"hello"
    assert not server.log(event="connect-failed")


def test_a_server_that_is_not_there_yet(serve, origin, tmp_path):
    path = tmp_path / "late.sock"
    server = serve(block(str(path)) + ADMIN)
    assert server.wait_for_log(event="preconnect-failed")["server"] == str(path)
    behind = origin(echo, path=path)
    server.wait_for_log(event="preconnect-recovered")
    eventually("they are ready", lambda: len(behind.all) == 2)
    with TlsClient(server.port) as client:
        assert client.exchange(b"hello") == b"hello"
    assert len(server.log(event="preconnect-failed")) == 1


def test_a_server_that_speaks_first_is_named(serve, origin):
    behind = origin(lambda one: (one.send(b"220 "), echo(one)))
    server = serve(block(behind.address) + ADMIN)
    line = server.wait_for_log(event="preconnect-failed")
    assert line["reason"] == "the server speaks first"
    with TlsClient(server.port) as client:
        assert client.receive_exactly(4) == b"220 "


def test_a_server_that_is_drained_has_none(serve, origin):
    one, other = origin(), origin(echo)
    server = serve(block(one.address, other.address, count=1) + ADMIN)
    ready = one.accept()
    order = {"upstream": "app", "server": one.address}
    admin = admin_of(server)
    admin.post("/server?" + urlencode({**order, "state": "drain"}))
    assert has_ended(ready, timeout=5)
    eventually_counts(admin, "cleat_upstream_server_connections_ready", 0, **order)
    admin.post("/server?" + urlencode({**order, "state": "ready"}))
    assert not has_ended(one.accept())


def test_a_reload_ends_them_and_makes_others(serve, origin):
    behind = origin()
    server = serve(block(behind.address, count=1) + ADMIN)
    first = behind.accept()
    assert reload_with(server, "preconnect = 1", "preconnect = 2")["keys"] == "upstream"
    assert has_ended(first, timeout=5)
    others = [behind.accept(), behind.accept()]
    with TlsClient(server.port) as client:
        client.send(b"hello")
        eventually("one has it", lambda: any(readable(each) for each in others))


def readable(connection):
    connection.socket.setblocking(False)
    try:
        return connection.socket.recv(5, socket.MSG_PEEK) == b"hello"
    except BlockingIOError:
        return False


def test_they_count_against_the_limit_of_the_server(serve, origin):
    behind = origin(echo)
    limited = f'{{ address = "{behind.address}" max-connections = 3 }}'
    server = serve(block(limited) + ADMIN)
    one = {"upstream": "app", "server": behind.address}
    admin = admin_of(server)
    held = []
    for ready in (2, 1, 0):
        held.append(TlsClient(server.port))
        assert held[-1].exchange(b"hello") == b"hello"
        eventually_counts(admin, "cleat_upstream_server_connections_ready", ready, **one)
    assert len(behind.all) == 3
    held.pop().reset()
    eventually_counts(admin, "cleat_upstream_server_connections_ready", 1, **one)
    for each in held:
        each.reset()


@pytest.mark.parametrize(
    "text, complaint",
    [
        (
            'upstream = { name = "app" server = "[127.0.0.1]:1" preconnect-time = 5 }\n',
            "preconnect-time: this has no effect: the upstream app has no connections ready. Add "
            "preconnect to the block",
        ),
        (
            'upstream = { name = "app" preconnect = 5\n'
            'server = { address = "[127.0.0.1]:1" max-connections = 9 } }\nworkers = 2\n',
            "max-connections: 9 connections are fewer than preconnect = 5 for each of 2 workers. "
            "Write 10 or more",
        ),
    ],
)
def test_settings_that_cannot_take_effect(certs, config, text, complaint):
    path = config(f'{text}upstream = "app"\npem-file = "{certs.ecdsa.pem}"\n')
    assert complaint in complaints("--config", path)


FAR_S = 0.02


@pytest.mark.parametrize("tls, saved", [(False, 1), (True, 2)], ids=["plain", "tls"])
def test_what_it_saves_of_the_time_to_the_first_byte(serve, certs, origin, tls, saved):
    """A round trip for TCP, and one for TLS 1.3."""
    with far_network(FAR_S) as make_there:
        took = first_bytes(serve, certs, origin, tls, make_there)
    assert took[0] - took[2] > (saved - 0.5) * FAR_S, took
    assert took[2] > FAR_S  # The request and the answer.


def first_bytes(serve, certs, origin, tls, make_there, count=9):
    """The median time from a client's connect to its first byte, by the connections that are
    ready."""
    handle = over_tls(settings(certs.ecdsa), lambda end: end.send(end.receive(5)))
    handle = handle if tls else lambda one: one.send(one.socket.recv(5))
    behind = make_there(lambda: origin(handle, host=THERE))
    took = {}
    for ready in (0, 2):
        server = serve(block(behind.address, count=ready, lines=TLS * tls) + ADMIN)
        one = {"upstream": "app", "server": behind.address}
        times = []
        for _ in range(count):
            eventually_counts(
                admin_of(server), "cleat_upstream_server_connections_ready", ready, **one
            )
            begin = time.monotonic()
            with TlsClient(server.port) as client:
                client.send(b"hello")
                assert client.receive_exactly(5) == b"hello"
                times.append(time.monotonic() - begin)
        took[ready] = statistics.median(times)
    behind.close()
    return took
