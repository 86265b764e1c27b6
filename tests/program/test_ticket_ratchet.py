"""ticket-ratchet: sessions resume over epochs, restarts and machines, and what is older than a
ticket may be is neither in the memory of cleat nor in its file any more."""

import os
import signal
import stat
import time

import pytest

from deadlines import SANITIZED, eventually
from memory import memory_has
from program import complaints, run
from ratchets import (  # noqa: F401: the fixtures
    EARLIER,
    EPOCH_S,
    LIFETIME_S,
    SECRET,
    TIMES,
    State,
    Time,
    moves_to,
    nobodys_state,
    now,
    preload,
    serve,
    state_file,
)
from reloads import reload, reload_is_refused, reload_with, replace
from sessions import resume_at_both_workers, visit
from tls_client import TLS_1_3, VERSIONS, TlsClient, only

pytestmark = pytest.mark.skipif(SANITIZED, reason="the clock is preloaded")


@VERSIONS
def test_sessions_resume_over_epochs_and_restarts_until_their_time_is_over(
    serve, now, state_file, version
):
    original = State.of(state_file)
    tls = only(version)
    server = serve(state_file)
    assert State.of(state_file) == original.at(now.oldest)
    _, first = visit(server.port, tls)
    assert visit(server.port, tls, first)[0]

    now.pass_epochs(1, server)
    assert moves_to(state_file, now.oldest) == original.at(now.oldest)
    resumed, second = visit(server.port, tls, first)
    assert resumed
    server.end()
    server = serve(state_file)
    for session in (first, second):  # Of the epoch before, and of this one.
        assert visit(server.port, tls, session)[0]
    _, third = visit(server.port, tls)

    now.pass_epochs(EARLIER, server)
    moves_to(state_file, now.oldest)
    assert not visit(server.port, tls, first)[0]
    assert not visit(server.port, tls, third)[0]  # Its lifetime is over; its key is not.
    server.end()
    server = serve(state_file)
    assert not visit(server.port, tls, first)[0]
    resumed, last = visit(server.port, tls)
    assert visit(server.port, tls, last)[0]
    assert not server.log(event="ticket-state-not-written")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may read another program's memory")
def test_nothing_of_the_past_is_in_memory_or_on_disk(serve, now, state_file, tmp_path):
    """Neither of idle workers, nor of a configuration that a connection of before a reload has."""
    original = State.of(state_file)
    server = serve(state_file, "--workers", 2)
    before = original.at(now.oldest)
    known = (before.chain, *before.ticket_keys)
    with TlsClient(server.port, only(TLS_1_3)) as old:
        assert old.exchange(b"old") == b"old"
        visit(server.port, only(TLS_1_3))
        eventually(
            "workers have the keys", lambda: all(memory_has(server, each) for each in known)
        )
        assert not memory_has(server, original.chain)
        assert not memory_has(server, original.chain.hex().encode())

        replace(state_file, f"{state_file.read_text()}ratchet {EPOCH_S} 1 {SECRET}\n", 0o600)
        refused = reload_is_refused(server)  # It is more than 100,000 epochs old.
        assert f"{state_file}:2:1" in refused[0] and "this state is" in refused[0]
        added = State(now.epoch - 50, bytes.fromhex(SECRET))
        line = f"ratchet {EPOCH_S} {added.epoch} {SECRET}\n"
        replace(state_file, state_file.read_text().splitlines(True)[0] + line, 0o600)
        assert reload(server)["keys"] == "ticket-secret"
        added = added.at(now.oldest)
        eventually("the added state is used", lambda: memory_has(server, added.chain))

        now.pass_epochs(1, server)
        after = moves_to(state_file, now.oldest)
        assert after == original.at(now.oldest)
        eventually(
            "what is over is forgotten",
            lambda: not any(memory_has(server, each) for each in (*known, added.chain)),
        )
        for each in (after.chain, *after.ticket_keys):
            assert memory_has(server, each)
        for each in (before.chain, bytes.fromhex(SECRET), original.chain):
            assert not memory_has(server, each.hex().encode())
            assert each.hex() not in state_file.read_text()
        assert [each.name for each in state_file.parent.iterdir()] == ["tickets"]
        assert old.exchange(b"still") == b"still"
        presently = original.at(now.epoch).ticket_keys
        assert all(memory_has(server, each) for each in presently)
        now.pass_epochs(EARLIER, server)
        moves_to(state_file, now.oldest)
        assert all(memory_has(server, each) for each in presently)
        now.pass_epochs(1, server)
        moves_to(state_file, now.oldest)
        eventually(
            "the ticket key is forgotten",
            lambda: not any(memory_has(server, each) for each in presently),
        )


