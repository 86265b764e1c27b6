"""Lines of the access log that cannot be written are counted and reported, also those that wait at
the program's end or in a log that a reload has replaced. A rotation loses none."""

import os
import signal

import pytest

from access_logs import AccessLog, flood
from admin_client import admin_of, eventually_counts
from deadlines import eventually
from origins import echo
from program import Cleat
from reloads import reload
from tls_client import TlsClient

LOST = "cleat_access_log_lines_lost_total"


def visit(port: int) -> str:
    """One connection that ends well: its address."""
    with TlsClient(port) as client:
        client.exchange(b"x")
        client.close_notify()
        client.receive_to_end()
        return "127.0.0.1:%d" % client.socket.getsockname()[1]


def counts_of_lost_lines(server: Cleat) -> list[int]:
    return [int(line["count"]) for line in server.log(event="access-lines-lost")]


def test_lines_that_a_full_disk_has_not_taken_by_the_end_are_reported(cleat):
    server = cleat("--access-log", "/dev/full", "--admin", "[127.0.0.1]:0")
    admin = admin_of(server)
    flood(server.port, 50)
    eventually(
        "every connection is counted",
        lambda: admin.metrics().sum("cleat_connections_closed_total") == 50,
    )
    server.wait_for_log(event="access-log-not-written")
    assert admin.metrics().value(LOST) == 0  # They wait.
    server.end()
    assert counts_of_lost_lines(server) == [50]
    assert server.log(event="access-lines-lost")[0]["reason"] == "No space left on device"


def test_lines_that_a_reader_has_not_taken_by_the_end_are_reported(cleat, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    server = cleat("--access-log", fifo, "--admin", "[127.0.0.1]:0")
    admin = admin_of(server)
    flood(server.port, 600)  # More than a FIFO holds, and less than the ring.
    eventually(
        "every connection is counted",
        lambda: admin.metrics().sum("cleat_connections_closed_total") == 600,
    )
    server.end()
    written = b""
    while block := os.read(reader, 1 << 16):
        written += block
    os.close(reader)
    (lost,) = counts_of_lost_lines(server)
    assert lost > 0 and written.count(b"\n") + lost == 600


def test_lines_that_wait_in_a_log_that_a_reload_replaces_are_counted(
    cleat, config, certs, origin, tmp_path
):
    text = f"""
        backend = "{origin(echo).address}"
        frontend = "[127.0.0.1]:0"
        pem-file = "{certs.ecdsa.pem}"
        admin = "[127.0.0.1]:0"
        log-level = 2
        sandbox-write = "{tmp_path}"
    """
    path = config(text + 'access-log = "/dev/full"\n')
    nothing = {"frontend": None, "log_level": None, "shutdown_timeout": None}
    server = cleat("--config", path, backend="", pem=[], **nothing)
    admin = admin_of(server)
    flood(server.port, 50)
    eventually(
        "every connection is counted",
        lambda: admin.metrics().sum("cleat_connections_closed_total") == 50,
    )
    path.write_text(text + f'access-log = "{tmp_path}/access.log"\n')
    reload(server)
    eventually_counts(admin, LOST, 50)
    server.wait_for_log(event="access-lines-lost")
    assert counts_of_lost_lines(server) == [50]
    server.end()
    assert counts_of_lost_lines(server) == [50]  # Each is reported once.


def test_lines_of_a_replaced_log_that_ends_with_the_program_are_reported(
    cleat, config, certs, origin, tmp_path
):
    """A connection from before the reload is open until the program ends."""
    text = f"""
        backend = "{origin(echo).address}"
        frontend = "[127.0.0.1]:0"
        pem-file = "{certs.ecdsa.pem}"
        log-level = 2
    """
    path = config(text + 'access-log = "/dev/full"\n')
    nothing = {"frontend": None, "log_level": None, "shutdown_timeout": None}
    server = cleat("--config", path, backend="", pem=[], **nothing)
    flood(server.port, 50)
    with TlsClient(server.port) as client:
        client.exchange(b"x")
        path.write_text(text)
        reload(server)
        server.signal(signal.SIGINT)
        server.end()
    assert counts_of_lost_lines(server) == [51]


@pytest.mark.parametrize("renamed", [True, False], ids=["renamed", "deleted"])
def test_the_next_line_after_a_rotation_is_in_a_new_file(cleat, tmp_path, renamed):
    """The server is quiet: each file has one line, and nobody makes the new one."""
    access = AccessLog(tmp_path / "access.log")
    server = cleat("--access-log", access.path, "--access-log-format", "json")
    peers = []
    for number in range(3):
        peers.append(visit(server.port))
        access.wait_for(peer=peers[-1])
        assert [each["peer"] for each in access.entries()] == peers[-1:]
        if renamed:
            access.path.rename(tmp_path / f"old.{number}")
        else:
            access.path.unlink()
    server.signal(signal.SIGTERM)
    server.end()
