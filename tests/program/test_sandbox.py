"""Once it serves, cleat reads and writes what its configuration has named, executes nothing, leaves
no core dump, and says what of this is in force. A reload works within that, or says what to do."""

import contextlib
import errno
import os
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from admin_client import admin_of
from deadlines import DEADLINE, eventually
from failing_calls import without_call
from origins import echo
from program import Cleat, binary, capabilities, complaints, open_folder, run
from reloads import reload, reload_is_refused, replace
from tls_client import TlsClient

HAS_LANDLOCK = re.search(r"Landlock ABI (\d+)", capabilities().get("sandbox", ""))
ABI = int(HAS_LANDLOCK[1]) if HAS_LANDLOCK else 0
needs_landlock = pytest.mark.skipif(ABI == 0, reason="this kernel has no Landlock")
SANITIZED = bool(os.environ.get("CLEAT_SANITIZE"))
pytestmark = pytest.mark.usefixtures("no_look_for_leaks")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def shown(port):
    with TlsClient(port) as client:
        assert client.exchange(b"hello") == b"hello"
        return client.fingerprint


def status(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.replace("\t", "").split(":", 1) for line in lines)


class Site:
    """A configuration in a folder of its own, directly in one that programs share."""

    def __init__(self, cleat, certs, upstream, folder):
        self.start_cleat, self.certs, self.upstream = cleat, certs, upstream
        self.folder = folder
        self.config = folder / "cleat.conf"
        self.pem = folder / "tls/site/site.pem"
        self.pem.parent.mkdir(parents=True)
        replace(self.pem, certs.ecdsa.pem.read_text())

    def write(self, *lines, pem=None, backend=None):
        text = [f'backend = "{backend or self.upstream.address}"', "log-level = 2"]
        text += ['frontend = "[127.0.0.1]:0"', "shutdown-timeout = 0"]
        text += [f'pem-file = "{pem or self.pem}"', *lines]
        replace(self.config, "\n".join(text) + "\n")

    def start(self, *lines, **options):
        self.write(*lines)
        nothing = {"backend": "", "frontend": None, "log_level": None, "shutdown_timeout": None}
        return self.start_cleat("--config", self.config, pem=[], **nothing, **options)


@pytest.fixture
def site(cleat, certs, origin):
    with open_folder() as folder:
        yield Site(cleat, certs, origin(echo), folder)


@pytest.fixture
def elsewhere():
    with open_folder() as folder:
        yield folder


@needs_landlock
def test_what_is_in_force_is_told(site):
    server = site.start('admin = "[127.0.0.1]:0"')
    line = server.wait_for_log(event="sandbox")
    assert line["landlock"] == str(ABI)
    expected = {"landlock": str(ABI), "ports": "no", "seccomp": "no", "no_new_privs": "yes",
                "core_dumps": "no", "memory_locked": "no"}  # fmt: skip
    admin = admin_of(server)
    assert admin.get("/status.json").json["sandbox"] == expected
    labels = ",".join(f'{key}="{value}"' for key, value in expected.items())
    assert f"cleat_sandbox_info{{{labels}}} 1" in admin.get("/metrics").text
    # Every thread has it, and facts about the process can still be read.
    for thread in Path(f"/proc/{server.pid}/task").iterdir():
        assert status(thread.name)["NoNewPrivs"] == "1"
    assert admin.metrics().value("process_resident_memory_bytes") > 0
    assert admin.metrics().value("process_open_fds") > 0


# Attempts from inside: a function of the C library that each worker calls is replaced.
PROBE = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void say(char const* what, long outcome)
{
    char line[200];
    int const n = snprintf(line, sizeof line, "probe %s=%d\n", what, outcome < 0 ? errno : 0);
    write(2, line, n);
}

