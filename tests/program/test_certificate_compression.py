"""certificate-compression: certificates are compressed for clients that can decompress them, as
Chromium can. Clients that cannot get them as they are. A list that cannot take effect is an error,
also where the TLS library is to blame: OpenSSL before 3.2, or built without the algorithm."""

import base64
import json
import shutil
import subprocess

import pytest

from deadlines import DEADLINE
from program import complaints, run
from tls_client import VERSIONS, TlsClient, only

FRONTEND = 'frontend = "[127.0.0.1]:0"\n'
CERTIFICATE = 11  # Types of handshake messages: RFC 8446, section 4, and RFC 8879, section 4.
COMPRESSED_CERTIFICATE = 25


def answer(upstream):
    """The handler of an upstream that answers every request with an empty page."""
    while upstream.socket.recv(65536):
        upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def messages_to_chromium(host, port, folder):
    """The size of each handshake message that Chromium receives, by its type."""
    log = folder / "net.json"
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu"]
    command += ["--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"]
    command += ["--ignore-certificate-errors", f"--user-data-dir={folder / 'profile'}"]
    command += [f"--log-net-log={log}", "--dump-dom", f"https://{host}:{port}/"]
    subprocess.run(command, capture_output=True, timeout=DEADLINE, check=True)
    read = json.loads(log.read_text())
    wanted = read["constants"]["logEventTypes"]["SSL_HANDSHAKE_MESSAGE_RECEIVED"]
    found = [each["params"] for each in read["events"] if each["type"] == wanted]
    return {each["type"]: len(base64.b64decode(each["bytes"])) for each in found}


@VERSIONS
def test_a_client_that_cannot_decompress_gets_the_certificate_as_it_is(
    cleat, certs, config, can, version
):
    settings = f'pem-file = "{certs.ecdsa.pem}"\ncertificate-compression = brotli zlib\n'
    path = config(FRONTEND + settings)
    if can["cert. compression"] != "yes":
        errors = complaints("--config", path)
        assert f"{path}:3:" in errors
        library = can["TLS library"]
        assert f"{library} sends no certificate that is compressed with brotli" in errors
        assert "OpenSSL 3.2 or later" in errors
        return
    server = cleat("--config", path, pem=[], frontend=None)
    with TlsClient(server.port, only(version)) as client:
        client.exchange(b"x")
        assert client.fingerprint == certs.ecdsa.fingerprint


@pytest.mark.parametrize("cache", [1000, 1])
def test_chromium_gets_it_compressed(cleat, certs, origin, can, tmp_path, cache):
    """Also a certificate of a store, which is loaded when Chromium asks for it."""
    if shutil.which("chromium") is None:
        pytest.skip("install the packages chromium")
    compresses = can["cert. compression"] == "yes"
    flags = ("--certificate-compression", "zlib brotli") if compresses else ()
    flags += ("--certificate-cache", cache)
    pem = [certs.named("compressed", "DNS:localhost"), certs.rsa]
    server = cleat(*flags, backend=origin(answer), pem=pem)
    messages = messages_to_chromium("localhost", server.port, tmp_path)
    assert (COMPRESSED_CERTIFICATE in messages) == compresses
    assert (CERTIFICATE in messages) != compresses


@pytest.mark.parametrize(
    "value, text",
    [
        ("zstd", "this build cannot compress with zstd. Write brotli, zlib or both."),
        ("gzip", '"gzip" is no algorithm for certificates'),
        ("zlib zlib", "zlib is there twice"),
    ],
)
def test_a_list_that_cannot_be_used_is_an_error(certs, config, value, text):
    path = config(FRONTEND + f'pem-file = "{certs.ecdsa.pem}"\ncertificate-compression = {value}\n')
    errors = complaints("--config", path)
    assert f"{path}:3:" in errors and "certificate-compression" in errors
    assert text in errors


def test_without_tls_1_3_it_is_an_error(certs, config):
    settings = "tls-protos = TLSv1.2\ncertificate-compression = zlib\n"
    path = config(FRONTEND + f'pem-file = "{certs.ecdsa.pem}"\n' + settings)
    assert "this is for TLSv1.3, which tls-protos leaves out" in complaints("--config", path)


def test_a_frontend_turns_it_off(certs, config):
    own = 'host = "127.0.0.1"\nport = 0\ncertificate-compression = off\ntls-protos = TLSv1.2\n'
    settings = f'pem-file = "{certs.ecdsa.pem}"\ncertificate-compression = brotli\n'
    ran = run("-t", "--config", config(settings + f"frontend = {{ {own} }}\n"))
    assert (ran.returncode, ran.stderr) == (0, "")