class Machine:
    def __init__(self, serve, folder, text):
        folder.mkdir()
        self.serve, self.now, self.file = serve, Time(folder), folder / "tickets"
        replace(self.file, text, 0o600)
        self.restart()

    def restart(self):
        self.server = self.serve(self.file, env=self.now.environment)

    @property
    def port(self):
        return self.server.port


def test_a_fleet_resumes_over_epochs_and_a_new_machine_needs_the_present_state(
    serve, state_file, tmp_path
):
    fleet = [Machine(serve, tmp_path / f"m{i}", state_file.read_text()) for i in range(3)]
    tls = only(TLS_1_3)
    sessions = [visit(each.port, tls)[1] for each in fleet]
    for epoch in range(4):
        for i, each in enumerate(fleet):  # One after the other: clocks differ by an epoch then.
            each.now.pass_epochs(1, each.server)
            moves_to(each.file, each.now.oldest)
            for other in fleet:
                for session in sessions:
                    assert visit(other.port, tls, session)[0], (epoch, i)
            sessions[i] = visit(each.port, tls)[1]
        if epoch == 1:
            fleet[1].server.end()
            fleet[1].restart()
    assert len({each.file.read_text() for each in fleet}) == 1

    joined = Machine(serve, tmp_path / "joined", fleet[0].file.read_text())
    joined.now.pass_epochs(4, joined.server)
    stranger = Machine(
        serve, tmp_path / "stranger", run("ticket-secret", "new", f"--ratchet={EPOCH_S}").stdout
    )
    stranger.now.pass_epochs(4, stranger.server)
    for session in sessions:
        assert visit(joined.port, tls, session)[0]
        assert not visit(stranger.port, tls, session)[0]


def test_a_clock_that_goes_back_or_far_ahead(serve, now, state_file):
    tls = only(TLS_1_3)
    server = serve(state_file)
    _, session = visit(server.port, tls)
    state = State.of(state_file)
    now.pass_epochs(-1, server)
    assert visit(server.port, tls, session)[0]
    now.pass_epochs(-EARLIER - 5, server)
    resumed, early = visit(server.port, tls)
    assert visit(server.port, tls, early)[0]
    assert State.of(state_file) == state  # It never goes back.
    now.pass_epochs(EARLIER + 6, server)
    assert visit(server.port, tls, session)[0]
    assert not server.log(event="ticket-state-not-written")
    now.pass_epochs(200_000, server)
    resumed, late = visit(server.port, tls)
    assert not resumed
    assert State.of(state_file) == state
    assert "epochs old" in server.wait_for_log(event="ticket-state-not-written")["reason"]
    now.pass_epochs(-200_000, server)
    assert visit(server.port, tls, session)[0]
    assert not server.log(event="handshake-failed")


def test_two_cleats_share_a_file(serve, now, state_file):
    original = State.of(state_file)
    tls = only(TLS_1_3)
    both = [serve(state_file) for _ in range(2)]
    _, session = visit(both[0].port, tls)
    now.pass_epochs(1, *both)
    assert moves_to(state_file, now.oldest) == original.at(now.oldest)
    for each in both:
        assert visit(each.port, tls, session)[0]
        each.end()
    assert visit(serve(state_file).port, tls, session)[0]
    assert stat.S_IMODE(state_file.stat().st_mode) == 0o600


