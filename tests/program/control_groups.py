"""Control groups that ration CPU, or limit memory: where one can be made."""

import os
from pathlib import Path


def folder_for(controller: str, old_file: str, new_file: str) -> Path | None:
    """folder_for is the folder in which a control group can be made that has the file: of the
    controller of version 1, or of version 2."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, folder, kind, options, *_ = line.split()
        wanted = {"cgroup": old_file, "cgroup2": new_file}.get(kind)
        if not wanted or kind == "cgroup" and controller not in options.split(","):
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


RATIONING = folder_for("cpu", "cpu.cfs_quota_us", "cpu.max")
LIMITING_MEMORY = folder_for("memory", "memory.limit_in_bytes", "memory.max")
