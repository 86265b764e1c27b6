"""cleat listens in every place that its settings name: several frontends, IPv6, every address
with *."""

import socket

import pytest

from tls_client import TlsClient


def served(port, host="127.0.0.1"):
    with TlsClient(port, host=host) as client:
        return client.exchange(b"here") == b"here"


@pytest.mark.parametrize("workers", [1, 2])
def test_several_frontends(cleat, workers):
    server = cleat("-f", "[127.0.0.1]:0", "-f", "[127.0.0.1]:0", "--workers", workers)
    assert len(set(server.ports)) == 3
    assert all(served(port) for port in server.ports)


def test_ipv6(cleat, ipv6):
    server = cleat(frontend="[::1]:0")
    assert server.log(event="listening", address=f"[::1]:{server.port}")
    assert served(server.port, "::1")


def test_every_address(cleat, ipv6):
    server = cleat(frontend="[*]:0")
    addresses = dict(line["address"].rsplit(":", 1) for line in server.log(event="listening"))
    assert addresses.keys() == {"0.0.0.0", "[::]"}
    assert served(int(addresses["0.0.0.0"]), "127.0.0.1")
    assert served(int(addresses["[::]"]), "::1")


def test_every_address_of_ipv4(cleat):
    assert served(cleat(frontend="[0.0.0.0]:0").port)


def test_a_name(cleat):
    """localhost is one address or two, and each of them that the machine has is listened on."""
    server = cleat(frontend="[localhost]:0")
    addresses = dict(line["address"].rsplit(":", 1) for line in server.log(event="listening"))
    found = socket.getaddrinfo("localhost", 0, type=socket.SOCK_STREAM)
    expected = {address for *_, (address, *_) in found if is_ours(address)}
    assert {host.strip("[]") for host in addresses} == expected
    for host, port in addresses.items():
        assert served(int(port), host.strip("[]"))


def is_ours(address):
    """is_ours says whether this machine has the address."""
    try:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        socket.create_server((address, 0), family=family).close()
    except OSError:
        return False
    return True


def test_a_restart_takes_the_same_port(cleat):
    """Connections that the last one has closed linger in the kernel; the port is free all the
    same."""
    first = cleat()
    with TlsClient(first.port) as client:
        client.exchange(b"x")
        first.end()
    assert served(cleat(frontend=f"[127.0.0.1]:{first.port}").port)
