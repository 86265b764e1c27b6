"""Children without the recorder are named, with the reason."""

import pytest

from recording import SUBJECT, Recording


@pytest.mark.parametrize(
    "start, why",
    [
        ("LD_PRELOAD= {}", "it was started without LD_PRELOAD"),
        ("LD_PRELOAD=libc.so.6 {}", "it was started with another LD_PRELOAD"),
        ("env -i {}", "it was started without LD_PRELOAD"),
    ],
)
def test_a_child_that_replaces_the_preloaded_library(tmp_path, start, why):
    """The child waits for its input, which the shell closes once `run` has named the child."""
    wait = "until grep -qs locks_subject $CLEAT_LOCKS_TRACE/unrecorded; do sleep 0.05; done"
    child = start.format(f"{SUBJECT} phases")
    run = Recording(tmp_path, ["sh", "-c", f"({wait}) | {child}; true"], [])
    (found,) = run.report()["unrecorded"]
    assert found["program"] == "locks_subject" and found["why"] == why
    assert f"NOT RECORDED: locks_subject, process {found['pid']}: {why}" in run.text()


def test_all_children_are_recorded(tmp_path):
    run = Recording(tmp_path, ["sh", "-c", f"{SUBJECT} dozes 300; true"], [])
    assert run.report()["unrecorded"] == []
    assert "NOT RECORDED" not in run.text()
