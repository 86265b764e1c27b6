"""ticket-ratchet: places at which cleat cannot replace the file, or at which others could. The
check finds each one before the start, and names its reason and a cure."""

import os
import pwd
import shutil
import subprocess

import pytest

from deadlines import SANITIZED
from program import binary, complaints, run
from ratchets import (  # noqa: F401: the fixtures
    EPOCH_S,
    LIFETIME_S,
    TIMES,
    State,
    moves_to,
    nobodys_state,
    now,
    serve,
    state_file,
)
from reloads import reload, reload_is_refused, replace
from tls_client import shown

pytestmark = pytest.mark.skipif(SANITIZED, reason="the clock is preloaded")
ONLY_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def both_complain(flags, environment=None, wrapper=()):
    """both_complain is what the check and the start say, neither of which succeeds."""
    said = []
    for first in (["--test"], []):
        if wrapper:
            command = list(map(str, (*wrapper, binary(), *first, *flags)))
            ran = subprocess.run(command, capture_output=True, text=True, env=environment)
        else:
            ran = run(*first, *flags, env=environment)
        assert ran.returncode == 1, ran.stderr
        said.append(ran.stderr)
    return said


def flags_for(file, certs):
    return (
        *TIMES, "--ticket-secret", file, "-f", "[127.0.0.1]:0", "-b", "[127.0.0.1]:1",
        certs.ecdsa.pem,
    )  # fmt: skip


def with_mounts(*commands):
    """with_mounts is a wrapper for a program that has mounts of its own."""
    if not shutil.which("unshare"):
        pytest.skip("mounts of one's own want unshare")
    own = ["unshare", "--mount", "--propagation", "private"]
    if os.geteuid() != 0:
        own = ["unshare", "--user", "--map-root-user", *own[1:]]
    if subprocess.run([*own, "true"], capture_output=True).returncode != 0:
        pytest.skip("no mounts of one's own are to be had here")
    return (*own, "sh", "-ec", "; ".join([*commands, 'exec "$0" "$@"']))


def test_a_file_that_is_a_mount_point_is_refused(certs, state_file, tmp_path):
    """As subPath makes it in Kubernetes, and --volume with the path of a file in podman."""
    below = tmp_path / "volume"
    below.write_text(state_file.read_text())
    wrapper = with_mounts(f"mount --bind {below} {state_file}")
    for said in both_complain(flags_for(state_file, certs), wrapper=wrapper):
        assert f"error: cannot replace {state_file}, which is a mount point" in said
        assert "Mount its folder instead of the file" in said
    assert list(state_file.parent.iterdir()) == [state_file]


def test_a_file_on_a_read_only_mount_is_refused(certs, state_file):
    folder = state_file.parent
    before = State.of(state_file)
    wrapper = with_mounts(
        f"mount --bind {folder} {folder}", f"mount -o remount,bind,ro {folder}"
    )
    for said in both_complain(flags_for(state_file, certs), wrapper=wrapper):
        assert f"error: cannot make {state_file}.next: Read-only file system" in said
        assert "put it into a folder that cleat's user can write" in said
        assert "not into a read-only volume" in said
    assert State.of(state_file) == before


def test_a_mount_that_becomes_read_only_is_logged_until_it_is_not(
    serve, now, state_file, certs, tmp_path
):
    """Meanwhile reloads are done, so that certificates can be renewed, and warn of it."""
    folder = state_file.parent
    wrapper = with_mounts(f"mount --bind {folder} {folder}")
    pem = tmp_path / "site.pem"
    replace(pem, certs.ecdsa.pem.read_text())
    server = serve(state_file, pem, pem=[], wrapper=wrapper)
    if os.geteuid() != 0:
        pytest.skip("only root enters another program's mounts")

    def remount(how):
        subprocess.run(
            ["nsenter", "--target", str(server.pid), "--mount", "mount", "-o",
             f"remount,bind,{how}", str(folder)], check=True,
        )  # fmt: skip

    before = State.of(state_file)
    remount("ro")
    now.pass_epochs(1, server)
    line = server.wait_for_log(event="ticket-state-not-written")
    assert line["reason"] == f"cannot make {state_file}.next: Read-only file system"
    replace(pem, certs.rsa.pem.read_text())
    reload(server)
    (warning,) = server.log(event="reload-warning")
    assert f"warning: cannot make {state_file}.next: Read-only" in warning["problem"]
    assert shown(server.port) == certs.rsa.fingerprint
    assert State.of(state_file) == before
    remount("rw")
    reload(server)
    assert len(server.log(event="reload-warning")) == 1
    assert moves_to(state_file, now.oldest) == before.at(now.oldest)
    assert list(folder.iterdir()) == [state_file]


