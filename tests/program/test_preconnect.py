"""preconnect: connections to the servers of an upstream are ready before clients need them."""

import queue
import socket
import struct
from urllib.parse import urlencode

import pytest

from admin_client import admin_of, eventually_counts
from deadlines import DEADLINE, eventually
from origins import echo
from own_network import own_network
from program import complaints
from reloads import reload_with
from tls_client import TLS_1_2, TLS_1_3, TlsClient
from tls_origins import noting_the_end, over_tls, settings
from upstream_blocks import frontend, route, sni, upstream

ADMIN = 'upstream = "app"\nfrontend = "[127.0.0.1]:0"\nadmin = "[127.0.0.1]:0"\n'
TLS = ["tls = on", "tls-verify = off"]
ETH_P_IP, SYN = 0x0800, 0x02


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
    first = behind.accept()
    assert has_ended(first, timeout=DEADLINE)
    with TlsClient(server.port) as client:
        client.send(b"hello")
        # The second has its time too, and may have been replaced by then.
        eventually("a later one has it", lambda: any(readable(each) for each in behind.all[1:]))


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
    assert has_ended(ready, timeout=DEADLINE)
    eventually_counts(admin, "cleat_upstream_server_connections_ready", 0, **order)
    admin.post("/server?" + urlencode({**order, "state": "ready"}))
    assert not has_ended(one.accept())


def test_a_reload_ends_them_and_makes_others(serve, origin):
    behind = origin()
    server = serve(block(behind.address, count=1) + ADMIN)
    first = behind.accept()
    assert reload_with(server, "preconnect = 1", "preconnect = 2")["keys"] == "upstream"
    assert has_ended(first, timeout=DEADLINE)
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


class Flights:
    """Flights are the packets of the loopback with a SYN or data, of connections to one server."""

    def __init__(self, port):
        self.port = port
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP))
        self.socket.bind(("lo", ETH_P_IP))
        self.socket.setblocking(False)

    def packets(self):
        """packets are those since the last call: the client's port, and the rest that tells one
        from another, which begins with its direction."""
        while True:
            try:
                packet, (_, _, way, *_) = self.socket.recvfrom(1 << 16)
            except BlockingIOError:
                return
            if way == socket.PACKET_OUTGOING or packet[9] != socket.IPPROTO_TCP:
                continue  # The loopback shows each packet twice.
            source, target, number = struct.unpack("!HHI", packet[20:28])
            size = int.from_bytes(packet[2:4], "big") - 20 - 4 * (packet[32] >> 4)
            is_syn = bool(packet[33] & SYN)
            if self.port in (source, target) and (size or is_syn):
                back = source == self.port
                yield target if back else source, (back, number, size, is_syn)

    def round_trips(self, client):
        """round_trips are how often the server has answered a client's port since the last call. A
        packet that the kernel sends again counts once."""
        seen = dict.fromkeys(packet for port, packet in self.packets() if port == client)
        ways = [back for back, *_ in seen]
        return sum(back and not before for before, back in zip([False, *ways], ways))


@pytest.mark.parametrize("tls, all_of_them", [(False, 2), (True, 3)], ids=["plain", "tls"])
def test_what_it_saves_of_the_round_trips_to_the_first_byte(
    serve, certs, origin, tls, all_of_them
):
    """One for TCP, and one for TLS 1.3: only that of the request and the answer is left."""
    clients = []
    # Tickets come before the answer where the request comes after the Finished, which is no matter
    # here.
    without_tickets = settings(certs.ecdsa, num_tickets=0)
    serve_one = over_tls(without_tickets, lambda end: end.send(end.receive(5)))
    serve_one = serve_one if tls else lambda one: one.send(one.socket.recv(5))

    def handle(one):
        client = one.socket.getpeername()[1]
        serve_one(one)
        clients.append(client)

    with own_network():
        behind = origin(handle)
        flights = Flights(behind.port)
        for ready, round_trips in ((0, all_of_them), (2, 1)):
            server = serve(block(behind.address, count=ready, lines=TLS * tls) + ADMIN)
            one = {"upstream": "app", "server": behind.address}
            eventually_counts(
                admin_of(server), "cleat_upstream_server_connections_ready", ready, **one
            )
            flights.round_trips(None)
            with TlsClient(server.port) as client:
                client.send(b"hello")
                assert client.receive_exactly(5) == b"hello"
            eventually("the server has ended it", lambda: clients)
            assert flights.round_trips(clients.pop()) == round_trips
        behind.close()
