from pathlib import Path
from typing import Callable

import pytest

from recording import SUBJECT, Recording


@pytest.fixture
def record(tmp_path: Path) -> Callable[..., Recording]:
    """record runs the subject with arguments, under `cleat-locks run` with options."""

    def run(*words: object, options: list[object] | None = None) -> Recording:
        return Recording(tmp_path, [SUBJECT, *words], options or [])

    return run
