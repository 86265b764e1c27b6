"""With max-memory slow readers do not make cleat grow beyond it: buffers become small, new
connections are refused, those that have stalled end, and connections that read are served. Then it
accepts again."""

import hashlib
import itertools
import os
import socket
import ssl
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from admin_client import LOCAL, admin_of, eventually_counts
from control_groups import LIMITING_MEMORY
from deadlines import DEADLINE, SANITIZED, eventually
from origins import expected_digest, pieces
from program import complaints, file_limit
from ratchets import preload
from reloads import reload, reload_is_refused, reload_with, rewrite
from tls_client import TlsClient

pytestmark = pytest.mark.skipif(SANITIZED, reason="a sanitizer keeps memory of its own")

MIB = 1 << 20
MOST = 64 * MIB
FULL = 2  # Of cleat_memory_level.
MANY = 2_500  # Slow readers that would hold more than that without the key.
EARLY = 3
WHOLE = 4 * MIB
SMALL = ("--workers", 1, "--send-bufsize", 16384, "--recv-bufsize", 16384, "--log-burst", 0)
NUMBERS = itertools.count()


class Readers:
    """Readers ask for an answer, and read none of it."""

    def __init__(self, server, upstreams, held):
        self.server, self.upstreams, self.held = server, upstreams, held
        self.clients = []
        self.refused = 0
        self.most = 0

    def add(self):
        try:
            client = TlsClient(self.server.port, receive_buffer=4096)
        except (OSError, EOFError, ssl.SSLError):
            self.refused += 1
            return
        self.held.callback(client.socket.close)
        self.clients.append(client)
        upstream = self.upstreams.accept_from(client, b"s")
        self.held.callback(upstream.socket.close)
        upstream.socket.setblocking(False)
        upstream.socket.send(bytes(MIB))
        self.most = max(self.most, self.server.memory())

    def leave(self):
        for each in self.clients:
            each.socket.close()


def is_whole(client, upstream):
    """is_whole is the answer to a client that reads at once."""

    def answer():
        for piece in pieces(WHOLE):
            upstream.send(piece)
        upstream.end()

    sender = threading.Thread(target=answer, daemon=True)
    sender.start()
    seen = hashlib.sha256()
    while more := client.receive():
        seen.update(more)
    sender.join(DEADLINE)
    return seen.hexdigest() == expected_digest(WHOLE)


def is_served(server, upstreams):
    try:
        with TlsClient(server.port) as client:
            return upstreams.accept_from(client, b"late") is not None
    except (OSError, EOFError, ssl.SSLError):
        return False


@pytest.fixture(name="held")
def _held():
    with file_limit(3 * MANY), ExitStack() as held:
        yield held


def test_slow_readers_keep_below_it(cleat, upstreams, held):
    server = cleat(*SMALL, "--max-memory", "64M", "--admin", LOCAL, backend=upstreams)
    admin = admin_of(server)
    eventually_counts(admin, "cleat_memory_limit_bytes", MOST)
    early = []
    for _ in range(EARLY):
        client = held.enter_context(TlsClient(server.port))
        early.append((client, upstreams.accept_from(client, b"early")))
    readers = Readers(server, upstreams, held)
    # Clients that come faster than memory is read are refused before it is full, too.
    while readers.refused < 10 or admin.metrics().value("cleat_memory_level") != FULL:
        assert len(readers.clients) < MANY
        readers.add()
    assert readers.most < MOST

    line = server.wait_for_log(event="connection-refused")
    assert (line["level"], line["reason"]) == ("warning", "memory-limit")
    counted = admin.metrics()
    assert counted.value("cleat_connections_refused_total", reason="memory-limit") >= 10
    assert 0 < counted.value("cleat_memory_used_bytes") < MOST
    line = server.wait_for_log(event="memory-level")
    assert (line["from"], line["max_memory"]) == ("normal", str(MOST))
    assert int(line["in_use"]) > MOST // 2
    for client, upstream in early:
        assert is_whole(client, upstream)

    # Readers that take nothing make room for others.
    server.wait_for_log(event="connection-closed", reason="stalled-evicted")
    eventually("a new client is served", lambda: is_served(server, upstreams))
    assert server.memory() < MOST

    readers.leave()
    eventually_counts(admin, "cleat_memory_level", 0)
    assert is_served(server, upstreams)
    server.wait_for_log(event="memory-level", to="normal")


