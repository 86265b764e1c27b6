"""Ports for servers that start later, or that come back at the same port."""

import random
import socket
from contextlib import closing
from pathlib import Path

_claims: list[socket.socket] = []


def free_port(host: str = "127.0.0.1") -> int:
    """free_port returns a port that is free for TCP and UDP, and that no other caller gets while
    this process lives.

    The kernel gives the ports of ip_local_port_range to all who ask for any port: to another
    server or connection before the caller's server has started, or to the very connection that
    looks whether it has started, which then reaches itself. So the port is from below that range.
    An abstract UNIX socket of its number, which ends with the process, claims it."""
    limits = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    ports = list(range(10_000, int(limits[0])))
    random.shuffle(ports)
    for port in ports:
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0cleat-port-{port}")
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        if _is_free(host, port):
            return port
    raise AssertionError(f"no port of {host} is free below ip_local_port_range")


def _is_free(host: str, port: int) -> bool:
    try:
        with (
            closing(socket.create_server((host, port))),
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
        ):
            datagrams.bind((host, port))
            return True
    except OSError:
        return False
