"""The access log has one line for each connection, when it has ended: who the client was, what it
and cleat agreed on, how many bytes went each way, how long each phase took, and how it ended. It
stops no connection: a full disk or a reader that is stuck loses lines, which are counted."""

import contextlib
import hashlib
import json
import os
import signal
import socket
import ssl
import subprocess
import threading
import time
from datetime import datetime

import pytest

import logfmt
from access_logs import ACCESS_LOG_ROOM, AccessLog, flood
from access_logs import access, serve  # noqa: F401: the fixtures
from admin_client import admin_of
from client_bytes import HOSTILE, hello_with_name
from deadlines import DEADLINE, eventually
from origins import echo
from program import complaints, open_folder, run, wait_for_reopening
from reloads import reload, reload_is_refused
from task_files import thread_names
from tls_client import TLS_1_2, TLS_1_3, VERSIONS, TlsClient, context, only, refused

MESSAGE = b"twelve bytes"


def visit(port, *arguments, **options):
    """One connection that ends well; its address, and what `look` finds out about it."""
    look = options.pop("look", lambda client: None)
    with TlsClient(port, *arguments, **options) as client:
        assert client.exchange(MESSAGE) == MESSAGE
        found = look(client)
        peer = "127.0.0.1:%d" % client.socket.getsockname()[1]
        client.close_notify()
        client.receive_to_end()
    return peer, found


def in_milliseconds(moment):
    return datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp() * 1000


def has_thread(server):
    return "access-log" in thread_names(server.pid).values()


# The fields.


@VERSIONS
def test_every_field_is_what_the_client_knows(serve, access, certs, origin, version):
    ca = certs.authority("ca")
    alice = certs.signed("alice", ca, "/O=Example/CN=alice")
    server = serve(
        "--client-verify", "required", "--client-verify-ca", ca.cert, "--alpn-protos", "h2",
    )  # fmt: skip
    tls = only(version, alpn=["h2"], certificate=alice.pem)
    before = time.time() * 1000
    peer, (agreed, suite) = visit(
        server.port, tls, name="some.example", look=lambda c: (c.tls.version(), c.cipher)
    )
    entry = access.wait_for(peer=peer)
    assert entry["frontend"] == f"127.0.0.1:{server.port}"
    assert (entry["sni"], entry["alpn"], entry["version"]) == ("some.example", "h2", agreed)
    assert (entry["cipher"], entry["resumed"]) == (suite, False)
    assert entry["group"] in {"X25519", "X25519MLKEM768", "P-256"}
    assert entry["signature_scheme"] == "ecdsa_secp256r1_sha256"
    assert entry["certificate"] == str(certs.ecdsa.pem)
    assert entry["client_subject"] == "CN=alice,O=Example"
    assert entry["client_fingerprint"] == alice.fingerprint
    assert (entry["client_issuer"], entry["client_serial"]) == (alice.issuer, alice.serial)
    assert entry["upstream"].startswith("127.0.0.1:")
    assert (entry["up_bytes"], entry["down_bytes"]) == (len(MESSAGE), len(MESSAGE))
    assert (entry["reason"], entry["worker"]) == ("done", 0)
    assert not entry.keys() & {"error", "alert", "detail", "source", "truncated"}
    phases = [entry[each] for each in ("handshake_ms", "connect_ms", "first_byte_ms")]
    assert all(each >= 0 for each in phases) and entry["handshake_ms"] > 0
    assert sum(phases) <= entry["duration_ms"] + 0.003
    began, ended = in_milliseconds(entry["began"]), in_milliseconds(entry["time"])
    assert before - 50 <= began <= ended <= time.time() * 1000
    assert abs(ended - began - entry["duration_ms"]) <= 1.001


def number_lists(hello):
    """number_lists takes a ClientHello record apart: suites, extensions with their bodies."""
    offset = 5 + 4 + 2 + 32
    offset += 1 + hello[offset]
    size = int.from_bytes(hello[offset : offset + 2], "big")
    suites = [hello[offset + 2 + i : offset + 4 + i].hex() for i in range(0, size, 2)]
    offset += 2 + size
    offset += 1 + hello[offset] + 2
    extensions = {}
    while offset < len(hello):
        size = int.from_bytes(hello[offset + 2 : offset + 4], "big")
        extensions[hello[offset : offset + 2].hex()] = hello[offset + 4 : offset + 4 + size]
        offset += 4 + size
    return suites, extensions


