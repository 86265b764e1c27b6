"""The log is one line an event, key=value, whatever a peer sends; it has no keys and no plaintext,
and says as much as log-level asks for."""

import os
import signal
import socket

import pytest

import logfmt
from client_bytes import HOSTILE, hello_with_name, say
from deadlines import DEADLINE, eventually
from ports import free_port
from server_process import accepts
from tls_client import TLS_1_2, TlsClient, only, refused


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_forges_nothing(cleat, name):
    server = cleat("--sni-nomatch-abort")
    with TlsClient(server.port, name="x" * len(name), handshake=False) as client:
        client.socket.sendall(hello_with_name(client, name))
        try:
            client.handshake()
        except OSError:
            pass
    server.wait_for_log(event="handshake-failed")
    refused(server.port, name="marker.example")
    server.wait_for_log(event="handshake-failed", sni="marker.example")
    assert not server.log(event="forged")
    for line in server.lines:
        assert all(" " <= byte <= "~" for byte in line)
        logfmt.parse(line)  # Every line is one, to its end.


def test_every_line_is_logfmt(cleat):
    server = cleat("--workers", 2)
    with TlsClient(server.port, name="some.example") as client:
        client.exchange(b"x")
        client.close_notify()
    server.wait_for_log(event="connection-closed")
    server.end()
    fields = [logfmt.parse(line) for line in server.lines]
    assert all({"time", "level", "event"} <= line.keys() for line in fields)
    assert [line["time"] for line in fields if "worker" not in line] == sorted(
        line["time"] for line in fields if "worker" not in line
    )


def test_lines_tell_what_happened(cleat):
    server = cleat("--alpn-protos", "h2")
    with TlsClient(server.port) as client:
        client.exchange(b"12345")
        peer = "127.0.0.1:%d" % client.socket.getsockname()[1]
        client.close_notify()
        client.receive()
    done = server.wait_for_log(event="handshake-done", peer=peer)
    assert (done["sni"], done["version"], done["resumed"]) == ("localhost", "TLSv1.3", "false")
    assert done["frontend"] == f"127.0.0.1:{server.port}"
    closed = server.wait_for_log(event="connection-closed", peer=peer)
    assert (closed["up_bytes"], closed["down_bytes"], closed["reason"]) == ("5", "5", "done")
    assert int(closed["duration_ms"]) >= 0


def test_secrets_and_plaintext_stay_out(cleat, certs):
    secret = b"the-plaintext-of-a-client"
    server = cleat(pem=[certs.rsa, certs.ecdsa])
    with TlsClient(server.port) as client:
        assert client.exchange(secret) == secret
    refused(server.port, name=None, before_tls=secret)
    server.wait_for_log(event="handshake-failed")
    server.end()
    log = "\n".join(server.lines)
    assert secret.decode() not in log
    for pem in (certs.rsa, certs.ecdsa):
        for line in pem.key.read_text().splitlines():
            assert line not in log
    assert "PRIVATE KEY" not in log


def test_level_0_is_silence_and_level_1_is_what_went_wrong(cleat, certs):
    """With levels below 2 the log does not name the port, so the test takes one that was free a
    moment ago."""
    as_root = {"running-as-root"} if os.geteuid() == 0 else set()
    for level, expected in ((0, set()), (1, {"handshake-failed"} | as_root)):
        port = free_port()
        quiet = {"log_level": level, "wait": False, "shutdown_timeout": 30}  # Nothing is cut off.
        server = cleat(frontend=f"[127.0.0.1]:{port}", **quiet)
        eventually("it listens", lambda: accepts(port))
        with TlsClient(port) as client:
            client.exchange(b"all is well")
            client.close_notify()
            assert client.receive() == b""
        refused(port, only(TLS_1_2, ciphers="ECDHE-RSA-AES128-GCM-SHA256"))
        server.end()
        assert {logfmt.parse(line)["event"] for line in server.lines} == expected


