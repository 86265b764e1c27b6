"""Started as root with user, cleat keeps a small process with root's rights, the opener. It opens
the files and binds the ports that root's configuration names, when cleat reloads, rotates its log
or needs a certificate; and nothing else, whoever asks."""

import array
import contextlib
import ctypes
import errno
import os
import platform
import pwd
import random
import resource
import signal
import socket
import struct
import subprocess
from pathlib import Path

import pytest

import logfmt
from admin_client import admin_of
from deadlines import DEADLINE, eventually
from failing_calls import without_call
from ocsp_responses import Authority, stapled
from privileged_site import place, put, serve, shown, site  # noqa: F401: the fixtures
from program import open_files, run
from reloads import PADDING, bytes_read, reload, reload_is_refused, wait_for_stamps
from tls_client import TlsClient

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to keep")

NOBODY = pwd.getpwnam("nobody").pw_uid


def status(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: value.split() for key, value in (line.split(":", 1) for line in lines)}


def openers():
    """Every opener that runs: the number, and that of the process that started it."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if (folder / "comm").read_text() == "cleat-opener\n":
                facts = status(folder.name)
                if facts["State"][0] != "Z":
                    found[int(folder.name)] = int(facts["PPid"][0])
    return found


def opener_of(server):
    (found,) = (pid for pid, parent in openers().items() if parent == server.pid)
    return found


def opener_of_daemon(mark):
    """opener_of_daemon is the one whose starter, which has ended, had this entry in its
    environment. Other tests run openers beside this one."""
    found = []
    for pid in openers():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # It ends just now.
            if mark in Path(f"/proc/{pid}/environ").read_text().split("\0"):
                found.append(pid)
    (opener,) = found
    return opener


def is_gone(pid):
    try:
        return status(pid)["State"][0] == "Z"  # Its parent may not have looked yet.
    except (FileNotFoundError, ProcessLookupError):  # The latter: it went while it was read.
        return True


def test_a_key_and_a_configuration_that_only_root_may_read_are_read_again(serve, site, certs):
    server = serve()
    assert status(server.pid)["Uid"] == [str(NOBODY)] * 4
    assert shown(server.port) == certs.ecdsa.fingerprint
    put(site.pem, certs.rsa.pem.read_text())
    assert reload(server)["certificates_changed"] == "1"
    assert shown(server.port) == certs.rsa.fingerprint
    site.write("idle-timeout = 77")
    assert reload(server)["keys"] == "idle-timeout"


def test_a_ticket_secret_that_only_root_may_read_is_read_again(serve, site):
    secrets = site.keys / "tickets"
    put(secrets, "0123456789abcdef" * 4)
    site.write(f'ticket-secret = "{secrets}"')
    server = serve()
    put(secrets, "fedcba9876543210" * 4)
    assert reload(server)["keys"] == "ticket-secret"


def test_a_key_behind_links_as_certbot_makes_them(serve, site, certs):
    archive, live = site.place / "archive", site.place / "live"
    archive.mkdir(mode=0o700)
    live.mkdir(mode=0o700)
    put(archive / "one.pem", certs.ecdsa.pem.read_text())
    put(archive / "two.pem", certs.rsa.pem.read_text())
    site.pem = live / "site.pem"
    site.pem.symlink_to("../archive/one.pem")
    site.write()
    server = serve()
    site.pem.unlink()
    site.pem.symlink_to("../archive/two.pem")
    reload(server)
    assert shown(server.port) == certs.rsa.fingerprint


def free_low_port():
    if int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()) < 1024:
        pytest.skip("here every user may listen on ports below 1024")
    # Another run of the tests does not look at the same ports first.
    for port in random.Random(os.getpid()).sample(range(600, 1024), 100):
        with contextlib.suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            return port
    return pytest.skip("no port below 1024 is free")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_reload_opens_a_port_below_1024(serve, site, certs, workers):
    site.write(f"workers = {workers}")
    server = serve()
    port = free_low_port()
    site.write(f"workers = {workers}", frontends=("[127.0.0.1]:0", f"[127.0.0.1]:{port}"))
    reload(server)
    assert {shown(port) for _ in range(5)} == {certs.ecdsa.fingerprint}
    assert shown(server.ports[0]) == certs.ecdsa.fingerprint


def test_the_admin_server_has_the_rights_of_a_reload(serve, site):
    port = free_low_port()
    site.write(f'admin = "[127.0.0.1]:{port}"')
    server = serve()
    admin = admin_of(server)
    assert admin.where == port
    # No process makes files for cleat in a folder of root's.
    site.write(f'admin = "{site.place}/admin.sock"')
    (problem,) = admin.post("/reload").json["problems"]
    assert "Permission denied" in problem["text"]
    assert problem["cure"].startswith("Let the user that cleat runs as write the folder")
    own = site.place / "own"
    own.mkdir(mode=0o700)
    os.chown(own, NOBODY, -1)
    path = own / "admin.sock"
    site.write(f'admin = "{path}"')
    assert admin.post("/reload").status == 200
    assert path.stat().st_uid == NOBODY
    assert admin_of(server, times=2).get("/readyz").status == 200
    server.end()
    assert not path.exists()


def test_a_pem_dir_that_only_root_may_list(serve, site, certs):
    pems = site.keys / "pems"
    deep = pems / "sub"
    deep.mkdir(parents=True, mode=0o700)
    put(pems / "one.pem", certs.named("one", "DNS:one.example").pem.read_text())
    put(pems / "not-a-certificate.txt", "leave me alone")
    folders = [f'pem-dir = "{pems}"', 'pem-dir-glob = "*.pem"', "pem-dir-recursive = on"]
    site.write(*folders, pem=False)
    server = serve()
    two = certs.named("two", "DNS:two.example")
    put(deep / "two.pem", two.pem.read_text())
    (pems / "elsewhere.pem").symlink_to(deep)  # A link to a folder counts for nothing.
    (pems / "linked.pem").symlink_to(site.pem)
    assert reload(server)["certificates_added"] == "2"
    assert shown(server.port, name="two.example") == two.fingerprint
    assert shown(server.port, name="localhost") == certs.ecdsa.fingerprint


def test_a_store_reads_certificates_that_only_root_may_read(serve, site, certs):
    pems = site.keys / "pems"
    pems.mkdir(mode=0o700)
    names = ("one", "two", "three", "four")
    for name in names:
        put(pems / f"{name}.pem", certs.named(name, f"DNS:{name}.example").pem.read_text())
    site.write(f'pem-dir = "{pems}"', "certificate-cache = 1", "workers = 2", pem=False)
    server = serve()
    for _ in range(2):
        for name in names:
            expected = certs.named(name, f"DNS:{name}.example").fingerprint
            assert shown(server.port, name=f"{name}.example") == expected
    put(pems / "five.pem", certs.named("five", "DNS:five.example").pem.read_text())
    reload(server)
    assert shown(server.port, name="five.example") == certs.made["five"].fingerprint


def test_a_reload_reads_what_has_changed_in_a_folder_that_only_root_may_search(serve, site, certs):
    pems = site.keys / "pems"
    pems.mkdir(mode=0o700)
    padding = PADDING[:20_000]
    text = certs.named("own", "DNS:own.example").pem.read_text() + padding
    for number in range(200):  # One request of the opener's has room for less.
        put(pems / f"own{number}.pem", text)
    site.write(f'pem-dir = "{pems}"', "certificate-cache = 1", pem=False)
    server = serve()
    wait_for_stamps(*pems.iterdir())
    reload(server)  # The files were too young for a stamp at the start.
    before = bytes_read(server)
    reload(server)
    assert bytes_read(server) - before < len(padding)
    put(pems / "own7.pem", certs.named("seven", "DNS:seven.example").pem.read_text() + padding)
    reload(server)
    assert bytes_read(server) - before < 5 * len(padding)
    assert shown(server.port, name="seven.example") == certs.made["seven"].fingerprint


def test_a_store_reads_an_ocsp_response_that_only_root_may_read(serve, site, certs, tmp_path):
    authority = Authority(certs, tmp_path)
    stapling = authority.site("rooted")
    response = site.keys / "rooted.ocsp"
    put(site.keys / "rooted.pem", stapling.pem.read_text())
    response.write_bytes(authority.response(stapling, "rooted").read_bytes())
    response.chmod(0o600)
    files = f'cert = "{site.keys / "rooted.pem"}"  ocsp-resp-file = "{response}"'
    last = f'pem-file = "{site.pem}"'
    site.write(f"pem-file = {{ {files} }}", last, "certificate-cache = 1", pem=False)
    assert stapled(serve().port, "rooted")


def test_an_opener_can_do_little(serve, site):
    server = serve()
    opener = opener_of(server)
    facts = status(opener)
    assert facts["Seccomp"] == ["2"] and facts["NoNewPrivs"] == ["1"]
    may = {"cap_dac_read_search": 1 << 2, "cap_net_bind_service": 1 << 10}
    for kind in ("CapPrm", "CapEff"):
        assert int(facts[kind][0], 16) & ~sum(may.values()) == 0, facts[kind]
    for kind in ("CapInh", "CapBnd", "CapAmb"):
        assert int(facts[kind][0], 16) == 0, facts[kind]
    targets = open_files(opener).values()
    others = [each for each in targets if not each.startswith("socket:")]
    assert sorted(others) == ["/", "/dev/null", "/dev/null", "/dev/null"]
    assert len(targets) - len(others) == 4
    assert os.readlink(f"/proc/{opener}/cwd") == "/"
    assert os.getsid(opener) == opener
    # Cleat's own user can send it no signal, and read nothing of it.
    stopped = subprocess.run(["kill", "-9", str(opener)], user="nobody", capture_output=True)
    assert stopped.returncode != 0 and not is_gone(opener)
    assert Path(f"/proc/{opener}/mem").stat().st_uid == 0


class Channel:
    """One of cleat's own channels to the opener, as an attacker in cleat's process has them."""

    PIDFD_GETFD = 438

    def __init__(self, server):
        number = self.find(server.pid)
        process = os.pidfd_open(server.pid)
        libc = ctypes.CDLL(None, use_errno=True)
        got = libc.syscall(self.PIDFD_GETFD, process, number, 0)
        os.close(process)
        if got < 0:
            pytest.skip(f"pidfd_getfd: {os.strerror(ctypes.get_errno())}")
        self.socket = socket.socket(fileno=got)
        self.socket.settimeout(DEADLINE)

    @staticmethod
    def find(pid):
        rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
        packets = {row[6] for row in rows if row[4] == "0005"}  # SOCK_SEQPACKET
        for number, target in open_files(pid).items():
            if target.startswith("socket:[") and target[8:-1] in packets:
                return number
        raise AssertionError("cleat has no channel")

    def send(self, request, *fds):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([request], rights)

    def ask(self, request, *fds):
        """The errno, the text, and the descriptors of the answer."""
        self.send(request, *fds)
        size = socket.CMSG_SPACE(4)
        answer, rights, _, _ = self.socket.recvmsg(8192, size)
        got = array.array("i")
        for _, _, data in rights:
            got.frombytes(data[: len(data) - len(data) % got.itemsize])
        return struct.unpack("i", answer[:4])[0], answer[4:].decode(), list(got)


def port_request(port, host="127.0.0.1"):
    return b"p" + struct.pack("!BH", 4, port) + socket.inet_aton(host) + bytes(16)


def cannot_watch_other_folders(channel, keys, null):
    changes = ctypes.CDLL(None).inotify_init1(os.O_CLOEXEC)
    for folder in (b"/etc", b"/etc/shadow", b"/", keys, keys + b"/other.pem", keys + b"/.."):
        error, text, fds = channel.ask(b"w" + folder, changes)
        assert (error, fds) == (13, []), folder
        assert "the configuration on disk does not name" in text
    named = keys + b"/site.pem"
    assert channel.ask(b"w" + named)[0] == 22  # There is nothing to watch by.
    assert channel.ask(b"w" + named, null)[0] == 22  # It is not inotify's.
    assert channel.ask(b"w" + named, changes) == (0, "1/site.pem/", [])
    os.close(changes)


def test_an_attacker_in_cleat_gets_nothing_that_root_has_not_named(serve, site):
    (site.place / "secret").write_text("root's alone\n")
    logs = site.place / "logs"
    logs.mkdir(mode=0o755)
    site.write(f'log-filename = "{logs / "log"}"')
    server = serve(wait=False)
    eventually("it serves", lambda: openers() and (logs / "log").exists())
    eventually("it is nobody", lambda: status(server.pid)["Uid"][0] == str(NOBODY))
    channel = Channel(server)
    key = str(site.pem).encode()
    error, _, fds = channel.ask(b"f" + key)  # The key that cleat serves with.
    assert error == 0 and os.read(fds[0], 10).startswith(b"-----")

    keys = str(site.keys).encode()
    for request in (
        b"f/etc/shadow",
        b"f" + keys + b"/../secret",
        b"f" + keys + b"/../../../etc/shadow",
        b"f" + key + b"/../../../../../etc/shadow",
        b"f" + keys + b"/other.pem",
        b"f" + keys,
        b"f/proc/self/environ",
        b"d/etc",
        b"d" + keys,
        b"l/etc/passwd",
        b"l" + key,
        b"l" + str(site.config).encode(),
    ):
        error, text, fds = channel.ask(request)
        assert (error, fds) == (13, []), request
        assert "the configuration on disk does not name" in text

    null = os.open("/dev/null", os.O_RDONLY)
    for request, *rights in (
        (b"f",),
        (b"f" + key + b"\0",),
        (b"f/etc/shadow\0" + key,),
        (b"f" + key[1:],),
        (b"x" + key,),
        (b"f" + key, null),
        (b"f" + key, null, null),
        (b"f" + b"/" * 5000,),
        (b"p",),
        (port_request(server.pid % 1000 + 1),),
        (port_request(22) + b"\0", null),
    ):
        error, _, fds = channel.ask(request, *rights)
        assert error in (22, 90) and fds == [], request  # EINVAL, EMSGSIZE
    error, _, fds = channel.ask(b"f" + key, *([null] * 100))
    assert error == 90 and fds == []
    cannot_watch_other_folders(channel, keys, null)
    with socket.socket() as web:
        assert channel.ask(port_request(22), web.fileno())[0] == 13
        assert channel.ask(port_request(80, "0.0.0.0"), web.fileno())[0] == 13
    assert channel.ask(b"f" + key)[0] == 0
    # Requests are served one after the other: at a next answer, what was sent before is closed.
    assert channel.ask(b"x" + key)[0] == 22
    assert len(list(Path(f"/proc/{opener_of(server)}/fd").iterdir())) == 8  # None has stayed.


def test_an_attacker_who_takes_no_answers_ends_the_opener_and_not_the_serving(serve, site, certs):
    server = serve()
    opener = opener_of(server)
    channel = Channel(server)
    channel.socket.setblocking(False)

    def has_ended_after_more_requests():
        # A fast opener empties the queue of requests while this process fills it: a full one says
        # nothing of the queue of answers.
        with contextlib.suppress(BlockingIOError, ConnectionError):
            for _ in range(100):
                channel.send(b"f" + str(site.pem).encode())
        return is_gone(opener)

    eventually("the opener has ended", has_ended_after_more_requests)
    assert shown(server.port) == certs.ecdsa.fingerprint


@contextlib.contextmanager
def descriptors_under_way(count):
    """Another program of root's has sent this many descriptors, and no process has received them
    yet."""
    sender, receiver = socket.socketpair()
    with sender, receiver:
        while count > 0:
            few = min(count, 250)  # SCM_MAX_FD is 253.
            socket.send_fds(sender, [b"x"], [0] * few)
            count -= few
        yield


def test_descriptors_of_another_program_of_roots_that_are_under_way(serve, site, certs):
    server = serve(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (2000, 2000)))
    put(site.pem, certs.rsa.pem.read_text())
    with descriptors_under_way(500):
        assert reload(server)["certificates_changed"] == "1"
    put(site.pem, certs.ecdsa.pem.read_text())
    with descriptors_under_way(3000):  # More than one process may have open (unix(7)).
        problems = reload_is_refused(server)
        assert any(os.strerror(errno.ETOOMANYREFS) in each for each in problems), problems
    reload(server)
    assert shown(server.port) == certs.ecdsa.fingerprint


def test_a_link_that_cleats_user_has_planted_leads_nowhere(serve, site, certs):
    """Root's configuration names the folder, and the user nobody may write to it."""
    theirs = site.place / "theirs"
    theirs.mkdir()
    pem = theirs / "site.pem"
    put(pem, certs.ecdsa.pem.read_text(), 0o644)
    site.pem = pem
    site.write()
    os.chown(theirs, NOBODY, -1)
    server = serve()
    secret = site.place / "secret.pem"
    put(secret, certs.rsa.pem.read_text())
    pem.unlink()
    pem.symlink_to(secret)
    (problem,) = reload_is_refused(server)
    assert f"the folder {theirs} belongs to user {NOBODY}" in problem
    assert "Permission denied" in problem and f"chown root {theirs}" in problem
    assert shown(server.port) == certs.ecdsa.fingerprint
    os.chown(theirs, 0, -1)  # The link is root's, too.
    reload(server)
    assert shown(server.port) == certs.rsa.fingerprint