def test_unfinished_handshakes_give_way(cleat, held):
    """Clients that send 15 KB of a ClientHello, and no more."""
    server = cleat("--workers", 1, "--max-memory", "64M", "--log-burst", 0)
    part = b"\x01\x00\x3f\x00\x03\x03" + bytes(15_000)
    hello = b"\x16\x03\x01" + len(part).to_bytes(2, "big") + part
    for _ in range(MANY):
        client = held.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        try:
            client.sendall(hello)
        except OSError:
            pass  # Refused.
        assert server.memory() < MOST
    server.wait_for_log(reason="handshake-evicted")
    eventually("a client is served", lambda: _echoes(server.port))


def _echoes(port):
    try:
        with TlsClient(port) as client:
            return client.exchange(b"x") == b"x"
    except (OSError, EOFError, ssl.SSLError):
        return False


def test_a_reload_changes_it(serve_lines):
    server = serve_lines(f'admin = "{LOCAL}"', "max-memory = 80M")
    admin = admin_of(server)
    eventually_counts(admin, "cleat_memory_limit_bytes", 80 * MIB)
    reload_with(server, "max-memory = 80M", "max-memory = 1G")
    eventually_counts(admin, "cleat_memory_limit_bytes", 1024 * MIB)
    reload_with(server, "max-memory = 1G", "max-memory = off")
    sample = "\ncleat_memory_limit_bytes "
    eventually("there is no limit", lambda: sample not in admin.get("/metrics").text)


def test_a_reload_that_leaves_less_memory_has_to_have_room_for_what_is_in_use(
    serve_lines, upstreams, held
):
    server = serve_lines(
        f'admin = "{LOCAL}"', "max-memory = 1G", "idle-timeout = 600",
        "send-bufsize = 16384", "recv-bufsize = 16384", backend=upstreams,
    )  # fmt: skip
    admin = admin_of(server)

    def used():
        return admin.metrics().value("cleat_memory_used_bytes")

    at_start = server.memory()
    readers = Readers(server, upstreams, held)
    while server.memory() < at_start + 50 * MIB:
        assert len(readers.clients) < MANY
        readers.add()
    eventually("it is read", lambda: used() > 50 * MIB)
    rewrite(server, "max-memory = 1G", "max-memory = 80M")
    (problem,) = reload_is_refused(server)
    assert "max-memory: 80 MiB are too few" in problem
    assert "MiB are in use now, with the connections that are open" in problem
    # Another setting, as a renewed certificate, is not judged by what is in use.
    rewrite(server, "max-memory = 80M", "max-memory = 1G")
    reload_with(server, "idle-timeout = 600", "idle-timeout = 601")
    readers.leave()
    eventually("the memory is free", lambda: used() < 46 * MIB)
    reload_with(server, "max-memory = 1G", "max-memory = 80M")


