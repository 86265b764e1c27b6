"""X25519MLKEM768 is agreed with a client that can, where the TLS library has it. Its ClientHello is
longer than a segment, and arrives in several."""

import pytest

import bench_client


@pytest.fixture
def pq_server(cleat, can):
    if can["post-quantum group"] != "yes":
        pytest.skip(f"{can['TLS library']} has no post-quantum group")
    return cleat()


def test_it_is_agreed(pq_server, post_quantum):
    post_quantum(pq_server.port)
    done = pq_server.wait_for_log(event="handshake-done")
    assert (done["version"], done["group"]) == ("TLSv1.3", "X25519MLKEM768")


def test_a_client_without_it_gets_x25519(pq_server, s_client):
    ran = s_client(pq_server.port, "-tls1_3", "-groups", "X25519:P-256")
    assert ran.returncode == 0, ran.stderr
    assert pq_server.wait_for_log(event="handshake-done")["group"] == "X25519"


def test_ecdh_curve_can_leave_it_out(cleat, post_quantum):
    server = cleat("--ecdh-curve", "X25519")
    post_quantum(server.port)
    assert server.wait_for_log(event="handshake-done")["group"] == "X25519"


def test_cleat_bench_agrees_on_it_too(pq_server):
    report = bench_client.handshakes(pq_server.port, "X25519MLKEM768", times=3)
    assert "X25519MLKEM768: 3" in report, report
    assert pq_server.wait_for_log(event="handshake-done")["group"] == "X25519MLKEM768"
