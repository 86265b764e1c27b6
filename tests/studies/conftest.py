"""The programs of perf/ as modules, and the helpers of the program's tests."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "perf"), str(ROOT / "tests/program")]
