"""Control groups that cleat-bench has made, and left."""

from pathlib import Path

from control_groups import RATIONING


def is_there(pid: int) -> bool:
    """is_there says whether a process runs. An ended process may stay as a zombie for as long as
    whoever inherited it takes; in some containers nobody ever asks for it."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def groups() -> set[Path]:
    """groups of comparisons that do not run any more."""
    return {
        each for each in RATIONING.glob("cleat-bench-*")
        if not is_there(int(each.name.split("-")[2]))
    }