def test_readings_that_fail_are_logged_and_counted(cleat, tmp_path):
    """As where no descriptor is left. The file says whether the gauge can be opened."""
    failing = tmp_path / "failing"
    library = preload(
        tmp_path,
        "gauge",
        """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdarg.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/types.h>
        #include <unistd.h>
        static int open_file(char const* call, char const* path, int flags, mode_t mode)
        {
            int const is_gauge = strcmp(path, "/proc/self/statm") == 0 ||
                strstr(path, "/memory.current") || strstr(path, "/memory.usage_in_bytes");
            if (is_gauge && access(getenv("GAUGE_FAILS"), F_OK) == 0) {
                errno = EMFILE;
                return -1;
            }
            return ((int (*)(char const*, int, ...))dlsym(RTLD_NEXT, call))(path, flags, mode);
        }
        #define FORWARD(name) \
            int name(char const* path, int flags, ...) \
            { \
                mode_t mode = 0; \
                if (flags & O_CREAT) { \
                    va_list all; \
                    va_start(all, flags); \
                    mode = va_arg(all, mode_t); \
                    va_end(all); \
                } \
                return open_file(#name, path, flags, mode); \
            }
        FORWARD(open)
        FORWARD(open64)
        """,
    )
    environment = os.environ | {"LD_PRELOAD": str(library), "GAUGE_FAILS": str(failing)}
    server = cleat("--max-memory", "512M", "--admin", LOCAL, env=environment)
    admin = admin_of(server)
    eventually("it is read", lambda: admin.metrics().value("cleat_memory_used_bytes") > 0)
    assert admin.metrics().value("cleat_memory_reading_failures_total") == 0
    failing.touch()
    line = server.wait_for_log(event="memory-not-read")
    assert (line["level"], line["reason"]) == ("warning", "Too many open files")
    assert int(line["count"]) >= 1 and "limit on descriptors" in line["cure"]
    failures = eventually(
        "more have failed",
        lambda: (n := admin.metrics().value("cleat_memory_reading_failures_total")) > 5 and n,
    )
    assert len(server.log(event="memory-not-read")) < failures  # One a minute.
    assert admin.get("/status.json").json["memory"]["reading_failures"] >= failures
    assert _echoes(server.port)


@pytest.mark.parametrize("size", ["512", "512MB", "-1M", "M", "12M", "99999999999999999999G"])
def test_what_is_no_size_is_an_error(size):
    said = complaints("--max-memory", size, "site.pem")
    assert "error" in said and "max-memory" in said


class Group:
    """Group is a control group with a limit of memory."""

    def __init__(self, folder, limit):
        self._folder = folder
        is_new = (folder / "memory.max").exists()
        (folder / ("memory.max" if is_new else "memory.limit_in_bytes")).write_text(str(limit))

    def join(self):
        (self._folder / "cgroup.procs").write_text(str(os.getpid()))

    def leave(self):
        for pid in (self._folder / "cgroup.procs").read_text().split():
            (self._folder.parent / "cgroup.procs").write_text(pid)


@pytest.fixture(name="group")
def _group():
    if LIMITING_MEMORY is None:
        pytest.skip("no control group with a limit of memory can be made here")
    folder: Path = LIMITING_MEMORY / f"cleat-memory-{os.getpid()}-{next(NUMBERS)}"
    folder.mkdir()
    made = Group(folder, 80 * MIB)
    yield made
    made.leave()
    eventually("the group is empty", lambda: _is_removed(folder))


def _is_removed(folder):
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


def test_auto_keeps_below_the_control_group_s_limit(cleat, upstreams, held, group):
    server = cleat(
        *SMALL, "--max-memory", "auto", "--admin", LOCAL, backend=upstreams, preexec_fn=group.join
    )
    admin = admin_of(server)
    limit = 80 * MIB // 100 * 90
    eventually_counts(admin, "cleat_memory_limit_bytes", limit)
    readers = Readers(server, upstreams, held)
    while readers.refused < 10:
        assert len(readers.clients) < 2 * MANY
        readers.add()
    assert server.process.poll() is None
    assert admin.metrics().value("cleat_memory_used_bytes") < limit


def test_more_than_the_group_s_limit_is_an_error(cleat, group):
    server = cleat("--max-memory", "81M", wait=False, preexec_fn=group.join)
    assert server.process.wait(DEADLINE) == 1
    server.reader.join(DEADLINE)
    said = "\n".join(server.lines)
    server.process.returncode = 0  # It has ended as it should.
    assert "max-memory: error: this is more than the 80 MiB that the control group " in said
    assert "Write auto or less" in said
