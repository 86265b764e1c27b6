"""100 MiB go both ways at once, and every byte arrives where it belongs: checked by SHA-256."""

import hashlib
import select

import pytest

from origins import echo, expected_digest, pieces, source
from tls_client import TLS_1_2, TLS_1_3, TlsClient, only

SIZE = 100 << 20


def upload_and_download(client, size):
    """Sends a stream while it reads its echo; returns the digest of what came back."""
    client.socket.setblocking(False)
    stream, unsent, received, count = pieces(size), memoryview(b""), hashlib.sha256(), 0
    is_writing = True
    while count < size:
        readable, writable, _ = select.select(
            [client.socket], [client.socket] if is_writing else [], [], 60
        )
        assert readable or writable, f"nothing moved after {count} bytes came back"
        if writable:
            if not unsent:
                piece = next(stream, None)
                is_writing = piece is not None
                for offset in range(0, len(piece or b""), 16384):
                    client.tls.write(piece[offset : offset + 16384])
                unsent = memoryview(client.outgoing.read())
            unsent = unsent[client.socket.send(unsent) :] if unsent else unsent
        if readable:
            client.incoming.write(client.socket.recv(1 << 18))
            while True:
                try:
                    more = client.tls.read(1 << 16)
                except OSError as error:
                    assert "want" in str(error).lower() or "did not complete" in str(error), error
                    break
                received.update(more)
                count += len(more)
    client.socket.setblocking(True)
    return received.hexdigest()


@pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3], ids=["1.2", "1.3"])
def test_python_both_ways_at_once(cleat, origin, version):
    server = cleat(backend=origin(echo))
    with TlsClient(server.port, only(version)) as client:
        assert upload_and_download(client, SIZE) == expected_digest(SIZE)
        client.close_notify()
        assert client.receive() == b""
    line = server.wait_for_log(event="connection-closed")
    assert (line["reason"], line["up_bytes"], line["down_bytes"]) == ("done", str(SIZE), str(SIZE))


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_go_both_ways_at_once(cleat, origin, go, version):
    made = go.run("bulk", cleat(backend=origin(echo)).port, version=version, size=SIZE)
    assert made["received"] == SIZE
    assert made["down"] == made["up"]


def test_a_download_ends_where_it_should(cleat, origin):
    server = cleat(backend=origin(source(SIZE)))
    seen = hashlib.sha256()
    with TlsClient(server.port) as client:
        while more := client.receive():
            seen.update(more)
        client.close_notify()
    assert seen.hexdigest() == expected_digest(SIZE)
    assert server.wait_for_log(event="connection-closed", reason="done")


def test_curl_uploads_and_downloads(cleat, origin, certs, tmp_path):
    import subprocess

    def count_body(upstream):
        """Answers a PUT with the SHA-256 of its body."""
        head = b""
        while b"\r\n\r\n" not in head:
            head += upstream.socket.recv(1)
        upstream.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        left, seen = SIZE, hashlib.sha256()
        while left:
            more = upstream.socket.recv(min(left, 1 << 18))
            assert more
            seen.update(more)
            left -= len(more)
        body = seen.hexdigest().encode()
        upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 64\r\nConnection: close\r\n\r\n" + body)

    port = cleat(backend=origin(count_body)).port
    upload = tmp_path / "upload"
    with upload.open("wb") as file:
        file.writelines(pieces(SIZE))
    command = ["curl", "-sS", "--http1.1", "--noproxy", "*", "--cacert", str(certs.ecdsa.cert)]
    command += ["-T", str(upload), f"https://localhost:{port}/", "--ipv4"]
    assert subprocess.check_output(command).decode() == expected_digest(SIZE)
