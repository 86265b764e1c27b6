"""Work that can be counted does not grow: instructions, system calls, bytes and memory of cleat,
held to the figures in recorded.json plus 3 %.

    CLEAT_RECORD=1 tests/run-pytest tests/counted    # writes recorded.json anew

Counts do not depend on what else the machine does, so a small loss shows here that no clock would
show. Instructions are those of the program, by callgrind; they depend on the compiler and on the
TLS library, and are compared where both are the recorded ones. Each count per operation is the
difference of a long and a short run, divided by the operations between them, so that the start of
the program is in none."""

import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from typing import Callable, Iterator

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "program"))

import program  # noqa: E402
from certificates import Workshop  # noqa: E402
from deadlines import DEADLINE, eventually  # noqa: E402

RECORDED = HERE / "recorded.json"
MORE_AT_MOST = 1.03
SHORT, LONG = 100, 500  # handshakes

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("CLEAT_SANITIZE")), reason="a sanitizer's work is not the program's"
)


def beside(name: str) -> Path:
    """beside is another program of the same build."""
    return program.binary().with_name(name)


def built_with() -> str:
    """built_with is what instruction counts depend on: the compiler and the TLS library."""
    names = rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+"
    found = re.search(names, program.binary().read_bytes())
    compiler = found[0].decode() if found else "unknown compiler"
    return f"{compiler}, {program.capabilities()['TLS library']}, {os.uname().machine}"