def test_level_1_tells_of_what_the_end_has_cut_off(cleat):
    port = free_port()
    server = cleat(frontend=f"[127.0.0.1]:{port}", log_level=1, wait=False)
    eventually("it listens", lambda: accepts(port))
    with TlsClient(port) as client:
        client.exchange(b"not done yet")
        server.end()
    ended = server.log(event="ended")
    assert [(line["level"], line["connections_cut"]) for line in ended] == [("warning", "1")]


def strangers(port, count):
    """strangers connect and make no handshake: some send no TLS, and some leave."""
    for number in range(count):
        with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as stranger:
            if number % 2:
                stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
            else:
                with TlsClient(port, handshake=False) as client:
                    client.socket.sendall(client.client_hello()[:20])
                    end_and_wait(client.socket)
            end_and_wait(stranger)


def end_and_wait(stranger):
    """end_and_wait returns when cleat has ended the connection, too."""
    stranger.shutdown(socket.SHUT_WR)
    try:
        while stranger.recv(4096):
            pass
    except ConnectionResetError:
        pass


def test_a_port_scanner_is_no_warning(cleat):
    server = cleat()
    strangers(server.port, 4)
    server.wait_for_log(event="handshake-failed", reason="http-request", times=2)
    server.wait_for_log(event="handshake-failed", reason="truncated", times=2)
    assert {line["level"] for line in server.log(event="handshake-failed")} == {"info"}


def test_a_reason_has_a_few_lines_and_a_count(cleat):
    """The first lines are written, and so are lines with another reason. At the end, as after each
    minute, one line says how many are missing."""
    server = cleat("--log-burst", 3)
    for _ in range(20):
        refused(server.port, only(TLS_1_2, ciphers="ECDHE-RSA-AES128-GCM-SHA256"))
    refused(server.port, only(TLS_1_2), before_tls=b"PROXY UNKNOWN\r\n")
    strangers(server.port, 20)
    server.wait_for_log(event="handshake-failed", reason="proxy-header")
    server.end()
    whole = server.log(event="handshake-failed", reason="no-shared-cipher", sni="localhost")
    assert len(whole) == 3
    missing = server.log(event="failures-not-logged", of_event="handshake-failed")
    counts = {line["reason"]: (line["level"], int(line["count"])) for line in missing}
    assert counts == {
        "no-shared-cipher": ("warning", 17),
        "http-request": ("info", 7),
        "truncated": ("info", 7),
    }


def test_connections_that_end_well_all_have_their_lines(cleat):
    server = cleat("--log-burst", 1)
    for _ in range(5):
        with TlsClient(server.port) as client:
            client.exchange(b"x")
            client.close_notify()
            client.receive()
    server.wait_for_log(event="connection-closed", reason="done", times=5)


def test_a_reader_that_stalls_stops_no_traffic(cleat):
    """Strangers fill the pipe that nobody reads; then a client comes."""
    server = cleat("--log-burst", 0)
    port = server.port
    with server.more:  # The reader of the log waits for this.
        for _ in range(1500):
            say(port, b"GET / HTTP/1.1\r\n\r\n")
        with TlsClient(port) as client:
            assert client.exchange(b"still there") == b"still there"
    with TlsClient(port) as client:
        client.exchange(b"and now somebody reads")
    assert int(server.wait_for_log(event="log-lines-lost", level="warning")["count"]) > 0
    for line in server.lines:
        logfmt.parse(line)  # None was torn.


def test_a_log_that_cannot_be_reopened_says_what_to_do(cleat, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    file = folder / "log"
    server = cleat("--log-filename", file, wait=False)
    eventually("it has started", lambda: file.exists() and "event=started" in file.read_text())
    rotated = tmp_path / "rotated"
    file.rename(rotated)
    folder.rmdir()
    server.signal(signal.SIGUSR1)
    eventually("it has told", lambda: "event=log-not-reopened" in rotated.read_text())
    lines = [logfmt.parse(line) for line in rotated.read_text().splitlines()]
    (line,) = [each for each in lines if each["event"] == "log-not-reopened"]
    assert line["file"] == str(file)
    assert "Make its folder" in line["cure"] and "SIGUSR1" in line["cure"]
