"""SNI chooses the certificate: the exact name, then a wildcard of one label, then the last file
named. With sni-nomatch-abort a name that no certificate fits is refused instead."""

import ssl

import pytest

from tls_client import refused, shown


@pytest.mark.parametrize(
    "name, expected",
    [
        ("www.example.org", "exact"),
        ("WWW.Example.ORG", "exact"),  # RFC 6066: names have no case.
        ("deep.sub.example.org", "exact"),
        ("other.example.org", "wildcard"),
        ("example.org", "wildcard"),
        ("a.b.example.org", "default"),  # RFC 6125: a wildcard is one label.
        ("default.example", "default"),
        ("elsewhere.example", "default"),
        (None, "default"),
    ],
)
def test_the_best_fit_is_shown(cleat, certs, sites, name, expected):
    assert shown(cleat(pem=sites).port, name) == certs.made[expected].fingerprint


def test_curl_verifies_what_it_is_shown(cleat, origin, sites):
    import subprocess

    from origins import answer

    port = cleat(pem=sites, backend=origin(answer)).port
    for name, certificate in (("www.example.org", sites[0]), ("x.example.org", sites[1])):
        address = ["--resolve", f"{name}:{port}:127.0.0.1", "--cacert", certificate.cert]
        command = ["curl", "-sS", "--noproxy", "*", *address, f"https://{name}:{port}/"]
        assert subprocess.check_output(command) == b"hello from the origin\n"


class TestNoMatchAbort:
    """sni-nomatch-abort"""

    def test_an_unknown_name_is_refused_with_its_alert(self, cleat, sites):
        server = cleat("--sni-nomatch-abort", pem=sites)
        why = refused(server.port, name="elsewhere.example")
        assert isinstance(why, ssl.SSLError) and "UNRECOGNIZED_NAME" in (why.reason or "")
        line = server.wait_for_log(event="handshake-failed", reason="unknown-name")
        assert line["sni"] == "elsewhere.example"

    def test_known_names_are_served(self, cleat, certs, sites):
        port = cleat("--sni-nomatch-abort", pem=sites).port
        assert shown(port, "www.example.org") == certs.made["exact"].fingerprint
        assert shown(port, "any.example.org") == certs.made["wildcard"].fingerprint

    def test_a_client_without_sni_gets_the_default(self, cleat, certs, sites):
        port = cleat("--sni-nomatch-abort", pem=sites).port
        assert shown(port, None) == certs.made["default"].fingerprint
