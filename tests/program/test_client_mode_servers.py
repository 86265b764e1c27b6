"""Client mode with programs of other makes: OpenSSL's s_server, nginx and hitch behind cleat, and
hitch's own client mode beside it."""

import contextlib
import hashlib
import os

import pytest

import origins
from other_servers import nginx, running, s_server
from ports import free_port
from plain_client import PlainClient
from tls_origins import TlsEnd, ca, cut, good, over_tls, settings  # noqa: F401: the fixtures

SIZE = 5_000_000


@pytest.fixture
def serve(cleat, ca):
    def serve(port, *flags):
        trusted = ("--tls-ca", ca.cert) if "--tls-verify=off" not in flags else ()
        return cleat(
            "--client", "--workers", 1, *trusted, *flags, pem=[], backend=f"[localhost]:{port}"
        )

    return serve


def get(port, path="/"):
    with PlainClient(port) as client:
        client.send(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        return client.receive_to_end().decode()


def test_openssl(serve, good):
    with s_server(good) as port:
        server = serve(port)
        assert "New, TLSv1.3" in get(server.port)
        assert "Reused, TLSv1.3" in get(server.port)


def test_nginx(serve, certs, good, tmp_path):
    clients = certs.authority("authority-of-clients")
    own = certs.signed("cleat-as-client", clients, "/CN=cleat.internal")
    with nginx(tmp_path, good, clients.cert) as (port, proxied):
        server = serve(port, "--tls-cert", own.pem)
        assert get(server.port).split("\r\n\r\n")[1] == ". localhost CN=cleat.internal "
        assert get(server.port).split("\r\n\r\n")[1] == "r localhost CN=cleat.internal "
        server = serve(proxied, "--write-proxy-v1")
        assert get(server.port).split("\r\n\r\n")[1] == ". localhost  127.0.0.1"


@contextlib.contextmanager
def hitch(folder, port, backend, certificate, *flags):
    if os.geteuid() != 0:
        pytest.skip("this user cannot start hitch")
    path = folder / f"hitch-{port}.conf"
    # Without ocsp-dir, hitch's process for OCSP aborts in client mode, again and again.
    path.write_text(
        f'frontend = "[127.0.0.1]:{port}"\nbackend = "[127.0.0.1]:{backend}"\n'
        f'pem-file = "{certificate.pem}"\nocsp-dir = ""\nuser = "nobody"\n'
    )
    with running("hitch", *flags, "--config", path, port=port):
        yield


def test_hitch_ends_what_cleat_begins(serve, origin, good, tmp_path):
    port = free_port()
    with hitch(tmp_path, port, origin(origins.echo).port, good):
        server = serve(port)
        with PlainClient(server.port) as client:
            assert client.exchange(b"ping" * 50_000) == b"ping" * 50_000


def conversation(port):
    """An exchange, an upload, and the answer to its end, as a client sees it."""
    with PlainClient(port) as client:
        assert client.exchange(b"ping") == b"ping"
        for piece in origins.pieces(SIZE):
            client.send(piece)
        whole = client.receive_to_end()
    return whole[:64].decode(), hashlib.sha256(whole[64:]).hexdigest()


def end_of(port):
    """end_of is how the connection of a client ends after a request, and the bytes before that
    end."""
    try:
        with PlainClient(port) as client:
            client.send(b"ping")
            return "whole", client.receive_to_end()
    except ConnectionResetError:
        return "reset", b""


def test_beside_hitch(serve, origin, good, tmp_path):
    """The same flags, but for pem-file, which cleat does not need, and tls-verify."""

    def digest(end: TlsEnd) -> None:
        end.send(end.receive_exactly(4))
        seen = hashlib.sha256(end.receive_exactly(SIZE))
        end.send(seen.hexdigest().encode())
        for piece in origins.pieces(SIZE):
            end.send(piece)
        end.close_notify()

    up = origin(over_tls(settings(good), digest))
    expected = origins.expected_digest(SIZE)
    port = free_port()
    with hitch(tmp_path, port, up.port, good, "--client"):
        server = serve(up.port, "--tls-verify=off")
        assert conversation(port) == conversation(server.port) == (expected, expected)
        up.close()
        assert end_of(port) == end_of(server.port) == ("reset", b"")


def test_where_hitch_makes_a_cut_answer_look_whole(serve, origin, good, tmp_path):
    def answer(end: TlsEnd) -> None:
        end.receive_exactly(4)
        cut(b"half of")(end)

    up = origin(over_tls(settings(good), answer))
    port = free_port()
    with hitch(tmp_path, port, up.port, good, "--client"):
        server = serve(up.port, "--tls-verify=off")
        assert end_of(port) == ("whole", b"half of")
        with PlainClient(server.port) as client:
            client.send(b"ping")
            assert client.wait_for_reset() == b"half of"
