"""X25519MLKEM768 is agreed with a client that can, where the TLS library has it. Its ClientHello is
longer than a segment, and arrives in several."""

import subprocess

import pytest

import program
from deadlines import DEADLINE

X25519MLKEM768 = 4588


@pytest.fixture
def pq_server(cleat, can):
    if can["post-quantum group"] != "yes":
        pytest.skip(f"{can['TLS library']} has no post-quantum group")
    return cleat()


@pytest.fixture
def pq_go(go, cleat, can):
    """A Go that has it: 1.24 and later."""
    try:
        go.run("handshake", cleat().port, groups=f"{X25519MLKEM768},29")
    except AssertionError as failure:
        if "unsupported" not in str(failure):
            raise
        pytest.skip("this Go has no X25519MLKEM768")
    return go


def test_it_is_agreed(pq_server, pq_go):
    made = pq_go.run("handshake", pq_server.port, groups=f"{X25519MLKEM768},29", version="1.3")
    assert made["version"] == "TLSv1.3"
    assert pq_server.wait_for_log(event="handshake-done")["group"] == "X25519MLKEM768"


def test_a_client_without_it_gets_x25519(pq_server, s_client):
    ran = s_client(pq_server.port, "-tls1_3", "-groups", "X25519:P-256")
    assert ran.returncode == 0, ran.stderr
    assert pq_server.wait_for_log(event="handshake-done")["group"] == "X25519"


def test_ecdh_curve_can_leave_it_out(cleat, pq_go):
    server = cleat("--ecdh-curve", "X25519")
    pq_go.run("handshake", server.port, groups=f"{X25519MLKEM768},29")
    assert server.wait_for_log(event="handshake-done")["group"] == "X25519"


def test_cleat_bench_agrees_on_it_too(pq_server):
    """Also where Go is older than that."""
    bench = program.binary().with_name("cleat-bench")
    if not bench.exists():
        pytest.skip("cleat-bench was not built")
    words = ["load", "-n", "3", "--tls", "1.3", "--groups", "X25519MLKEM768"]
    ran = subprocess.run(
        [bench, *words, "--raw", "ping", "--expect-size", "4", f"127.0.0.1:{pq_server.port}"],
        capture_output=True, text=True, timeout=DEADLINE,
    )  # fmt: skip
    assert "X25519MLKEM768: 3" in ran.stdout, ran.stdout + ran.stderr
    assert pq_server.wait_for_log(event="handshake-done")["group"] == "X25519MLKEM768"
