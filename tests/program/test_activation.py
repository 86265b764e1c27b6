"""Sockets that a service manager has opened (LISTEN_FDS, sd_listen_fds(3)): each serves the
frontend that has its address, or that its name says. One that cannot be used is an error."""

import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from deadlines import eventually
from origins import echo
from program import Cleat, open_files
from tls_client import TlsClient

# Becomes the program, with the descriptors from 3 on, as systemd starts a service.
LAUNCHER = """
import os, sys
pid, names, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
given = [os.dup(int(each)) for each in sys.argv[4 : 4 + count]]
high = [os.dup2(each, 100 + number) for number, each in enumerate(given)]
for number, each in enumerate(high):
    os.dup2(each, 3 + number)
os.environ["LISTEN_PID"] = str(os.getpid()) if pid == "own" else pid
os.environ["LISTEN_FDS"] = str(count)
if names != "-":
    os.environ["LISTEN_FDNAMES"] = names
os.execv(sys.argv[4 + count], sys.argv[4 + count :])
"""


def launched(sockets, names=None, pid="own"):
    """The options that start cleat with these sockets."""
    numbers = [each.fileno() for each in sockets]
    words = (sys.executable, "-c", LAUNCHER, pid, names or "-", len(numbers), *numbers)
    return {"wrapper": words, "pass_fds": numbers}


def listening(host="127.0.0.1", port=0, shared=False):
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind((host, port))
    made.listen(100)
    return made


def port_of(sock):
    return sock.getsockname()[1]


@pytest.fixture
def passed():
    with listening() as made:
        yield made


def frontend(sock):
    host, port = sock.getsockname()
    return f"[{host}]:{port}"


def says_hello(port):
    with TlsClient(port) as client:
        return client.exchange(b"hello") == b"hello"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_passed_socket_serves_the_frontend_with_its_address(cleat, passed, workers):
    options = launched([passed], "cleat.socket")
    server = cleat("--workers", workers, frontend=frontend(passed), **options)
    assert server.port == port_of(passed)
    assert all(says_hello(server.port) for _ in range(10))


def test_clients_wait_in_the_socket_while_no_cleat_runs(cleat, origin, passed):
    upstream = origin(echo)
    for _ in range(2):
        with TlsClient(port_of(passed), handshake=False) as client:
            options = launched([passed])
            server = cleat(backend=upstream, frontend=frontend(passed), **options)
            client.handshake()
            assert client.exchange(b"I was early") == b"I was early"
        server.end()


def test_several_sockets_of_one_address_are_a_queue_for_each_worker(cleat):
    with listening(shared=True) as first, listening(port=port_of(first), shared=True) as second:
        options = launched([first, second])
        server = cleat("--workers", 2, frontend=frontend(first), **options)
        assert all(says_hello(server.port) for _ in range(10))
        lines = server.log(event="handshake-done")
        assert {line["worker"] for line in lines} <= {"0", "1"}


def test_a_frontend_is_named_by_its_socket(cleat, passed):
    """The configuration's address is another one: the name decides."""
    server = cleat(frontend="[localhost]:4433", **launched([passed], "localhost,4433"))
    assert server.ports == [port_of(passed)]
    assert says_hello(server.port)


def test_a_frontend_without_a_socket_is_opened_by_cleat(cleat, passed):
    flags = ["-f", "[127.0.0.1]:0"]
    server = cleat(*flags, frontend=frontend(passed), **launched([passed]))
    assert len(server.ports) == 2
    assert all(says_hello(port) for port in server.ports)


def test_sockets_for_another_process_are_not_taken(cleat, passed):
    server = cleat(**launched([passed], pid="1"))
    assert server.port != port_of(passed)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can listen there")
def test_any_user_serves_a_port_below_1024_with_it(cleat, certs):
    for port in range(1023, 900, -1):
        try:
            low = listening(port=port)
        except OSError:
            continue
        with low:
            server = cleat("--user", "nobody", frontend=frontend(low), **launched([low]))
            assert says_hello(port)
            # The process that keeps root's rights has nothing of the network.
            children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
            (opener,) = children
            inode = os.fstat(low.fileno()).st_ino
            assert f"socket:[{inode}]" not in open_files(int(opener)).values()
            return
    pytest.skip("no port below 1024 is free")


def refused(certs, sockets, *flags, **how):
    """Standard error of a cleat that does not start."""
    server = Cleat("-b", "[127.0.0.1]:1", *flags, certs.ecdsa.pem, **launched(sockets, **how))
    assert server.wait() == 1
    return "\n".join(server.lines)


def test_what_cannot_serve_is_an_error(certs, passed):
    address = frontend(passed)
    text = refused(certs, [passed], "-f", "[127.0.0.1]:0", names="web")
    assert f"no frontend listens on 127.0.0.1:{port_of(passed)} (descriptor 3, named web)" in text
    assert "ListenStream=" in text
    with socket.socket() as idle, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        for other in (idle, datagrams):
            text = refused(certs, [passed, other], "-f", address, names="web:more")
            assert "descriptor 4 (more) is no TCP socket that listens" in text
    text = refused(certs, [passed], "-f", address, names="one:two")
    assert "LISTEN_FDNAMES has 2 names, and LISTEN_FDS says 1" in text
    with listening(shared=True) as first, listening(port=port_of(first), shared=True) as second:
        text = refused(certs, [first, second], "-f", frontend(first))
        assert f"2 sockets are passed for 127.0.0.1:{port_of(first)}, and there are 1" in text


def test_a_reload_keeps_the_socket_and_cannot_drop_it(cleat, config, certs, origin, passed):
    upstream = origin(echo)
    lines = f'backend = "{upstream.address}"\npem-file = "{certs.ecdsa.pem}"\nlog-level = 2\n'
    lines += "shutdown-timeout = 0\n"
    own = f'frontend = "{frontend(passed)}"\n'
    path = config(lines + own)
    nothing = {"backend": "", "frontend": None, "log_level": None, "shutdown_timeout": None}
    server = cleat("--config", path, pem=[], **nothing, **launched([passed]))
    path.write_text(lines + own + "backlog = 50\nidle-timeout = 9\n")
    server.signal(signal.SIGHUP)
    server.wait_for_log(event="reloaded")
    assert says_hello(server.port)
    path.write_text(lines + 'frontend = "[127.0.0.1]:0"\n')
    server.signal(signal.SIGHUP)
    line = server.wait_for_log(event="reload-problem")
    assert "the socket unit keeps it open" in line["problem"]
    assert says_hello(server.port)
    server.signal(signal.SIGTERM)
    eventually("it has ended", lambda: server.process.poll() is not None)
