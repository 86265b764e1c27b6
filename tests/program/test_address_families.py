"""A server whose name has several addresses: a family, or an address, that does not answer costs
the first connection a delay, and the others nothing.

The tests have a network of their own, which only root can, with a device behind which nobody
listens: its packets are for another one, so they are dropped without a word. The tests count the
connections that were tried there, not the time that each took: a busy machine makes that longer."""

import socket
import subprocess
import time

import pytest

from admin_client import admin_of
from deadlines import DEADLINE, eventually
from dns_server import DnsServer
from own_network import own_network
from tls_client import TlsClient
from tls_origins import over_tls, settings
from upstream_blocks import answer, saying, upstream

SILENT_V6, SILENT_V4 = "fd00::2", "192.0.2.2"
MOVED_V6 = "fd01::2"  # Here at first, and then behind that device.
TWO_V4 = "198.51.100.2", "198.51.100.3"  # Likewise, one of them.
DELAY_S = 0.25  # limits::attempt_delay
ETH_P_ALL, ETH_P_IPV6 = 0x0003, 0x86DD
SYN, ACK = 0x02, 0x10  # Flags of TCP (RFC 9293, section 3.1).


def ip(command):
    subprocess.run(
        ["ip", *command.split()], check=True, timeout=DEADLINE, capture_output=True, text=True
    )


def is_local(address):
    return subprocess.check_output(["ip", "route", "get", address]).startswith(b"local")


def add_moved():
    """The kernel makes the route to an address of its own later, on a queue of work."""
    ip(f"address add {MOVED_V6}/128 dev lo nodad")
    eventually("the address is local", lambda: is_local(MOVED_V6))


@pytest.fixture(autouse=True)
def _network(ipv6):
    with own_network():
        ip("link add silent0 type veth peer name nobody0")
        ip("link set silent0 up")
        ip("link set nobody0 up")
        ip("address add fd00::1/64 dev silent0 nodad")
        ip("address add 192.0.2.1/24 dev silent0")
        for address in (SILENT_V4, SILENT_V6, MOVED_V6, *TWO_V4):
            ip(f"neighbour add {address} lladdr 02:00:00:00:00:02 dev silent0")
        add_moved()
        for address in TWO_V4:
            ip(f"address add {address}/32 dev lo")
        ip("route add 198.51.100.0/24 dev silent0")
        yield


