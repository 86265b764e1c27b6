"""perf/upstreams.py: only a server that has served has figures, and no process is left over."""

import argparse
import os
import sys
from pathlib import Path

import pytest

import upstreams
from cleat_perf import processes, serve

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("CLEAT_BIN", ROOT / "build/release/bin"))
OPTIONS = argparse.Namespace(
    servers=["cleat"], cleat=BIN / "cleat", connections=8, downloads=8
)


@pytest.fixture(autouse=True)
def _programs_of_this_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstreams, "BIN", BIN)


def program(folder: Path, text: str) -> Path:
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def middle(found: dict, monkeypatch: pytest.MonkeyPatch, running: bool = True) -> upstreams.Middle:
    """middle is a server of which cleat-bench has found this."""
    monkeypatch.setattr(serve, "ask", lambda *_, **__: {"command": "load", "failures": []} | found)
    made = object.__new__(upstreams.Middle)
    made.port, made.others = 1, {0}
    made.process = type("Fake", (), {
        "command": ["program"], "cpu_ns": lambda _: 0, "log": Path(os.devnull),
        "child": type("Child", (), {"poll": lambda _: None if running else 1})(),
    })()  # fmt: skip
    return made


@pytest.mark.parametrize("subject", upstreams.SUBJECTS)
def test_a_server_that_serves_has_figures_and_ends(
    subject: str, monkeypatch: pytest.MonkeyPatch, started: list[processes.Process]
) -> None:
    monkeypatch.setattr(upstreams, "DOWN", 100_000)
    (found,) = upstreams.round_of(OPTIONS, 0, subject)
    figures = [value for key, value in found.items() if key.endswith(("_us", "_ms"))]
    assert len(figures) == 2 and min(figures) > 0
    assert [each.child.returncode is not None for each in started] == [True] * 3


@pytest.mark.parametrize("found", [{"ok": 7, "failed": 0}, {"ok": 7, "failed": 1},
                                   {"ok": 0, "failed": 0}])  # fmt: skip
def test_a_transaction_that_was_not_served_is_an_error(
    found: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    for measure in (upstreams.Middle.load, upstreams.Middle.down):
        with pytest.raises(serve.Unable):
            measure(middle(found, monkeypatch), 8)


def test_a_server_that_has_ended_did_not_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program may have its port by then."""
    served = {"ok": 8, "failed": 0}
    assert middle(served, monkeypatch).load(8) == 0
    with pytest.raises(serve.Unable, match="program has ended"):
        middle(served, monkeypatch, running=False).load(8)


def test_handshakes_that_did_not_reach_the_server_behind_are_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    subject = middle({"ok": 8, "failed": 0}, monkeypatch)
    subject.behind = type("Behind", (), {"handshakes": lambda _: (5, 5)})()
    with pytest.raises(serve.Unable, match="only 0 handshakes"):
        subject.measure(OPTIONS, "tls-upstream")


def test_a_result_of_an_earlier_run_is_not_this_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program writes a result at its first call only; it does not fail at its second."""
    monkeypatch.setattr(upstreams, "BIN", tmp_path)
    result = '{"ok": 8, "failed": 0, "failures": [], "command": "load"}'
    bench = program(
        tmp_path,
        f'cd {tmp_path}; if [ -e once ]; then exit 0; fi; touch once\n'
        f"while [ $# -gt 0 ]; do [ \"$1\" != --json ] || echo '{result}' > \"$2\"; shift; done",
    )
    bench.rename(tmp_path / "cleat-bench")
    with processes.Process(["sleep", "60"], {0}, tmp_path / "log") as server:
        subject = object.__new__(upstreams.Middle)
        subject.folder, subject.port, subject.others = tmp_path, 1, {0}
        subject.process = server
        assert subject.load(8) >= 0
        with pytest.raises(serve.Unable, match="no result, exit code 0"):
            subject.load(8)


@pytest.mark.parametrize("failure", [KeyboardInterrupt, serve.Unable, OSError])
def test_processes_end_with_an_error_while_the_server_warms_up(
    failure: type[BaseException], monkeypatch: pytest.MonkeyPatch,
    started: list[processes.Process],
) -> None:  # fmt: skip
    def fail(*_: object) -> float:
        raise failure

    monkeypatch.setattr(upstreams.Middle, "load", fail)
    with pytest.raises(failure):
        upstreams.round_of(OPTIONS, 0, "passthrough")
    assert [each.child.returncode is not None for each in started] == [True] * 3


def test_processes_end_when_the_server_does_not_start(
    tmp_path: Path, started: list[processes.Process]
) -> None:
    options = argparse.Namespace(**vars(OPTIONS) | {"cleat": program(tmp_path, "echo no; exit 3")})
    with pytest.raises(serve.Unable, match="cleat does not serve:\nno"):
        upstreams.round_of(options, 0, "passthrough")
    assert [each.child.returncode is not None for each in started] == [True] * 3


def test_ctrl_c_in_the_wait_for_an_end_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process ignores SIGTERM."""
    deaf = [sys.executable, "-c", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
            "print('ready here:1', flush=True); signal.pause()"]  # fmt: skip
    server = processes.Process(deaf, {0}, tmp_path / "log")
    server.ready_port()
    wait = server.child.wait

    def interrupted(deadline_s: float | None = None) -> int:
        if deadline_s is not None:
            raise KeyboardInterrupt
        return wait()

    monkeypatch.setattr(server.child, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        server.stop()
    assert server.child.returncode == -9


@pytest.mark.parametrize(
    "words, said",
    [
        (["--downloads", "10"], "'10': write a multiple of 8"),
        (["--downloads", "0"], "'0': write a whole number, at least 1"),
        (["--connections", "0"], "'0': write a whole number, at least 1"),
        (["--subjects", "udp"], "there is no 'udp'; there are passthrough, tls-upstream"),
        (["--servers", "apache"], "there is no 'apache'; there are cleat, haproxy,"),
        (["--servers", "haproxy-splice"], "none of them offers tls-upstream"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["upstreams.py", *words])
    with pytest.raises(SystemExit) as ended:
        upstreams.arguments()
    assert ended.value.code == 2 and said in capsys.readouterr().err


def test_a_subject_has_the_servers_that_offer_it() -> None:
    options = argparse.Namespace(servers=["cleat", "haproxy-splice"])
    assert upstreams.chosen(options, "passthrough") == ["cleat", "haproxy-splice"]
    assert upstreams.chosen(options, "tls-upstream") == ["cleat"]
