"""Metrics of handshakes' phases and of certificates by name."""

import os
import shutil
import socket
import subprocess

import pytest

from admin_client import (  # noqa: F401: the fixtures
    LOCAL, Metrics, change, eventually_counts, serve, visit,
)
from tls_client import TLS_1_2, TLS_1_3, only


def test_the_phases_of_a_handshake_are_the_whole(serve):
    server, admin = serve("--workers", 1)
    with socket.create_connection(("127.0.0.1", server.port)) as slow:
        slow.send(bytes([22]))  # Of a ClientHello that never comes: no phase of it counts.
        for _ in range(5):
            visit(server.port, only(TLS_1_3))
            visit(server.port, only(TLS_1_2))
    seen = eventually_counts(admin, "cleat_connections_open", 0)
    parts = {}
    for phase in ("client_hello", "answer", "finish"):
        assert seen.value("cleat_handshake_phase_seconds_count", phase=phase) == 10
        parts[phase] = seen.value("cleat_handshake_phase_seconds_sum", phase=phase)
    whole = seen.value("cleat_accept_to_handshake_seconds_sum")
    assert sum(parts.values()) == pytest.approx(whole, rel=1e-9)
    assert parts["answer"] > 10 * 30e-6  # Ten signatures and key exchanges.


def test_certificates_that_end_first_have_their_ends_by_name_where_asked(serve, change, certs):
    _, plain = serve()
    assert not plain.metrics().labels("cleat_certificate_expiry_timestamp_seconds")
    _, admin = serve("--certificate-metrics", 1, pem=[certs.ecdsa, certs.rsa])
    seen = admin.metrics()
    (labels,) = seen.labels("cleat_certificate_expiry_timestamp_seconds")
    assert labels["host"] == "localhost"
    assert labels["certificate"] in (str(certs.ecdsa.pem), str(certs.rsa.pem))
    ends = seen.value("cleat_certificate_expiry_timestamp_seconds", **labels)
    assert ends == seen.value("cleat_certificate_soonest_expiry_timestamp_seconds")
    change.write(f'admin = "{LOCAL}"', "certificate-metrics = 5")
    assert change.reload().returncode == 0
    assert len(change.admin.metrics().labels("cleat_certificate_expiry_timestamp_seconds")) == 1


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
def test_names_that_differ_in_bytes_of_no_utf8_are_series_of_their_own(serve, certs, tmp_path):
    """Prometheus refuses a scrape in which a series comes twice, with all others in it."""
    for name in (b"caf\xe9.pem", b"caf\xe8.pem", "caf\ufffd.pem".encode()):
        (tmp_path / "pems").mkdir(exist_ok=True)
        path = os.path.join(os.fsencode(tmp_path / "pems"), name)
        with open(path, "wb") as file:
            file.write(certs.ecdsa.pem.read_bytes())
    _, admin = serve("--pem-dir", tmp_path / "pems", "--certificate-metrics", 5, pem=[])
    text = admin.get("/metrics").text
    found = Metrics(text).labels("cleat_certificate_expiry_timestamp_seconds")
    assert sorted(each["certificate"].rsplit("/", 1)[1] for each in found) == [
        "caf\ufffdE8.pem", "caf\ufffdE9.pem", "caf\ufffdEF\ufffdBF\ufffdBD.pem",
    ]
    words = ["promtool", "check", "metrics"]
    ran = subprocess.run(words, input=text, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_the_log_level_changes_without_a_reload(change):
    def level():
        return change.admin.get("/status.json").json["log_level"]

    def ended():
        before = len(change.server.log(event="handshake-done"))
        visit(change.server.port)
        eventually_counts(change.admin, "cleat_connections_open", 0)
        return len(change.server.log(event="handshake-done")) - before

    assert level() == 2 and ended() == 1
    assert change.admin.post("/log-level?level=1").json == {"log_level": 1, "configured": 2}
    assert level() == 1 and ended() == 0
    (line,) = change.server.log(event="log-level-changed")
    assert (line["from"], line["to"], line["configured"]) == ("2", "1", "2")
    change.write(f'admin = "{LOCAL}"', "idle-timeout = 7")
    assert change.reload().returncode == 0
    assert level() == 1 and ended() == 0  # A reload for another reason leaves it.
    assert change.admin.post("/log-level?level=configured").json["log_level"] == 2
    assert level() == 2 and ended() == 1
    assert len(change.server.log(event="log-level-changed")) == 2
    assert change.admin.post("/log-level?level=0").status == 200
    change.path.write_text(change.path.read_text().replace("log-level = 2", "log-level = 1"))
    assert change.reload().returncode == 0
    assert level() == 1  # log-level has changed: it holds.
    for wrong in ("", "?level=", "?level=3", "?level=debug"):
        refused = change.admin.post("/log-level" + wrong)
        assert refused.status == 400
        assert "level=0, 1, 2 or configured" in refused.json["error"]
    assert change.admin.get("/log-level?level=1").status == 405