@pytest.fixture(scope="module", autouse=True)
def one_core() -> Iterator[None]:
    """one_core keeps client, cleat and upstream on one core. They take turns there, so which bytes
    cleat finds together is the same in every run."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Workshop(tmp_path_factory.mktemp("certs")).ecdsa.pem


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    """upstream is the address of the demo origin."""
    with subprocess.Popen(
        [beside("demo_origin"), "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    ) as origin:
        assert origin.stdout
        port = origin.stdout.readline().split()[1]
        yield f"[127.0.0.1]:{port}"
        origin.terminate()


def serve_and(
    load: Callable[[int, int], None], wrapper: list[str], certificate: Path, upstream: str
) -> None:
    """serve_and starts cleat under a wrapper, applies load(port, pid), and ends it."""
    command = [program.binary(), "-n", "1", "-f", "[127.0.0.1]:0", "-b", upstream]
    command += ["--log-level", "2", certificate]
    with subprocess.Popen(
        [*wrapper, *map(str, command)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stderr
        try:
            port = next(
                int(found[1])
                for line in child.stderr
                if (found := re.search(r"event=listening .*address=\S*:(\d+)", line))
            )
            threading.Thread(target=child.stderr.read, daemon=True).start()
            load(port, child.pid)
        finally:
            # valgrind becomes the program that it runs; strace has it as a child.
            is_parent = wrapper and wrapper[0] == "strace"
            os.kill(child_of(child.pid) if is_parent else child.pid, signal.SIGINT)
            child.wait(DEADLINE)


def child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def bench(*arguments: object) -> None:
    ran = subprocess.run(
        [beside("cleat-bench"), *map(str, arguments)], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    failed = re.search(r"^ +failed +(\d+)", ran.stdout, re.MULTILINE)
    assert failed is None or failed[1] == "0", ran.stdout


def handshakes(count: int) -> Callable[[int, int], None]:
    """handshakes makes full handshakes of TLS 1.3, one at a time, with a small request each."""
    return lambda port, _: bench(
        "load", "-q", "-n", count, "-c", 1, "--workers", 1, "--tls", "1.3", "--groups", "X25519",
        "--no-preflight", f"127.0.0.1:{port}",
    )  # fmt: skip


def download(messages: int) -> Callable[[int, int], None]:
    """download takes messages of 1 MiB, which are 64 records, over one connection."""
    return lambda port, _: bench(
        "transfer", "-q", "-c", 1, "-m", messages, "-s", "1M", "--tls", "1.3", "--no-preflight",
        "--path", "/bytes/1048576", f"127.0.0.1:{port}",
    )  # fmt: skip


def instructions(load: Callable[[int, int], None], folder: Path, *server: object) -> int:
    """instructions is how many cleat executed under a load, by callgrind."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    out = folder / "callgrind"
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
    serve_and(load, tool, *server)
    annotated = subprocess.run(
        ["callgrind_annotate", "--inclusive=yes", "--threshold=100", out],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return total(annotated) - inclusive(annotated, "jent_measure_jitter")


def total(annotated: str) -> int:
    found = re.search(r"^([\d,]+) .*PROGRAM TOTALS", annotated, re.MULTILINE)
    return int(found[1].replace(",", ""))


def inclusive(annotated: str, function: str) -> int:
    """inclusive is the instructions of a function and of its callees; 0 where it was not called.

    AWS-LC seeds its generator from the processor's, which valgrind hides, and then from the jitter
    of the clock: that work depends on time, and no other machine does it."""
    found = re.search(rf"^ *([\d,]+) .*:{function} \[", annotated, re.MULTILINE)
    return int(found[1].replace(",", "")) if found else 0


def system_calls(load: Callable[[int, int], None], folder: Path, *server: object) -> int:
    """system_calls is how many cleat made under a load, by strace."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    out = folder / "strace"
    serve_and(load, ["strace", "-c", "-f", "-o", str(out)], *server)
    total = next(line for line in out.read_text().splitlines() if line.endswith(" total"))
    return int(total.split()[3])


def hold(name: str, found: float) -> None:
    """hold compares a figure with the recorded one, or records it where CLEAT_RECORD says so."""
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    if os.environ.get("CLEAT_RECORD"):
        recorded[name] = round(found, 2)
        recorded["built with"] = built_with()
        RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    most = recorded[name] * MORE_AT_MOST
    assert found <= most, f"{name}: {found:,.1f}, recorded {recorded[name]:,.1f}"


def skip_unless_built_alike() -> None:
    if os.environ.get("CLEAT_RECORD"):
        return
    recorded = json.loads(RECORDED.read_text())["built with"]
    if built_with() != recorded:
        pytest.skip(f"instructions are recorded for {recorded}, this is {built_with()}")


def test_instructions_for_a_handshake(tmp_path, certificate, upstream):
    skip_unless_built_alike()
    short, long = (
        instructions(handshakes(n), tmp_path, certificate, upstream) for n in (SHORT, LONG)
    )
    hold("instructions for a handshake", (long - short) / (LONG - SHORT))


def test_instructions_for_a_record(tmp_path, certificate, upstream):
    skip_unless_built_alike()
    short, long = (instructions(download(n), tmp_path, certificate, upstream) for n in (10, 60))
    hold("instructions for a record of 16 KiB down", (long - short) / (50 * 64))


def test_system_calls_for_a_handshake(tmp_path, certificate, upstream):
    short, long = (
        system_calls(handshakes(n), tmp_path, certificate, upstream) for n in (SHORT, LONG)
    )
    hold("system calls for a handshake", (long - short) / (LONG - SHORT))


def test_bytes_of_a_handshake(certificate, upstream):
    sent: list[int] = []

    def through_a_counter(port: int, _: int) -> None:
        with Counter(port) as counter:
            handshakes(20)(counter.port, 0)
            sent.append(counter.total())

    serve_and(through_a_counter, [], certificate, upstream)
    hold("bytes of a handshake with request and answer, from cleat", sent[0] / 20)


def test_memory_of_an_idle_connection(certificate, upstream):
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    found: list[float] = []

    def hold_connections(port: int, pid: int) -> None:
        held: list[ssl.SSLSocket] = []
        levels = []
        for count in (200, 1200):  # The first are for what cleat allocates once.
            while len(held) < count:
                plain = socket.create_connection(("127.0.0.1", port))
                held.append(client.wrap_socket(plain))
            eventually("it has all upstreams", lambda: open_files(pid) > 2 * len(held))
            levels.append(own_memory(pid))
        found.append((levels[1] - levels[0]) / 1000)

    serve_and(hold_connections, [], certificate, upstream)
    hold("bytes of memory for an idle connection", found[0])


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def own_memory(pid: int) -> int:
    """own_memory is the process's anonymous memory, in bytes."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss_Anon: +(\d+) kB", text, re.MULTILINE)[1]) * 1024


class Counter:
    """Counter relays connections to a port, and counts the bytes that come back from it."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.accepted = 0
        self.counts: list[int] = []  # of the connections that have ended

    def __enter__(self) -> "Counter":
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.listening.close()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self.relay, args=(client,), daemon=True).start()

    def relay(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self.target))
        back = threading.Thread(target=self.copy_back, args=(server, client), daemon=True)
        back.start()
        while some := client.recv(65536):
            server.sendall(some)
        server.shutdown(socket.SHUT_WR)
        back.join()

    def copy_back(self, server: socket.socket, client: socket.socket) -> None:
        count = 0
        try:
            while some := server.recv(65536):
                count += len(some)
                client.sendall(some)
            client.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # The client has closed.
        self.counts.append(count)

    def total(self) -> int:
        eventually("all connections have ended", lambda: len(self.counts) == self.accepted)
        return sum(self.counts)