def ja4_of(hello):
    """ja4_of is the fingerprint of a client without GREASE that offers TLS 1.3, SNI and h2, by the
    rules of its specification and none of the program's code."""
    suites, extensions = number_lists(hello)
    hashed = [each for each in sorted(extensions) if each not in ("0000", "0010")]
    schemes = extensions["000d"][2:].hex()
    schemes = ",".join(schemes[i : i + 4] for i in range(0, len(schemes), 4))
    texts = (",".join(sorted(suites)), ",".join(hashed) + "_" + schemes)
    hashes = [hashlib.sha256(text.encode()).hexdigest()[:12] for text in texts]
    return f"t13d{len(suites):02}{len(extensions):02}h2_" + "_".join(hashes)


@pytest.mark.parametrize("pieces", [1, 50], ids=["at once", "in pieces"])
def test_ja4_is_that_of_the_clients_hello(serve, access, pieces):
    server = serve("--alpn-protos", "h2")
    with TlsClient(server.port, context(alpn=["h2", "http/1.1"]), handshake=False) as client:
        hello = client.client_hello()
        for offset in range(0, len(hello), len(hello) // pieces):
            client.socket.sendall(hello[offset : offset + len(hello) // pieces])
        client.handshake()
        client.exchange(MESSAGE)
    entry = access.wait_for(reason="client-truncated")
    assert entry["ja4"] == ja4_of(hello)
    assert entry["signature_scheme"] == "ecdsa_secp256r1_sha256"


def test_a_client_that_is_refused_has_a_ja4_too(serve, access):
    refused(serve().port, only(TLS_1_2, ciphers="ECDHE-RSA-AES128-GCM-SHA256"))
    assert access.wait_for(error="no-shared-cipher")["ja4"].startswith("t12d")


def test_logfmt_is_the_default_and_has_the_same_fields(cleat, serve, access, tmp_path):
    plain = AccessLog(tmp_path / "plain.log")
    peer, _ = visit(cleat("--access-log", plain.path).port)
    eventually("there is a line", lambda: plain.path.read_text().endswith("\n"))
    (line,) = plain.path.read_text().splitlines()
    pairs = logfmt.pairs(line)
    assert (pairs["peer"], pairs["reason"], pairs["up_bytes"]) == (peer, "done", "12")
    peer, _ = visit(serve().port)
    assert list(pairs) == list(access.wait_for(peer=peer))


def test_a_resumed_session_shows_no_certificate(serve, access):
    server = serve()
    tls = only(TLS_1_3)
    _, session = visit(server.port, tls, look=lambda client: client.tls.session)
    peer, reused = visit(
        server.port, tls, session=session, look=lambda client: client.tls.session_reused
    )
    entry = access.wait_for(peer=peer)
    assert reused and entry["resumed"] is True
    assert 0 <= entry["session_age_s"] < DEADLINE
    assert not entry.keys() & {"certificate", "signature_scheme", "client_subject", "alpn"}


def test_the_certificate_is_the_file_that_was_chosen(serve, access, sites):
    server = serve(pem=sites)
    for name, site in (("www.example.org", sites[0]), ("a.example.org", sites[1])):
        peer, fingerprint = visit(server.port, name=name, look=lambda c: c.fingerprint)
        assert access.wait_for(peer=peer)["certificate"] == str(site.pem)
        assert fingerprint == site.fingerprint


def test_the_certificate_is_named_also_where_it_is_loaded_when_needed(serve, access, sites):
    server = serve("--certificate-cache", 1, pem=sites)
    for name, site in (("www.example.org", sites[0]), ("other.example", sites[2])):
        peer, _ = visit(server.port, name=name)
        assert access.wait_for(peer=peer)["certificate"] == str(site.pem)


def test_a_proxy_header_names_the_source(serve, access):
    server = serve("--proxy-proxy", backend="[127.0.0.1]:1")
    header = b"PROXY TCP4 192.0.2.1 198.51.100.2 1234 443\r\n"
    with TlsClient(server.port, before_tls=header):
        pass
    entry = access.wait_for(source="192.0.2.1:1234")
    assert entry["peer"].startswith("127.0.0.1:")


# Ends.


def test_a_client_that_says_nothing_has_a_line(serve, access):
    server = serve()
    socket.create_connection(("127.0.0.1", server.port)).close()
    entry = access.wait_for(reason="client-silent")
    assert (entry["up_bytes"], entry["down_bytes"]) == (0, 0)
    assert not entry.keys() & {"sni", "version", "handshake_ms", "certificate", "upstream", "ja4"}


def test_what_is_no_tls_has_a_line(serve, access):
    server = serve()
    with socket.create_connection(("127.0.0.1", server.port), DEADLINE) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        with contextlib.suppress(OSError):
            stranger.recv(100)
    assert access.wait_for(reason="handshake-failed", error="http-request")


def test_a_client_that_refuses_the_certificate_names_it(serve, access, certs):
    strict = ssl.create_default_context(cafile=certs.rsa.cert)
    server = serve()
    refused(server.port, strict)
    entry = access.wait_for(reason="handshake-failed", error="peer-alert")
    assert entry["alert"] in {"unknown_ca", "unknown-ca", "bad_certificate", "bad-certificate"}
    assert entry["certificate"] == str(certs.ecdsa.pem)
    assert entry["sni"] == "localhost"


def test_an_upstream_that_is_not_there(serve, access):
    server = serve(backend="[127.0.0.1]:1")
    refused(server.port)
    entry = access.wait_for(reason="upstream-unreachable", error="Connection refused")
    assert entry["upstream"] == "[127.0.0.1]:1"
    assert entry["version"] == "TLSv1.3" and "connect_ms" not in entry


def test_a_truncated_stream_says_why(serve, access):
    server = serve()
    with TlsClient(server.port) as client:
        client.exchange(b"x")
        client.truncate()
        with contextlib.suppress(OSError):
            client.receive_to_end()
    assert access.wait_for(reason="client-truncated")["up_bytes"] == 1


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_is_a_string_of_its_line(serve, access, name):
    server = serve("--sni-nomatch-abort")
    with TlsClient(server.port, name="x" * len(name), handshake=False) as client:
        client.socket.sendall(hello_with_name(client, name))
        with contextlib.suppress(OSError):
            client.handshake()
    entry = access.wait_for(reason="handshake-failed")
    whole = name.decode("latin-1")
    assert entry.get("sni", "") in {whole, whole.split("\0")[0], ""}
    assert len(access.path.read_text().splitlines()) == 1
    assert access.path.read_text().isascii()


def test_lines_of_every_worker_are_whole(serve, access):
    server = serve("--workers", 2)
    visitors = [
        threading.Thread(target=lambda: [visit(server.port) for _ in range(25)]) for _ in range(4)
    ]
    for each in visitors:
        each.start()
    for each in visitors:
        each.join()
    access.wait_for(100, reason="done")
    server.end()
    peers = [each["peer"] for each in access.entries()]
    assert len(peers) == 100
    assert {each["worker"] for each in access.entries()} == {0, 1}


def test_the_last_lines_are_written_at_the_end(serve, access):
    server = serve()
    with TlsClient(server.port) as client:
        client.exchange(MESSAGE)
        server.end()
    assert [each["reason"] for each in access.entries()] == ["stopped"]


# Where it goes.


def test_it_is_off_by_default(cleat, serve):
    assert not has_thread(cleat())
    writing = serve()
    eventually("its thread has its name", lambda: has_thread(writing))


def test_standard_output(cleat, tmp_path):
    out = AccessLog(tmp_path / "out")
    to_file = ("sh", "-c", 'out=$1; shift; exec "$@" > "$out"', "sh", out.path)
    server = cleat("--access-log", "stdout", "--access-log-format", "json", wrapper=to_file)
    peer, _ = visit(server.port)
    assert out.wait_for(peer=peer)


def test_it_is_opened_again_by_a_signal(serve, access, tmp_path):
    server = serve()
    first, _ = visit(server.port)
    access.wait_for(peer=first)
    access.path.rename(tmp_path / "old.log")
    server.signal(signal.SIGUSR1)
    wait_for_reopening(server.pid, tmp_path / "old.log")
    second, _ = visit(server.port)
    access.wait_for(peer=second)
    assert [each["peer"] for each in access.entries()] == [second]
    assert [each["peer"] for each in AccessLog(tmp_path / "old.log").entries()] == [first]


def test_it_follows_a_rotation_without_a_signal(serve, access, tmp_path):
    server = serve()
    access.path.rename(tmp_path / "old.log")
    access.path.write_text("")

    def visit_and_look():
        visit(server.port)
        return access.entries()

    eventually("the new file has lines", visit_and_look)


def test_a_file_that_cannot_be_written_ends_the_start(certs, tmp_path):
    flags = ["-b", "[127.0.0.1]:1", "-f", "[127.0.0.1]:0", "--access-log", tmp_path / "no" / "log"]
    for more in ([], ["--test"]):
        ran = run(*flags, *more, certs.ecdsa.pem)
        assert ran.returncode != 0
        assert "access-log: error: cannot write" in ran.stderr and "No such file" in ran.stderr


@pytest.mark.parametrize(
    "flags, complaint",
    [
        (["--access-log-format", "json"], "-format: error: there is no access log"),
        (["--access-log", "stdout", "--daemon"], "access-log: error: a daemon has no standard"),
        (["--access-log", "off", "--syslog-facility", "user"], "syslog-facility: error: the log"),
        (["--access-log", "on"], 'Write a path with a slash ("./on"), stdout, syslog or off.'),
        (["--access-log", "stderr"], 'access-log: error: "stderr" is no place for the access log'),
        (["--access-log", "access.log"], '("./access.log")'),
        (["--access-log", "./both", "-l", "both"], "log-filename names this file too, by --l"),
        (["--log-filename", "on"], 'log-filename: error: "on" is no file'),
        (["--log-filename", "stderr"], "/dev/stderr"),
        (["--access-log-format", "xml"], '"xml" is no format of the access log'),
    ],
)
def test_a_setting_without_effect_is_an_error(certs, flags, complaint):
    errors = complaints("-b", "[127.0.0.1]:1", "-f", "[127.0.0.1]:0", *flags, certs.ecdsa.pem)
    assert complaint in errors


# Disks and readers that take nothing.


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "cleat-test", disk], check=True)
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def test_a_full_disk_loses_lines_counts_them_and_says_so(serve, access, small_disk):
    access.path = small_disk / "access.log"
    filler = small_disk / "filler"
    server = serve("--admin", "[127.0.0.1]:0", "--log-level", 2)
    admin = admin_of(server)
    assert admin.metrics().value("cleat_access_log_lines_lost_total") == 0
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as full:
        while full.write(bytes(4096)):
            pass
    flood(server.port, ACCESS_LOG_ROOM + 500)
    peer, _ = visit(server.port)  # Connections are served as ever.
    said = server.wait_for_log(event="access-log-not-written", level="error")
    assert said["reason"] == "No space left on device"
    lost = server.wait_for_log(event="access-lines-lost", level="warning")
    assert int(lost["count"]) > 0
    in_all = admin.metrics().value("cleat_access_log_lines_lost_total")
    assert in_all >= int(lost["count"])
    # With room again, the lines that have waited are written, whole, and new ones behind them.
    subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True)
    eventually("the lines that have waited are written", access.entries)
    peer, _ = visit(server.port)
    access.wait_for(peer=peer)

    def every_end_is_written_or_counted():
        seen = admin.metrics()
        ended = seen.sum("cleat_connections_closed_total")
        lost = seen.value("cleat_access_log_lines_lost_total")
        return ended > ACCESS_LOG_ROOM + 500 and len(access.entries()) + lost == ended

    # A connection's end is counted before its line reaches the file.
    eventually("every end is written or counted", every_end_is_written_or_counted)


