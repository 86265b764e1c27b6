"""Control groups that ration CPU: where one can be made."""

import os
from pathlib import Path


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
