"""ticket-secret: sessions resume after a restart, and on every cleat that has the same secret, also
while the secret is rotated. A file that is no good is refused with its line; nothing of a secret is
shown anywhere, and none is kept that no file has any more."""

import math
import os
import re
import stat
import time

import pytest

from admin_client import admin_of
from deadlines import SANITIZED, eventually
from memory import memory_has
from program import complaints, run
from reloads import reload, reload_is_refused, replace
from sessions import visit
from tls_client import TLS_1_3, VERSIONS, only

# Not random, so that a test can look for them.
OLD, NEW = "0123456789abcdef" * 4, "fedcba9876543210" * 4
OLD_BASE64 = "ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8="


class Machine:
    """A machine of a fleet: a file of secrets of its own, and a cleat, which can be restarted."""

    def __init__(self, start, folder, *secrets):
        folder.mkdir()
        self.start, self.file = start, folder / "tickets"
        self.put(*secrets)
        self.restart()

    def put(self, *secrets):
        replace(self.file, "".join(f"{each}\n" for each in secrets), 0o600)

    def restart(self):
        self.server = self.start("--ticket-secret", self.file)

    def rotate(self, *secrets):
        self.put(*secrets)
        assert reload(self.server)["keys"] == "ticket-secret"


@pytest.fixture
def machine(cleat, tmp_path):
    def make(name, *secrets):
        return Machine(cleat, tmp_path / name, *secrets)

    return make


@VERSIONS
def test_a_session_resumes_elsewhere_and_after_a_restart(machine, version):
    one, other = machine("one", OLD), machine("other", f"# of November\n{OLD_BASE64}")
    tls = only(version)
    _, session = visit(one.server.port, tls)
    assert visit(other.server.port, tls, session)[0]
    one.server.end()
    one.restart()
    assert visit(one.server.port, tls, session)[0]
    stranger = machine("stranger", NEW)
    assert not visit(stranger.server.port, tls, session)[0]


@VERSIONS
def test_a_rotation_has_no_gap(machine, version):
    """At every step each machine resumes the sessions that either has made since the step before,
    and one machine is restarted on the way."""
    one, other = machine("one", OLD), machine("other", OLD)
    tls = only(version)
    made = [visit(each.server.port, tls)[1] for each in (one, other)]
    for machine_, secrets in [
        (one, (OLD, NEW)),
        (other, (OLD, NEW)),
        (one, (NEW, OLD)),
        (None, ()),
        (other, (NEW, OLD)),
    ]:
        if machine_:
            machine_.rotate(*secrets)
        else:
            other.server.end()
            other.restart()
        for session in made:
            assert visit(one.server.port, tls, session)[0], secrets
            assert visit(other.server.port, tls, session)[0], secrets
        made += [visit(each.server.port, tls)[1] for each in (one, other)]
    # Those of the new secret's outlive the old one, and the old one's do not.
    for each in (one, other):
        each.rotate(NEW)
    for each in (one, other):
        assert visit(each.server.port, tls, made[-1])[0]
        assert not visit(each.server.port, tls, made[0])[0]


@VERSIONS
def test_a_reload_of_the_same_secret_changes_nothing(machine, version):
    one = machine("one", OLD)
    tls = only(version)
    _, session = visit(one.server.port, tls)
    one.put(OLD_BASE64)
    assert reload(one.server)["keys"] == ""
    assert visit(one.server.port, tls, session)[0]


def test_a_random_secret_is_kept_by_a_reload_and_not_by_a_restart(cleat):
    tls = only(TLS_1_3)
    server = cleat()
    _, session = visit(server.port, tls)
    reload(server)
    assert visit(server.port, tls, session)[0]


BAD = [
    ("", 1, "there is no secret in the file"),
    (f"{OLD}\n{OLD[2:]}\n", 2, "which are 32 bytes: this has 62"),
    (f"{OLD}00\n", 1, "which are 32 bytes: this has 66"),
    ("c2hvcnQ=\n", 1, "a secret in base64 has 32 bytes: this has 5"),
    (f"# one\n{OLD}\nnot-a-secret!\n", 3, "this is neither hexadecimal digits nor base64"),
    (f"{OLD}\n{NEW}\n{OLD_BASE64}\n", 3, "this is the secret of line 1 again"),
]


