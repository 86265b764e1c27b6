from pathlib import Path
from typing import Callable

import pytest

from recording import STEPPED, SUBJECT, Recording


@pytest.fixture
def record(tmp_path: Path) -> Callable[..., Recording]:
    """record runs the subject with arguments, under `cleat-locks run` with options."""

    def run(
        *words: object, options: list[object] | None = None, settings: dict[str, str] | None = None
    ) -> Recording:
        return Recording(tmp_path, [SUBJECT, *words], options or [], settings)

    return run


@pytest.fixture
def record_stepped(record: Callable[..., Recording]) -> Callable[..., Recording]:
    """record_stepped records a subject whose clock stands still, except where it steps it."""

    def run(*words: object, options: list[object] | None = None) -> Recording:
        found = record(*words, options=options, settings=STEPPED)
        assert found.ran.returncode == 0, found.ran.stderr
        return found

    return run