def test_a_configuration_that_others_may_write_to_gives_no_rights(serve, site, certs):
    server = serve()
    put(site.pem, certs.rsa.pem.read_text())
    site.config.chmod(0o666)
    site.config.write_text(site.config.read_text().replace("site.pem", "other.pem"))
    (problem,) = reload_is_refused(server)
    assert "the configuration on disk does not name" in problem
    assert f"other users than root may write to {site.config}" in problem
    assert f"chmod go-w {site.config}" in problem


def test_without_the_opener_cleat_serves_on_and_the_next_reload_says_so(serve, site, certs):
    server = serve()
    with TlsClient(server.port) as client:
        os.kill(opener_of(server), signal.SIGKILL)
        line = server.wait_for_log(event="opener-ended")
        assert line["level"] == "warning" and line["cure"] == "restart cleat to have it again"
        assert client.exchange(b"still here") == b"still here"
    assert shown(server.port) == certs.ecdsa.fingerprint

    problems = reload_is_refused(server)
    ended = "the process that opens root's files has ended"
    assert any("cannot read" in each and ended in each for each in problems), problems
    assert any("Restart cleat to have it again" in each for each in problems), problems

    # A reload that needs no rights succeeds, and says it too.
    site.config.chmod(0o644)
    site.keys.chmod(0o755)
    site.pem.chmod(0o644)
    ran = run("reload", server.pid)
    assert ran.returncode == 0 and ended in ran.stdout + ran.stderr
    assert ended in server.wait_for_log(event="reload-warning")["problem"]
    assert len(server.log(event="opener-ended")) == 1
    # It has left no process behind that nobody waits for.
    assert not Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()


