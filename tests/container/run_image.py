#!/usr/bin/env python3
"""run_image.py ROOT: runs the root file system of an image as a container's runtime would, and
tests what it does: without rights, on a read-only root, on loopback of a network of its own. It
must be started in new namespaces; test_image.py does so. Each line that it prints is a proof."""

import contextlib
import ctypes
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "program"))

from certificates import CertificateMaker  # noqa: E402
from deadlines import DEADLINE, eventually  # noqa: E402
from task_files import task_files  # noqa: E402

USER = 65532
CONFIGURATION = """frontend = "[*]:8443"
backend = "[web.test]:8080"
pem-file = {
    cert = "/etc/cleat/certificates/site/tls.crt"
    private-key = "/etc/cleat/certificates/site/tls.key"
}
reload-on-change = on
workers = auto
admin = "[127.0.0.1]:9443"
shutdown-timeout = 60
log-level = 2
"""
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24


def mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


def read_only_root(image: Path, folder: Path, certificates: Path) -> Path:
    """read_only_root is a copy of the image with what a runtime mounts: /proc, /etc/hosts, the
    configuration and a Secret. Nothing in it can be written."""
    root = folder / "root"
    shutil.copytree(image, root, symlinks=True)
    (root / "etc/hosts").write_text("127.0.0.1 localhost web.test\n")
    (root / "etc/cleat/certificates/site").mkdir()
    (folder / "cleat.conf").write_text(CONFIGURATION)
    mount("--bind", root, root)
    mount("-t", "proc", "-o", "nosuid,nodev,noexec", "proc", root / "proc")
    mount("--bind", folder / "cleat.conf", root / "etc/cleat/cleat.conf")
    mount("--bind", certificates, root / "etc/cleat/certificates/site")
    for place in ("", "etc/cleat/cleat.conf", "etc/cleat/certificates/site"):
        mount("-o", "remount,bind,ro,nosuid,nodev", root / place)
    return root


class Secret:
    """Secret is a mounted Secret: the kubelet writes a new folder and swaps the link ..data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.versions = 0
        folder.mkdir()
        for name in ("tls.crt", "tls.key"):
            (folder / name).symlink_to(f"..data/{name}")

    def write(self, certificate) -> None:
        self.versions += 1
        version = self.folder / f"..version_{self.versions}"
        version.mkdir()
        shutil.copy(certificate.cert, version / "tls.crt")
        shutil.copy(certificate.key, version / "tls.key")
        os.chown(version / "tls.key", 0, USER)
        (version / "tls.key").chmod(0o440)
        (self.folder / "..data_tmp").symlink_to(version.name)
        (self.folder / "..data_tmp").rename(self.folder / "..data")


class Origin(http.server.BaseHTTPRequestHandler):
    """Origin is the backend: it answers each request with its path."""

    def do_GET(self) -> None:
        body = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        pass


class Container:
    """Container runs programs of the root as a runtime would: another user, no capabilities, and
    none to gain."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.libc = ctypes.CDLL(None, use_errno=True)

    def enter(self) -> None:
        os.chroot(self.root)
        os.chdir("/")
        for capability in range(64):
            self.libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        self.libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)

    def start(self, *words: str, **options: object) -> subprocess.Popen:
        return subprocess.Popen(
            words, preexec_fn=self.enter, env={}, stdin=subprocess.DEVNULL, text=True, **options
        )

    def run(self, *words: str) -> subprocess.CompletedProcess:
        with self.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            out, err = process.communicate(timeout=DEADLINE)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def health(self, *words: str) -> subprocess.CompletedProcess:
        return self.run("/usr/bin/cleat", "health", *words)


def prove(what: str) -> None:
    print(f"proved: {what}", flush=True)


def served_by(certificate) -> bool:
    """served_by asks with curl, which trusts this certificate alone."""
    ran = subprocess.run(
        ["curl", "--silent", "--show-error", "--noproxy", "*", "--cacert", certificate.cert,
         "https://localhost:8443/hello"],
        capture_output=True, text=True, timeout=DEADLINE,
    )  # fmt: skip
    return (ran.returncode, ran.stdout) == (0, "/hello")


def has_stopped(pid: int) -> bool:
    facts = task_files(pid, "stat").values()
    return all(each.rsplit(")", 1)[1].split()[0] == "T" for each in facts)


