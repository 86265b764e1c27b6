"""Certificates come from where the configuration says: one file for both, a file for the key, a
directory, a frontend's own. Chains are sent whole."""

import subprocess

import pytest

from tls_client import shown


@pytest.fixture
def serve(cleat, config):
    """Starts cleat with a configuration file alone."""
    return lambda text: cleat("--config", config(text), pem=[], frontend=None)


def test_key_and_certificate_apart(serve, certs):
    site = certs.named("apart", "DNS:apart.example")
    server = serve(f"""
        frontend = "[127.0.0.1]:0"
        pem-file = {{ cert = "{site.cert}"
                      private-key = "{site.key}" }}
    """)
    assert shown(server.port) == site.fingerprint


def test_a_key_behind_its_certificate_in_one_file(cleat, certs, tmp_path):
    site = certs.ecdsa
    path = tmp_path / "reversed.pem"
    path.write_text(site.cert.read_text() + site.key.read_text())
    assert shown(cleat("--pem-file", path, pem=[]).port) == site.fingerprint


def test_a_directory(cleat, certs, tmp_path):
    one = certs.named("one", "DNS:one.example")
    two = certs.named("two", "DNS:two.example")
    folder = tmp_path / "pems"
    folder.mkdir()
    (folder / "a.pem").write_text(one.pem.read_text())
    (folder / "b.pem").write_text(two.pem.read_text())
    (folder / "README").write_text("not a certificate\n")
    port = cleat("--pem-dir", folder, "--pem-dir-glob", "*.pem", pem=[]).port
    assert shown(port, "one.example") == one.fingerprint
    assert shown(port, "two.example") == two.fingerprint
    # Of a directory the first serves the others, as the reference has it.
    assert shown(port, "elsewhere.example") == one.fingerprint


def test_a_file_beside_a_directory_is_the_default(cleat, certs, tmp_path):
    one = certs.named("one", "DNS:one.example")
    folder = tmp_path / "pems"
    folder.mkdir()
    (folder / "a.pem").write_text(one.pem.read_text())
    port = cleat("--pem-dir", folder, pem=[certs.ecdsa]).port
    assert shown(port, "one.example") == one.fingerprint
    assert shown(port, "elsewhere.example") == certs.ecdsa.fingerprint


def test_each_frontend_has_its_own(serve, certs):
    mine = certs.named("mine", "DNS:mine.example")
    server = serve(f"""
        pem-file = "{certs.ecdsa.pem}"
        frontend = {{ host = "127.0.0.1"
                      port = 0
                      pem-file = "{mine.pem}" }}
        frontend = {{ host = "127.0.0.1"
                      port = 0 }}
        frontend = {{ host = "127.0.0.1"
                      port = 0
                      pem-file = "{mine.pem}"
                      match-global-certs = on }}
    """)
    alone, shared, both = server.ports
    assert shown(alone) == mine.fingerprint  # It does not know localhost.
    assert shown(shared, "mine.example") == certs.ecdsa.fingerprint
    assert shown(both) == certs.ecdsa.fingerprint
    assert shown(both, "mine.example") == mine.fingerprint


def test_on_the_command_line_too(cleat, certs):
    mine = certs.named("mine", "DNS:mine.example")
    server = cleat(frontend=f"[127.0.0.1]:0+{mine.pem}")
    assert shown(server.port) == mine.fingerprint


def test_a_chain_is_sent_whole(cleat, certs, tmp_path):
    root = certs.authority("root")
    leaf = certs.signed("leaf", root, "/CN=leaf.example")
    path = tmp_path / "chain.pem"
    path.write_text(leaf.pem.read_text() + root.cert.read_text())
    server = cleat("--pem-file", path, pem=[])
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-showcerts"]
    ran = subprocess.run(command, input="", capture_output=True, text=True)
    assert ran.stdout.count("-----BEGIN CERTIFICATE-----") == 2