def test_a_random_state_is_kept_by_a_reload(cleat, now, config, certs):
    text = f'frontend = "[127.0.0.1]:0"\npem-file = "{certs.ecdsa.pem}"\nticket-ratchet = on\n'
    path = config(text)
    server = cleat(
        "--config", path, "--workers", 2, pem=[], frontend=None, env=now.environment
    )
    server.config = path
    tls = only(TLS_1_3)
    _, session = visit(server.port, tls)
    reload(server)
    resume_at_both_workers(server, tls, session)
    assert reload_with(server, "ratchet = on", "ratchet = off")["keys"] == (
        "ticket-ratchet,ticket-secret"
    )
    resumed, session = visit(server.port, tls, session)
    assert not resumed
    reload_with(server, "ratchet = off", "ratchet = on")
    assert not visit(server.port, tls, session)[0]


def test_a_random_state_begins_anew_with_another_epoch_and_after_a_jump(
    cleat, now, config, certs
):
    text = f'''
        frontend = "[127.0.0.1]:0"
        pem-file = "{certs.ecdsa.pem}"
        ticket-ratchet = on
        ticket-lifetime = 14400
        ticket-epoch = 600
    '''
    path = config(text)
    server = cleat("--config", path, pem=[], frontend=None, env=now.environment)
    server.config = path
    tls = only(TLS_1_3)
    _, session = visit(server.port, tls)
    for change in (("epoch = 600", "epoch = 7200"), ("epoch = 7200", "epoch = 600")):
        reload_with(server, *change)
        resumed, session = visit(server.port, tls, session)
        assert not resumed, change
        resumed, session = visit(server.port, tls, session)
        assert resumed, change
    now.pass_epochs(200_000, server)  # Further than a ratchet moves on.
    reload(server)
    resumed, session = visit(server.port, tls, session)
    assert not resumed
    assert visit(server.port, tls, session)[0]


def test_a_reload_keeps_the_state_and_the_rewriting_causes_none(serve, now, state_file):
    tls = only(TLS_1_3)
    server = serve(state_file, "--reload-on-change")
    _, session = visit(server.port, tls)
    assert reload(server)["keys"] == ""
    assert visit(server.port, tls, session)[0]
    now.pass_epochs(1, server)
    moves_to(state_file, now.oldest)
    assert reload(server)["keys"] == ""
    assert visit(server.port, tls, session)[0]
    assert len(server.log(event="reloaded")) == 2


def test_lines_of_other_kinds_are_refused(certs, tmp_path):
    file = tmp_path / "tickets"

    def refusal(text, *flags):
        replace(file, text, 0o600)
        return complaints("--ticket-secret", file, *flags, certs.ecdsa.pem)

    line = f"ratchet {EPOCH_S} 5 {SECRET}\n"
    found = [
        refusal(f"{SECRET}\n", *TIMES),
        refusal(line),
        refusal(line, "--ticket-ratchet"),
        refusal(f"ratchet {EPOCH_S} {SECRET}\n", *TIMES),
        refusal(line, *TIMES),
    ]
    for text, problem, cure in zip(
        found,
        [
            "this secret has no epoch, which ticket-ratchet needs",
            "this is the state of a ratchet, which is not a secret",
            f"this state is for epochs of {EPOCH_S} seconds, and ticket-epoch is 43200",
            "the state of a ratchet is the word ratchet, the seconds of an epoch",
            "more than the 100000 that a ratchet moves on",
        ],
        ["new --ratchet", "ticket-ratchet = on", f"ticket-epoch = {EPOCH_S}", "new", "the clock"],
    ):
        assert f"{file}:1:1: error: ticket-secret: " in text and problem in text
        assert cure in text and SECRET[:16] not in text
    assert "this has no effect with tickets = 0" in complaints(
        "--tickets", 0, "--ticket-ratchet", certs.ecdsa.pem
    )


