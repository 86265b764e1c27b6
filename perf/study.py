#!/usr/bin/env python3
"""Measures what a study of docs/studies/ needs, into a file in perf/results/.

    perf/study.py STUDY [OPTION...]        # its options: perf/study.py STUDY --help

The studies: asio, cost, gather, libraries, terminators.
"""

import importlib
import os
import sys

STUDIES = ("asio", "cost", "gather", "libraries", "terminators")


def main() -> int:
    if sys.argv[1:2] in ([], ["-h"], ["--help"]):
        print(__doc__)
        return 0
    name, *words = sys.argv[1:]
    if name not in STUDIES:
        print(f"study.py: there is no study {name!r}; there are {', '.join(STUDIES)}",
              file=sys.stderr)
        return 2
    os.environ["PATH"] += ":/usr/sbin"  # Debian's nginx and haproxy are there.
    return importlib.import_module(f"studies.{name}.run").main(words) or 0


if __name__ == "__main__":
    sys.exit(main())
