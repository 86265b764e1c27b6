"""A quota of CPU, as a container's limit: handshakes wait before it is used up, because a process
that has used it up does not run at all until the next period. All is counted: by the kernel, how
long it has held the process, and by cleat, how often handshakes have waited.

Only root can make a control group."""

import itertools
import os

import pytest

import bench_client
from admin_client import LOCAL, admin_of
from control_groups import RATIONING
from deadlines import SANITIZED
from reloads import reload

# Less than a busy machine leaves to the server: one that had less than its quota would never wait.
PERIOD_US = 100_000
QUOTA_US = 2_000
NUMBERS = itertools.count()


class Group:
    """Group is a control group with a quota."""

    def __init__(self, folder):
        self._folder = folder
        self._version_2 = (folder / "cpu.max").exists()

    def limit(self, quota_us):
        """limit sets the quota; None: there is none."""
        if self._version_2:
            text = "max" if quota_us is None else str(quota_us)
            (self._folder / "cpu.max").write_text(f"{text} {PERIOD_US}")
        else:
            (self._folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (self._folder / "cpu.cfs_quota_us").write_text(str(quota_us or -1))

    def join(self):
        """join moves the calling process into the group."""
        (self._folder / "cgroup.procs").write_text(str(os.getpid()))

    def leave(self):
        """leave moves all processes to the group around this one."""
        for pid in (self._folder / "cgroup.procs").read_text().split():
            (self._folder.parent / "cgroup.procs").write_text(pid)

    def times(self):
        """times is for how many seconds the group has had something to do, in whole periods, and
        for how many of them the kernel has held a thread of it."""
        lines = (self._folder / "cpu.stat").read_text().splitlines()
        found = {key: int(value) for key, value in map(str.split, lines)}
        held = found["throttled_usec"] / 1e6 if self._version_2 else found["throttled_time"] / 1e9
        return found["nr_periods"] * PERIOD_US / 1e6, held


@pytest.fixture(name="group")
def _group():
    if RATIONING is None:
        pytest.skip("no control group with a quota of CPU can be made here")
    folder = RATIONING / f"cleat-quota-{os.getpid()}-{next(NUMBERS)}"
    folder.mkdir()
    made = Group(folder)
    made.limit(QUOTA_US)
    yield made
    made.leave()
    folder.rmdir()


def waits(admin):
    """waits is how often handshakes have waited for CPU time."""
    return admin.metrics().value("cleat_worker_cpu_limit_waits_total", worker="0")


def flood(server):
    """flood makes full handshakes, as many at a time as keep the server busy."""
    bench_client.handshakes(server.port, "X25519", times=100, at_once=32)


@pytest.mark.skipif(SANITIZED, reason="a sanitizer makes one handshake use the whole quota")
def test_handshakes_leave_some_of_the_quota(serve_lines, group):
    server = serve_lines(f'admin = "{LOCAL}"', preexec_fn=group.join)
    admin = admin_of(server)
    busy_before, held_before = group.times()
    flood(server)
    busy, held = group.times()
    assert waits(admin) > 0
    assert busy - busy_before > 10 * PERIOD_US / 1e6
    # Without the wait the kernel holds it for nine tenths of the time.
    assert held - held_before < 0.2 * (busy - busy_before)


def test_a_reload_follows_the_quota(serve_lines, group):
    group.limit(None)
    server = serve_lines(f'admin = "{LOCAL}"', preexec_fn=group.join)
    admin = admin_of(server)
    flood(server)
    assert waits(admin) == 0
    group.limit(QUOTA_US)
    reload(server)
    flood(server)
    assert waits(admin) > 0
    group.limit(None)
    reload(server)
    limited = waits(admin)  # Connections of before may have waited until the reload.
    flood(server)
    assert waits(admin) == limited
