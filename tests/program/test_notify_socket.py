"""The messages for systemd (sd_notify(3)): READY when cleat serves, RELOADING and READY around a
reload, STOPPING at the end, and WATCHDOG while every worker's loop turns."""

import os
import signal
import socket
import time

import pytest

from deadlines import DEADLINE, eventually
from tls_client import TlsClient


class Manager:
    """Manager is a service manager's end of NOTIFY_SOCKET."""

    def __init__(self, name):
        self.name = name
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(name)
        self.socket.settimeout(DEADLINE)

    def hear(self):
        """hear is the next message, as its variables."""
        text = self.socket.recv(4096).decode()
        return dict(line.split("=", 1) for line in text.split("\n"))

    def environment(self, **more):
        shown = "@" + self.name[1:] if self.name[0] == "\0" else self.name
        return {**os.environ, "NOTIFY_SOCKET": shown, **more}


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    name = str(tmp_path / "notify")
    made = Manager(name if request.param == "path" else f"\0cleat-test/{os.getpid()}/{time.time()}")
    yield made
    made.socket.close()


def test_it_hears_of_the_start_reloads_and_the_end(cleat, manager):
    server = cleat("--workers", 2, env=manager.environment())
    ready = manager.hear()
    assert (ready["READY"], ready["MAINPID"]) == ("1", str(server.pid))
    assert ready["STATUS"] == "serving with 2 workers on 1 addresses, 1 certificates"
    before = time.monotonic_ns() // 1000
    server.signal(signal.SIGHUP)
    reloading = manager.hear()
    assert reloading["RELOADING"] == "1"
    assert before <= int(reloading["MONOTONIC_USEC"]) <= time.monotonic_ns() // 1000
    assert manager.hear()["READY"] == "1"
    server.signal(signal.SIGTERM)
    assert manager.hear()["STOPPING"] == "1"
    assert server.wait() == 0


def test_a_refused_reload_is_over_too(cleat, manager, certs, tmp_path):
    pem = tmp_path / "site.pem"
    pem.write_text(certs.ecdsa.pem.read_text())
    server = cleat(pem, pem=[], env=manager.environment())
    assert manager.hear()["READY"] == "1"
    pem.write_text("")
    server.signal(signal.SIGHUP)
    assert manager.hear()["RELOADING"] == "1"
    assert manager.hear()["READY"] == "1"
    server.wait_for_log(event="reload-refused")


def test_the_watchdog_hears_of_workers_that_are_alive(cleat, manager):
    server = cleat(env=manager.environment(WATCHDOG_USEC="200000"))
    assert manager.hear()["READY"] == "1"
    for _ in range(3):
        assert manager.hear() == {"WATCHDOG": "1"}
    with TlsClient(server.port) as client:
        assert client.exchange(b"served") == b"served"


def test_the_watchdog_of_another_process_is_not_ours(cleat, manager):
    cleat(env=manager.environment(WATCHDOG_USEC="1000", WATCHDOG_PID="1"))
    assert manager.hear()["READY"] == "1"
    manager.socket.settimeout(0.2)
    with pytest.raises(TimeoutError):
        manager.hear()


def test_a_manager_that_is_gone_is_a_warning_and_no_more(cleat, tmp_path):
    environment = {**os.environ, "NOTIFY_SOCKET": str(tmp_path / "nothing")}
    server = cleat(env=environment)
    assert server.wait_for_log(event="not-notified")
    with TlsClient(server.port) as client:
        assert client.exchange(b"served") == b"served"
    eventually("it is said once", lambda: len(server.log(event="not-notified")) == 1)
