"""Other work of the machine is the work that is not this program's, nor of what it has started."""

import subprocess
import sys

from soak.machine import OtherWork, busy_s, own_s

BURN = "import time\nwhile time.process_time() < 0.5: pass"


def test_work_of_a_child_that_has_ended_is_own() -> None:
    own, busy = own_s(), busy_s()
    subprocess.run([sys.executable, "-c", BURN], check=True)
    assert own_s() - own >= 0.5
    assert busy_s() - busy >= 0.4  # Its clock ticks a hundred times a second.


def test_other_work_is_no_less_than_none() -> None:
    other = OtherWork(own=own_s() - 1000)
    assert other.cores() == 0
