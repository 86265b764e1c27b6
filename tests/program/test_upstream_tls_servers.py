"""TLS to servers of other makes: OpenSSL's s_server, nginx and GnuTLS's gnutls-serv."""

import contextlib
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from deadlines import DEADLINE, eventually
from tls_client import TlsClient
from tls_origins import block, server_certificate


@pytest.fixture
def ca(certs):
    return certs.authority("upstream-authority")


@pytest.fixture
def good(certs, ca):
    return server_certificate(certs, ca)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def running(command, port):
    process = subprocess.Popen(
        list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        eventually(f"{command[0]} listens", lambda: accepts(port) or process.poll() is not None)
        assert process.poll() is None, process.stdout.read()
        yield process
    finally:
        process.terminate()
        process.wait(DEADLINE)
        process.stdin.close()
        process.stdout.close()


def get(port, path="/"):
    with TlsClient(port) as client:
        client.send(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        return client.receive_to_end().decode()


def test_openssl(serve, ca, good):
    port = free_port()
    command = ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", good.cert]
    with running([*command, "-key", good.key, "-www"], port):
        server = serve(block(f"[localhost]:{port}", ca=ca.cert))
        assert "New, TLSv1.3" in get(server.port)
        assert "Reused, TLSv1.3" in get(server.port)


NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl;
    listen 127.0.0.1:{proxied} ssl proxy_protocol;
    ssl_certificate {cert};
    ssl_certificate_key {key};
    ssl_client_certificate {clients};
    ssl_verify_client optional;
    location / {{
      return 200 "$ssl_session_reused $ssl_server_name $ssl_client_s_dn $proxy_protocol_addr";
    }}
  }}
}}
"""


def test_nginx(serve, certs, ca, good, tmp_path):
    if shutil.which("nginx") is None:
        pytest.skip("there is no nginx")
    clients = certs.authority("authority-of-clients")
    own = certs.signed("cleat-as-client", clients, "/CN=cleat.internal")
    port, proxied = free_port(), free_port()
    path = tmp_path / "nginx.conf"
    path.write_text(
        NGINX.format(
            folder=tmp_path, port=port, proxied=proxied, cert=good.cert, key=good.key,
            clients=clients.cert,
        )
    )
    lines = (f'tls-cert = "{own.pem}"',)
    with running(["nginx", "-p", tmp_path, "-c", path], port):
        server = serve(block(f"[localhost]:{port}", ca=ca.cert, lines=lines))
        assert get(server.port).split("\r\n\r\n")[1] == ". localhost CN=cleat.internal "
        assert get(server.port).split("\r\n\r\n")[1] == "r localhost CN=cleat.internal "
        # nginx takes the header in clear, before TLS. Debian 12's knows no TLVs of version 2.
        text = block(f"[localhost]:{proxied}", ca=ca.cert) + "write-proxy-v1 = on\n"
        assert get(serve(text).port).split("\r\n\r\n")[1] == ". localhost  127.0.0.1"


def test_gnutls(serve, ca, good):
    if shutil.which("gnutls-serv") is None:
        pytest.skip("there is no gnutls-serv")
    port = free_port()
    keys = ["--x509certfile", good.cert, "--x509keyfile", good.key]
    with running(["gnutls-serv", "--echo", "--quiet", "-p", port, *keys], port):
        server = serve(block(f"[localhost]:{port}", ca=ca.cert))
        for _ in range(3):
            with TlsClient(server.port) as client:
                assert client.exchange(b"hello gnutls\n") == b"hello gnutls\n"
