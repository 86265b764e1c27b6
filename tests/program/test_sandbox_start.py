"""A start says which limits it has not got, and why; it hides its memory, and takes chroot."""

import contextlib
import errno
import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from deadlines import DEADLINE
from failing_calls import without_call
from program import Cleat, binary, complaints, run
from reloads import reload, reload_is_refused, replace
from sandboxed_site import HAS_LANDLOCK, elsewhere, needs_landlock, needs_root  # noqa: F401
from sandboxed_site import shown, site, status  # noqa: F401: the fixtures

pytestmark = pytest.mark.usefixtures("no_look_for_leaks")

# Kernels without it, and its absence.

FIRST_LANDLOCK_CALL = 444
without_landlock = without_call(FIRST_LANDLOCK_CALL)


def test_a_kernel_without_landlock_serves_by_default_and_says_so(site, certs):
    server = site.start(preexec_fn=without_landlock)
    assert shown(server.port) == certs.ecdsa.fingerprint
    line = server.wait_for_log(event="sandbox")
    assert line["landlock"] == "no" and "has no Landlock" in line["reason"]
    assert line["no_new_privs"] == "yes"
    assert not [each for each in server.log(level="warning") if each["event"] == "sandbox"]
    text = run("--version", preexec_fn=without_landlock).stdout
    assert "no Landlock" in text


@needs_landlock
def test_landlock_that_is_refused_is_told_at_the_default_log_level(site, certs):
    """As by a systemd whose sets of system calls do not have Landlock's."""
    refused = without_call(FIRST_LANDLOCK_CALL, errno.EPERM)
    server = site.start("log-level = 1", preexec_fn=refused, wait=False)
    line = server.wait_for_log(event="sandbox", level="warning")
    assert line["landlock"] == "no" and "SystemCallFilter=" in line["reason"]
    site.write("sandbox = landlock")
    ran = run("-t", "--config", site.config, preexec_fn=refused)
    assert ran.returncode == 1
    assert "SystemCallFilter=" in ran.stderr and "allow landlock_create_ruleset" in ran.stderr


SECCOMP_CALL = 317 if os.uname().machine == "x86_64" else 277


def test_seccomp_that_is_refused_names_the_filter_of_the_service_manager(site):
    site.write("sandbox = auto, seccomp")
    refused = without_call(SECCOMP_CALL, errno.EPERM)
    ran = run("--config", site.config, preexec_fn=refused)
    assert ran.returncode == 1 and "cannot use seccomp" in ran.stderr
    assert "SystemCallFilter=" in ran.stderr


@pytest.mark.parametrize("value", ["landlock", "landlock, seccomp", "landlock, ports"])
def test_a_kernel_without_landlock_is_an_error_where_it_was_asked_for(site, value):
    site.write(f"sandbox = {value}")
    for flags in ((), ("-t",)):
        ran = run(*flags, "--config", site.config, preexec_fn=without_landlock)
        assert ran.returncode == 1
        assert "cleat.conf:6:" in ran.stderr and "cannot use Landlock" in ran.stderr
        assert "sandbox = auto" in ran.stderr


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("jail", '"jail" is no part of a sandbox'),
        ("off, seccomp", "off stands alone"),
        ("auto, ports", "ports is a part of Landlock"),
    ],
)
def test_a_value_that_means_nothing(site, value, said):
    site.write(f"sandbox = {value}")
    errors = complaints("--config", site.config)
    assert said in errors and "cleat.conf:6:" in errors


def test_off_is_off(site, certs, elsewhere):
    server = site.start("sandbox = off")
    assert status(server.pid)["NoNewPrivs"] == "0"
    assert server.log(event="sandbox", landlock="no", no_new_privs="no", core_dumps="no")
    pem = elsewhere / "other.pem"
    pem.write_text(certs.rsa.pem.read_text())
    site.write("sandbox = off", pem=pem)
    reload(server)


# Memory.


def core_limits(pid):
    for line in Path(f"/proc/{pid}/limits").read_text().splitlines():
        if line.startswith("Max core file size"):
            return line.split()[4:6]
    raise AssertionError("there is no limit on cores")


def with_cores():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def test_an_abort_leaves_no_core(site, tmp_path):
    site.write()
    folder = tmp_path / "cores"
    folder.mkdir()
    server = Cleat("--config", site.config, cwd=folder, preexec_fn=with_cores)
    server.wait_until_started()
    assert core_limits(server.pid) == ["0", "0"]
    server.signal(signal.SIGABRT)
    server.process.wait(DEADLINE)
    assert server.process.returncode in (-signal.SIGABRT, 1)  # A sanitizer has a handler.
    assert not list(folder.iterdir())