int accept4(int fd, struct sockaddr* peer, socklen_t* size, int flags)
{
    static int done;
    if (!__atomic_exchange_n(&done, 1, __ATOMIC_SEQ_CST)) {
        char path[4096];
        snprintf(path, sizeof path, "%s/secret", getenv("PROBE"));
        say("read", open(path, O_RDONLY));
        say("write", open(path, O_WRONLY));
        snprintf(path, sizeof path, "%s/new", getenv("PROBE"));
        say("make", open(path, O_WRONLY | O_CREAT, 0600));
        say("link", symlink("/etc/passwd", path));
        say("hosts", open("/etc/hosts", O_RDONLY));
        say("plant", open("/etc/cleat-was-here", O_WRONLY | O_CREAT, 0600));
        say("signal", kill(getppid(), 0));
        char* words[] = {"true", 0};
        say("execute", execv("/bin/true", words));
    }
    return syscall(SYS_accept4, fd, peer, size, flags);
}
"""


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    if SANITIZED:
        pytest.skip("a sanitizer wants to be preloaded first")
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("probe")
    (folder / "probe.c").write_text(PROBE)
    library = folder / "probe.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-w", "-o", library, folder / "probe.c"], check=True
    )
    return library


def attempts(site, probe, elsewhere, *lines):
    """The errno of each attempt; 0: it succeeded."""
    (elsewhere / "secret").write_text("secret")
    environment = {**os.environ, "LD_PRELOAD": str(probe), "PROBE": str(elsewhere)}
    server = site.start(*lines, env=environment)
    TlsClient(server.port, handshake=False)  # accept4 is called, and a worker tries.
    eventually("it has tried", lambda: any("execute=" in each for each in list(server.lines)))
    pattern = re.compile(r"^probe (\w+)=(\d+)$")
    return {m[1]: int(m[2]) for m in map(pattern.match, server.lines) if m}, server


@needs_landlock
def test_a_forbidden_path_is_not_opened_from_inside(site, probe, elsewhere):
    found, _ = attempts(site, probe, elsewhere)
    signal_is_kept = errno.EPERM if ABI >= 6 else 0
    denied = errno.EACCES
    assert found == {"read": denied, "write": denied, "make": denied, "link": denied, "hosts": 0,
                     "plant": denied, "signal": signal_is_kept, "execute": denied}  # fmt: skip


@needs_landlock
def test_seccomp_and_landlock_together(site, probe, elsewhere):
    found, server = attempts(site, probe, elsewhere, "sandbox = landlock, seccomp")
    assert found["execute"] == errno.EPERM and found["read"] == errno.EACCES
    assert found["signal"] == errno.ENOSYS
    assert server.log(event="sandbox", seccomp="yes", landlock=str(ABI))
    assert status(server.pid)["Seccomp"] == "2"


@pytest.mark.skipif(SANITIZED, reason="a sanitizer makes other system calls")
def test_with_seccomp_everything_works(site, certs, elsewhere):
    """Name look-up, a reload, a log, an index, the admin server, and many certificates."""
    port = site.upstream.address.rsplit(":", 1)[1]
    lines = ["sandbox = auto, seccomp", 'admin = "[127.0.0.1]:0"', "reload-on-change = on",
             "certificate-cache = 1", f'certificate-index = "{elsewhere}/index"',
             f'pem-dir = "{site.folder}/pems"', "workers = 2"]  # fmt: skip
    (site.folder / "pems").mkdir()
    for name in ("one", "two", "three"):
        made = certs.named(name, f"DNS:{name}.example")
        (site.folder / f"pems/{name}.pem").write_text(made.pem.read_text())
    server = site.start(*lines)
    assert shown(server.port) == certs.ecdsa.fingerprint
    replace(site.pem, certs.rsa.pem.read_text())
    server.wait_for_log(event="reloaded")
    site.write(*lines, backend=f"[localhost]:{port}")
    server.wait_for_log(event="reloaded", times=2)
    with TlsClient(server.port, name="three.example") as client:
        assert client.exchange(b"hello") == b"hello"
    assert admin_of(server).get("/metrics").status == 200
    eventually("there is an index", (elsewhere / "index").exists)
    assert run("reload", server.pid).returncode == 0


# The folders that a reload may name.


@needs_landlock
def test_a_reload_that_names_a_folder_beyond_is_refused_with_the_cure(site, certs, elsewhere):
    server = site.start()
    pem = elsewhere / "other.pem"
    pem.write_text(certs.rsa.pem.read_text())
    site.write(pem=pem)
    problems = reload_is_refused(server)
    (problem,) = (each for each in problems if "sandbox" in each)
    assert f"the sandbox keeps {pem} from cleat" in problem
    assert "cleat.conf:5:" in problem and "sandbox-read" in problem and "Restart cleat" in problem
    assert shown(server.port) == certs.ecdsa.fingerprint
    site.write(f'pem-dir = "{elsewhere}"')
    assert any(f"the sandbox keeps {elsewhere}" in each for each in reload_is_refused(server))


def test_a_folder_that_was_named_for_later(site, certs, elsewhere):
    lines = [f'sandbox-read = "{elsewhere}"', f'sandbox-write = "{elsewhere}"']
    server = site.start(*lines)
    (elsewhere / "new").mkdir()
    pem, log = elsewhere / "new/site.pem", elsewhere / "new/log"
    pem.write_text(certs.rsa.pem.read_text())
    site.write(*lines, pem=pem)
    assert reload(server)["certificates_added"] == "1"
    assert shown(server.port) == certs.rsa.fingerprint
    site.write(*lines, f'log-filename = "{log}"')
    server.signal(signal.SIGHUP)
    eventually("the log has moved", lambda: log.exists() and "event=reloaded" in log.read_text())


@needs_landlock
def test_a_log_or_a_socket_beyond_is_refused_with_the_cure(site, elsewhere):
    server = site.start()
    for key, where in (("log-filename", elsewhere / "log"), ("admin", elsewhere / "socket")):
        site.write(f'{key} = "{where}"')
        problems = reload_is_refused(server)
        (problem,) = problems
        assert f"{key}: the sandbox does not let cleat write in {elsewhere}" in problem
        assert "sandbox-write" in problem
        assert not where.exists()


def test_the_next_certificate_has_a_folder_beside_the_present_one(site, certs):
    server = site.start()
    new = site.folder / "tls/new/site.pem"
    new.parent.mkdir()
    new.write_text(certs.rsa.pem.read_text())
    site.write(pem=new)
    reload(server)
    assert shown(server.port) == certs.rsa.fingerprint


def test_links_as_certbot_makes_them(site, certs):
    live, archive = site.folder / "le/live", site.folder / "le/archive"
    for name, number, cert in (("old", 1, certs.ecdsa), ("new", 1, certs.rsa)):
        (live / name).mkdir(parents=True)
        (archive / name).mkdir(parents=True)
        (archive / name / f"all{number}.pem").write_text(cert.pem.read_text())
        (live / name / "all.pem").symlink_to(f"../../archive/{name}/all{number}.pem")
    site.pem = live / "old/all.pem"
    server = site.start()
    (archive / "old/all2.pem").write_text(certs.rsa.pem.read_text())
    site.pem.unlink()
    site.pem.symlink_to("../../archive/old/all2.pem")
    reload(server)
    assert shown(server.port) == certs.rsa.fingerprint
    site.write(pem=live / "new/all.pem")
    reload(server)


def test_kubernetes_swaps_its_folder(site, certs, elsewhere):
    """The volume is directly in a shared folder, and the real files are in a new one each time."""

    def put(version, cert):
        folder = elsewhere / f"..{version}"
        folder.mkdir()
        (folder / "tls.pem").write_text(cert.pem.read_text())
        (elsewhere / "..data_tmp").symlink_to(folder.name)
        (elsewhere / "..data_tmp").rename(elsewhere / "..data")

    put("2026_1", certs.ecdsa)
    site.pem = elsewhere / "tls.pem"
    site.pem.symlink_to("..data/tls.pem")
    server = site.start("reload-on-change = on")
    put("2026_2", certs.rsa)
    shutil.rmtree(elsewhere / "..2026_1")
    server.wait_for_log(event="reloaded")
    assert shown(server.port) == certs.rsa.fingerprint


def test_a_folder_that_is_replaced(site, certs):
    server = site.start()
    folder = site.pem.parent
    folder.rename(folder.with_name("before"))
    folder.mkdir()
    site.pem.write_text(certs.rsa.pem.read_text())
    reload(server)
    assert shown(server.port) == certs.rsa.fingerprint


@needs_landlock
def test_a_folder_in_a_shared_one_that_is_replaced_needs_a_restart(site, certs, elsewhere):
    folder = elsewhere.parent / f"{elsewhere.name}-pems"
    folder.mkdir()
    try:
        pem = folder / "site.pem"
        pem.write_text(certs.ecdsa.pem.read_text())
        site.pem = pem
        server = site.start()
        folder.rename(elsewhere / "before")
        folder.mkdir()
        pem.write_text(certs.rsa.pem.read_text())
        problems = reload_is_refused(server)
        assert any(f"the sandbox keeps {pem} from cleat" in each for each in problems), problems
        assert shown(server.port) == certs.ecdsa.fingerprint
    finally:
        shutil.rmtree(folder)


def test_a_log_is_rotated_and_the_folder_of_the_log_is_replaced(site, elsewhere):
    logs = elsewhere / "logs"
    logs.mkdir()
    log = logs / "log"
    server = site.start(f'log-filename = "{log}"', wait=False)
    eventually("it serves", lambda: log.exists() and "event=started" in log.read_text())
    log.rename(logs / "log.1")
    server.signal(signal.SIGUSR1)
    eventually("there is a new log", log.exists)
    logs.rename(elsewhere / "before")
    if ABI == 0:
        return
    logs.mkdir()
    server.signal(signal.SIGUSR1)
    old = elsewhere / "before/log"
    eventually("the log tells", lambda: "log-not-reopened" in old.read_text())
    assert "restart cleat" in old.read_text()


def test_the_pid_file_and_the_socket_go_with_cleat(site, elsewhere):
    pid, path = elsewhere / "pid", elsewhere / "socket"
    server = site.start(f'pidfile = "{pid}"', f'admin = "{path}"')
    assert admin_of(server).get("/readyz").status == 200
    server.end()
    assert not pid.exists() and not path.exists()


@needs_landlock
def test_limits_cannot_change_by_a_reload(site, elsewhere):
    server = site.start()
    for line in ("sandbox = off", "core-dumps = on", f'sandbox-read = "{elsewhere}"',
                 f'sandbox-write = "{elsewhere}"'):  # fmt: skip
        site.write(line)
        (problem,) = reload_is_refused(server)
        assert "by a restart only" in problem and "cleat.conf:6:" in problem


@pytest.mark.skipif(ABI < 4, reason="this kernel's Landlock knows no ports")
def test_ports_of_the_start_only(site, origin, certs):
    lines = ["sandbox = landlock, ports"]
    server = site.start(*lines)
    assert shown(server.port) == certs.ecdsa.fingerprint
    other = origin(echo).address
    site.write(*lines, backend=other)
    (problem,) = reload_is_refused(server)
    port = other.rsplit(":", 1)[1]
    assert f"connect to the ports of its start only, not {port}" in problem
    assert "backend" in problem and "cleat.conf:1:" in problem
    site.write(*lines, f'frontend = "[127.0.0.1]:{port}"')
    problems = reload_is_refused(server)
    assert any(f"listen on the ports of its start only, not {port}" in each for each in problems)
    site.write(*lines, 'frontend = "[127.0.0.2]:0"')
    reload(server)


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
    told = run("--version", preexec_fn=without_landlock).stdout
    assert "no Landlock" in told


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
