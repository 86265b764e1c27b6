"""Work that can be counted does not grow: instructions, system calls, bytes and memory of cleat,
held to the figures in recorded.json plus 3 %.

    CLEAT_RECORD=1 tests/run-pytest tests/counted    # writes recorded.json anew

Counts do not depend on what else the machine does, so a small loss shows here that no clock would
show. Instructions are those of the program, by callgrind; they depend on the compiler and on the
TLS library, and are compared where both are the recorded ones. Each count per operation is the
difference of a long and a short run, divided by the operations between them, so that the start of
the program is in none."""

import contextlib
import json
import os
import re
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Callable, Iterator

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / each) for each in ("program", "bench")]

import program  # noqa: E402
from certificates import CertificateMaker  # noqa: E402
from deadlines import eventually  # noqa: E402
from origins import Origin  # noqa: E402
from program import Cleat  # noqa: E402
from http_handlers import relay  # noqa: E402

RECORDED = HERE / "recorded.json"
MORE_AT_MOST = 1.03
SHORT, LONG = 100, 500  # handshakes
ROUTES, UPSTREAMS = 10_000, 100

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
    return CertificateMaker(tmp_path_factory.mktemp("certs")).ecdsa.pem


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


# valgrind writes its results from inside the process, and a strace of no root reads its memory.
TOOL_FLAGS = ("--sandbox", "off", "--core-dumps")


@contextlib.contextmanager
def serving(
    certificate: Path, upstream: str, *wrapper: object, flags: tuple[object, ...] = ()
) -> Iterator[Cleat]:
    where = () if "--config" in flags else ("-f", "[127.0.0.1]:0", "-b", upstream)
    server = Cleat(
        "-n", 1, *where, "--log-level", 2, "--shutdown-timeout", 0,
        *(TOOL_FLAGS if wrapper else ()), *flags, certificate, wrapper=wrapper,
    )  # fmt: skip
    try:
        yield server.wait_until_started()
    finally:
        server.end()