@pytest.mark.parametrize("text, line, problem", BAD)
def test_a_bad_file_is_refused_with_its_line(certs, tmp_path, text, line, problem):
    file = tmp_path / "tickets"
    replace(file, text, 0o600)
    refusal = complaints("--ticket-secret", file, certs.ecdsa.pem)
    assert f"{file}:{line}:1: error: ticket-secret: " in refusal and problem in refusal
    assert refusal.count("\n") == 1
    assert OLD[:10] not in refusal and OLD_BASE64[:10] not in refusal


def test_a_file_that_cannot_be_read_is_refused(certs, tmp_path):
    large = tmp_path / "large"
    large.write_text("#" * 100_000)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, problem in [
        (tmp_path / "missing", "No such file"),
        (tmp_path, "directory"),
        (large, "large"),
        (fifo, "FIFO"),
    ]:
        refusal = complaints("--ticket-secret", path, certs.ecdsa.pem)
        assert "ticket-secret" in refusal and problem in refusal, refusal


def test_a_file_that_everybody_may_read_is_a_warning(certs, tmp_path):
    file = tmp_path / "tickets"
    file.write_text(OLD)
    file.chmod(0o644)
    ran = run("-t", "--ticket-secret", file, certs.ecdsa.pem)
    assert ran.returncode == 0
    assert f"every user of this machine may read {file}" in ran.stderr
    file.chmod(0o640)
    assert run("-t", "--ticket-secret", file, certs.ecdsa.pem).stderr == ""


def test_a_reload_with_a_bad_file_is_refused_and_sessions_still_resume(machine):
    one = machine("one", OLD)
    tls = only(TLS_1_3)
    _, session = visit(one.server.port, tls)
    one.put("not-a-secret!")
    (problem,) = reload_is_refused(one.server)
    assert f"{one.file}:1:1" in problem
    assert visit(one.server.port, tls, session)[0]


def test_kubernetes_swaps_a_folder(cleat, tmp_path):
    mount = tmp_path / "mount"

    def publish(name, *secrets):
        version = mount / f"..{name}"
        version.mkdir(parents=True)
        replace(version / "tickets", "\n".join(secrets), 0o600)
        new = mount / "..data_tmp"
        new.symlink_to(version.name)
        new.rename(mount / "..data")

    publish("2026_1", OLD)
    (mount / "tickets").symlink_to("..data/tickets")
    server = cleat("--reload-on-change", "--ticket-secret", mount / "tickets")
    tls = only(TLS_1_3)
    _, session = visit(server.port, tls)
    publish("2026_2", NEW, OLD)
    server.wait_for_log(event="reloaded", keys="ticket-secret")
    assert visit(server.port, tls, session)[0]
    publish("2026_3", NEW)
    server.wait_for_log(times=2, event="reloaded", keys="ticket-secret")
    assert not visit(server.port, tls, session)[0]


@pytest.mark.skipif(SANITIZED, reason="a sanitizer reserves terabytes of addresses")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may read another program's memory")
def test_a_secret_that_is_taken_away_is_wiped(machine):
    one = machine("one", OLD)
    raw = bytes.fromhex(OLD)
    assert memory_has(one.server, raw)
    one.rotate(NEW, OLD)
    assert memory_has(one.server, raw)
    one.rotate(NEW)
    # The configuration before ends with its last connection, and no test has one.
    eventually("the secret is gone", lambda: not memory_has(one.server, raw))
    assert not memory_has(one.server, OLD.encode())
    assert not memory_has(one.server, NEW.encode())


def test_nothing_shows_a_secret(cleat, tmp_path, certs):
    file = tmp_path / "tickets"
    replace(file, f"{OLD}\n{NEW}\n", 0o600)
    server = cleat("--ticket-secret", file, "--admin", "[127.0.0.1]:0")
    visit(server.port, only(TLS_1_3))
    admin = admin_of(server)
    seen = "\n".join(server.lines)
    for path in ("/", "/status.json", "/metrics"):
        seen += admin.get(path).text
    for words in (("check",), ("check", "--json"), ("explain", "--sni", "localhost")):
        seen += run(*words, "--ticket-secret", file, certs.ecdsa.pem).stdout
    assert str(file) in seen
    for secret in (OLD, NEW):
        assert secret[:16] not in seen


