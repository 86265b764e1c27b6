"""The study of Asio, SSL and scalability: its program in every arm, and what is made of figures."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cleat_perf import environment, table
from studies.asio import page, profiles, run

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("CLEAT_BIN", ROOT / "build/release/bin")) / "study-asio"


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment.certificates(tmp_path_factory.mktemp("pem"))["ecdsa"]


def study(*words: object, threads: int = 2) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, "--threads", threads, "--connections", 4, *words]
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("arm", run.ARMS)
def test_the_server_verifies_every_message(pem: Path, arm: str, threads: int) -> None:
    # Of 100,000 bytes: more than a turn of cleat's, and no multiple of a record.
    ran = study(
        "--arm", arm, "--pem", pem, "--messages", 20, "--size", 100_000, threads=threads
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert (found["arm"], found["threads"], found["connections"]) == (arm, threads, 4)
    assert found["messages"] == 80 and found["handshakes"] == 4
    assert found["seconds"] > 0 and found["cpu_seconds"] > 0
    assert found["mb_per_second"] == pytest.approx(8.0 / found["seconds"], rel=0.01)


@pytest.mark.parametrize("arm", run.ARMS)
def test_handshakes_are_as_many_as_asked_for(pem: Path, arm: str) -> None:
    ran = study("--arm", arm, "--pem", pem, "--handshakes", 30)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["handshakes"] == 30 and found["messages"] == 0
    assert found["library"] and found["handshakes_per_second"] > 0


@pytest.mark.parametrize(
    "words, complaint",
    [
        (["--arm", "naive"], "--messages and --size, or --handshakes"),
        (["--arm", "other", "--handshakes", 1], "--arm"),
        (["--arm", "cleat", "--handshakes", 1, "--messages", 1, "--size", 9], "excludes"),
    ],
)
def test_what_cannot_be_run_is_said(pem: Path, words: list[object], complaint: str) -> None:
    ran = study("--pem", pem, *words)
    assert ran.returncode != 0
    assert complaint in ran.stdout + ran.stderr


def lock(taken_by: list[str], exclusive: int, mean: float, longest: float) -> dict[str, Any]:
    held = {
        "acquisitions": exclusive,
        "timed_holds": exclusive // 16,
        "mean_hold_ns": mean,
        "max_hold_ns": longest,
    }
    return {
        "kind": "rwlock",
        "shared_acquisitions": exclusive,
        "taken_by": taken_by,
        "exclusive": held,
    }


def recorded(*locks: dict[str, Any], errors: int = 0) -> dict[str, Any]:
    """recorded is what cleat-locks reports, as far as it is read."""
    return {
        "blocked_percent": 1.0,
        "lock_cpu_percent": 2.0,
        "reference_cpu_percent": 0.0,
        "functions": ["pthread_rwlock_wrlock", "ERR_clear_error", "other"],
        "stacks": [
            {"functions": [0, 1, 2], "acquisitions": errors, "contended": 1, "cpu_samples": 3},
            {"functions": [0, 2], "acquisitions": 70, "contended": 0, "cpu_samples": 0},
        ],
        "locks": list(locks),
        "total": {
            "acquisitions": errors + 70,
            "contended": 1,
            "blocked_ns": 5,
            "cpu_samples": 10,
        },
    }


RAND = ["CRYPTO_THREAD_write_lock", "libcrypto.so.3+0x23", "RAND_bytes(unsigned char*, int)"]


def test_who_takes_a_lock_is_behind_the_wrappers() -> None:
    assert profiles.taker({"taken_by": RAND}) == "RAND_bytes"
    assert profiles.taker({"taken_by": RAND[:2]}) == "several in libcrypto.so.3"
    assert profiles.taker({"taken_by": RAND[:1]}) == "several functions"
    assert profiles.short("boost::asio::f<a<b> >::g<int>(int) const") == "boost::asio::f::g"


def test_set_up_is_in_no_operation() -> None:
    """Both runs set up, which takes the lock a thousand times; 100 operations more take it 1600."""
    short_run = recorded(lock(RAND, 1000, 50, 50), errors=10)
    long = recorded(lock(RAND, 2600, 50, 50), errors=20)
    found = profiles.reduced(long, short_run, 100, "")
    assert found["shared_acquisitions"] == 16
    assert found["taken_by"] == {"RAND_bytes": 16}
    hot = found["hottest"]["library"]
    assert hot["acquisitions"] == 16
    assert hot["held_ns"] == pytest.approx(800)
    assert hot["operations_per_second_max"] == pytest.approx(1.25e6)
    assert found["hottest"]["asio"] is None
    assert found["errors"]["acquisitions"] == 10 and found["errors"]["seen"]
    assert not found["error_state"]["seen"]


def test_one_long_hold_of_one_lock_is_not_how_long_its_like_are_held() -> None:
    stopped = lock(RAND, 160, 400_045, 4_000_000)
    others = [lock(RAND, 1600, 50, 90) for _ in range(40)]
    assert profiles.mean_hold_ns([stopped, *others]) == pytest.approx(50, rel=0.02)


def test_a_mutex_that_a_wait_gives_back_is_held_again() -> None:
    waited_for = lock(RAND, 1600, 50, 50)
    waited_for["exclusive"]["taken_again"] = 400
    found = profiles.reduced(recorded(waited_for), recorded(), 100, "")
    assert found["hottest"]["library"]["held_ns"] == pytest.approx(20 * 50)


def test_the_tree_is_cut_out_of_the_report() -> None:
    tree = "The inverted call tree: who\n blocked\n  1.0 boost::asio::x\n  0.5 y"
    text = f"before\n\n{tree}\n\nThreads"
    assert profiles.tree(text) == ["  1.0 asio::x", "  0.5 y"]


def result() -> dict[str, Any]:
    """result is a whole document with two libraries."""
    names = {"release": "AWS-LC 5.12.0", "release-openssl-4": "OpenSSL 4.0.3"}
    points = [
        vars(point) | {"operations": 20, "per_second": [10.0, 30.0, 20.0], "cpu_us": [100.0] * 3}
        for point in run.grid(list(names))
    ]
    profile = profiles.reduced(
        recorded(lock(RAND, 1600, 50, 50), errors=20), recorded(), 100, ""
    )
    profile["hottest"]["library"]["cores_max"] = 12.5
    of_all = [
        {"build": build, "load": load, "arm": arm, "cpu_us": 100.0} | profile
        for build in names
        for load in run.LOADS
        for arm in run.ARMS
    ]
    cost = {
        "build": "release",
        "load": "messages",
        "arm": "naive",
        "cpu_us": {"plain": [100.0, 100.0, 100.0], "recorded": [110.0, 120.0, 105.0]},
        "ratios": [1.1, 1.2, 1.05],
    }
    return {
        "study": "asio",
        "quick": False,
        "environment": environment.describe(ROOT)
        | {"libraries": names, "usable_cores": 2, "load_after": 1.0},
        "size": 1 << 20,
        "crowd": {"threads": 8, "connections": 20},
        "points": points,
        "profiles": of_all,
        "overhead": [cost],
    }


def test_every_place_of_the_pages_can_be_filled() -> None:
    made = result()
    assert "20 | 21 | 21 | 21 | 21 |" in page.bandwidth(made)  # 20 messages of 1 MiB
    assert "**The collapse of 2015 is gone, in every library**" in page.scaling(made)
    assert "OpenSSL 4.0.3" in page.sharing(made)
    assert "| OpenSSL 4.0.3 | naive | `RAND_bytes` 16.0 |" in page.takers(made)
    assert "1.25 M/s | 12 |" in page.saturation(made)
    assert "not seen" in page.error_state(made)
    assert "1.100 (1.05 to 1.20)" in page.recording(made)
    tables = {"asio": page.tables(made)}
    for name in ("asio.md", "asio-locks.md"):
        filled = table.fill((ROOT / "docs/studies" / name).read_text(), tables)
        assert "AWS-LC 5.12.0" in filled
        assert table.fill(filled, tables) == filled


def moves(made: dict[str, Any], per_second: list[float], **where: object) -> None:
    """moves changes what the rounds of one place in the grid say."""
    found = page.points(made, load="messages", **where)
    assert found
    for each in found:
        each["per_second"] = per_second


def test_ranges_in_the_prose_are_those_of_the_table() -> None:
    made = result()
    aws, openssl = page.builds(made)
    moves(made, [13.0, 14.0, 16.0], build=openssl, arm="naive", connections=1, threads=8)
    moves(made, [90.0], build=aws, arm="cleat", connections=1, threads=2)
    said = page.scaling(made)
    assert "8 threads of the naive arm move 0.70 to 1.00 of what one does" in said
    lost = "0.70 (OpenSSL 4.0.3, 1 connection, T=8)"
    assert f"| T=4 and T=8 of T=2, a core each | naive | {lost} | 1.00 " in said
    assert "| cleat | 0.22 (AWS-LC 5.12.0, 1 connection, T=4) | 1.00 " in said
    assert "best round is 3.00 times its worst (the median of all cells; 3.00 in the" in said


def test_a_collapse_is_called_one() -> None:
    made = result()
    moves(made, [8.0], build=page.builds(made)[0], arm="naive", connections=20, threads=8)
    assert "**The collapse of 2015 is still there** in 1 of 6 cases" in page.scaling(made)


def test_what_an_arm_shares_is_told_as_a_part_of_the_naive_arms() -> None:
    made = result()
    for build, part in zip(page.builds(made), (0.5, 0.25)):
        one = page.profile(made, build=build, arm="per-core", load="messages")
        one["shared_acquisitions"] *= part
    said = page.sharing(made)
    assert "for each thread takes 0.25 to 0.50 of the naive" in said
    assert "cleat's workers 1.00 with AWS-LC 5.12.0, 1.00 with OpenSSL 4.0.3." in said


def test_code_that_is_in_no_file_takes_no_lock_by_name() -> None:
    assert profiles.taker({"taken_by": ["[anon]", "[vdso]"]}) == "several in [anon]"
    assert profiles.taker({"taken_by": ["[anon]", "RAND_bytes"]}) == "RAND_bytes"


def test_charts_have_a_name_for_each_library() -> None:
    assert {*page.charts(result())} == {
        "study-asio-bandwidth-awslc",
        "study-asio-bandwidth-openssl4",
        "study-asio-handshakes",
        "study-asio-shared-handshakes",
        "study-asio-shared-messages",
    }