@needs_root
@pytest.mark.parametrize("line", ["core-dumps = off", "core-dumps = on"])
def test_memory_is_not_its_users_to_read(site, line):
    """The kernel gives the files of a process that cannot be dumped to root."""
    for path in (site.folder, site.pem.parent, site.pem.parent.parent):
        path.chmod(0o755)
    site.pem.chmod(0o644)
    site.write(line)
    site.config.chmod(0o644)
    copy = site.folder / "cleat"  # The tree may be in a folder of root's.
    shutil.copy(binary(), copy)
    copy.chmod(0o755)
    nobody = {"user": "nobody", "group": "nogroup", "extra_groups": []}
    server = Cleat("--config", site.config, program=copy, **nobody)
    server.wait_until_started()
    owner = Path(f"/proc/{server.pid}/mem").stat().st_uid
    assert (owner == 0) == (line == "core-dumps = off")
    server.end()


def test_locked_memory(site):
    """Where the limit cannot go, it is an error: an allocation would fail later."""
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)

    def as_much_as_it_may():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_MEMLOCK, unlimited)

    code = "import resource as r; r.setrlimit(r.RLIMIT_MEMLOCK, (r.RLIM_INFINITY,) * 2)"
    may = subprocess.run(["python3", "-c", code], capture_output=True).returncode == 0
    if may:
        server = site.start("lock-memory = on", preexec_fn=as_much_as_it_may)
        assert server.log(event="sandbox", memory_locked="yes")
        assert int(status(server.pid)["VmLck"].split()[0]) > 0
        return
    site.write("lock-memory = on")
    ran = run("--config", site.config)
    assert ran.returncode == 1 and "cannot keep memory out of swap" in ran.stderr
    assert "lock-memory" in ran.stderr and "LimitMEMLOCK=infinity" in ran.stderr


# hitch's chroot.


@pytest.fixture
def jail(elsewhere):
    """A folder that can be the root, with nothing in it."""
    folder = elsewhere / "jail"
    folder.mkdir()
    return folder


@needs_root
@pytest.mark.parametrize("user", [[], ['user = "nobody"']])
def test_chroot_is_taken_after_the_start_and_a_reload_is_inside(site, certs, jail, user):
    lines = [f'chroot = "{jail}"', *user]
    server = site.start(*lines)
    assert os.readlink(f"/proc/{server.pid}/root") == str(jail)
    assert os.readlink(f"/proc/{server.pid}/cwd") == str(jail)
    uids = status(server.pid)["Uid"]
    assert uids.startswith("65534") if user else uids.startswith("0")
    assert not Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()
    assert shown(server.port) == certs.ecdsa.fingerprint
    assert any("No such file" in each for each in reload_is_refused(server))

    inside = jail / site.folder.relative_to("/")
    pem = jail / site.pem.relative_to("/")
    pem.parent.mkdir(parents=True)
    for folder in (jail, *inside.parents[:-1], inside, pem.parent.parent, pem.parent):
        if jail in (folder, *folder.parents):
            folder.chmod(0o755)
    replace(pem, certs.rsa.pem.read_text(), 0o644)
    replace(inside / "cleat.conf", site.config.read_text(), 0o644)
    if HAS_LANDLOCK:  # The folders were not there when the sandbox was entered.
        assert reload_is_refused(server)
    else:
        reload(server)
        assert shown(server.port) == certs.rsa.fingerprint


@needs_root
def test_a_reload_inside_chroot(site, certs, jail):
    inside = jail / site.folder.relative_to("/")
    pem = jail / site.pem.relative_to("/")
    pem.parent.mkdir(parents=True)
    server_lines = [f'chroot = "{jail}"']
    site.write(*server_lines)
    replace(pem, certs.ecdsa.pem.read_text())
    replace(inside / "cleat.conf", site.config.read_text())
    server = site.start(*server_lines)
    replace(pem, certs.rsa.pem.read_text())
    assert reload(server)["certificates_changed"] == "1"
    assert shown(server.port) == certs.rsa.fingerprint


@needs_root
def test_a_chroot_that_is_not_there(site, jail):
    site.write(f'chroot = "{jail}/missing"')
    for flags in (("-t",), ()):
        ran = run(*flags, "--config", site.config)
        assert ran.returncode == 1
        assert "cleat.conf:6:" in ran.stderr and "chroot" in ran.stderr
        assert f"{jail}/missing" in ran.stderr and "Make the folder" in ran.stderr


@needs_root
def test_the_admin_socket_needs_its_folder_inside_of_chroot(site, jail, elsewhere):
    """The test says what the start says, though the folder is there outside."""
    folder = elsewhere / "run"
    folder.mkdir()
    site.write(f'chroot = "{jail}"', f'admin = "{folder}/admin.sock"')
    for flags in (("-t",), ()):
        ran = run(*flags, "--config", site.config)
        assert ran.returncode == 1, ran.stderr
        assert f"cannot listen on {folder}/admin.sock inside {jail}, the chroot" in ran.stderr
    inside = jail / folder.relative_to("/")
    inside.mkdir(parents=True)
    assert run("-t", "--config", site.config).returncode == 0
