"""The admin server: metrics that count real connections, health, commands, and clients that
misbehave."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import threading
import time

import pytest

from admin_client import (  # noqa: F401: the fixtures
    LOCAL, admin_of, change, connected, eventually_counts, serve, visit,
)  # fmt: skip
from deadlines import DEADLINE, SANITIZED, eventually
from program import complaints, open_folder, run, run_as_nobody
from ports import free_port
from tls_client import TLS_1_2, TLS_1_3, TlsClient, only, refused

REQUEST = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"


# Metrics.


def test_metrics_count_what_has_happened(serve):
    server, admin = serve("--workers", 2, "--ecdh-curve", "P-256")
    before = admin.metrics()
    assert before.value("cleat_connections_total") == 0
    assert before.value("cleat_workers") == 2

    tls = only(TLS_1_3)
    session = visit(server.port, tls)
    visit(server.port, only(TLS_1_3))
    visit(server.port, tls, session)
    visit(server.port, only(TLS_1_2))
    refused(server.port, only(TLS_1_2, ciphers="AES128-SHA"))
    with socket.create_connection(("127.0.0.1", server.port)) as silent:
        silent.close()

    after = eventually_counts(admin, "cleat_connections_open", 0)
    after = eventually_counts(admin, "cleat_connections_closed_total", 1, reason="client-silent")
    assert after.value("cleat_connections_total") == 6
    assert after.sum("cleat_connections_closed_total") == 6
    assert after.value("cleat_connections_closed_total", reason="done") == 4
    assert after.value("cleat_connections_closed_total", reason="handshake-failed") == 1
    frontend = f"127.0.0.1:{server.port}"
    assert after.value("cleat_frontend_connections_total", frontend=frontend) == 6
    assert after.value("cleat_frontend_connections_open", frontend=frontend) == 0
    assert after.labels("cleat_frontend_queued_connections") == [{"frontend": frontend}]

    def handshakes(version, resumption):
        return after.value("cleat_handshakes_total", version=version, resumption=resumption)

    assert handshakes("TLSv1.3", "full") == 2
    assert handshakes("TLSv1.3", "resumed") == 1
    assert handshakes("TLSv1.2", "full") == 1
    assert after.sum("cleat_handshakes_by_cipher_total") == 4
    by_group = [
        {**each, "count": after.value("cleat_handshakes_by_group_total", **each)}
        for each in after.labels("cleat_handshakes_by_group_total")
    ]
    assert sum(each["count"] for each in by_group) == 4
    assert {each["post_quantum"] for each in by_group} == {"false"}
    scheme = "ecdsa_secp256r1_sha256"
    assert after.value("cleat_handshakes_by_signature_scheme_total", scheme=scheme) == 3
    (line,) = server.log(event="handshake-failed")  # TLS libraries name it differently.
    failed = after.value("cleat_handshakes_failed_total", reason=line["reason"])
    assert failed == after.sum("cleat_handshakes_failed_total") == 1

    sent = after.value("cleat_handshake_alerts_sent_total", alert="handshake_failure")
    assert sent == after.sum("cleat_handshake_alerts_sent_total") == 1

    assert after.value("cleat_plaintext_bytes_total", direction="up") == 4 * 5
    assert after.value("cleat_plaintext_bytes_total", direction="down") == 4 * 5
    for name, count in (
        ("accept_to_handshake", 4), ("accept_to_connect", 4), ("accept_to_first_byte", 4),
        ("connection_duration", 6),
    ):  # fmt: skip
        assert after.value(f"cleat_{name}_seconds_count") == count
        assert after.value(f"cleat_{name}_seconds_bucket", le="+Inf") == count
        assert after.value(f"cleat_{name}_seconds_bucket", le="3600.0") == count
        assert after.value(f"cleat_{name}_seconds_sum") < DEADLINE * count


def test_metrics_describe_workers_and_the_process(serve, can):
    server, admin = serve("--workers", 2)
    visit(server.port)
    after = admin.metrics()
    assert all(after.value("cleat_worker_passes_total", worker=each) > 0 for each in "01")
    assert after.sum("cleat_worker_cpu_seconds_total") > 0
    longest = [after.value("cleat_worker_longest_turn_seconds", worker=each) for each in "01"]
    assert 0 < min(longest) <= max(longest) < DEADLINE
    assert max(longest) > 50e-6  # A handshake signs.
    assert after.value("process_cpu_seconds_total") > 0
    assert after.value("process_resident_memory_bytes") > 1 << 20
    assert 3 < after.value("process_open_fds") < after.value("process_max_fds")
    assert after.value("process_start_time_seconds") == pytest.approx(time.time(), abs=DEADLINE)
    (build,) = after.labels("cleat_build_info")
    assert build["tls_library"] == can["TLS library"]


def test_a_post_quantum_group_says_so(serve, post_quantum, can):
    if can["post-quantum group"] != "yes":
        pytest.skip(f"{can['TLS library']} has no post-quantum group")
    server, admin = serve()
    post_quantum(server.port)
    seen = eventually_counts(admin, "cleat_connections_open", 0)
    assert seen.value(
        "cleat_handshakes_by_group_total", group="X25519MLKEM768", post_quantum="true"
    )


def test_an_alert_of_a_client_is_counted_by_its_name(serve, certs):
    server, admin = serve("--tls-protos", "TLSv1.2")
    tls = only(TLS_1_2)
    tls.load_verify_locations(certs.rsa.pem)
    tls.verify_mode = 2  # CERT_REQUIRED: the client refuses the certificate.
    refused(server.port, tls)
    seen = eventually_counts(
        admin, "cleat_handshakes_failed_total", 1, reason="peer-alert"
    )
    assert seen.sum("cleat_handshake_alerts_received_total") == 1
    assert seen.value("cleat_handshake_alerts_received_total", alert="unknown_ca") == 1


def test_an_upstream_that_refuses_is_an_upstream_error(serve):
    port = free_port()
    server, admin = serve(backend=f"[127.0.0.1]:{port}")
    refused(server.port)
    eventually_counts(admin, "cleat_upstream_errors_total", 1, reason="upstream-unreachable")


def test_open_connections_and_their_bytes_are_counted_while_they_last(serve):
    server, admin = serve()
    with TlsClient(server.port) as client:
        client.exchange(b"x" * 1000)
        seen = admin.metrics()
        assert seen.value("cleat_connections_open") == 1
        assert seen.value("cleat_plaintext_bytes_total", direction="up") == 1000
        assert seen.value("cleat_plaintext_bytes_total", direction="down") == 1000
    eventually_counts(admin, "cleat_connections_open", 0)


def test_certificates_are_counted_with_the_soonest_end(serve, certs):
    _, admin = serve(pem=[certs.ecdsa, certs.rsa])
    seen = admin.metrics()
    assert seen.value("cleat_certificates") == 2
    assert seen.value("cleat_certificates_expired") == 0
    ends = [
        subprocess.run(
            ["openssl", "x509", "-enddate", "-noout", "-dateopt", "iso_8601", "-in", each.pem],
            capture_output=True, text=True, check=True,
        ).stdout
        for each in (certs.ecdsa, certs.rsa)
    ]  # fmt: skip
    soonest = min(each.strip().removeprefix("notAfter=") for each in ends)
    shown = seen.value("cleat_certificate_soonest_expiry_timestamp_seconds")
    assert time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(shown)) == soonest


def test_reloads_are_counted(change):
    first = change.admin.metrics()
    assert first.value("cleat_last_reload_successful") == 1
    change.write(f'admin = "{LOCAL}"', "workers = 7")
    assert change.reload().returncode == 1
    seen = change.admin.metrics()
    assert seen.value("cleat_reloads_total", outcome="refused") == 1
    assert seen.value("cleat_last_reload_successful") == 0
    assert seen.value("cleat_configuration_timestamp_seconds") == first.value(
        "cleat_configuration_timestamp_seconds"
    )
    change.write(f'admin = "{LOCAL}"', "idle-timeout = 7")
    assert change.reload().returncode == 0
    seen = change.admin.metrics()
    assert seen.value("cleat_reloads_total", outcome="done") == 1
    assert seen.value("cleat_last_reload_successful") == 1


def test_promtool_finds_nothing_to_complain_about(serve):
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed")
    server, admin = serve()
    visit(server.port)
    refused(server.port, only(TLS_1_2, ciphers="AES128-SHA"))
    text = admin.get("/metrics").text
    ran = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_a_client_that_asks_for_openmetrics_gets_it(serve):
    _, admin = serve()
    plain = admin.get("/metrics")
    assert plain.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "# TYPE cleat_connections_total counter\n" in plain.text
    prometheus = "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5"
    new = admin.get("/metrics", Accept=prometheus)
    assert (
        new.headers["Content-Type"]
        == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    )
    assert "# TYPE cleat_connections counter\n" in new.text
    assert "# UNIT cleat_accept_to_connect_seconds seconds\n" in new.text
    assert new.text.endswith("\n# EOF\n")


def test_a_scrape_with_many_certificates_is_quick(serve, certs, tmp_path):
    folder = tmp_path / "pems"
    folder.mkdir()
    text = certs.ecdsa.pem.read_text()
    for each in range(2000):
        (folder / f"{each}.pem").write_text(text)
    _, admin = serve("--pem-dir", folder, "--certificate-cache", 1, pem=[])
    assert admin.metrics().value("cleat_certificates") == 2000
    times = []
    for _ in range(20):
        begun = time.monotonic()
        admin.get("/metrics")
        times.append(time.monotonic() - begun)
    # The quickest of them: other programs of the machine cannot make a scrape quicker.
    assert SANITIZED or min(times) < 0.050, times


# Status, health and commands.


def test_the_status_has_everything(serve):
    server, admin = serve("--idle-timeout", 77)
    visit(server.port)
    shown = admin.get("/status.json").json
    assert shown["pid"] == server.pid
    assert shown["state"] == "serving"
    assert shown["frontends"] == [f"127.0.0.1:{server.port}"]
    assert shown["settings"]["idle-timeout"] == "77"
    (opened,) = shown["metrics"]["cleat_connections_total"]["samples"]
    assert opened == {"labels": {}, "value": 1}
    (times,) = shown["metrics"]["cleat_accept_to_connect_seconds"]["samples"]
    assert times["count"] == times["buckets"][-1]["count"] == 1


def test_the_configuration_is_the_file_that_is_in_force(change):
    """A file that was changed, or refused, since it was read is not what cleat runs with."""
    first = change.path.read_text()
    assert change.admin.get("/configuration").text == first
    assert change.admin.get("/status.json").json["configuration_file"] == str(change.path)
    change.write(f'admin = "{LOCAL}"', "workers = 7")
    assert change.reload().returncode == 1
    assert change.admin.get("/configuration").text == first
    change.write(f'admin = "{LOCAL}"', "# Ärger", "idle-timeout = 7")
    assert change.reload().returncode == 0
    assert change.admin.get("/configuration").text == change.path.read_text()


def test_without_a_file_the_configuration_is_in_the_status(serve):
    _, admin = serve()
    answer = admin.get("/configuration")
    assert answer.status == 404
    assert "without a configuration file; /status.json has its settings" in answer.text
    assert admin.get("/status.json").json["configuration_file"] is None


def test_it_is_healthy_and_ready(serve):
    _, admin = serve("--workers", 2)
    health = admin.get("/healthz")
    assert (health.status, health.json) == (
        200, {"healthy": True, "workers": 2, "silent_workers": 0},
    )  # fmt: skip
    assert (admin.get("/readyz").status, admin.get("/readyz").json) == (200, {"ready": True})


@pytest.mark.parametrize("by_command", [True, False], ids=["drain", "SIGTERM"])
def test_it_is_not_ready_from_the_beginning_of_a_drain(serve, by_command):
    server, admin = serve(shutdown_timeout=int(DEADLINE))
    with TlsClient(server.port) as client:
        client.exchange(b"still here")
        if by_command:
            assert admin.post("/drain").json == {"draining": True}
        else:
            server.signal(signal.SIGTERM)
        server.wait_for_log(event="draining")
        eventually("it is not ready", lambda: admin.get("/readyz").status == 503)
        assert admin.metrics().value("cleat_draining") == 1
        assert admin.get("/healthz").status == 200
        assert admin.post("/reload").status == 409
        assert client.exchange(b"to the end") == b"to the end"
    assert server.wait() == 0


@pytest.mark.parametrize("by_command", [True, False], ids=["drain", "SIGTERM"])
def test_drain_delay_lets_a_balancer_see_it_before_clients_are_refused(serve, by_command):
    server, admin = serve("--drain-delay", 86400, shutdown_timeout=int(DEADLINE))
    if by_command:
        assert admin.post("/drain").json == {"draining": True}
    else:
        server.signal(signal.SIGTERM)
    eventually("it is not ready", lambda: admin.get("/readyz").status == 503)
    with TlsClient(server.port) as client:
        assert client.exchange(b"still served") == b"still served"
        server.signal(signal.SIGTERM)
        server.wait_for_log(event="draining")
        assert client.exchange(b"to the end") == b"to the end"
    assert server.wait() == 0


def test_a_reload_says_what_has_changed(change):
    change.write(f'admin = "{LOCAL}"', "idle-timeout = 7")
    got = change.admin.post("/reload")
    assert (got.status, got.json["done"], got.json["problems"]) == (200, True, [])
    assert got.json["changes"]["keys"] == ["idle-timeout"]


def test_a_reload_that_is_refused_says_every_problem(change):
    change.write(f'admin = "{LOCAL}"', "idel-timeout = 7", "backlog = x")
    got = change.admin.post("/reload")
    assert (got.status, got.json["done"]) == (422, False)
    places = {(each["severity"], each["place"]["line"]) for each in got.json["problems"]}
    assert places >= {("error", 5), ("error", 6)}
    assert {each["place"]["source"] for each in got.json["problems"]} == {str(change.path)}
    change.write(f'admin = "{LOCAL}"', "workers = 7")
    (problem,) = change.admin.post("/reload").json["problems"]
    assert (problem["key"], problem["place"]["line"]) == ("workers", 5)
    assert problem["cure"] == "Restart cleat, or leave workers at 1."


def test_reloads_that_are_asked_for_together_are_all_answered(change):
    answers = []
    askers = [
        threading.Thread(target=lambda: answers.append(change.admin.post("/reload").status))
        for _ in range(8)
    ]
    for each in askers:
        each.start()
    for each in askers:
        each.join()
    assert answers == [200] * 8
    # One after the other: fewer reloads than askers, where they came together.
    assert 1 <= change.admin.metrics().value("cleat_reloads_total", outcome="done") <= 8


# Rules.


def test_requests_that_a_page_of_another_site_could_send_are_refused(serve):
    server, admin = serve()
    for path, method in (("/metrics", "GET"), ("/drain", "POST")):
        for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
            got = admin.ask(method, path, **headers)
            assert got.status == 403, (method, headers)
            assert "evil.example" in got.json["error"]
    assert admin.get("/metrics", Host="localhost").status == 200
    assert not server.log(event="draining")


def test_a_wrong_method_and_an_unknown_path_say_what_is_right(serve):
    _, admin = serve()
    got = admin.get("/reload")
    assert (got.status, got.headers["Allow"]) == (405, "POST")
    got = admin.post("/metrics")
    assert (got.status, got.headers["Allow"]) == (405, "GET, HEAD")
    got = admin.get("/nothing")
    assert got.status == 404
    assert "POST /reload" in got.text
    assert admin.get("/").text in got.text


def test_an_address_that_other_machines_reach_needs_a_second_key(cleat, serve, certs):
    assert "set admin-allow-remote = on" in complaints("--admin", "[0.0.0.0]:9443", certs.ecdsa.pem)
    _, admin = serve("--admin-allow-remote", where="[0.0.0.0]:0")
    assert admin.get("/metrics").status == 200
    # A client that comes by the loopback address may be a browser of this machine.
    assert admin.get("/metrics", Host="cleat.example").status == 403


# Clients that misbehave.


def answer_to(where, request):
    """All bytes until the server closes."""
    with connected(where) as client:
        client.sendall(request)
        return b"".join(iter(lambda: client.recv(65536), b""))


def test_a_request_that_is_none_gets_a_reason(serve):
    _, admin = serve()
    host = b"Host: localhost\r\n"
    for request, status in (
        (b"hello\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n" + host + b"X: " + b"x" * 9000 + b"\r\n\r\n", b"431"),
        (b"POST /drain HTTP/1.1\r\n" + host + b"Content-Length: 5000\r\n\r\n", b"413"),
    ):
        assert answer_to(admin.where, request).startswith(b"HTTP/1.1 " + status), request[:40]


def test_a_silent_and_a_slow_client_are_closed_while_others_are_served(serve):
    _, admin = serve()
    with connected(admin.where) as silent, connected(admin.where) as slow:
        slow.sendall(b"GET /metrics HTTP/1.1\r\nHost:")
        assert admin.get("/metrics").status == 200
        assert slow.recv(1) == b""
        assert silent.recv(1) == b""


def test_more_clients_than_there_is_room_for_are_told(serve):
    _, admin = serve()
    held = [connected(admin.where) for _ in range(16)]  # Accepted before later ones.
    with connected(admin.where) as more:
        assert more.recv(4096).startswith(b"HTTP/1.1 503")
    held.pop().close()
    eventually("there is room again", lambda: admin.get("/readyz").status == 200)
    for each in held:
        each.close()


def test_a_new_client_takes_the_place_of_an_idle_one(serve):
    _, admin = serve()
    held = [connected(admin.where) for _ in range(16)]
    for each in held:
        each.sendall(REQUEST)
        assert each.recv(4096).startswith(b"HTTP/1.1 200")
    assert admin.get("/healthz").status == 200
    assert held[0].recv(1) == b""
    held[1].sendall(REQUEST)  # The others have kept theirs.
    assert held[1].recv(4096).startswith(b"HTTP/1.1 200")
    for each in held:
        each.close()


def test_requests_on_one_connection_are_answered_in_their_order(serve):
    _, admin = serve()
    last = REQUEST.replace(b"/readyz", b"/healthz").replace(
        b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"
    )
    got = answer_to(admin.where, REQUEST * 3 + last).decode()
    assert got.count("HTTP/1.1 200") == 4
    assert got.count('{"ready": true}') == 3
    assert got.endswith('"silent_workers": 0}\n')
    with connected(admin.where) as client:  # Keep-alive, one after the other.
        for _ in range(3):
            client.sendall(REQUEST)
            assert client.recv(4096).endswith(b'{"ready": true}\n')


def test_the_end_of_the_program_does_not_wait_for_a_stuck_client(serve):
    server, admin = serve()
    with connected(admin.where) as silent, connected(admin.where) as scraper:
        for each in (silent, scraper):  # Both have been accepted.
            each.sendall(REQUEST)
            assert each.recv(4096).startswith(b"HTTP/1.1 200")
        scraper.sendall(REQUEST.replace(b"/readyz", b"/metrics") * 3)
        server.signal(signal.SIGTERM)
        assert server.wait() == 0
        try:
            got = b"".join(iter(lambda: scraper.recv(65536), b""))
        except ConnectionResetError:  # The requests came when it had ended.
            got = b""
        # Some were answered, or none; an answer that has begun is whole.
        assert got.count(b"HTTP/1.1 200") == got.count(b"\nprocess_start_time_seconds ")
        assert silent.recv(1) == b""


# The UNIX socket, and reloads that change the address.


def listening_at(path):
    """A socket of another program that listens there."""
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(path))
    made.listen()
    return made


def test_a_unix_socket_is_its_owners_and_goes_with_cleat(certs, serve, tmp_path):
    path = tmp_path / "admin.sock"
    server, admin = serve(where=path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert admin.metrics().value("cleat_workers") == 1
    other = run("-f", LOCAL, "--admin", path, certs.ecdsa.pem)
    assert other.returncode == 1
    assert "Address already in use" in other.stderr
    assert admin.get("/readyz").status == 200
    server.end()
    assert not path.exists()


def test_a_socket_that_a_killed_cleat_has_left_is_replaced(serve, tmp_path, cleat):
    path = tmp_path / "admin.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    _, admin = serve(where=path)
    assert admin.get("/readyz").status == 200


def test_another_kind_of_file_is_not_replaced(certs, tmp_path):
    path = tmp_path / "admin.sock"
    path.write_text("mine")
    for flags in ((), ("-t",)):
        ran = run(*flags, "-f", LOCAL, "--admin", path, certs.ecdsa.pem)
        assert ran.returncode == 1
        assert "Something is there that is no socket" in ran.stderr
    assert path.read_text() == "mine"


def test_a_reload_adds_moves_and_removes_it(change, tmp_path):
    path = tmp_path / "admin.sock"
    old = change.admin
    change.write(f'admin = "{path}"')
    got = old.post("/reload")  # The answer still comes by the old address.
    assert got.json["changes"]["keys"] == ["admin"]
    new = admin_of(change.server, times=2)
    assert new.get("/readyz").status == 200
    with pytest.raises(ConnectionRefusedError):
        connected(old.where)

    inode = path.stat().st_ino
    change.write(f'admin = "{path}"', "idle-timeout = 7")
    assert new.post("/reload").json["changes"]["keys"] == ["idle-timeout"]
    assert path.stat().st_ino == inode  # A place that stays is not opened again.

    change.write()
    assert new.post("/reload").status == 200
    assert not path.exists()
    change.write(f'admin = "{LOCAL}"')
    assert change.reload().returncode == 0
    again = admin_of(change.server, times=3)
    assert again.metrics().value("cleat_reloads_total", outcome="done") == 4


def test_a_reload_that_is_refused_leaves_it_as_it_was(change, tmp_path):
    path = tmp_path / "admin.sock"
    change.write(f'admin = "{path}"', "workers = 7")
    assert change.admin.post("/reload").status == 422
    assert not path.exists()
    change.write('admin = "/nonexistent/admin.sock"')
    (problem,) = change.admin.post("/reload").json["problems"]
    assert problem["key"] == "admin"
    assert "No such file or directory" in problem["text"]
    assert change.admin.get("/readyz").status == 200


def test_a_reload_makes_a_socket_again_that_somebody_has_removed(change, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    path = folder / "admin.sock"
    change.write(f'admin = "{path}"')
    assert change.reload().returncode == 0
    assert admin_of(change.server, times=2).get("/readyz").status == 200
    path.unlink()
    with listening_at(path) as replaced:  # Another program's, which it keeps.
        ran = change.reload()
        assert ran.returncode == 0, ran.stdout
        assert "was removed while cleat listened on it: cannot listen on" in ran.stdout
        assert "Address already in use" in ran.stdout
        assert replaced.getsockname() == str(path)
    path.unlink()
    ran = change.reload()
    assert ran.returncode == 0, ran.stdout
    assert f"the socket {path} was removed while cleat listened on it" in ran.stdout
    admin = admin_of(change.server, times=3)
    assert admin.get("/readyz").status == 200
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    problems = change.server.log(event="reload-warning")
    assert ["this reload makes it again" in each["problem"] for each in problems] == [False, True]
    assert change.reload().stdout.startswith("reloaded in ")  # It is in its place.
    assert not change.server.log(event="reload-refused")
    change.server.end()
    assert not path.exists()


def test_a_user_who_may_not_write_the_folder_is_told(certs):
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    with open_folder() as folder:
        pem = folder / "site.pem"
        pem.write_text(certs.ecdsa.pem.read_text())
        pem.chmod(0o644)
        ran = run_as_nobody("-f", LOCAL, "--admin", folder / "admin.sock", pem)
    assert ran.returncode == 1
    assert "cannot listen on" in ran.stderr
    assert "Let the user that cleat runs as write the folder" in ran.stderr
