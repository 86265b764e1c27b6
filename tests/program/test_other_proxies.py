"""stunnel and HAProxy of Debian, in front of cleat and behind it."""

import contextlib

import client_authorities
from origins import echo
from other_servers import running
from plain_client import PlainClient
from proxy_header import receive_v1
from ports import free_port
from tls_client import TlsClient
from tls_origins import block, ca, good  # noqa: F401: the fixtures


@contextlib.contextmanager
def stunnel(folder, *lines):
    """stunnel runs with one service, which has these lines. It gives its port."""
    port = free_port()
    file = folder / "stunnel.conf"
    head = ["foreground = yes", "pid =", "syslog = no", "debug = info", "[service]"]
    file.write_text("\n".join([*head, f"accept = 127.0.0.1:{port}", *map(str, lines)]) + "\n")
    with running("stunnel", file, port=port):
        yield port


@contextlib.contextmanager
def haproxy(folder, port, text):
    """haproxy runs with these sections, of which one listens at the port."""
    file = folder / "haproxy.cfg"
    file.write_text(
        "defaults\n  timeout connect 10s\n  timeout client 60s\n  timeout server 60s\n" + text
    )
    with running("haproxy", "-db", "-f", file, port=port):
        yield


def test_stunnel_verifies_cleat_as_its_client(serve, origin, certs, ca, good, tmp_path):
    clients = certs.authority("authority-of-clients")
    own = certs.signed("cleat-as-client", clients, "/CN=cleat.internal")
    with stunnel(
        tmp_path, f"connect = {origin(echo).port}", f"cert = {good.cert}", f"key = {good.key}",
        f"CAfile = {clients.cert}", "verifyChain = yes", "requireCert = yes",
    ) as port:  # fmt: skip
        lines = (f'tls-cert = "{own.pem}"',)
        server = serve(block(f"[localhost]:{port}", ca=ca.cert, lines=lines))
        for _ in range(3):
            with TlsClient(server.port) as client:
                assert client.exchange(b"through stunnel") == b"through stunnel"
        stranger = serve(block(f"[localhost]:{port}", ca=ca.cert))
        with TlsClient(stranger.port) as client:
            client.wait_for_break()  # It may come before anything could be sent.


def test_stunnel_verifies_cleat_as_its_server(serve, origin, certs, tmp_path):
    clients = certs.authority("authority-of-clients")
    alice = certs.signed("alice", clients, "/CN=alice")
    server = serve(
        f'backend = "{origin(echo).address}"\n{client_authorities.verifies(clients)}\n'
    )
    with stunnel(
        tmp_path, "client = yes", f"connect = 127.0.0.1:{server.port}", f"cert = {alice.cert}",
        f"key = {alice.key}", f"CAfile = {certs.ecdsa.cert}", "verifyPeer = yes",
        "checkHost = localhost",
    ) as port:  # fmt: skip
        for _ in range(3):
            with PlainClient(port) as client:
                assert client.exchange(b"through stunnel") == b"through stunnel"
    assert server.wait_for_log(event="handshake-done", resumed="true")


def test_haproxy_behind_cleat_reads_its_header(serve, ca, good, tmp_path):
    port, plain = free_port(), free_port()
    page = "%[src] %[fc_pp_authority] %[ssl_fc_sni] %[ssl_fc_is_resumed]"
    sections = f"""
frontend tls
  mode http
  bind 127.0.0.1:{port} accept-proxy ssl crt {good.pem}
  bind 127.0.0.1:{plain}
  http-request return status 200 content-type text/plain lf-string "{page}"
"""
    with haproxy(tmp_path, plain, sections):
        server = serve(block(f"[localhost]:{port}", ca=ca.cert) + "write-proxy-v2 = on\n")
        for resumed in "01":
            with TlsClient(server.port, name="site.example", source="127.0.0.9") as client:
                client.send(b"GET / HTTP/1.0\r\n\r\n")
                answer = client.receive_to_end().decode()
            assert answer.split("\r\n\r\n")[1] == f"127.0.0.9 site.example localhost {resumed}"


def test_haproxy_before_cleat_says_who_the_client_is(serve, origin, certs, tmp_path):
    def say_header(accepted):
        accepted.send(receive_v1(accepted))

    server = serve(
        f'backend = "{origin(say_header).address}"\nproxy-from = "127.0.0.1"\nwrite-proxy-v1 = on\n'
    )
    port = free_port()
    tls = f"ssl verify required ca-file {certs.ecdsa.cert} sni str(localhost) verifyhost localhost"
    sections = f"""
listen in
  mode tcp
  bind 127.0.0.1:{port}
  server cleat 127.0.0.1:{server.port} {tls} send-proxy-v2
"""
    begin = b"PROXY TCP4 127.0.0.9 "
    with haproxy(tmp_path, port, sections), PlainClient(port, source="127.0.0.9") as client:
        assert client.exchange(begin) == begin
