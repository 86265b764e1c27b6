"""upstream-source: connections to servers come from the addresses that it names. Local ports that
are used up are named in the log and in metrics, and connections wait for one.

The range of local ports belongs to a network: the tests have one of their own, which only root
can."""

import contextlib
import socket
from collections import Counter
from pathlib import Path

import pytest

from admin_client import admin_of
from origins import echo
from own_network import own_network
from program import complaints
from reloads import reload_with
from tls_client import TlsClient
from tls_origins import over_tls, settings as tls_settings
from upstream_blocks import upstream

FIRST, PORTS = 20000, 8
LISTEN = 'frontend = "[0.0.0.0]:0"\n'
SHORT = "backend-connect-timeout = 1\n"


def narrow():
    """Connections have so many local ports from now on, to each address."""
    Path("/proc/sys/net/ipv4/ip_local_port_range").write_text(f"{FIRST} {FIRST + PORTS - 1}")


@pytest.fixture(autouse=True)
def _network():
    with own_network():
        yield


@contextlib.contextmanager
def clients(server, count):
    """So many clients that are served. Each comes to another address, where all ports are free."""
    with contextlib.ExitStack() as held:
        for i in range(count):
            client = TlsClient(server.port, host=f"127.0.1.{i + 1}")
            held.enter_context(client)
            assert client.exchange(b"hello") == b"hello"
        yield


def refused(server, host="127.0.2.1"):
    with TlsClient(server.port, host=host) as client:
        client.wait_for_refusal()


def sources(origin):
    return Counter(each.socket.getpeername()[0] for each in origin.all)


def test_each_address_has_ports_of_its_own(serve, origin):
    behind = origin(echo)
    server = serve(
        f'backend = "{behind.address}"\nupstream-source = "127.0.0.2,127.0.0.3"\n'
        'frontend = "[0.0.0.0]:0"'
    )
    narrow()
    with clients(server, 2 * PORTS):
        assert sources(behind) == {"127.0.0.2": PORTS, "127.0.0.3": PORTS}
    assert not server.log(event="local-ports-used-up")


def test_ports_that_run_out_are_named(serve, origin):
    behind = origin(echo)
    text = f'{LISTEN}admin = "[127.0.0.1]:0"\nbackend = "{behind.address}"\n{SHORT}'
    server = serve(text)
    admin = admin_of(server)
    admin.metrics()
    narrow()
    with clients(server, PORTS):
        refused(server)
        refused(server)
        line = server.wait_for_log(event="local-ports-used-up")
        assert line["server"] == behind.address and "upstream-source" in line["cure"]
        failed = server.wait_for_log(times=2, event="connect-failed")
        assert failed["reason"] == "local-ports-used-up"
        assert len(server.log(event="local-ports-used-up")) == 1
        # One more address, by a reload.
        reload_with(server, "", 'upstream-source = "127.0.0.7"\n')
        with clients(server, PORTS):
            assert sources(behind)["127.0.0.7"] == PORTS
    Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("30000 40000")
    metrics = admin.metrics()
    assert metrics.value("cleat_local_ports_used_up_total") == 2
    assert metrics.value("cleat_local_port_waits_total") == 2
    assert metrics.value("cleat_connections_closed_total", reason="local-ports-used-up") == 2


class Waiting:
    """One more client, for which no port is free."""

    def __init__(self, server, number, text):
        self.client = TlsClient(server.port, host=f"127.0.3.{number + 1}")
        self.client.send(text)
        self.text = text

    def served(self):
        assert self.client.receive_exactly(len(self.text)) == self.text


def tls_echo(end):
    while more := end.receive(1 << 14):
        end.send(more)