def test_another_file_that_cannot_be_replaced_refuses_the_reload(
    cleat, now, certs, state_file, tmp_path
):
    path, link = tmp_path / "cleat.conf", tmp_path / "link"
    link.symlink_to(state_file)

    def configure(file):
        text = f"""
            frontend = "[127.0.0.1]:0"
            pem-file = "{certs.ecdsa.pem}"
            ticket-secret = "{file}"
            ticket-epoch = {EPOCH_S}
            ticket-lifetime = {LIFETIME_S}
            ticket-ratchet = on
        """
        replace(path, text)

    configure(state_file)
    server = cleat("--config", path, pem=[], frontend=None, env=now.environment)
    configure(link)
    (problem,) = reload_is_refused(server)
    assert f"error: ticket-secret: cannot replace {link}, which is a symbolic link" in problem


def test_a_folder_that_every_user_may_write_is_refused(serve, certs, state_file):
    folder = state_file.parent
    folder.chmod(0o777)
    for said in both_complain(flags_for(state_file, certs)):
        assert f"error: every user of this machine may replace files in {folder}" in said
        assert "chmod o-w" in said
    folder.chmod(0o1777)  # As /tmp: each user may replace files of its own.
    server = serve(state_file)
    folder.chmod(0o777)  # The file may be another user's by now: a reload takes no state of it.
    (problem,) = reload_is_refused(server)
    assert f"every user of this machine may replace files in {folder}" in problem
    folder.chmod(0o775)
    reload(server)
    serve(state_file)


@ONLY_ROOT
def test_a_new_file_of_another_user_is_not_written(serve, now, certs, state_file):
    """In a folder as /tmp another user can make the new file, and would read the state in it."""
    state_file.parent.chmod(0o1777)
    server = serve(state_file)
    planted = state_file.with_name("tickets.next")
    planted.touch(0o666)
    os.chown(planted, pwd.getpwnam("nobody").pw_uid, 0)
    before = State.of(state_file)
    now.pass_epochs(1, server)
    line = server.wait_for_log(event="ticket-state-not-written")
    owner = pwd.getpwnam("nobody").pw_uid
    assert line["reason"] == f"cannot make {planted}: it exists, and belongs to user {owner}"
    assert "Remove it" in line["cure"]
    assert planted.read_text() == "" and State.of(state_file) == before
    for said in both_complain(flags_for(state_file, certs), now.environment):
        assert line["reason"] in said


def test_a_left_over_file_is_replaced_and_not_written(serve, now, state_file):
    """A program that has it open from before does not read the state."""
    server = serve(state_file)
    left_over = state_file.with_name("tickets.next")
    left_over.touch(0o666)
    with left_over.open() as reading:
        now.pass_epochs(1, server)
        moves_to(state_file, now.oldest)
        assert reading.read() == ""
        assert os.fstat(reading.fileno()).st_nlink == 0
    assert state_file.stat().st_mode & 0o777 == 0o600


def configuration(file, certs):
    """configuration is the file of a cleat that becomes nobody."""
    path, pem = (file.parent.parent / each for each in ("cleat.conf", "site.pem"))
    replace(pem, certs.ecdsa.pem.read_text(), 0o644)
    text = f"""
        user = "nobody"
        frontend = "[127.0.0.1]:0"
        pem-file = "{pem}"
        ticket-secret = "{file}"
        ticket-epoch = {EPOCH_S}
        ticket-lifetime = {LIFETIME_S}
        ticket-ratchet = on
    """
    replace(path, text, 0o644)
    return path


@ONLY_ROOT
def test_the_check_as_root_names_the_reason_that_cleats_user_has(certs, nobodys_state):
    link = nobodys_state.with_name("link")
    link.symlink_to(nobodys_state)
    path = configuration(link, certs)
    said = complaints("--config", path)
    assert f"ticket-secret: cannot replace {link}, which is a symbolic link" in said
    assert "rights" not in said

    path = configuration(nobodys_state, certs)
    nobodys_state.parent.chmod(0o555)
    said = complaints("--config", path)
    assert f"cannot make {nobodys_state}.next: Permission denied" in said
    assert "with the rights of user nobody" in said
    nobodys_state.parent.chmod(0o755)
    os.chown(nobodys_state, 0, 0)
    said = complaints("--config", path)
    assert f"cannot read {nobodys_state}: Permission denied" in said
    assert "with the rights of user nobody" in said


@ONLY_ROOT
def test_a_left_over_file_without_the_right_to_write_is_replaced(cleat, certs, nobodys_state):
    """The new file has the mode of the old one, which may be 0400."""
    left_over = nobodys_state.with_name("tickets.next")
    left_over.write_text("ratchet 600 4")
    os.chown(left_over, nobodys_state.stat().st_uid, -1)
    for each in (left_over, nobodys_state):
        each.chmod(0o400)
    cleat(
        "--config", configuration(nobodys_state, certs), "--sandbox", "landlock,seccomp",
        pem=[], frontend=None,
    )  # fmt: skip
    assert not left_over.exists()
    assert nobodys_state.stat().st_mode & 0o777 == 0o400
