"""The bytes before a client's own are those that hitch sends: the same client connects to hitch and
to cleat, one after the other on the same port, and the upstream compares.

hitch is a package of Debian and Ubuntu; where it is not installed, these tests are skipped."""

import os
import shutil
import socket
import struct

import pytest

import proxy_header
from deadlines import DEADLINE
from other_servers import running
from proxy_header import parse_v2
from ports import free_port
from tls_client import VERSIONS, only

HITCH = shutil.which("hitch") or shutil.which("/usr/sbin/hitch")

pytestmark = pytest.mark.skipif(HITCH is None, reason="hitch is not installed")

SOURCE = "127.0.0.2"  # No other test has it, so that its port is free twice.


class Pair:
    """Pair is hitch and cleat with one configuration, one after the other."""

    def __init__(self, cleat, upstreams, certs, folder):
        self.cleat, self.upstreams, self.certs = cleat, upstreams, certs
        self.port, self.source_port = free_port(), free_port(SOURCE)
        self.pem, self.folder = certs.rsa, folder

    def first_bytes(self, *lines, tls, name="site.example"):
        """first_bytes is what hitch's upstream gets before "data", and what cleat's gets. The lines
        are of the configuration."""
        file = self.folder / "hitch.conf"
        file.write_text("\n".join([f'backend = "{self.upstreams.address}"', *lines, ""]))
        return self.of_hitch(file, tls, name), self.of_cleat(file, tls, name)

    def of_hitch(self, file, tls, name):
        command = [HITCH, f"--config={file}", f"--frontend=[127.0.0.1]:{self.port}", self.pem.pem]
        command += ["--user=nobody"] if os.geteuid() == 0 else []  # It refuses to serve as root.
        with running(*command, port=self.port):
            return self.ask(tls, name)

    def of_cleat(self, file, tls, name):
        frontend = f"[127.0.0.1]:{self.port}"
        options = {"frontend": frontend, "pem": [self.pem], "backend": self.upstreams}
        server = self.cleat("--config", file, **options)
        try:
            return self.ask(tls, name)
        finally:
            server.end()

    def ask(self, tls, name):
        with socket.socket() as plain:
            plain.settimeout(DEADLINE)
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # The end is a reset: nothing of it is left when the next one takes the same port.
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            plain.bind((SOURCE, self.source_port))
            plain.connect(("127.0.0.1", self.port))
            with tls.wrap_socket(plain, server_hostname=name) as client:
                client.sendall(b"data")
                while True:  # To find out whether it listens was a connection, too.
                    got = b""
                    upstream = self.upstreams.accept()
                    while not got.endswith(b"data"):
                        more = upstream.socket.recv(65536)
                        if not more:
                            break
                        got += more
                    if got.endswith(b"data"):
                        return got[:-4]


@pytest.fixture
def pair(cleat, origin, certs, tmp_path):
    return Pair(cleat, origin(), certs, tmp_path)


@VERSIONS
@pytest.mark.parametrize(
    "lines",
    [
        ["write-ip = on"],
        ["write-proxy-v1 = on"],
        ["write-proxy-v2 = on", "proxy-tlv = off"],
        ["write-proxy-v2 = on", "proxy-tlv = off", "proxy-authority = off"],
        ["write-proxy-v2 = on", "proxy-tlv = off", 'alpn-protos = "h2,http/1.1"'],
        ["write-proxy = on", "proxy-tlv = off"],
    ],
    ids=", ".join,
)
def test_every_byte_is_the_same(pair, lines, version):
    of_hitch, of_cleat = pair.first_bytes(*lines, tls=only(version, alpn=["http/1.1"]))
    assert of_cleat == of_hitch != b""


@VERSIONS
def test_facts_of_tls_are_the_same_and_more(pair, version):
    both = pair.first_bytes("write-proxy-v2 = on", tls=only(version))
    of_hitch, of_cleat = map(parse_v2, both)
    assert (of_cleat.source, of_cleat.destination) == (of_hitch.source, of_hitch.destination)
    assert (of_cleat.client, of_cleat.verify) == (of_hitch.client, of_hitch.verify)
    assert list(of_cleat.tlvs) == list(of_hitch.tlvs)
    assert of_cleat.tlvs[proxy_header.AUTHORITY] == of_hitch.tlvs[proxy_header.AUTHORITY]
    assert of_cleat.ssl[proxy_header.SSL_VERSION] == of_hitch.ssl[proxy_header.SSL_VERSION]
    assert set(of_hitch.ssl) <= set(of_cleat.ssl)


@VERSIONS
def test_a_clients_certificate_is_the_same(pair, certs, version):
    ca = certs.authority("ca")
    alice = certs.signed("good", ca, "/O=Example/CN=alice")
    of_hitch, of_cleat = pair.first_bytes(
        "write-proxy-v2 = on",
        "proxy-tlv = off",
        "proxy-client-cert = on",
        "client-verify = optional",
        f'client-verify-ca = "{ca.cert}"',
        tls=only(version, certificate=alice.pem),
    )
    assert of_cleat == of_hitch
    assert b"BEGIN TRUSTED CERTIFICATE" in of_hitch
