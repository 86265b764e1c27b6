#!/usr/bin/env python3
"""The memory of many slow readers, in a control group with a limit of memory.

    scripts/build release cleat
    perf/slow_readers.py --group 192M                     # with max-memory = auto
    perf/slow_readers.py --group 192M --max-memory off    # without

Clients with small receive buffers ask for an endless answer, and read a kilobyte a second, or
nothing. Before they come, others are connected: these ask once the slow readers are there, and have
to get their whole answers. Shown are the connections that were served and refused, the most memory
that the kernel has charged the group for, and how often it has killed a process. It needs root, and
cgroup v1, which does not charge a group for the buffers of sockets.
"""

import argparse
import hashlib
import os
import resource
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from multiprocessing import Process, Value
from pathlib import Path

from cleat_perf.metrics import scrape
from cleat_perf.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
GROUPS = Path("/sys/fs/cgroup/memory")
WHOLE = 4 << 20  # Bytes of an answer that is read at once.
PIECE = bytes(range(256)) * 256


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--connections", type=int, default=10_000)
    parse.add_argument("--group", default="256M", help="the control group's limit")
    parse.add_argument("--max-memory", default="auto")
    parse.add_argument("--workers", type=int, default=2)
    parse.add_argument("--readers", type=int, default=50, help="clients that read at once")
    parse.add_argument("--still", type=float, default=0.5, help="the part that reads nothing")
    parse.add_argument("--hold", type=float, default=20, help="seconds once all have come")
    return parse.parse_args()


def serve_answers(listener: socket.socket) -> None:
    """serve_answers sends without an end where the first byte is "s", and WHOLE bytes for "w"."""
    left: dict[int, int] = {}
    held: dict[int, socket.socket] = {}
    ready = select.epoll()
    listener.setblocking(False)
    ready.register(listener, select.EPOLLIN)
    while True:
        for fd, event in ready.poll():
            if fd == listener.fileno():
                made = listener.accept()[0]
                made.setblocking(False)
                held[made.fileno()] = made
                ready.register(made, select.EPOLLIN)
                continue
            client = held[fd]
            try:
                if event & select.EPOLLIN:
                    asked = client.recv(16)
                    if not asked:
                        raise OSError
                    left[fd] = WHOLE if asked[:1] == b"w" else 1 << 60
                    ready.modify(fd, select.EPOLLIN | select.EPOLLOUT)
                elif left.get(fd):
                    start = -left[fd] % len(PIECE)
                    left[fd] -= client.send(PIECE[start : start + left[fd]])
                if left.get(fd) == 0:
                    ready.modify(fd, select.EPOLLIN)
            except BlockingIOError:
                pass
            except OSError:
                ready.unregister(fd)
                left.pop(fd, None)
                held.pop(fd).close()


def connected(port: int) -> ssl.SSLSocket:
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    settings.check_hostname = False
    settings.verify_mode = ssl.CERT_NONE
    plain = socket.socket()
    plain.settimeout(30)
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    try:
        plain.connect(("127.0.0.1", port))
        return settings.wrap_socket(plain)
    except BaseException:
        plain.close()
        raise


