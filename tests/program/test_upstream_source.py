"""upstream-source: connections to servers come from the addresses that it names, and local ports
that are used up are named in the log and in metrics.

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
from program import run
from reloads import reload, replace
from tls_client import TlsClient
from upstream_blocks import upstream

FIRST, PORTS = 20000, 8


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
    text = f'frontend = "[0.0.0.0]:0"\nadmin = "[127.0.0.1]:0"\nbackend = "{behind.address}"\n'
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
        replace(server.config, server.config.read_text() + 'upstream-source = "127.0.0.7"\n')
        reload(server)
        with clients(server, PORTS):
            assert sources(behind)["127.0.0.7"] == PORTS
    Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("30000 40000")
    metrics = admin.metrics()
    assert metrics.value("cleat_local_ports_used_up_total") == 2
    assert metrics.value("cleat_connections_closed_total", reason="local-ports-used-up") == 2


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
    ran = run("--config", path, "--test")
    assert ran.returncode == 1
    assert (
        f"{path}:1:19: error: upstream-source: no connection can come from 192.0.2.77: Cannot "
        "assign requested address. Name addresses of this machine"
    ) in ran.stderr


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
    ran = run("--config", path, "--test")
    assert ran.returncode == 1 and f"upstream-source: {why}" in ran.stderr
