"""An upstream that is down, or never accepts, is named in the log, and its client reads an error at
once; the next connection tries again. The upstream may also be a path."""

import signal
import socket
import ssl

import pytest

from deadlines import DEADLINE, eventually
from origins import echo
from tls_client import TlsClient


def test_an_upstream_that_is_down(cleat, nobody):
    server = cleat(backend=nobody)
    with TlsClient(server.port) as client:
        client.wait_for_refusal()
    line = server.wait_for_log(event="connect-failed")
    assert line["reason"] == "Connection refused"
    assert (line["upstream"], line["level"]) == (nobody, "error")


def test_a_client_that_has_sent_much_reads_the_error_too(cleat, nobody):
    server = cleat(backend=nobody)
    with TlsClient(server.port) as client:
        client.send(b"a request whose bytes nobody reads" * 20_000)
        client.wait_for_refusal()
        server.wait_for_log(event="connect-failed")


def test_it_is_tried_again(cleat, origin, tmp_path):
    path = tmp_path / "late.sock"
    server = cleat(backend=str(path))
    with TlsClient(server.port) as client:
        client.wait_for_refusal()
    assert server.wait_for_log(event="connect-failed")["reason"] == "No such file or directory"
    origin(echo, path=path)
    with TlsClient(server.port) as client:
        assert client.exchange(b"now it is there") == b"now it is there"


def test_a_unix_path(cleat, origin, tmp_path):
    server = cleat(backend=origin(echo, path=tmp_path / "origin.sock"))
    with TlsClient(server.port) as client:
        assert client.exchange(b"by path" * 100_000) == b"by path" * 100_000
        client.close_notify()
        assert client.receive_to_end() == b""
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"


@pytest.fixture
def full():
    """An upstream that never accepts, and whose queue is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        try:
            while True:  # Until one of ours is not taken any more.
                one = socket.socket()
                waiting.append(one)
                one.settimeout(0.5)
                one.connect(listener.getsockname())
        except TimeoutError:
            yield f"[127.0.0.1]:{listener.getsockname()[1]}"
        finally:
            for one in waiting:
                one.close()


def test_an_upstream_that_never_accepts(cleat, full):
    server = cleat("--backend-connect-timeout", 1, backend=full)
    with TlsClient(server.port) as client:
        client.wait_for_refusal()
    assert server.wait_for_log(event="connect-failed")["reason"] == "connect-timeout"


def test_nothing_is_left_open(cleat, nobody):
    from pathlib import Path

    server = cleat(backend=nobody)
    descriptors = Path(f"/proc/{server.pid}/fd")
    before = len(list(descriptors.iterdir()))
    for _ in range(20):
        with TlsClient(server.port) as client:
            client.wait_for_refusal()
    eventually("descriptors are closed", lambda: len(list(descriptors.iterdir())) == before)


@pytest.fixture
def full_path(tmp_path):
    """A path whose listener accepts only when the test does, and whose queue is full."""
    path = tmp_path / "full.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(0)
        waiting = []
        try:
            while True:  # Until one of ours is not taken any more.
                one = socket.socket(socket.AF_UNIX)
                waiting.append(one)
                one.setblocking(False)
                one.connect(str(path))
        except BlockingIOError:
            pass
        yield path, listener, len(waiting) - 1
        for one in waiting:
            one.close()


def test_a_unix_path_with_a_full_queue_is_waited_for(cleat, full_path):
    path, listener, ahead = full_path
    server = cleat(backend=str(path))
    with TlsClient(server.port) as client:
        client.send(b"patience")
        listener.settimeout(DEADLINE)
        for _ in range(ahead):
            listener.accept()[0].close()
        mine, _ = listener.accept()
        with mine:
            mine.settimeout(DEADLINE)
            assert mine.recv(8) == b"patience"
    assert not server.log(event="connect-failed")


def early_speaker(port: int, said: bytes) -> socket.socket:
    """A client whose first bytes come with the end of its handshake, in one packet."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    arrived, leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(arrived, leaving, server_hostname="localhost")
    connection = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)
    while True:
        try:
            tls.do_handshake()
            break
        except ssl.SSLWantReadError:
            if leaving.pending:
                connection.sendall(leaving.read())
            arrived.write(connection.recv(65536))
    tls.write(said)
    connection.sendall(leaving.read())
    return connection


@pytest.mark.parametrize("header", [(), ("--write-proxy-v2",)])
def test_those_who_wait_for_one_queue_keep_their_own_bytes(cleat, full_path, header):
    path, listener, ahead = full_path
    server = cleat("--workers", 1, *header, backend=str(path))
    said = [b"I am Alice", b"I am Bob, and have more to say", b"Carol"]
    clients = []
    for number, each in enumerate(said):
        clients.append(early_speaker(server.port, each))
        eventually("the handshake is done",
                   lambda: len(server.log(event="handshake-done")) == number + 1)
    listener.settimeout(DEADLINE)
    for _ in range(ahead):
        listener.accept()[0].close()
    for each, client in zip(said, clients):
        mine, _ = listener.accept()
        with mine:
            mine.settimeout(DEADLINE)
            heard = b""
            while not heard.endswith(each):
                more = mine.recv(4096)
                assert more, f"{heard!r} is not the end of {each!r}"
                heard += more
            port = client.getsockname()[1].to_bytes(2, "big")
            # PROXY v2: 16 bytes, two addresses, then the client's port.
            assert heard[24:26] == port if header else heard == each
        client.close()


def test_an_end_while_somebody_waits_for_a_queue(cleat, full_path):
    server = cleat("--workers", 1, backend=str(full_path[0]))
    waiting = early_speaker(server.port, b"patience")
    eventually("the handshake is done", lambda: server.log(event="handshake-done"))
    with waiting:
        server.signal(signal.SIGINT)
        assert server.process.wait(DEADLINE) == 0
    assert server.wait_for_log(event="connect-failed")["reason"] == "stopped"


def test_a_unix_path_whose_queue_stays_full(cleat, full_path):
    server = cleat("--backend-connect-timeout", 1, backend=str(full_path[0]))
    with TlsClient(server.port) as client:
        client.wait_for_refusal()
    assert server.wait_for_log(event="connect-failed")["reason"] == "connect-timeout"
