"""ticket-ratchet: files, clocks and settings with which cleat cannot do what it should. It tells
each one, with a cure."""

import fcntl
import os
import signal
import struct

import pytest

from admin_client import LOCAL, admin_of, eventually_counts
from deadlines import SANITIZED, eventually
from program import complaints, run
from ratchets import (  # noqa: F401: the fixtures
    EARLIER,
    EPOCH_S,
    SECRET,
    TIMES,
    State,
    moves_to,
    now,
    preload,
    serve,
    state_file,
)
from reloads import reload, reload_is_refused, replace
from sessions import visit
from tls_client import TLS_1_3, only
from wrong_clock import JUMPING_CLOCK, Clock

F_OFD_SETLK = 37  # Linux; Python 3.11 has no name for it.

pytestmark = pytest.mark.skipif(SANITIZED, reason="the clock is preloaded")


class MonotonicClock(Clock):
    """MonotonicClock is that of timers, and never goes back."""

    ahead = 0

    def __init__(self, folder):
        super().__init__(folder)
        text = JUMPING_CLOCK.replace("CLOCK_REALTIME", "CLOCK_MONOTONIC")
        text = text[: text.index("time_t time")].replace("CLOCK_AHEAD", "TIMERS_AHEAD")
        self.library = preload(folder, "timers", text)

    def jump(self, seconds):
        self.ahead = seconds
        super().jump(seconds)


def test_a_file_system_without_locks_is_refused(certs, state_file, tmp_path):
    library = preload(
        tmp_path,
        "locks",
        """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdarg.h>
        static int call(char const* name, int fd, int command, void* argument)
        {
            if (command == F_OFD_SETLK) {
                errno = ENOLCK;
                return -1;
            }
            return ((int (*)(int, int, ...))dlsym(RTLD_NEXT, name))(fd, command, argument);
        }
        #define FORWARD(name) \
            int name(int fd, int command, ...) \
            { \
                va_list all; \
                va_start(all, command); \
                void* const argument = va_arg(all, void*); \
                va_end(all); \
                return call(#name, fd, command, argument); \
            }
        FORWARD(fcntl)
        FORWARD(fcntl64)
        """,
    )
    ran = run(
        "--test", *TIMES, "--ticket-secret", state_file, certs.ecdsa.pem,
        env=os.environ | {"LD_PRELOAD": str(library)},
    )  # fmt: skip
    assert ran.returncode == 1
    assert f"error: cannot lock {state_file}.next: No locks available" in ran.stderr


def test_a_process_that_keeps_the_lock_is_logged(serve, now, state_file, tmp_path):
    """The clock of the timers jumps with the second file: looks come without the minute."""
    (tmp_path / "timers").mkdir()
    timers = MonotonicClock(tmp_path / "timers")
    environment = now.environment
    environment["LD_PRELOAD"] += f":{timers.library}"
    server = serve(state_file, env=environment | {"TIMERS_AHEAD": str(timers.file)})
    before = State.of(state_file)
    next_file = state_file.with_name("tickets.next")
    with next_file.open("w") as writing:
        fcntl.fcntl(writing, F_OFD_SETLK, struct.pack("=hhxxxxqqixxxx", fcntl.F_WRLCK, 0, 0, 0, 0))
        now.pass_epochs(1, server)

        def is_logged():
            timers.jump(timers.ahead + 61)
            server.signal(signal.SIGUSR1)
            return server.log(event="ticket-state-not-written")

        eventually("the lock is logged", is_logged)
        line = server.log(event="ticket-state-not-written")[0]
        assert line["reason"] == f"another process holds the lock of {next_file}"
        assert "lslocks" in line["cure"]
        assert State.of(state_file) == before
    timers.jump(timers.ahead + 61)
    server.signal(signal.SIGUSR1)
    assert moves_to(state_file, now.oldest) == before.at(now.oldest)


def test_a_file_outside_of_a_chroot_is_refused(certs, config, state_file):
    path = config(f"""
frontend = "[127.0.0.1]:0"
pem-file = "{certs.ecdsa.pem}"
ticket-secret = "{state_file}"
ticket-epoch = 600
ticket-ratchet = on
chroot = "{state_file.parent}"
""")
    refusal = complaints("--config", path)
    assert f"{path}:7:" in refusal and "error: chroot: with ticket-ratchet the file" in refusal
    assert "Leave out chroot" in refusal


def test_another_machines_file_cures_one_that_was_ahead(serve, now, state_file):
    text = state_file.read_text()
    tls = only(TLS_1_3)
    right = serve(state_file)
    _, session = visit(right.port, tls)
    right.end()
    rights = state_file.read_text()
    replace(state_file, text, 0o600)
    ahead = EARLIER + 5
    now.pass_epochs(ahead)
    wrong = serve(state_file)
    assert not visit(wrong.port, tls, session)[0]
    now.pass_epochs(-ahead)
    assert not visit(wrong.port, tls, session)[0]
    replace(state_file, rights, 0o600)
    reload(wrong)
    assert visit(wrong.port, tls, session)[0]
    _, session = visit(wrong.port, tls)
    wrong.end()
    assert visit(serve(state_file).port, tls, session)[0]