def bench(*arguments: object) -> None:
    ran = subprocess.run(
        [beside("cleat-bench"), *map(str, arguments)], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    failed = re.search(r"^ +failed +(\d+)", ran.stdout, re.MULTILINE)
    assert failed is None or failed[1] == "0", ran.stdout


def handshakes(count: int, *options: object) -> Callable[[int], None]:
    """handshakes makes full handshakes of TLS 1.3, one at a time, with a small request each."""
    return lambda port: bench(
        "load", "-q", "-n", count, "-d", "600s", "-c", 1, "--workers", 1, "--tls", "1.3",
        "--groups", "X25519", "--no-preflight", *options, f"127.0.0.1:{port}",
    )  # fmt: skip


def download(messages: int) -> Callable[[int], None]:
    """download takes messages of 1 MiB, which are 64 records, over one connection."""
    return lambda port: bench(
        "transfer", "-q", "-c", 1, "-m", messages, "-s", "1M", "--tls", "1.3", "--no-preflight",
        "--path", "/bytes/1048576", f"127.0.0.1:{port}",
    )  # fmt: skip


def instructions(
    load: Callable[[int], None], folder: Path, *server: object, flags: tuple[object, ...] = ()
) -> int:
    """instructions is how many cleat executed under a load, by callgrind."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    out = folder / "callgrind"
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
    with serving(*server, *tool, flags=flags) as cleat:
        load(cleat.port)
    annotated = subprocess.run(
        ["callgrind_annotate", "--inclusive=yes", "--threshold=100", out],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return total(annotated) - inclusive(annotated, "jent_measure_jitter")


def for_a_handshake(
    folder: Path, *server: object, options: tuple[object, ...] = (), flags: tuple[object, ...] = ()
) -> float:
    """for_a_handshake is the instructions of one, by options of the client and flags of cleat."""
    short, long = (
        instructions(handshakes(count, *options), folder, *server, flags=flags)
        for count in (SHORT, LONG)
    )
    return (long - short) / (LONG - SHORT)


def total(annotated: str) -> int:
    found = re.search(r"^([\d,]+) .*PROGRAM TOTALS", annotated, re.MULTILINE)
    return int(found[1].replace(",", ""))


def inclusive(annotated: str, function: str) -> int:
    """inclusive is the instructions of a function and of its callees; 0 where it was not called.

    AWS-LC seeds its generator from the processor's, which valgrind hides, and then from the jitter
    of the clock: that work depends on time, and no other machine does it."""
    found = re.search(rf"^ *([\d,]+) .*:{function} \[", annotated, re.MULTILINE)
    return int(found[1].replace(",", "")) if found else 0


def system_calls(count: int, folder: Path, *server: object) -> list[int]:
    """system_calls is how many cleat made for each of so many handshakes but the last: from an
    accept4 to the next, by strace."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    out = folder / "strace"
    accepts = re.compile(r"^(\d+) +accept4\(.*\) = \d", re.MULTILINE)
    # -D: strace is no parent of the program, and may write later than it ends.
    with serving(*server, "strace", "-D", "-f", "-o", out) as cleat:
        handshakes(count)(cleat.port)
    eventually("strace has written", lambda: len(accepts.findall(out.read_text())) == count)
    (worker,) = set(accepts.findall(out.read_text()))
    counts = [0]
    for line in out.read_text().splitlines():
        if line.startswith(f"{worker} ") and "resumed>" not in line:
            counts[-1] += 1
            if accepts.match(line):
                counts.append(0)
    return counts[1:-1]


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
        pytest.skip(f"the figure is recorded for {recorded}, this is {built_with()}")


@pytest.fixture(scope="module")
def without_log(
    tmp_path_factory: pytest.TempPathFactory, certificate: Path, upstream: str
) -> float:
    """without_log is the instructions of a handshake with every setting at its default."""
    skip_unless_built_alike()
    return for_a_handshake(tmp_path_factory.mktemp("default"), certificate, upstream)


def test_instructions_for_a_handshake(without_log):
    hold("instructions for a handshake", without_log)


def test_instructions_for_a_handshake_in_the_access_log(
    tmp_path, certificate, upstream, without_log
):
    """The access log may cost 4 % of a handshake. The thread that writes it counts, too."""
    flags = ("--access-log", tmp_path / "access.log", "--access-log-format", "json")
    found = for_a_handshake(tmp_path, certificate, upstream, flags=flags)
    hold("instructions for a handshake in the access log", found)
    assert found <= without_log * 1.04


def test_instructions_for_a_handshake_with_many_routes(tmp_path, certificate, upstream):
    """10,000 routes to 100 upstreams may cost 4 % of a handshake, also for the last one's clients
    and for those whom none takes."""
    routes = "\n".join(
        f'route = {{ sni = "host-{each}.example" upstream = "app-{each % UPSTREAMS}" }}'
        for each in range(ROUTES)
    )
    upstreams = "\n".join(
        f'upstream = {{ name = "app-{each}" server = "{upstream}" }}' for each in range(UPSTREAMS)
    )
    (tmp_path / "many.conf").write_text(
        f'{upstreams}\nbackend = "{upstream}"\n'
        f'frontend = {{ host = "127.0.0.1" port = "0"\n{routes} }}\n'
    )

    def each(name: str, *flags: object) -> float:
        options = ("--sni", name)
        return for_a_handshake(tmp_path, certificate, upstream, options=options, flags=flags)

    last, other = f"host-{ROUTES - 1}.example", "other.example"
    without = each(last)
    assert each(last, "--config", tmp_path / "many.conf") <= without * 1.04
    assert each(other, "--config", tmp_path / "many.conf") <= without * 1.04


def test_instructions_for_a_record(tmp_path, certificate, upstream):
    skip_unless_built_alike()
    short, long = (instructions(download(n), tmp_path, certificate, upstream) for n in (10, 60))
    hold("instructions for a record of 16 KiB down", (long - short) / (50 * 64))


def test_system_calls_for_a_handshake(tmp_path, certificate, upstream):
    counts = system_calls(SHORT, tmp_path, certificate, upstream)
    # strace is slow: where an answer takes longer than a ticket may wait for it, the ticket has a
    # send of its own. It does so for less than three in four.
    hold("system calls for a handshake", statistics.quantiles(counts, n=4)[0])


def test_bytes_of_a_handshake(certificate, upstream):
    count = 20
    ends: list[str] = []
    sizes: list[int] = []
    with serving(certificate, upstream) as cleat:
        between = Origin(relay(f"127.0.0.1:{cleat.port}", ends, sizes))
        handshakes(count)(int(between.address.rsplit(":", 1)[1]))
        eventually("all connections have ended", lambda: len(ends) == count)
        between.close()
    hold("bytes of a handshake with request and answer, from cleat", sum(sizes) / count)


def bytes_each(
    cleat: Cleat, connect: Callable[[int], socket.socket], descriptors: int, first: int = 200
) -> float:
    """bytes_each is what 1,000 connections add to the memory of cleat, which has so many
    descriptors for each. Before them come the first, for what it allocates once."""
    found = Path(f"/proc/{cleat.pid}/fd")
    levels = []
    with contextlib.ExitStack() as held:
        for count in (first, 1000):
            expected = len(os.listdir(found)) + descriptors * count
            for _ in range(count):
                held.enter_context(connect(cleat.port))
            eventually("it has them all", lambda: len(os.listdir(found)) >= expected)  # noqa: B023
            levels.append(cleat.memory())
    return (levels[1] - levels[0]) / 1000


def client_settings() -> ssl.SSLContext:
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    return client


def test_memory_of_an_idle_connection(certificate, upstream):
    # Debian 13's C library leaves more free bytes between those of connections: 6,590 each.
    skip_unless_built_alike()
    client = client_settings()

    def connect(port: int) -> socket.socket:
        return client.wrap_socket(socket.create_connection(("127.0.0.1", port)))

    with serving(certificate, upstream) as cleat:
        found = bytes_each(cleat, connect, descriptors=2)
    hold("bytes of memory for an idle connection", found)


def test_memory_of_one_of_many_unfinished_client_hellos(certificate, upstream):
    skip_unless_built_alike()
    whole = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        client_settings().wrap_bio(ssl.MemoryBIO(), whole).do_handshake()
    hello = whole.read()

    def connect(port: int) -> socket.socket:
        made = socket.create_connection(("127.0.0.1", port))
        made.sendall(hello[: len(hello) // 2])
        return made

    with serving(certificate, upstream) as cleat:
        found = bytes_each(cleat, connect, descriptors=1, first=600)  # limits::half_open_many
    hold("bytes of memory for half a ClientHello, where many are unfinished", found)
