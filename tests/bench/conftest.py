"""Fixtures of cleat-bench's tests: a TLS server in front of whatever upstream a test tells, and
cleat-bench against it. Certificates, upstreams and cleat itself are those of the program tests."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Callable, Iterator

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "program"))

import browser
import program
from certificates import CertificateMaker
from deadlines import DEADLINE, SANITIZED
from load_results import Facts, write
from origins import Handler, Origin
from probed import s_servers
from program import Cleat


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "figures: judges what was measured; an optimized build on AWS-LC runs it"
    )
    config.addinivalue_line(
        "markers", "several_workers: ThreadSanitizer runs these tests of a file, and no others"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A sanitizer is too slow for figures, and another TLS library changes none of them. In some
    files most tests are of what one worker does with one connection."""
    left_out = set()
    if SANITIZED or os.environ.get("CLEAT_TLS", "aws-lc") != "aws-lc":
        left_out = {each for each in items if each.get_closest_marker("figures")}
    if os.environ.get("CLEAT_SANITIZE") == "thread":
        several = {each for each in items if each.get_closest_marker("several_workers")}
        files = {each.path for each in several}
        left_out |= {each for each in items if each.path in files} - several
    config.hook.pytest_deselected(items=[each for each in items if each in left_out])
    items[:] = [each for each in items if each not in left_out]


def binary() -> Path:
    """binary is the program under test: CLEAT_BENCH, or the one beside cleat."""
    if named := os.environ.get("CLEAT_BENCH"):
        return Path(named)
    return program.binary().with_name("cleat-bench")


os.environ.setdefault("CLEAT_BENCH", str(binary()))


def code_of(found: Facts) -> int:
    """code_of a load whose transactions succeeded, without conditions: a busy machine may be the
    limit of any."""
    return 4 if found["client_limited"] and "rate_asked" in found else 0


class Bench:
    """Bench runs cleat-bench in a folder of the test's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        command = [str(binary()), *map(str, arguments)]
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
        )

    @staticmethod
    def interrupted(child: subprocess.Popen[str]) -> tuple[str, str]:
        """interrupted ends a child as Ctrl-C does, and gives what it prints on both outputs."""
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=DEADLINE)
        assert child.returncode == 130, err
        return out, err

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """run runs it to its end, whatever that is."""
        child = self.start(*arguments)
        try:
            out, err = child.communicate(timeout=DEADLINE)
        finally:
            child.kill()
        for word in program.SANITIZER_WORDS:
            assert word not in err, err
        return subprocess.CompletedProcess(child.args, child.returncode, out, err)

    def load(self, *arguments: object, code: int = 0) -> dict:
        """load runs `load`, holds its exit code and that its outcomes add up, and gives the JSON
        with the text beside it."""
        self.count += 1
        path = self.folder / f"{self.count}.json"
        workers = () if "--workers" in arguments else ("--workers", 2)
        ran = self.run("load", *workers, "-q", "--json", path, *arguments)
        assert path.exists(), ran.stdout + ran.stderr
        found = self.read(path, ran.stdout)
        expected = code if code == 1 else code_of(found) or code
        assert ran.returncode == expected, ran.stdout + ran.stderr
        return found

    @staticmethod
    def read(path: Path, text: str = "") -> dict:
        found = json.loads(path.read_text())
        found["text"] = text
        assert found["ok"] + found["failed"] == found["attempts"]
        assert sum(each["count"] for each in found["failures"]) == found["failed"]
        assert sum(found["timeline"]["attempted"]) == found["attempts"]
        assert sum(found["timeline"]["ok"]) == found["ok"]
        assert sum(found["timeline"]["failed"]) == found["failed"]
        assert found["latency"]["response"]["count"] == found["ok"]
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    if not binary().exists():
        pytest.exit(f"there is no {binary()}: run `make build`, or set CLEAT_BENCH", 1)
    return Bench(tmp_path)


@pytest.fixture(scope="session")
def certs(tmp_path_factory: pytest.TempPathFactory) -> CertificateMaker:
    return CertificateMaker(tmp_path_factory.mktemp("certs"))


@pytest.fixture
def s_server(certs: CertificateMaker) -> Iterator[Callable[..., int]]:
    """s_server starts `openssl s_server` on a free port, and returns that."""
    with s_servers(certs) as start:
        yield start


@pytest.fixture(scope="module")
def shown() -> Iterator[browser.Browser]:
    """shown is a browser, for pages of reports."""
    running = browser.Browser()
    yield running
    running.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """report makes a page of documents."""

    def make(*documents: Facts) -> Path:
        folder = tmp_path_factory.mktemp("report")
        page = folder / "report.html"
        command = [binary(), "report", *write(folder, *documents), "--out", page]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return page

    return make


@pytest.fixture
def server(certs: CertificateMaker) -> Iterator[Callable[..., Cleat]]:
    """server starts cleat in front of an upstream that runs a handler: server(handler, "--flag").
    Its `address` is what cleat-bench is pointed at."""
    running: list[tuple[Cleat, Origin]] = []

    def start(handle: Handler, *flags: object, pem: list | None = None) -> Cleat:
        upstream = Origin(handle)
        files = [each.pem for each in (pem or [certs.ecdsa])]
        made = Cleat(
            "-f", "[127.0.0.1]:0", "-b", upstream.address, "--shutdown-timeout", 0,
            "--log-level", 2, *flags, *files
        )
        running.append((made, upstream))
        made.wait_until_started()
        made.address = f"127.0.0.1:{made.port}"
        return made

    yield start
    for made, upstream in running:
        if made.process.poll() is None:
            made.process.send_signal(signal.SIGCONT)
            made.process.kill()
            made.process.wait(DEADLINE)
        upstream.close()
