"""Started as root with user, cleat opens its logs again, after a rotation or for a reload, also in
a folder that only root may enter."""

import os
import signal

import pytest

from deadlines import eventually
from privileged_site import place, serve, shown, site  # noqa: F401: the fixtures
from program import wait_for_reopening
from reloads import reload

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to keep")


def test_a_log_in_a_folder_of_roots_is_opened_again(serve, site):  # noqa: F811
    logs = site.place / "logs"
    logs.mkdir(mode=0o700)
    log, old = logs / "cleat.log", logs / "old.log"
    site.write(f'log-filename = "{log}"')
    server = serve(wait=False)
    eventually("it serves", lambda: log.exists() and "event=started" in log.read_text())
    log.rename(old)
    server.signal(signal.SIGUSR1)
    wait_for_reopening(server.pid, old)
    assert log.stat().st_mode & 0o777 == 0o640
    server.signal(signal.SIGHUP)
    eventually("it is written to", lambda: "event=reloaded" in log.read_text())
    assert "event=reloaded" not in old.read_text()

    other = logs / "other.log"
    site.write(f'log-filename = "{other}"')
    server.signal(signal.SIGHUP)
    eventually("there is another log", other.exists)
    eventually("it is written to", lambda: "event=reloaded" in other.read_text())


def test_an_access_log_in_a_folder_of_roots_is_opened_again_and_moved(serve, site):  # noqa: F811
    logs = site.place / "logs"
    logs.mkdir(mode=0o700)
    log, old, other = logs / "access.log", logs / "old.log", logs / "other.log"
    site.write(f'access-log = "{log}"')
    server = serve()
    shown(server.port)
    eventually("it has a line", lambda: "reason=" in log.read_text())
    log.rename(old)
    server.signal(signal.SIGUSR1)
    wait_for_reopening(server.pid, old)
    shown(server.port)
    eventually("it has a line", lambda: "reason=" in log.read_text())
    site.write(f'access-log = "{other}"')
    reload(server)
    shown(server.port)
    eventually("it has a line", lambda: "reason=" in other.read_text())