def test_a_reader_that_is_stuck_blocks_nothing(serve, access):
    os.mkfifo(access.path)
    reader = os.open(access.path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        server = serve("--admin", "[127.0.0.1]:0")
        flood(server.port, ACCESS_LOG_ROOM + 500)
        visit(server.port)
        lost = server.wait_for_log(event="access-lines-lost")
        assert int(lost["count"]) > 0 and lost["reason"] == "its reader is too slow"
        metrics = admin_of(server).metrics()
        assert metrics.value("cleat_access_log_lines_lost_total") > 0
        server.end()  # It waits for its end, which no reader delays.
        text = os.read(reader, 1 << 16).decode()
        assert all(json.loads(line) for line in text.splitlines())
    finally:
        os.close(reader)


# Reloads, and the rights of root.


@pytest.fixture
def configured(cleat, config, certs, origin, tmp_path):
    """A cleat with a configuration file to which lines can be added."""

    class Configured:
        def __init__(self):
            upstream = origin(echo)
            self.text = f'''
                backend = "{upstream.address}"
                frontend = "[127.0.0.1]:0"
                pem-file = "{certs.ecdsa.pem}"
                log-level = 2
                shutdown-timeout = 0
                sandbox-write = "{tmp_path}"
            '''
            self.path = config(self.text)
            nothing = {"frontend": None, "log_level": None, "shutdown_timeout": None}
            self.server = cleat("--config", self.path, backend="", pem=[], **nothing)

        def reload_with(self, *lines):
            self.path.write_text(self.text + "\n".join(lines) + "\n")
            return reload(self.server)

    return Configured()


def test_a_reload_turns_it_on_moves_it_and_turns_it_off(configured, access, tmp_path):
    server = configured.server
    visit(server.port)
    changed = configured.reload_with(f'access-log = "{access.path}"', "access-log-format = json")
    assert changed["keys"] == "access-log,access-log-format"
    peer, _ = visit(server.port)
    assert access.wait_for(peer=peer)
    other = AccessLog(tmp_path / "other.log")
    with TlsClient(server.port) as older:
        older.exchange(b"x")
        configured.reload_with(f'access-log = "{other.path}"', "access-log-format = json")
        second, _ = visit(server.port)
        assert other.wait_for(peer=second)
        older.close_notify()
        older.receive_to_end()
        old_peer = "127.0.0.1:%d" % older.socket.getsockname()[1]
    assert access.wait_for(peer=old_peer)  # A connection keeps the settings it began with.
    configured.reload_with(f'access-log = "{other.path}"')
    third, _ = visit(server.port)
    eventually("it is logfmt", lambda: f" peer={third} " in other.path.read_text())
    configured.reload_with()
    visit(server.port)
    eventually("its thread has ended", lambda: not has_thread(server))
    server.end()
    assert len(access.entries()) == 2
    assert len(other.path.read_text().splitlines()) == 2


def test_a_reload_with_a_file_that_cannot_be_written_changes_nothing(configured, access, tmp_path):
    configured.reload_with(f'access-log = "{access.path}"', "access-log-format = json")
    configured.path.write_text(configured.text + f'access-log = "{tmp_path}/no/log"\n')
    (problem,) = reload_is_refused(configured.server)
    assert "access-log: " in problem and "cannot write" in problem
    peer, _ = visit(configured.server.port)
    assert access.wait_for(peer=peer)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up its rights")
def test_with_user_the_file_is_given_to_that_user_and_opened_again(cleat):
    with open_folder() as folder:
        folder.chmod(0o777)
        access = AccessLog(folder / "access.log")
        server = cleat(
            "--user", "nobody", "--access-log", access.path, "--access-log-format", "json"
        )
        peer, _ = visit(server.port)
        assert access.wait_for(peer=peer)
        assert access.path.owner() == "nobody"
        access.path.rename(folder / "old")
        server.signal(signal.SIGUSR1)
        wait_for_reopening(server.pid, folder / "old")
        peer, _ = visit(server.port)
        assert access.wait_for(peer=peer)
        server.end()