class Tried:
    """Tried are the connections to silent addresses: each has a port of its own, and a SYN that the
    kernel may repeat."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
        self.socket.bind(("nobody0", ETH_P_ALL))
        self.socket.setblocking(False)
        self.ports = set()

    def count(self):
        while True:
            try:
                packet, (_, kind, *_) = self.socket.recvfrom(2048)
            except BlockingIOError:
                return len(self.ports)
            protocol, head = (packet[6], 40) if kind == ETH_P_IPV6 else (packet[9], 20)
            is_tcp = protocol == socket.IPPROTO_TCP
            if is_tcp and packet[head + 13] & (SYN | ACK) == SYN:
                self.ports.add(packet[head : head + 2])


@pytest.fixture
def tried(_network):
    made = Tried()
    yield made
    made.socket.close()


@pytest.fixture
def named(_network, tmp_path):
    """named gives app.example these addresses, and is the settings that it is found by."""
    dns = DnsServer(tmp_path)

    def make(*addresses):
        dns.hosts["app.example"] = list(addresses)
        dns.start()
        return dns

    yield make
    dns.end()


def timed(port):
    begin = time.monotonic()
    said = answer(port)
    return said, time.monotonic() - begin


def test_a_silent_family_costs_one_delay(serve, origin, named, tried):
    behind = origin(saying("4"), host="127.0.0.2")
    dns = named("127.0.0.2", SILENT_V6)
    server = serve(
        upstream(f"[app.example]:{behind.port}", lines=["eject-after = 1"])
        + f'upstream = "app"\nfrontend = "[127.0.0.1]:0"\nadmin = "[127.0.0.1]:0"\n{dns.setting}'
    )
    said, first = timed(server.port)
    assert said == "4" and DELAY_S <= first < 15  # That is a part of the timeout.
    assert tried.count() == 1
    assert {answer(server.port) for _ in range(10)} == {"4"}
    assert tried.count() == 1
    metrics = admin_of(server).metrics()
    one = {"upstream": "app", "server": f"[app.example]:{behind.port}"}
    assert metrics.value("cleat_upstream_server_connections_total", **one) == 11
    assert metrics.value("cleat_upstream_server_connect_failures_total", **one) == 0
    assert not server.log(event="server-ejected")


def test_the_family_that_has_answered_is_lost(serve, origin, named, tried):
    """cleat then tries the first family again beside the second, and prefers it again."""
    v4 = origin(saying("4"), host="127.0.0.2")
    origin(saying("6"), host=MOVED_V6, port=v4.port)
    dns = named("127.0.0.2", MOVED_V6)
    server = serve(f'backend = "[app.example]:{v4.port}"\n{dns.setting}')
    assert answer(server.port) == "6"
    ip(f"address del {MOVED_V6}/128 dev lo")
    ip("route add fd01::/64 dev silent0")
    said, took = timed(server.port)
    assert said == "4" and DELAY_S <= took < 15
    assert tried.count() == 1
    assert answer(server.port) == "4"
    assert tried.count() == 1
    ip("route del fd01::/64 dev silent0")
    add_moved()
    v4.close()  # It refuses.
    assert answer(server.port) == "6"


def test_a_silent_address_costs_one_wait(serve, origin, named, tried):
    port = 0
    for address in TWO_V4:
        port = origin(saying(address), host=address, port=port).port
    dns = named(*TWO_V4)
    server = serve(
        f'backend = "[app.example]:{port}"\nbackend-connect-timeout = 2\n{dns.setting}'
    )
    lost = answer(server.port)  # The first one of the answer, which DNS rotates.
    (left,) = set(TWO_V4) - {lost}
    ip(f"address del {lost}/32 dev lo")
    said, took = timed(server.port)
    assert said == left and 1 <= took  # Each of two has half of the timeout.
    assert tried.count() == 1
    assert {answer(server.port) for _ in range(5)} == {left}
    assert tried.count() == 1


def test_where_both_are_silent_the_server_has_failed(serve, origin, named, tried):
    dns = named(SILENT_V4, SILENT_V6)
    spare = origin(saying("spare"))
    server = serve(
        upstream("[app.example]:80", spare.address, lines=["balance = first", "eject-after = 1"])
        + 'upstream = "app"\nfrontend = "[127.0.0.1]:0"\nbackend-connect-timeout = 3\n'
        + dns.setting
    )
    said, took = timed(server.port)
    assert said == "spare" and 1 < took  # Two of three parts of the timeout are for both.
    assert server.wait_for_log(event="server-ejected")["server"] == "[app.example]:80"
    assert tried.count() == 2
    assert answer(server.port) == "spare"
    assert tried.count() == 2


def test_tls_to_the_family_that_answers(serve, certs, origin, named, tried):
    behind = origin(over_tls(settings(certs.ecdsa), lambda end: end.send(b"4")), host="127.0.0.2")
    dns = named("127.0.0.2", SILENT_V6)
    server = serve(
        upstream(f"[app.example]:{behind.port}", lines=["tls = on", "tls-verify = off"])
        + f'upstream = "app"\nfrontend = "[127.0.0.1]:0"\n{dns.setting}'
    )
    begin = time.monotonic()
    for _ in range(2):
        with TlsClient(server.port) as client:
            assert client.receive(1) == b"4"
    assert DELAY_S <= time.monotonic() - begin < 15
    assert len(behind.all) == 2 and tried.count() == 1
    assert not server.log(event="upstream-handshake-failed")