def test_a_link_of_kubernetes_cannot_be_replaced(certs, state_file):
    link = state_file.with_name("link")
    link.symlink_to(state_file.name)
    refusal = complaints(*TIMES, "--ticket-secret", link, certs.ecdsa.pem)
    assert f"ticket-secret: error: cannot replace {link}, which is a symbolic link" in refusal
    assert "put it into a folder that cleat's user can write" in refusal


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_file_that_the_user_cannot_replace_is_refused_at_start_and_reloads_warn_of_it(
    cleat, certs, nobodys_state
):
    folder = nobodys_state.parent
    before = State.of(nobodys_state)
    path, pem = (folder.parent / each for each in ("cleat.conf", "site.pem"))
    replace(pem, certs.ecdsa.pem.read_text(), 0o644)
    text = f"""
        user = "nobody"
        frontend = "[127.0.0.1]:0"
        pem-file = "{pem}"
        ticket-secret = "{nobodys_state}"
        ticket-epoch = {EPOCH_S}
        ticket-lifetime = {LIFETIME_S}
        ticket-ratchet = on
    """
    replace(path, text, 0o644)
    folder.chmod(0o555)
    tested = run("--test", "--config", path)
    assert tested.returncode == 1
    assert f"{path}:5:" in tested.stderr and "ticket-secret: " in tested.stderr
    assert "with the rights of user nobody" in tested.stderr
    started = run("--config", path)
    assert started.returncode == 1
    assert f"{path}:5:" in started.stderr
    assert f"cannot make {nobodys_state}.next: Permission denied" in started.stderr
    assert "put it into a folder that cleat's user can write" in started.stderr
    assert State.of(nobodys_state) == before

    folder.chmod(0o755)
    server = cleat("--config", path, "--sandbox", "landlock,seccomp", pem=[], frontend=None)
    assert State.of(nobodys_state).epoch > before.epoch
    assert nobodys_state.stat().st_uid == folder.stat().st_uid
    tls = only(TLS_1_3)
    _, session = visit(server.port, tls)
    folder.chmod(0o555)
    reload(server)
    (warning,) = server.log(event="reload-warning")
    assert f"cannot make {nobodys_state}.next: Permission denied" in warning["problem"]
    assert visit(server.port, tls, session)[0]
    folder.chmod(0o755)
    reload(server)
    assert len(server.log(event="reload-warning")) == 1


def test_a_crash_before_the_rename_leaves_a_valid_file(serve, now, state_file, tmp_path, certs):
    library = preload(
        tmp_path,
        "rename",
        """
        #include <signal.h>
        #include <unistd.h>
        int rename(char const* from, char const* to)
        {
            (void)from; (void)to;
            kill(getpid(), SIGKILL);
            return -1;
        }
        """,
    )
    original = State.of(state_file)
    environment = now.environment
    environment["LD_PRELOAD"] += f":{library}"
    flags = [*TIMES, "--ticket-secret", state_file, "-f", "[127.0.0.1]:0", "-b", "[127.0.0.1]:1"]
    died = run(*flags, certs.ecdsa.pem, env=environment)
    assert died.returncode == -signal.SIGKILL
    assert State.of(state_file) == original
    left_over = state_file.with_name("tickets.next")
    assert left_over.exists()
    serve(state_file)
    assert State.of(state_file) == original.at(now.oldest)
    assert not left_over.exists()


def test_a_file_that_cannot_be_written_later_is_logged_and_memory_forgets(serve, now, state_file):
    server = serve(state_file)
    before = State.of(state_file)
    state_file.with_name("tickets.next").mkdir()
    now.pass_epochs(1, server)
    line = server.wait_for_log(event="ticket-state-not-written")
    assert line["file"] == str(state_file) and "tickets.next" in line["reason"]
    assert line["cure"].startswith("Remove it, ")
    assert State.of(state_file) == before
    if os.geteuid() == 0:
        eventually("it is forgotten", lambda: not memory_has(server, before.chain))


@pytest.mark.parametrize("flag", ["--ratchet=59", "--ratchet=604801", "--ratchet=x", "--ratchets"])
def test_a_length_of_an_epoch_that_is_none(flag):
    ran = run("ticket-secret", "new", flag)
    assert ran.returncode == 1 and "from 60 to 604800" in ran.stderr


def test_new_makes_a_state_of_the_usual_epochs_that_has_every_lifetime():
    word, seconds, epoch, chain = run("ticket-secret", "new", "--ratchet").stdout.split()
    assert (word, seconds, len(chain)) == ("ratchet", "43200", 64)
    assert int(epoch) in (int(time.time()) // 43200 - 50, int(time.time()) // 43200 - 51)