def test_a_state_of_the_future_is_refused_at_start_and_reload(serve, now, state_file, certs):
    server = serve(state_file)
    kept = state_file.read_text()
    word, seconds, _, chain = kept.split()
    flags = (*TIMES, "--ticket-secret", state_file, "-f", "[127.0.0.1]:0", "-b", "[127.0.0.1]:1")
    for beyond, text in (
        (1, f"# ours\n{word} {seconds} {now.epoch + 2} {chain}\n"),
        (7, f"# ours\n{word} {seconds} {now.epoch + 8} {chain}\n"),
    ):
        replace(state_file, text, 0o600)
        mistake = f"{state_file}:2:1: error: ticket-secret: this state begins {beyond} epochs after"
        for ran in (
            run("--test", *flags, certs.ecdsa.pem, env=now.environment),
            run(*flags, certs.ecdsa.pem, env=now.environment),
        ):
            assert ran.returncode == 1
            assert mistake in ran.stderr and "Set the clock, or copy" in ran.stderr
            assert chain not in ran.stderr
        assert mistake in reload_is_refused(server)[0]
        assert state_file.read_text() == text
    replace(state_file, f"{word} {seconds} {now.epoch + 1} {chain}\n", 0o600)
    reload(server)


def test_two_states_of_one_ratchet_are_refused_before_they_are_rewritten(
    now, state_file, certs
):
    state = State.of(state_file).at(now.oldest)
    text = state_file.read_text()
    text += f"ratchet {EPOCH_S} {state.epoch} {state.chain.hex()}\n"
    replace(state_file, text, 0o600)
    flags = (*TIMES, "--ticket-secret", state_file, "-f", "[127.0.0.1]:0", "-b", "[127.0.0.1]:1")
    for ran in (
        run("--test", *flags, certs.ecdsa.pem, env=now.environment),
        run(*flags, certs.ecdsa.pem, env=now.environment),
    ):
        assert ran.returncode == 1
        assert f"{state_file}:2:1: error: ticket-secret: this is the state of line 1" in ran.stderr
        assert state_file.read_text() == text


def test_a_state_that_is_too_old_to_move_on_is_logged_with_its_line(serve, now, state_file):
    """As after an edit without a reload. The other states move on all the same."""
    server = serve(state_file, "--admin", LOCAL)
    admin = admin_of(server)
    eventually_counts(admin, "cleat_ticket_state_failures_total", 0)
    before = State.of(state_file)
    old = f"ratchet {EPOCH_S} 1 {SECRET}\n"
    replace(state_file, f"{state_file.read_text()}# of 1970\n{old}", 0o600)
    now.pass_epochs(1, server)
    line = server.wait_for_log(event="ticket-state-not-written")
    assert line["level"] == "error" and line["file"] == str(state_file)
    assert line["reason"] == (
        f"{state_file}:3: this state is {now.oldest - 1} epochs old, more than the 100000 that a "
        "ratchet moves on"
    )
    assert "copy the file of a machine that serves" in line["cure"]
    assert SECRET not in "".join(server.lines)
    assert State.of(state_file) == before.at(now.oldest)
    assert state_file.read_text().endswith(f"# of 1970\n{old}")
    eventually_counts(admin, "cleat_ticket_state_failures_total", 1)
    assert f"{state_file}:3:1" in reload_is_refused(server)[0]


def test_each_configuration_writes_its_file_also_after_one_without_a_ratchet(
    cleat, now, certs, tmp_path
):
    """A configuration that a reload has freed may have the address of the next one."""
    config = tmp_path / "cleat.conf"
    base = f'frontend = "{LOCAL}"\npem-file = "{certs.ecdsa.pem}"\nticket-epoch = {EPOCH_S}\n'
    base += "ticket-lifetime = 1200\n"

    def with_file(name):
        file = tmp_path / "state" / name
        file.parent.mkdir(exist_ok=True)
        assert run("ticket-secret", "new", f"--ratchet={EPOCH_S}", file).returncode == 0
        return file, f'{base}ticket-ratchet = on\nticket-secret = "{file}"\n'

    file, text = with_file("tickets")
    replace(config, text)
    server = cleat("--config", config, pem=[], frontend=None, env=now.environment)
    assert State.of(file).epoch == now.oldest
    for i in range(20):
        replace(config, base)
        reload(server)
        file, text = with_file(f"tickets-{i}")
        assert State.of(file).epoch < now.oldest
        replace(config, text)
        reload(server)
        server.signal(signal.SIGUSR1)  # The main thread looks at the clock.
        assert moves_to(file, now.oldest)
