"""The text of a private key does not stay in memory. The TLS library has the key in its own form,
and the text of the file is wiped once every worker has it."""

import os
import queue
import shutil

import pytest

from certificates import EC, RSA, SERVER
from deadlines import eventually
from memory import memory_has
from reloads import reload, replace
from tls_client import TlsClient, shown
from tls_origins import block, ca, good, local, over_tls, settings

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="another process's memory wants root")


def lines_of(pem):
    """lines_of is lines from the middle of a file's private key, which no other file has."""
    begin, end = (f"-----{word} PRIVATE KEY-----\n" for word in ("BEGIN", "END"))
    body = pem.read_text().partition(begin)[2].partition(end)[0]
    found = [line.encode() for line in body.splitlines()[1:-1]]
    assert found
    return found[:2]


def kept(server, *keys):
    """kept is the names of the certificates of whose keys a line is in the memory of cleat."""
    return {
        each.pem.name
        for each in keys
        if any(memory_has(server, line) for line in lines_of(each.pem))
    }


@pytest.fixture
def sites(certs):
    """Two sites with two certificates each: before, and renewed with another key."""

    def site(host, kind):
        names = (host, f"new-{host}")
        return [certs.self_signed(each, kind, f"DNS:{host}", *SERVER) for each in names]

    return site("one.example", EC), site("two.example", RSA)


@pytest.mark.parametrize("cache", [1, 1000])
def test_keys_of_sites(serve_lines, sites, tmp_path, cache):
    """One has its key in the file of the certificate, the other in a file of its own; and both are
    served by two frontends, and on a route of its own."""
    (one, new_one), (two, new_two) = sites
    pem, cert, key = (tmp_path / name for name in ("one.pem", "two.crt", "two.key"))

    def write(first, second):
        replace(pem, first.pem.read_text(), 0o600)
        replace(cert, second.cert.read_text())
        replace(key, second.key.read_text(), 0o600)

    write(one, two)
    server = serve_lines(
        'frontend = "[127.0.0.1]:0"',
        'frontend = { host = "127.0.0.1" port = 0 tls-protos = TLSv1.3 }',
        f"certificate-cache = {cache}",
        f'pem-file = "{pem}"',
        f'pem-file = {{ cert = "{cert}" private-key = "{key}" }}',
        workers=2,
    )

    def check(first, second):
        for port in server.ports:
            assert shown(port, "one.example") == first.fingerprint
            assert shown(port, "two.example") == second.fingerprint

    assert kept(server, one, two) == set()
    check(one, two)
    assert kept(server, one, two) == set()
    for first, second, changed in (new_one, new_two, "2"), (one, new_two, "1"):
        write(first, second)
        assert reload(server)["certificates_changed"] == changed
        check(first, second)
        assert kept(server, one, two, new_one, new_two) == set()


class Asking:
    """Asking is an upstream that asks for a certificate, and the two that cleat has for it."""

    def __init__(self, origin, certs, good, folder):
        self.seen = queue.Queue()
        clients = certs.authority("authority-of-clients")
        self.own = certs.signed("as-client", clients, "/CN=cleat.internal")
        self.renewed = certs.signed("as-client-renewed", clients, "/CN=cleat.renewed")
        self.origin = origin(over_tls(settings(good, clients=clients.cert), self.note))
        self.pem = folder / "own.pem"
        shutil.copy(self.own.pem, self.pem)

    def note(self, end):
        self.seen.put(dict(part[0] for part in end.tls.getpeercert()["subject"])["commonName"])

    def renew(self, server):
        replace(self.pem, self.renewed.pem.read_text(), 0o600)
        assert reload(server)["keys"] == "upstream"


@pytest.fixture
def asking(origin, certs, good, tmp_path):
    return Asking(origin, certs, good, tmp_path)


def test_a_key_for_an_upstream(serve, asking, ca):
    own_line = f'tls-cert = "{asking.pem}"'
    server = serve(block(local(asking.origin), ca=ca.cert, lines=(own_line,)))

    def check(name):
        assert kept(server, asking.own, asking.renewed) == set()
        with TlsClient(server.port):
            assert asking.seen.get(timeout=60) == name
        assert kept(server, asking.own, asking.renewed) == set()

    check("cleat.internal")
    asking.renew(server)
    check("cleat.renewed")


def test_checks_of_an_upstream_show_a_renewed_key(serve, asking, ca):
    """They keep the text of their key, since they may need a new TLS context later. The old one's
    is wiped."""
    lines = ("check = on", "check-interval = 20", f'tls-cert = "{asking.pem}"')
    server = serve(block(local(asking.origin), ca=ca.cert, lines=lines))
    assert asking.seen.get(timeout=60) == "cleat.internal"
    asking.renew(server)
    assert asking.seen.get(timeout=60) == "cleat.renewed"
    eventually("the old key's text is wiped", lambda: kept(server, asking.own) == set())
