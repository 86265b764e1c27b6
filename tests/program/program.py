"""The cleat program: started, read, waited for and ended."""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Iterator

import logfmt
from deadlines import DEADLINE, eventually

ROOT = Path(__file__).resolve().parents[2]
SANITIZER_WORDS = ("Sanitizer", "runtime error:", "assertion failed")


def binary() -> Path:
    """binary is the program under test: CLEAT_BINARY, or the one in the folder CLEAT_BIN, or the
    release of this tree."""
    if named := os.environ.get("CLEAT_BINARY"):
        return Path(named)
    return Path(os.environ.get("CLEAT_BIN", ROOT / "build" / "release" / "bin")) / "cleat"


def capabilities() -> dict[str, str]:
    """capabilities is what `cleat --version` tells: {"post-quantum group": "yes", ...}."""
    ran = subprocess.run([binary(), "--version"], capture_output=True, text=True, timeout=DEADLINE)
    pairs = (line.split("  ", 1) for line in ran.stdout.splitlines()[1:])
    return {key.strip(): value.strip() for key, value in (p for p in pairs if len(p) == 2)}


@contextlib.contextmanager
def file_limit(count: int) -> Iterator[None]:
    """file_limit lets this process, and programs that it starts, open so many files, where the hard
    limit does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def run(
    *arguments: object, path: Path | None = None, **options: object
) -> subprocess.CompletedProcess[str]:
    """run runs the program, or its copy at a path, to its own end: for what prints something, or
    refuses to start."""
    command = [str(path or binary()), *map(str, arguments)]
    ran = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=DEADLINE, **options
    )
    for word in SANITIZER_WORDS:
        assert word not in ran.stderr, ran.stderr
    return ran


def complaints(*arguments: object) -> str:
    """complaints are the errors of a configuration that `cleat --test` refuses."""
    ran = run("--test", *arguments)
    assert ran.returncode == 1, ran
    return ran.stderr


@contextlib.contextmanager
def open_folder() -> Iterator[Path]:
    """open_folder is a folder that every user may enter, as none of pytest's is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def open_files(pid: int) -> dict[int, str]:
    """open_files is what each descriptor of a process is, without those that close meanwhile."""
    found = {}
    for entry in sorted(Path(f"/proc/{pid}/fd").iterdir(), key=lambda path: int(path.name)):
        with contextlib.suppress(FileNotFoundError):
            found[int(entry.name)] = os.readlink(entry)
    return found


def wait_for_reopening(pid: int, old: Path) -> None:
    """wait_for_reopening returns once no descriptor of a process is the file that was renamed to
    `old`. The new file exists a moment earlier, while lines still go to the old one."""
    eventually(f"{old} is closed", lambda: str(old) not in open_files(pid).values())


def run_as_nobody(*arguments: object) -> subprocess.CompletedProcess[str]:
    """run_as_nobody runs the program as the user nobody, which only root can."""
    with open_folder() as folder:
        copy = folder / "cleat"  # The tree may be in a folder of root's.
        shutil.copy(binary(), copy)
        copy.chmod(0o755)
        return run(*arguments, path=copy, user="nobody", group="nogroup", extra_groups=[])


class Cleat:
    """Cleat is one running program. Its log is collected line by line as it comes.

    A wrapper is a command in front of the program: one that becomes it, so that the pid is its.
    `program` is the path of a copy of it."""

    def __init__(
        self,
        *arguments: object,
        wrapper: tuple[object, ...] = (),
        program: Path | None = None,
        **options: object,
    ) -> None:
        self.lines: list[str] = []  # Of standard error: the log, and what comes before it.
        self.parsed = 0  # Lines that are among the events: each is parsed once.
        self.events: dict[str | None, list[dict[str, str]]] = {None: []}  # None: all.
        self.more = threading.Condition()
        self.is_over = False
        command = list(map(str, (*wrapper, program or binary(), *arguments)))
        options = {"stdin": subprocess.DEVNULL, **options}
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        assert self.process.stderr
        for raw in self.process.stderr:
            with self.more:
                self.lines.append(raw.decode("latin-1").rstrip("\n"))
                self.more.notify_all()
        with self.more:
            self.is_over = True
            self.more.notify_all()

    @property
    def pid(self) -> int:
        return self.process.pid

    def log(self, **wanted: str) -> list[dict[str, str]]:
        """log returns the lines so far whose fields are all as wanted."""
        with self.more:
            for found in filter(None, map(fields, self.lines[self.parsed :])):
                self.events[None].append(found)
                self.events.setdefault(found.get("event", ""), []).append(found)
            self.parsed = len(self.lines)
            candidates = list(self.events.get(wanted.get("event"), []))
        return [dict(each) for each in candidates if wanted.items() <= each.items()]

    def wait_for_log(self, times: int = 1, **wanted: str) -> dict[str, str]:
        """wait_for_log waits until such a line was written so many times; it returns the last."""
        end = time.monotonic() + DEADLINE
        while True:
            with self.more:
                seen, is_over = len(self.lines), self.is_over
            found = self.log(**wanted)
            if len(found) >= times:
                return found[times - 1]
            left = end - time.monotonic()
            if is_over or left <= 0:
                why = "the program has ended" if is_over else "it did not come in time"
                raise AssertionError(f"no log line {wanted}: {why}:\n" + "\n".join(self.lines))
            with self.more:
                self.more.wait_for(lambda: len(self.lines) > seen or self.is_over, left)

    def wait_until_started(self) -> "Cleat":
        self.wait_for_log(event="started")
        return self

    @property
    def ports(self) -> list[int]:
        """ports are those that it listens on, in the order of its frontends."""
        return [int(f["address"].rsplit(":", 1)[1]) for f in self.log(event="listening")]

    @property
    def port(self) -> int:
        return self.ports[0]

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """paused stops it for the length of a block, so that all that is sent meanwhile is there
        at once when it goes on."""
        self.signal(signal.SIGSTOP)
        eventually("it has stopped", lambda: self.state() == "T")
        try:
            yield
        finally:
            self.signal(signal.SIGCONT)

    def state(self) -> str:
        return Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

    def wait(self) -> int:
        """wait waits for its end and returns its exit code."""
        code = self.process.wait(DEADLINE)
        self.reader.join(DEADLINE)
        return code

    def end(self) -> None:
        """end ends it, and checks that it had nothing to complain about."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        try:
            code = self.wait()
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        everything = "\n".join(self.lines)
        for word in SANITIZER_WORDS:
            assert word not in everything, everything
        assert code == 0, f"exit code {code}:\n{everything}"

    # Facts that the kernel has about it.

    def memory(self) -> int:
        """memory is how many bytes of its own are in memory now."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("the kernel does not tell RssAnon")

    def address_space(self) -> int:
        """address_space is the size in bytes of what it has mapped: RLIMIT_AS limits it."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmSize:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("the kernel does not tell VmSize")

    def cpu_seconds(self) -> float:
        """cpu_seconds is how long it has computed so far."""
        after_name = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def fields(line: str) -> dict[str, str] | None:
    """fields are those of a log line; nothing for a line that is none."""
    try:
        return logfmt.parse(line)
    except logfmt.NotALogLine:
        return None