@VERSIONS
def test_metrics_say_which_secret_has_opened_a_ticket_and_why_one_was_refused(
    cleat, machine, config, certs, version
):
    before, stranger = machine("before", OLD), machine("stranger", "01" * 32)
    file = before.file.with_name("rotated")
    replace(file, f"{NEW}\n{OLD}\n", 0o600)
    text = f"""
        pem-file = "{certs.ecdsa.pem}"
        frontend = "[127.0.0.1]:0"
        frontend = {{ host = "127.0.0.1" port = 0 ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384" }}
        ticket-secret = "{file}"
        admin = "[127.0.0.1]:0"
    """
    server = cleat("--config", config(text), pem=[], frontend=None)
    usual, other = server.ports
    tls = only(version)
    _, old = visit(before.server.port, tls)
    _, new = visit(usual, tls)
    for port, session, is_resumed in [
        (usual, old, True),
        (usual, old, True),
        (usual, new, True),
        (usual, visit(stranger.server.port, tls)[1], False),
        (other, new, False),
    ]:
        assert visit(port, tls, session)[0] == is_resumed
    seen = admin_of(server).metrics()
    assert seen.value("cleat_tickets_used_total", secret="1") == 1
    assert seen.value("cleat_tickets_used_total", secret="2") == 2
    assert seen.value("cleat_tickets_refused_total", reason="unknown-key") == 1
    assert seen.value("cleat_tickets_refused_total", reason="expired-or-other-scope") == 1


# The command.


def test_new_prints_a_secret_that_works(cleat, tmp_path):
    made = [run("ticket-secret", "new").stdout for _ in range(2)]
    assert made[0] != made[1]
    assert all(re.fullmatch(r"[0-9a-f]{64}\n", each) for each in made)
    file = tmp_path / "tickets"
    replace(file, "".join(made), 0o600)
    cleat("--ticket-secret", file)


def test_new_writes_a_file_that_only_its_owner_may_read_and_overwrites_none(tmp_path):
    file = tmp_path / "tickets"
    ran = run("ticket-secret", "new", file, umask=0)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    assert re.fullmatch(r"[0-9a-f]{64}\n", text)
    again = run("ticket-secret", "new", file)
    assert again.returncode == 1 and f"cannot make {file}: File exists" in again.stderr
    assert file.read_text() == text
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    assert run("ticket-secret", "new", link).returncode == 1
    assert run("ticket-secret", "new", tmp_path / "none" / "tickets").returncode == 1


@pytest.mark.parametrize("words", [(), ("old",), ("new", "a", "b"), ("new", "-f"), ("new", "")])
def test_words_that_make_no_sense(words, tmp_path):
    ran = run("ticket-secret", *words, cwd=tmp_path)
    assert ran.returncode == 1 and "ticket-secret --help explains it" in ran.stderr
    assert not list(tmp_path.iterdir())
    assert run("ticket-secret", "--help").stdout.startswith("Usage: cleat ticket-secret new")


# Times.


def test_times(certs, config):
    def found(text):
        path = config(f'{text}\npem-file = "{certs.ecdsa.pem}"\n')
        return run("-t", "--config", path).stderr

    assert found("ticket-epoch = 900\nticket-lifetime = 43200") == ""
    assert "conf:2:" in found("ticket-epoch = 60\nticket-lifetime = 2881")
    assert "not between 1 and 48 epochs of 60" in found("ticket-epoch = 60\nticket-lifetime = 2881")
    assert "ticket-epoch: a ticket would live 43200" in found("ticket-epoch = 60")
    assert "ticket-lifetime: a ticket would live 600" in found("ticket-lifetime = 600")
    for text in ("ticket-epoch = 59", "ticket-lifetime = 604801", "ticket-lifetime = 59"):
        assert "conf:1:" in found(text)


@VERSIONS
def test_a_client_is_told_the_lifetime(cleat, version):
    server = cleat("--ticket-lifetime", 600, "--ticket-epoch", 300)
    began = time.monotonic()
    _, session = visit(server.port, only(version))
    took = time.monotonic() - began
    # AWS-LC and BoringSSL subtract the whole seconds since the ClientHello came (TLS 1.2).
    assert 600 - math.ceil(took) <= session.ticket_lifetime_hint <= 600


def test_explain_says_where_the_secret_is(certs, tmp_path):
    file = tmp_path / "tickets"
    replace(file, OLD, 0o600)
    explain = ("explain", "--sni", "localhost", "--ticket-lifetime", 600, "--ticket-epoch", 600)
    ran = run(*explain, certs.ecdsa.pem)
    assert "session tickets for 600 seconds; their secret is random, and lost at" in ran.stdout
    ran = run(*explain, "--ticket-secret", file, certs.ecdsa.pem)
    assert f"session tickets for 600 seconds; their secret is in {file}\n" in ran.stdout
