"""stunnel and HAProxy in front of cleat, and behind it: Debian's, each with its own TLS."""

import shutil
import socket

import pytest

from deadlines import DEADLINE
from origins import echo
from other_servers import running
from proxy_header import receive_v1
from server_process import free_port
from tls_client import TlsClient
from tls_origins import block, server_certificate


@pytest.fixture
def stunnel(tmp_path):
    """stunnel gives the command for a configuration with one service."""
    program = shutil.which("stunnel")
    if program is None:
        pytest.skip("install the packages stunnel4")

    def command(*lines):
        file = tmp_path / "stunnel.conf"
        head = ["foreground = yes", "pid =", "syslog = no", "debug = info", "[service]"]
        file.write_text("\n".join(map(str, [*head, *lines])) + "\n")
        return [program, file]

    return command


@pytest.fixture
def haproxy(tmp_path):
    """haproxy gives the command for a configuration of which these are the sections."""
    program = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
    if program is None:
        pytest.skip("install the packages haproxy")

    def command(text):
        file = tmp_path / "haproxy.cfg"
        file.write_text(
            "defaults\n  timeout connect 10s\n  timeout client 60s\n  timeout server 60s\n" + text
        )
        return [program, "-db", "-f", file]

    return command


def exchange(port, data, source="127.0.0.1"):
    """exchange sends in plaintext, and gives as many bytes as come back."""
    with socket.create_connection(("127.0.0.1", port), DEADLINE, (source, 0)) as plain:
        plain.sendall(data)
        got = b""
        while len(got) < len(data) and (more := plain.recv(len(data) - len(got))):
            got += more
        return got


def test_stunnel_behind_cleat_verifies_it(serve, origin, certs, stunnel):
    ca, clients = certs.authority("upstream-authority"), certs.authority("authority-of-clients")
    good = server_certificate(certs, ca)
    own = certs.signed("cleat-as-client", clients, "/CN=cleat.internal")
    port = free_port()
    command = stunnel(
        f"accept = 127.0.0.1:{port}", f"connect = {origin(echo).port}", f"cert = {good.cert}",
        f"key = {good.key}", f"CAfile = {clients.cert}", "verifyChain = yes", "requireCert = yes",
    )
    with running(*command, port=port):
        lines = (f'tls-cert = "{own.pem}"',)
        server = serve(block(f"[localhost]:{port}", ca=ca.cert, lines=lines))
        for _ in range(3):  # Sessions resume.
            with TlsClient(server.port) as client:
                assert client.exchange(b"through stunnel") == b"through stunnel"
        stranger = serve(block(f"[localhost]:{port}", ca=ca.cert))
        with TlsClient(stranger.port) as client:
            client.send(b"refused")
            with pytest.raises((OSError, AssertionError)):
                client.receive_exactly(1)


def test_stunnel_before_cleat_verifies_it(serve, origin, certs, stunnel):
    clients = certs.authority("authority-of-clients")
    alice = certs.signed("alice", clients, "/CN=alice")
    server = serve(
        f'backend = "{origin(echo).address}"\nclient-verify = required\nlog-level = 2\n'
        f'client-verify-ca = "{clients.cert}"\n'
    )
    port = free_port()
    command = stunnel(
        "client = yes", f"accept = 127.0.0.1:{port}", f"connect = 127.0.0.1:{server.port}",
        f"cert = {alice.cert}", f"key = {alice.key}", f"CAfile = {certs.ecdsa.cert}",
        "verifyPeer = yes", "checkHost = localhost",
    )
    with running(*command, port=port):
        for _ in range(3):
            assert exchange(port, b"through stunnel") == b"through stunnel"
    assert server.wait_for_log(event="handshake-done", resumed="true")


def test_haproxy_behind_cleat_reads_its_header(serve, certs, haproxy):
    ca = certs.authority("upstream-authority")
    good = server_certificate(certs, ca)
    port, plain = free_port(), free_port()
    page = "%[src] %[fc_pp_authority] %[ssl_fc_sni] %[ssl_fc_is_resumed]"
    command = haproxy(f"""
frontend tls
  mode http
  bind 127.0.0.1:{port} accept-proxy ssl crt {good.pem}
  bind 127.0.0.1:{plain}
  http-request return status 200 content-type text/plain lf-string "{page}"
""")
    with running(*command, port=plain):
        server = serve(block(f"[localhost]:{port}", ca=ca.cert) + "write-proxy-v2 = on\n")
        for resumed in "01":
            with TlsClient(server.port, name="site.example", source="127.0.0.9") as client:
                client.send(b"GET / HTTP/1.0\r\n\r\n")
                answer = client.receive_to_end().decode()
            assert answer.split("\r\n\r\n")[1] == f"127.0.0.9 site.example localhost {resumed}"


def test_haproxy_before_cleat_says_who_the_client_is(serve, origin, certs, haproxy):
    def say_header(accepted):
        accepted.send(receive_v1(accepted))

    server = serve(
        f'backend = "{origin(say_header).address}"\nproxy-from = "127.0.0.1"\nwrite-proxy-v1 = on\n'
    )
    port = free_port()
    tls = f"ssl verify required ca-file {certs.ecdsa.cert} sni str(localhost) verifyhost localhost"
    command = haproxy(f"""
listen in
  mode tcp
  bind 127.0.0.1:{port}
  server cleat 127.0.0.1:{server.port} {tls} send-proxy-v2
""")
    with running(*command, port=port):
        begin = b"PROXY TCP4 127.0.0.9 "
        assert exchange(port, begin, source="127.0.0.9") == begin
