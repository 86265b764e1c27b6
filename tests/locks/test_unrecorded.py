"""Children without the recorder are named, with the reason."""

import pytest

from recording import SUBJECT, Recording


@pytest.mark.parametrize(
    "start, why",
    [
        ("LD_PRELOAD= {}", "it was started without LD_PRELOAD"),
        ("LD_PRELOAD=libc.so.6 {}", "it was started with another LD_PRELOAD"),
        ("env -i {}", "it was started without LD_PRELOAD"),
        # The limit is the child's, and not that of `run`.
        ("(ulimit -f 200; exec {})", "no file may be larger than "),
    ],
)
def test_a_child_without_the_recorder_is_named(tmp_path, start, why):
    """The child waits for its input, which the shell closes once `run` has named the child."""
    named = "grep -qs locks_subject $CLEAT_LOCKS_TRACE/unrecorded"
    wait = f"for i in $(seq 600); do {named} && break; sleep 0.05; done"
    child = start.format(f"{SUBJECT} phases")
    run = Recording(tmp_path, ["sh", "-c", f"({wait}) | {child}; true"], [])
    # A helper that is slow to load, such as grep, may end before it is looked at again.
    all_found = {each["program"]: each for each in run.report()["unrecorded"]}
    found = all_found["locks_subject"]
    assert found["why"].startswith(why)
    assert "sh" not in all_found, "it was loaded before its child, and it is recorded"
    assert f"NOT RECORDED: locks_subject, process {found['pid']}: {why}" in run.text()
