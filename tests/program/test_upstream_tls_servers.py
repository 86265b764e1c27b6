"""TLS to servers of other makes: OpenSSL's s_server, nginx and GnuTLS's gnutls-serv."""

from other_servers import nginx, running, s_server
from ports import free_port
from tls_client import TlsClient
from tls_origins import block, ca, good  # noqa: F401: the fixtures


def get(port, path="/"):
    with TlsClient(port) as client:
        client.send(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        return client.receive_to_end().decode()


def test_openssl(serve, ca, good):  # noqa: F811
    with s_server(good) as port:
        server = serve(block(f"[localhost]:{port}", ca=ca.cert))
        assert "New, TLSv1.3" in get(server.port)
        assert "Reused, TLSv1.3" in get(server.port)


def test_nginx(serve, certs, ca, good, tmp_path):  # noqa: F811
    clients = certs.authority("authority-of-clients")
    own = certs.signed("cleat-as-client", clients, "/CN=cleat.internal")
    lines = (f'tls-cert = "{own.pem}"',)
    with nginx(tmp_path, good, clients.cert) as (port, proxied):
        server = serve(block(f"[localhost]:{port}", ca=ca.cert, lines=lines))
        assert get(server.port).split("\r\n\r\n")[1] == ". localhost CN=cleat.internal "
        assert get(server.port).split("\r\n\r\n")[1] == "r localhost CN=cleat.internal "
        # nginx takes the header in clear, before TLS. Debian 12's knows no TLVs of version 2.
        text = block(f"[localhost]:{proxied}", ca=ca.cert) + "write-proxy-v1 = on\n"
        assert get(serve(text).port).split("\r\n\r\n")[1] == ". localhost  127.0.0.1"


def test_gnutls(serve, ca, good):
    port = free_port()
    keys = ["--x509certfile", good.cert, "--x509keyfile", good.key]
    with running("gnutls-serv", "--echo", "--quiet", "-p", port, *keys, port=port):
        server = serve(block(f"[localhost]:{port}", ca=ca.cert))
        for _ in range(3):
            with TlsClient(server.port) as client:
                assert client.exchange(b"hello gnutls\n") == b"hello gnutls\n"
