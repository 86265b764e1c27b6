"""The tests do not depend on the players that run beside them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from user import User

ALONE = Path(__file__).parent / "alone"


def test_a_player_that_runs_beside_the_tests_is_not_seen_in_them(user: User) -> None:
    user.database("rhythmbox", 1)
    user.database("clementine", 2)
    player = shutil.copy("/bin/cat", user.home / "rhythmbox")
    sync = ("sync", "--yes", "--ratings", "highest")
    with subprocess.Popen([player], stdin=subprocess.PIPE) as running:
        assert user.run(*sync).returncode == 4
        ended = user.run(*sync, before=[str(ALONE)])
        running.stdin.close()
    if "no namespace" in ended.stderr:
        pytest.skip("this system gives no namespace of processes")
    assert ended.returncode == 0, ended.stdout + ended.stderr
