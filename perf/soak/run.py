#!/usr/bin/env python3
"""Mixed load for minutes, with faults and floods: what grows, and who fails.

    make soak MINUTES=30
    perf/soak/run.py --minutes 2 --out found.json

cleat has two workers, an admin server and two servers behind it. A cycle takes some 15 seconds:
calm, backend faults, reloads, a flood of full handshakes with RSA at three times the rate that
cleat can serve, and rest. cleat-bench runs honest clients in every phase but the last: full and
resumed handshakes, downloads and uploads. A hundred idle clients say something now and then.

A series has one value of each cycle, always of the same phase: memory, descriptors and sizes in
/metrics at rest, and the 99th percentile of a quiet stream of requests in the calm phase. The first
cycle warms cleat up, and does not count. Exit code 1 where a series grows: where the 95 % interval
of its slope is above zero, and its growth over the run above its bound. Also 1 where an honest
client fails without a reason that perf/soak/failures.py names. Exit code 2: the run could not be
made.
"""

import argparse
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from cleat_perf import results  # noqa: E402
from cleat_perf.environment import describe  # noqa: E402
from cleat_perf.results import TREE  # noqa: E402
from cleat_perf.serve import Unable  # noqa: E402
from soak import loads  # noqa: E402
from soak.cycle import Cycle  # noqa: E402
from soak.idlers import Idlers  # noqa: E402
from soak.report import findings, progress, shown  # noqa: E402
from soak.samples import Samples  # noqa: E402
from soak.sites import Site  # noqa: E402
from soak.trend import POINTS_MIN  # noqa: E402

WARM_UP = 1  # cycles that no series has
# A line through POINTS_MIN points has one residual: where the machine makes a cycle longer than the
# others by a seventh, no slope is above zero with the confidence of a trend. With one point more it
# may be by four fifths.
CYCLES_MIN = WARM_UP + POINTS_MIN + 1


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    least = f"at least {CYCLES_MIN} cycles are run"
    parse.add_argument("--minutes", type=float, default=30, help=least)
    parse.add_argument("--binaries", type=Path, default=TREE / "build/release/bin")
    parse.add_argument("--cleat", type=Path, help="another program that becomes cleat")
    parse.add_argument("--out", type=Path, help="a JSON file with every series; default: none")
    return parse.parse_args()


def run(options: argparse.Namespace, folder: Path) -> dict:
    """run gives the document of a run. Raises Unable."""
    binaries = options.binaries.resolve()
    cycles: list[Cycle] = []
    with ExitStack() as processes:
        cleat = options.cleat or binaries / "cleat"
        site = Site(binaries, cleat, folder, processes)
        capacity = loads.capacity(site)
        rates = loads.Rates(capacity)
        with Samples(site) as samples, Idlers(site) as idlers:
            while samples.seconds() < options.minutes * 60 or len(cycles) < CYCLES_MIN:
                cycles.append(Cycle(site, idlers, samples, len(cycles), rates))
                cycles[-1].run()
                print(progress(cycles[-1], samples), file=sys.stderr)
        document = findings(cycles, samples, idlers, WARM_UP) | {"capacity": capacity}
        document["faults"] += site.end()
    return document


def main() -> int:
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # After it has ended what it started.
    document = {"command": results.command(), "environment": describe(TREE)}
    with tempfile.TemporaryDirectory(prefix="soak-") as scratch:
        try:
            document |= run(options, Path(scratch))
        except Unable as failure:
            print(f"soak: {failure}", file=sys.stderr)
            return 2
    print(shown(document))
    if options.out:
        results.write(options.out, document)
    return 1 if document["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
