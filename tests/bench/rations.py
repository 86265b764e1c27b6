"""Control groups that ration CPU."""

import os
from pathlib import Path


def is_there(pid: int) -> bool:
    """is_there says whether a process runs. An ended process may stay as a zombie for as long as
    whoever inherited it takes; in some containers nobody ever asks for it."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def rationing() -> Path | None:
    """rationing is the folder in which a control group can be made that rations CPU."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, folder, kind, options, *_ = line.split()
        wanted = {"cgroup": "cpu.cfs_quota_us", "cgroup2": "cpu.max"}.get(kind)
        if not wanted or kind == "cgroup" and "cpu" not in options.split(","):
            continue
        probe = Path(folder) / f"cleat-test-{os.getpid()}"
        try:
            probe.mkdir()
        except OSError:
            continue
        found = (probe / wanted).exists()
        probe.rmdir()
        if found:
            return Path(folder)
    return None


RATIONING = rationing()


def groups() -> set[Path]:
    """groups of comparisons that do not run any more."""
    return {
        each for each in RATIONING.glob("cleat-bench-*")
        if not is_there(int(each.name.split("-")[2]))
    }