def read_slowly(port: int, options: argparse.Namespace, came, refused, ended) -> None:
    """read_slowly is a process with all slow readers."""
    held: list[ssl.SSLSocket] = []
    numbers = iter(range(options.connections))
    lock = threading.Lock()

    def connect() -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            try:
                made = connected(port)
                made.sendall(b"s")
                held.append(made)
                with came.get_lock():
                    came.value += 1
            except OSError:
                with refused.get_lock():
                    refused.value += 1

    threads = [threading.Thread(target=connect) for _ in range(16)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for each in held:
        each.setblocking(False)
    reading = held[int(len(held) * options.still) :]
    while True:
        gone = set()
        for each in reading:
            try:
                if not os.read(each.fileno(), 1024):
                    gone.add(each)
            except BlockingIOError:
                pass
            except OSError:
                gone.add(each)
        reading = [each for each in reading if each not in gone]
        ended.value += len(gone)
        time.sleep(1)


def is_whole(client: ssl.SSLSocket) -> bool:
    client.sendall(b"w")
    seen, size = hashlib.sha256(), 0
    while size < WHOLE:
        piece = client.recv(65536)
        if not piece:
            return False
        seen.update(piece)
        size += len(piece)
    return seen.digest() == hashlib.sha256(PIECE * (WHOLE // len(PIECE))).digest()


def count_whole(clients: list[ssl.SSLSocket]) -> int:
    whole = 0
    for each in clients:
        try:
            whole += is_whole(each)
        except OSError:
            pass
    return whole


class Group:
    """Group is a control group of version 1 with a limit of memory."""

    def __init__(self, limit: str) -> None:
        self.folder = GROUPS / f"cleat-slow-readers-{os.getpid()}"
        self.folder.mkdir()
        (self.folder / "memory.limit_in_bytes").write_text(limit)

    def join(self) -> None:
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def number(self, name: str) -> int:
        return int((self.folder / name).read_text())

    def kills(self) -> int:
        text = (self.folder / "memory.oom_control").read_text()
        return int(dict(map(str.split, text.splitlines()))["oom_kill"])


def started(options: argparse.Namespace, group: Group, folder: Path, origin: int):
    """started is a cleat in the group, its port, and that of its admin server."""
    pem = folder / "site.pem"
    key = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -subj /CN=x"
    subprocess.run(
        [*key.split(), "-keyout", folder / "key", "-out", folder / "crt"],
        check=True, capture_output=True,
    )  # fmt: skip
    pem.write_text((folder / "key").read_text() + (folder / "crt").read_text())
    port, admin = free_port(), free_port()
    command = [
        ROOT / "build/release/bin/cleat", "-f", f"[127.0.0.1]:{port}",
        "-b", f"[127.0.0.1]:{origin}", "-n", options.workers,
        "--admin", f"[127.0.0.1]:{admin}", "--log-burst", 1, "--send-bufsize", 65536,
        "--recv-bufsize", 65536, "--shutdown-timeout", 0,
        "--max-memory", options.max_memory, pem,
    ]  # fmt: skip
    server = subprocess.Popen(list(map(str, command)), preexec_fn=group.join)
    for _ in range(200):
        time.sleep(0.05)
        try:
            scrape(admin)
            return server, port, admin
        except OSError:
            if server.poll() is not None:
                sys.exit("cleat has not started")
    sys.exit("cleat does not answer")


def show(what: str, value: object) -> None:
    print(f"{what:45} {value}", flush=True)


def main() -> int:
    options = arguments()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
    listener.bind(("127.0.0.1", 0))
    listener.listen(4096)
    origin = Process(target=serve_answers, args=(listener,), daemon=True)
    origin.start()
    group = Group(options.group)
    came, refused, ended = Value("i"), Value("i"), Value("i")
    with tempfile.TemporaryDirectory() as folder:
        server, port, admin = started(options, group, Path(folder), listener.getsockname()[1])
        try:
            clients = [connected(port) for _ in range(options.readers)]
            slow = Process(
                target=read_slowly, args=(port, options, came, refused, ended), daemon=True
            )
            slow.start()
            while came.value + refused.value < options.connections and server.poll() is None:
                time.sleep(0.2)
            show("slow readers served", came.value)
            show("slow readers refused", refused.value)
            whole = count_whole(clients) if server.poll() is None else 0
            show("whole answers, of connections before them", f"{whole} of {options.readers}")
            until = time.monotonic() + options.hold
            while time.monotonic() < until and server.poll() is None:
                time.sleep(0.5)
            show("most memory of the group, MiB", group.number("memory.max_usage_in_bytes") >> 20)
            show("processes that the kernel has killed", group.kills())
            if server.poll() is not None:
                return 1
            for (name, labels), value in scrape(admin).samples.items():
                reason = dict(labels).get("reason", "")
                if name.startswith("cleat_memory_") or (
                    value and ("memory-limit" in reason or "evicted" in reason)
                ):
                    show(f"{name} {reason}".strip(), value)
            show("slow readers that were ended, of those that read", ended.value)
            slow.kill()
            slow.join()
            began = time.monotonic()
            while scrape(admin).value("cleat_memory_level") != 0:
                time.sleep(0.05)
            show("normal again, seconds after they have left", f"{time.monotonic() - began:.1f}")
            show("a new connection gets its answer", is_whole(connected(port)))
            return 0
        finally:
            if server.poll() is None:
                server.send_signal(signal.SIGTERM)
                server.wait()
            origin.kill()
            origin.join()
            time.sleep(0.2)
            group.folder.rmdir()


if __name__ == "__main__":
    sys.exit(main())