def test_the_opener_ends_with_cleat(serve):
    for how in (signal.SIGTERM, signal.SIGINT):
        server = serve()
        opener = opener_of(server)
        server.signal(how)
        server.wait()
        eventually("the opener has ended", lambda: is_gone(opener))


def test_the_opener_ends_with_a_cleat_that_is_killed(site, certs):
    from program import Cleat

    server = Cleat("--config", site.config).wait_until_started()
    opener = opener_of(server)
    server.signal(signal.SIGKILL)
    server.wait()
    eventually("the opener has ended", lambda: is_gone(opener))


def test_the_opener_ends_where_the_start_fails(site):
    site.write('pidfile = "/no-such-folder/pid"')
    before = set(openers())
    assert run("--config", site.config).returncode == 1
    eventually("no opener is left", lambda: set(openers()) <= before)


def test_a_signal_to_the_whole_group_is_for_cleat(serve, site, certs):
    server = serve(start_new_session=True)
    opener = opener_of(server)
    put(site.pem, certs.rsa.pem.read_text())
    os.killpg(server.pid, signal.SIGHUP)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        os.kill(opener, number)  # As systemd does it: to each process of the service.
    server.wait_for_log(event="reloaded")
    assert shown(server.port) == certs.rsa.fingerprint
    assert not is_gone(opener)


