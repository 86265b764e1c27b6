#!/usr/bin/env python3
"""keep.py FOUND.json KEPT.json: a comparison as it is kept in perf/results/.

What `cleat-bench compare --json` writes has a histogram of every stage of every round, and the
folders of the machine that it ran on. Kept are the figures, the settings, the machine, and the
commit of the tree: keep a comparison before the tree changes.
"""

import re
import sys
from pathlib import Path

from cleat_perf.results import Unusable, commit, read, write

# Of a round's load its counts are kept, and not the distribution of its times.
LOAD_KEYS = ("rate_asked", "attempts", "ok", "failed", "failures", "handshakes", "limits")
COMMIT = "commit when kept"
PROGRAMS = r"cleat|perf-[\w-]+|envoy|haproxy(?:-awslc)?|nginx|hitch|stunnel\d?"


def without_folders(text: str) -> str:
    """without_folders leaves the names of programs, and the paths inside the run's own folder."""
    text = re.sub(r"/\S*?/cleat-compare-\w+/", "/tmp/compare/", text)
    return re.sub(rf"(?<![\w.])/(?:[\w.+-]+/)+({PROGRAMS})(?=[\s;]|$)", r"\1", text)


def kept(found: dict) -> dict:
    """kept is the document to keep; one that was kept before keeps its commit."""
    names = [name for name, _ in found["environment"]]
    if COMMIT not in names and (head := commit()):
        found["environment"].append([COMMIT, head])
    for trial in found["trials"]:
        for server in trial["servers"]:
            for key in ("command", "config", "left_out"):
                if server[key]:
                    server[key] = without_folders(server[key])
            for figures in filter(None, server["rounds"]):
                for part in ("load", "beside"):
                    if load := figures.get(part):
                        figures[part] = {key: load[key] for key in LOAD_KEYS if key in load}
    found["command"] = without_folders(found["command"])
    found["versions"] = [[name, without_folders(text)] for name, text in found["versions"]]
    return found


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, target = map(Path, sys.argv[1:])
    try:
        document = read(source)
    except Unusable as error:
        sys.exit(str(error))
    if document.get("kind") != "compare":
        sys.exit(f"{source}: it is not of cleat-bench compare")
    write(target, kept(document))


if __name__ == "__main__":
    main()
