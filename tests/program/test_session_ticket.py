"""TLS 1.3's session ticket comes with the first answer where the client asks at once, and soon by
itself where it does not: for a client that has nothing to ask, and for one whose kernel keeps the
request back until its Finished is acknowledged: the ticket does that 40 ms sooner than the kernel.
"""

import json
import re
import shutil
import socket
import ssl
import struct
import subprocess
import time
from pathlib import Path

import pytest

from deadlines import DEADLINE
from tls_client import TLS_1_2, TLS_1_3, TlsClient, only

# Of each version, in turns, so that a neighbour on the machine disturbs both alike.
CONNECTIONS = 15
# In seconds. The kernel's delayed acknowledgment costs every single request of TLS 1.3 some 40 ms,
# limits::ticket_delay 1 ms. The shortest wait tells them apart: other programs of the machine make
# none shorter, and they do not stall all fifteen.
BOUND = 0.020
DATA_SEGS_IN = 152  # Its place in Linux's struct tcp_info.
JAVA_CLIENT = Path(__file__).resolve().parent / "java_client" / "FirstRequest.java"


def assert_as_soon_as_before(waits):
    """waits are in seconds, of the first request to its answer, by version."""
    older, newer = (min(waits[version]) for version in ("1.2", "1.3"))
    assert newer - older < BOUND, f"{newer * 1e3:.1f} ms; with TLS 1.2 {older * 1e3:.1f} ms"


def wait_of_first_request(port, tls):
    """Python's client leaves Nagle's algorithm on, and writes its Finished alone."""
    with (
        socket.create_connection(("127.0.0.1", port), DEADLINE) as raw,
        tls.wrap_socket(raw, server_hostname="localhost") as client,
    ):
        begin = time.perf_counter()
        client.sendall(b"hello")
        assert client.recv(5) == b"hello"
        return time.perf_counter() - begin


def test_a_first_request_held_back_by_nagles_algorithm_is_answered_soon(cleat):
    port = cleat().port
    waits = {"1.2": [], "1.3": []}
    for _ in range(CONNECTIONS):
        waits["1.2"].append(wait_of_first_request(port, only(TLS_1_2)))
        waits["1.3"].append(wait_of_first_request(port, only(TLS_1_3)))
    assert_as_soon_as_before(waits)


@pytest.fixture
def java():
    """java runs a program from its source: since 11, and where its compiler is installed."""
    found = shutil.which("java")
    if not found:
        pytest.skip("java is not installed")
    # Older ones do not know the flag, and end with an error.
    asked = subprocess.run([found, "--list-modules"], capture_output=True, text=True)
    modules = dict(re.findall(r"^([\w.]+)@(\d+)", asked.stdout, re.M))
    if int(modules.get("java.base", 0)) < 11:
        pytest.skip("java is older than 11")
    if "jdk.compiler" not in modules:
        pytest.skip("java is installed without its compiler, jdk.compiler")
    return found


# By default Java writes ChangeCipherSpec by itself (RFC 8446, appendix D.4), so that Nagle's
# algorithm keeps its Finished back, and no ticket can help before that has come.
@pytest.mark.parametrize("compatible", ["true", "false"], ids=["by-default", "finished-alone"])
def test_javas_first_request_is_answered_soon(cleat, java, compatible):
    how = f"-Djdk.tls.client.useCompatibilityMode={compatible}"
    ran = subprocess.run(
        [java, how, JAVA_CLIENT, str(cleat().port), str(CONNECTIONS)],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert ran.returncode == 0, ran.stderr
    assert_as_soon_as_before(json.loads(ran.stdout))


def ticket_of(client):
    """The session of a client that says nothing, when its ticket has come."""
    client.pull()
    with pytest.raises(ssl.SSLWantReadError):  # A ticket is nothing for who reads.
        client.tls.read(1)
    assert client.tls.session.has_ticket
    return client.tls.session


def test_a_client_that_only_shakes_hands_has_its_ticket(cleat):
    port = cleat().port
    tls = only(TLS_1_3)
    with TlsClient(port, tls) as client:
        session = ticket_of(client)
    with TlsClient(port, tls, session=session) as again:
        assert again.exchange(b"hello") == b"hello"
        assert again.tls.session_reused


def test_gnutls_waits_for_its_ticket_and_resumes(cleat, certs):
    if not shutil.which("gnutls-cli"):
        pytest.skip("gnutls-cli is not installed: run scripts/setup test")
    server = cleat()
    command = ["gnutls-cli", "--waitresumption", "--resume", "--x509cafile", certs.ecdsa.cert]
    command += ["--priority", "NORMAL:-VERS-ALL:+VERS-TLS1.3", "--sni-hostname", "localhost"]
    command += ["--port", str(server.port), "127.0.0.1"]
    ran = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "This is a resumed session" in ran.stdout
    assert server.wait_for_log(event="handshake-done", resumed="true")


def segments(client):
    """How many segments with data in them the client's kernel has received."""
    size = DATA_SEGS_IN + 4
    info = client.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, size)
    if len(info) < size:
        pytest.skip("the kernel does not tell tcpi_data_segs_in")
    return struct.unpack_from("=I", info, DATA_SEGS_IN)[0]


def ask_with_finished(server):
    """A client that has sent a request with its Finished; and what it had received until then."""
    client = TlsClient(server.port, only(TLS_1_3), handshake=False)
    flight = client.finish_with(b"hello")
    received = segments(client)
    client.socket.sendall(flight)
    return client, received


def test_a_ticket_shares_the_packet_of_an_answer_that_is_due(cleat, origin):
    upstreams = origin()
    client, received = ask_with_finished(cleat(backend=upstreams))
    with client:
        upstream = upstreams.accept()
        assert upstream.receive_exactly(5) == b"hello"
        assert segments(client) == received
        upstream.send(b"world")
        assert client.receive_exactly(5) == b"world"
        assert client.tls.session.has_ticket
        assert segments(client) == received + 1


def test_a_ticket_waits_for_an_answer_that_is_due_however_long(cleat, origin):
    """A client that came later and asks nothing has its own from the same worker meanwhile."""
    upstreams = origin()
    server = cleat("--workers", 1, backend=upstreams)
    client, received = ask_with_finished(server)
    with client:
        upstream = upstreams.accept()
        assert upstream.receive_exactly(5) == b"hello"
        with TlsClient(server.port, only(TLS_1_3)) as later:
            ticket_of(later)
        assert segments(client) == received
        upstream.send(b"world")
        assert client.receive_exactly(5) == b"world"
        assert client.tls.session.has_ticket
        assert segments(client) == received + 1
