"""Ports for servers of the tests: those of the studies, which run beside them."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "perf"))

from cleat_perf.ports import free_port

__all__ = ["free_port"]