def test_a_daemon_has_an_opener_too(site, certs, origin):
    logs = site.place / "logs"
    logs.mkdir(mode=0o700)
    pidfile, log = site.place / "pid", logs / "log"
    site.write("daemon = on", f'pidfile = "{pidfile}"', f'log-filename = "{log}"')
    mark = f"STARTED_IN={site.place}"
    environment = {**os.environ, "STARTED_IN": str(site.place)}
    # Relative, as a person types it.
    ran = run("--config", site.config.name, cwd=site.place, env=environment)
    assert ran.returncode == 0, ran.stderr
    pid = int(pidfile.read_text())
    try:
        opener = opener_of_daemon(mark)
        lines = [logfmt.parse(line) for line in log.read_text().splitlines()]
        (address,) = (each["address"] for each in lines if each["event"] == "listening")
        put(site.pem, certs.rsa.pem.read_text())
        ran = run("reload", pid)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert shown(int(address.rsplit(":", 1)[1])) == certs.rsa.fingerprint
        log.unlink()
        os.kill(pid, signal.SIGUSR1)
        eventually("there is a new log", log.exists)
    finally:
        os.kill(pid, signal.SIGKILL)
    eventually("the opener has ended", lambda: is_gone(opener))


def test_without_a_change_of_user_there_is_no_opener(cleat, site):
    for flags in ([], ["--user", "root"]):
        server = cleat(*flags)
        assert server.pid not in openers().values()


BLOCKED = {"x86_64": 317, "aarch64": 277}  # The number of seccomp(2).


@pytest.mark.skipif(platform.machine() not in BLOCKED, reason="another machine's call numbers")
def test_an_opener_that_cannot_be_confined_does_not_run(serve, site, certs):
    server = serve(preexec_fn=without_call(BLOCKED[platform.machine()]))
    assert server.pid not in openers().values()
    (line,) = (each for each in server.lines if "opens root's files" in each)
    assert "warning" in line and "seccomp: " in line
    assert shown(server.port) == certs.ecdsa.fingerprint
    problems = reload_is_refused(server)
    assert any("cleat has the rights of nobody only" in each for each in problems), problems