def check_rights(pid: int) -> None:
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    assert status["Uid"].split() == [str(USER)] * 4, status["Uid"]
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name], 16) == 0, (name, status[name])
    assert status["NoNewPrivs"] == "1"
    assert os.statvfs(f"/proc/{pid}/root").f_flag & os.ST_RDONLY
    prove("it serves as another user, without capabilities, on a read-only root")


def check_drain(container: Container, cleat: subprocess.Popen) -> None:
    """A client that was connected before SIGTERM is served to its end."""
    client = subprocess.Popen(
        ["openssl", "s_client", "-quiet", "-connect", "127.0.0.1:8443", "-servername", "localhost"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    client.stdin.write("GET /before HTTP/1.0\r\n")
    client.stdin.flush()
    eventually("the client is connected", lambda: open_connections() == 1)
    cleat.send_signal(signal.SIGTERM)
    eventually("it is not ready", lambda: container.health("--ready", ADMIN).returncode == 1)
    assert container.health(ADMIN).returncode == 0
    eventually("it takes no new clients", lambda: not accepts())
    client.stdin.write("\r\n")
    client.stdin.flush()
    assert client.stdout.read().endswith("/before")
    client.stdin.close()
    client.wait(DEADLINE)
    assert cleat.wait(DEADLINE) == 0
    prove("SIGTERM drains: not ready, alive, no new clients, and the old one gets its answer")


ADMIN = "[127.0.0.1]:9443"


def accepts() -> bool:
    with contextlib.closing(socket.socket()) as late:
        return late.connect_ex(("127.0.0.1", 8443)) == 0


def open_connections() -> float:
    ran = subprocess.run(
        ["curl", "--silent", "--noproxy", "*", "http://127.0.0.1:9443/metrics"],
        capture_output=True, text=True, timeout=DEADLINE,
    )  # fmt: skip
    for line in ran.stdout.splitlines():
        if line.startswith("cleat_connections_open "):
            return float(line.split()[1])
    return -1


def main(image: Path, folder: Path) -> None:
    certs = CertificateMaker(folder)
    first = certs.named("first", "DNS:localhost")
    second = certs.named("second", "DNS:localhost")
    secret = Secret(folder / "secret")
    secret.write(first)
    container = Container(read_only_root(image, folder, secret.folder))

    origin = http.server.ThreadingHTTPServer(("127.0.0.1", 8080), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()

    for shell in ("/bin/sh", "/usr/bin/sh", "/bin/bash", "/busybox/sh"):
        try:
            container.run(shell, "-c", ":")
        except FileNotFoundError:
            continue
        raise AssertionError(f"the image has a shell: {shell}")
    prove("there is no shell")

    health = container.health("--config", "/etc/cleat/cleat.conf")
    assert health.returncode == 1, health
    log = folder / "log"
    with log.open("w") as out:
        cleat = container.start("/usr/bin/cleat", "--config", "/etc/cleat/cleat.conf", stderr=out)
    try:
        eventually(
            "it is ready",
            lambda: cleat.poll() is not None or container.health("--ready", ADMIN).returncode == 0,
        )
        health = container.health("--config", "/etc/cleat/cleat.conf")
        assert health.returncode == 0, health
        assert json.loads(health.stdout)["healthy"] is True
        prove("`cleat health` fails before the start and succeeds after it")
        check_rights(cleat.pid)

        assert served_by(first)
        assert not served_by(second)
        prove("curl gets an answer of a backend that has a name, through TLS")

        secret.write(second)
        eventually("the renewed certificate is served", lambda: served_by(second))
        assert not served_by(first)
        prove("a Secret whose ..data was swapped is served without a restart")

        cleat.send_signal(signal.SIGSTOP)
        eventually("all threads have stopped", lambda: has_stopped(cleat.pid))
        assert container.health(ADMIN).returncode == 1
        cleat.send_signal(signal.SIGCONT)
        prove("`cleat health` fails where cleat does not answer")

        check_drain(container, cleat)
    except BaseException:
        print(log.read_text(), file=sys.stderr)
        raise
    finally:
        cleat.kill()
        cleat.wait()


if __name__ == "__main__":
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", made)  # Its end unmounts all of it.
        try:
            main(Path(sys.argv[1]), made)
        finally:
            subprocess.run(["umount", "--recursive", "--lazy", made], check=True)
