#!/usr/bin/env python3
"""keep.py FOUND.json KEPT.json: a comparison as it is kept in perf/results/.

What `cleat-bench compare --json` writes has a histogram of every stage of every round, and the
folders of the machine that it ran on. Here go the figures, the settings, the machine, and the
commit of the tree: keep a comparison before you go on from the tree that it was made with.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

# What a round's load is kept with: what it did, not how its times were spread.
OF_A_LOAD = ("measured_ns", "rate_asked", "attempts", "ok", "failed", "failures", "connections",
             "handshakes", "bytes", "limits")


KEPT_AT = "commit when kept"
RESULTS = "perf/results"  # what is kept there does not change what is measured
PROGRAMS = r"cleat|perf-[\w-]+|envoy|haproxy(?:-awslc)?|nginx|hitch|stunnel\d?"


def without_folders(text: str) -> str:
    """without_folders leaves a program its name, and the run's own files their servers' folders."""
    text = re.sub(r"/\S*?/cleat-compare-\w+/", "/tmp/compare/", text)
    return re.sub(rf"(?<![\w.])/(?:[\w.+-]+/)+({PROGRAMS})(?=[\s;]|$)", r"\1", text)


def said_by_git(*words: str) -> str:
    """said_by_git in this tree; empty where there is no git, or no repository."""
    tree = Path(__file__).resolve().parent.parent
    try:
        ran = subprocess.run(["git", *words], cwd=tree, capture_output=True, text=True, timeout=10)
    except OSError:
        return ""
    return ran.stdout.strip() if ran.returncode == 0 else ""


def commit() -> str:
    """commit of the tree, and whether it is changed; empty where nobody knows."""
    head = said_by_git("rev-parse", "HEAD")
    changed = said_by_git("status", "--porcelain", "--", ".", f":(exclude){RESULTS}")
    return f"{head}, changed" if head and changed else head


def kept(found: dict) -> dict:
    """kept is the document to keep; one that was kept before keeps its commit."""
    names = [name for name, _ in found["environment"]]
    if KEPT_AT not in names and (here := commit()):
        found["environment"].append([KEPT_AT, here])
    for trial in found["trials"]:
        for server in trial["servers"]:
            for key in ("command", "config", "left_out"):
                if server[key]:
                    server[key] = without_folders(server[key])
            for figures in filter(None, server["rounds"]):
                for part in ("load", "beside"):
                    if load := figures.get(part):
                        figures[part] = {key: load[key] for key in OF_A_LOAD if key in load}
    found["command"] = without_folders(found["command"])
    found["versions"] = [[name, without_folders(text)] for name, text in found["versions"]]
    return found


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, target = map(Path, sys.argv[1:])
    document = json.loads(source.read_text())
    if document.get("kind") != "compare":
        sys.exit(f"{source}: no result of cleat-bench compare")
    target.write_text(json.dumps(kept(document), indent=1) + "\n")


if __name__ == "__main__":
    main()