@pytest.mark.parametrize("servers", [1, 2])
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_a_connection_waits_until_a_port_is_free(serve, certs, origin, servers, tls):
    handle = over_tls(tls_settings(certs.ecdsa), tls_echo) if tls else echo
    behind = [origin(handle) for _ in range(servers)]
    server = serve(
        upstream(
            *(each.address for each in behind),
            lines=["eject-after = 1"] + ["tls = on", "tls-verify = off"] * tls,
        )
        + 'upstream = "app"\n' + LISTEN
    )
    narrow()
    held = [
        TlsClient(server.port, host=f"127.0.1.{i + 1}") for i in range(servers * PORTS)
    ]
    assert [each.exchange(b"hello") for each in held] == [b"hello"] * len(held)
    waiting = [Waiting(server, i, f"waits {i}".encode()) for i in range(3)]
    server.wait_for_log(event="local-ports-used-up")
    for client, more in zip(held, waiting):
        client.reset()  # Then cleat resets its connection to the server: the port is free at once.
        more.served()
    assert not server.log(event="connect-failed")
    assert not server.log(event="server-ejected")
    for each in [*held[3:], *(more.client for more in waiting)]:
        each.reset()


def test_nobody_overtakes_those_that_wait(serve, origin):
    behind = origin(echo)
    server = serve(f'backend = "{behind.address}"\n{LISTEN}')
    narrow()
    held = [TlsClient(server.port, host=f"127.0.1.{i + 1}") for i in range(PORTS)]
    assert [each.exchange(b"hello") for each in held] == [b"hello"] * len(held)
    waiting = [Waiting(server, i, f"{i}".encode()) for i in range(5)]
    server.wait_for_log(event="local-ports-used-up")
    seen = len(behind.all)
    for client in held:
        client.reset()
    for each in waiting:
        each.served()
    assert len(behind.all) == seen + len(waiting)
    for each in waiting:
        each.client.reset()


def test_a_server_at_a_socket_needs_no_port(serve, origin, tmp_path):
    one, other = origin(echo), origin(echo, path=tmp_path / "other.sock")
    server = serve(
        upstream(one.address, other.address, lines=["balance = first"])
        + 'upstream = "app"\n' + LISTEN
    )
    narrow()
    with clients(server, PORTS + 3):
        assert (len(one.all), len(other.all)) == (PORTS, 3)


def test_another_server_is_tried(serve, origin):
    one, other = origin(echo), origin(echo)
    lines = ["balance = first", "eject-after = 1"]
    server = serve(
        upstream(one.address, other.address, lines=lines)
        + 'upstream = "app"\nfrontend = "[0.0.0.0]:0"'
    )
    narrow()
    with clients(server, 2 * PORTS):
        assert (len(one.all), len(other.all)) == (PORTS, PORTS)
    assert not server.log(event="server-ejected")  # The server has done nothing.
    assert not server.log(event="connect-failed")


def test_sources_are_of_the_servers_family(serve, origin, ipv6):
    behind = origin(echo)
    listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    v6 = f"[::1]:{listener.getsockname()[1]}"
    server = serve(
        upstream(behind.address, v6, lines=['upstream-source = "127.0.0.9, [::1]"'])
        + 'upstream = "app"\nfrontend = "[0.0.0.0]:0"'
    )
    with TlsClient(server.port) as client, TlsClient(server.port):
        assert client.exchange(b"hello") == b"hello"
        accepted, peer = listener.accept()
        accepted.close()
        assert peer[0] == "::1"
        assert sources(behind) == {"127.0.0.9": 1}


def test_an_address_of_another_machine_is_an_error(certs, config):
    path = config(f'upstream-source = "192.0.2.77"\npem-file = "{certs.ecdsa.pem}"\n')
    assert (
        f"{path}:1:19: error: upstream-source: no connection can come from 192.0.2.77: Cannot "
        "assign requested address. Name addresses of this machine"
    ) in complaints("--config", path)


@pytest.mark.parametrize(
    "text, why",
    [
        ("app.example", '"app.example" is not the number of an address'),
        ("127.0.0.1:80", '"127.0.0.1:80" is not the number of an address'),
        ("127.0.0.1,127.0.0.1", "127.0.0.1 is in it twice"),
        (",", "there is no address in it"),
    ],
)
def test_what_is_no_list_of_addresses(certs, config, text, why):
    path = config(f'upstream-source = "{text}"\npem-file = "{certs.ecdsa.pem}"\n')
    assert f"upstream-source: {why}" in complaints("--config", path)
