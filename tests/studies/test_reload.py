"""perf/reload.py: no process is left over, and no figure comes from an earlier window."""

import argparse
import os
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

import reload
from cleat_perf.processes import Process

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = {"reloads": 10, "rate": 10, "window": 0.5}


@pytest.fixture(autouse=True)
def binaries(monkeypatch: pytest.MonkeyPatch) -> Path:
    found = Path(os.environ.get("CLEAT_BIN", ROOT / "build/release/bin"))
    monkeypatch.setattr(reload, "BIN", found)
    return found


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen]:
    """clients are the loads that a site starts."""
    every: list[subprocess.Popen] = []
    start = reload.Site.start

    def record(*words: object, **options: object) -> subprocess.Popen:
        every.append(start(*words, **options))
        return every[-1]

    monkeypatch.setattr(reload.Site, "start", record)
    return every


def are_ended(processes: list[subprocess.Popen]) -> bool:
    return all(each.returncode is not None for each in processes)


def test_processes_end_when_cleat_does_not_start(tmp_path: Path, started: list[Process]) -> None:
    options = argparse.Namespace(cleat=Path("/bin/false"), **OPTIONS)
    with pytest.raises(SystemExit, match="cleat does not serve"):
        reload.storm(options, tmp_path)
    assert len(started) == 2 and are_ended([each.child for each in started])


def test_loads_end_when_a_reload_fails(
    tmp_path: Path,
    binaries: Path,
    monkeypatch: pytest.MonkeyPatch,
    started: list[Process],
    clients: list[subprocess.Popen],
) -> None:
    monkeypatch.setattr(reload.Site, "reload", lambda site: False)
    options = argparse.Namespace(cleat=binaries / "cleat", **OPTIONS)
    with pytest.raises(SystemExit, match="reload 1 was refused"):
        reload.storm(options, tmp_path)
    assert len(clients) == 2 and are_ended(clients)
    assert len(started) == 2 and are_ended([each.child for each in started])


def test_sessions_resume_beside_reloads(
    tmp_path: Path, binaries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificates that take turns have the same names, as a renewed one has."""
    monkeypatch.setattr(reload, "IDLE", 5)
    options = argparse.Namespace(cleat=binaries / "cleat", **OPTIONS | {"rate": 50, "reloads": 100})
    found = reload.storm(options, tmp_path)
    assert found["resumed"] == found["offered"] > 0


def test_a_window_whose_load_fails_has_no_figure_of_the_one_before(
    tmp_path: Path, binaries: Path
) -> None:
    out = tmp_path / "window.json"
    out.write_text("{}")
    options = argparse.Namespace(**OPTIONS | {"rate": "no rate"})
    with ExitStack() as processes, pytest.raises(FileNotFoundError):
        site = reload.Site(binaries / "cleat", tmp_path, 1, reload.ALL_CORES, processes)
        reload.window(site, options, False, out)
