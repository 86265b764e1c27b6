"""Each TLS example of Boost.Asio and Boost.Beast runs with cleat in place of asio::ssl: servers
against clients on OpenSSL, clients against servers on OpenSSL, and examples with each other."""

import http.client
import http.server
import ssl
import subprocess
import threading
from contextlib import contextmanager
from typing import Iterator

from conftest import Build
from deadlines import DEADLINE, eventually
from ports import free_port
from server_process import accepts

HTTP_SERVER = "beast.example.http.server."
HTTP_CLIENT = "beast.example.http.client."
WEBSOCKET_SERVER = "beast.example.websocket.server."
WEBSOCKET_CLIENT = "beast.example.websocket.client."
BOTH = "beast.example.advanced."
ASIO_SERVER = ("asio.example.", ".ssl.server")
ASIO_CLIENT = ("asio.example.", ".ssl.client")


@contextmanager
def serving(build: Build, name: str) -> Iterator[int]:
    """serving starts an example's server; its port."""
    port = free_port()
    words = {
        "http.server.sync": ["127.0.0.1", port, "."],
        "websocket.server.sync": ["127.0.0.1", port],
        "websocket.server": ["127.0.0.1", port, 1],
        "asio": [port],
    }
    arguments = next((words[each] for each in words if each in name), ["127.0.0.1", port, ".", 1])
    server = subprocess.Popen(build.command(name, *arguments), cwd=build.work)
    try:
        eventually(f"{name} listens", lambda: accepts(port))
        yield port
        assert server.poll() is None, f"{name} has ended"
    finally:
        server.kill()
        server.wait()


def says(build: Build, name: str, *arguments: object, types: str = "") -> str:
    """says runs an example's client; its output."""
    done = subprocess.run(build.command(name, *arguments), cwd=build.work, input=types, text=True,
                          capture_output=True, timeout=DEADLINE)  # fmt: skip
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def trusting(build: Build) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(build.work / "ca.pem"))


def page_of(build: Build, port: int, times: int, secure: bool = True) -> str:
    """page_of asks so many times over one connection."""
    if secure:
        made = http.client.HTTPSConnection("localhost", port, context=trusting(build))
    else:
        made = http.client.HTTPConnection("localhost", port)
    for _ in range(times):
        made.request("GET", "/index.html")
        answer = made.getresponse().read().decode()
    made.close()
    return answer


def page(build: Build) -> str:
    return (build.work / "index.html").read_text()


@contextmanager
def https_server(build: Build) -> Iterator[int]:
    """https_server is Python's, on OpenSSL."""

    class Pages(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(build.work))

        def finish(self) -> None:
            """finish sends close_notify, which the examples wait for."""
            super().finish()
            self.connection.unwrap()

        def log_message(self, *_: object) -> None:
            pass

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(build.work / "server.pem", password="test")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_each_example_has_a_test(build):
    kinds = [(HTTP_SERVER,), (HTTP_CLIENT,), (WEBSOCKET_SERVER,), (WEBSOCKET_CLIENT,), (BOTH,)]
    kinds += [ASIO_SERVER, ASIO_CLIENT]
    for name in build.all_names:
        assert any(all(part in name for part in kind) for kind in kinds), name
    for kind in kinds:
        assert kind == (BOTH,) or build.named(*kind), f"there is no example of {kind}"


def test_http_servers(build):
    for name in build.named(HTTP_SERVER) + build.named(BOTH):
        # This one answers no second request, with asio::ssl either.
        times = 1 if "server-flex-awaitable" in name else 2
        with serving(build, name) as port:
            assert page_of(build, port, times) == page(build), name
            if "flex" in name:
                assert page_of(build, port, times, secure=False) == page(build), name


def test_http_clients(build):
    with https_server(build) as port:
        for name in build.named(HTTP_CLIENT):
            answer = says(build, name, "localhost", port, "/index.html")
            assert answer.startswith("HTTP/1.1 200 OK") and page(build) in answer, name


def test_a_client_verifies_the_server(build, certs):
    """A certificate for another name, and then of an authority that the client does not know."""
    (name,) = build.named(HTTP_CLIENT, ".sync-ssl.")
    ours = (build.work / "ca.pem").read_text()
    try:
        with https_server(build) as port:
            others = certs.ecdsa.cert.read_text()
            for host, authority in (("127.0.0.2", ours), ("localhost", others)):
                (build.work / "ca.pem").write_text(authority)
                command = build.command(name, host, port, "/index.html")
                done = subprocess.run(command, cwd=build.work, capture_output=True, text=True)
                assert done.returncode != 0 and "Error: " in done.stderr
    finally:
        (build.work / "ca.pem").write_text(ours)


def test_websockets(build):
    """Each client with each server."""
    for server in build.named(WEBSOCKET_SERVER) + build.named(BOTH):
        with serving(build, server) as port:
            for client in build.named(WEBSOCKET_CLIENT):
                answer = says(build, client, "localhost", port, "a message")
                assert "a message" in answer, (server, client)


def test_asio(build):
    """Each client with each server. The client's callback prints the certificate's subject."""
    for server in build.named(*ASIO_SERVER):
        with serving(build, server) as port:
            for client in build.named(*ASIO_CLIENT):
                answer = says(build, client, "localhost", port, types="a message\n")
                assert "Reply: a message" in answer, (server, client)
                assert "Verifying /CN=rsa" in answer, (server, client)
