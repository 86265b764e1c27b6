"""Once it serves, cleat reads and writes what its configuration has named, executes nothing, and
says what of this is in force. A reload works within that, or says what to do."""

import errno
import os
import platform
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from admin_client import admin_of
from deadlines import eventually
from origins import echo
from failing_calls import without_call
from program import binary, complaints, run, wait_for_reopening
from reloads import reload, reload_is_refused, replace
from sandboxed_site import ABI, HAS_LANDLOCK, SANITIZED, elsewhere, needs_landlock  # noqa: F401
from sandboxed_site import shown, site, status  # noqa: F401: the fixtures
from task_files import task_files
from tls_client import TlsClient

SECCOMP = {"x86_64": 317, "aarch64": 277}[platform.machine()]

pytestmark = pytest.mark.usefixtures("no_look_for_leaks")


def sandbox_in_version(**how):
    words = [binary(), "-V"]
    text = subprocess.run(words, capture_output=True, text=True, check=True, **how).stdout
    (line,) = [each for each in text.splitlines() if each.startswith("sandbox ")]
    return line


def test_the_version_tells_of_seccomp():
    """In a container a filter may hold for cleat already, or keep it from having its own."""
    assert "seccomp, no_new_privs" in sandbox_in_version()
    line = sandbox_in_version(preexec_fn=without_call(SECCOMP))
    assert "no_new_privs" in line
    assert line.endswith("; no seccomp; this process has a seccomp filter already")


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
    for text in task_files(server.pid, "status").values():
        assert "NoNewPrivs:\t1\n" in text
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


@needs_landlock
def test_a_key_beyond_is_one_error(site, certs, elsewhere):
    server = site.start()
    key = elsewhere / "other.key"
    key.write_text(certs.ecdsa.key.read_text())
    site.write(f'pem-file = {{ cert = "{site.pem}" private-key = "{key}" }}')
    (problem,) = (each for each in reload_is_refused(server) if "error: " in each)
    assert f"private-key: the sandbox keeps {key} from cleat" in problem


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


@pytest.mark.parametrize("key", ["sandbox-read", "sandbox-write"])
def test_a_folder_that_gives_no_right_is_told(site, elsewhere, key):
    line = f'{key} = "{elsewhere}/none"'
    server = site.start(line)
    site.write(line)
    for said in ("\n".join(server.lines), run("-t", "--config", site.config).stderr):
        assert "cleat.conf:6:" in said and f"warning: {key}: {elsewhere}/none is not there" in said
    site.write(f'{key} = "none"')
    assert f'error: {key}: "none" is not an absolute path' in complaints("--config", site.config)


def test_a_file_is_no_folder_for_a_log(site):
    site.write(f'sandbox-write = "{site.config}"')
    assert "Name its folder" in run("-t", "--config", site.config).stderr


@needs_landlock
def test_a_relative_log_is_refused_with_its_folder(site, elsewhere):
    server = site.start(cwd=elsewhere)
    site.write('log-filename = "log"')
    (problem,) = reload_is_refused(server)
    assert f"the sandbox does not let cleat write in {elsewhere}, which" in problem


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


@pytest.mark.parametrize("key", ["log-filename", "access-log"])
def test_a_log_in_a_folder_of_systemds(site, elsewhere, key):
    """LogsDirectory= of a unit."""
    (elsewhere / "logs").mkdir()
    environment = {**os.environ, "LOGS_DIRECTORY": f"/none:{elsewhere}/logs"}
    server = site.start(env=environment)
    site.write(f'{key} = "{elsewhere}/logs/log"')
    server.signal(signal.SIGHUP)
    eventually("the log is there", (elsewhere / "logs/log").exists)
    if HAS_LANDLOCK:
        site.write(f'{key} = "{elsewhere}/log"')
        assert run("reload", server.pid).returncode == 1
        assert not (elsewhere / "log").exists()


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
    wait_for_reopening(server.pid, logs / "log.1")
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
