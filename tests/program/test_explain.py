"""`cleat explain` says what a client would get, and why. It agrees with the handshake of a cleat
with the same flags."""

import json
import ssl

import pytest

from program import run
from tls_client import TLS_1_2, TlsClient, context, only, refused


def explain(*words):
    """explain is what the document has about the only frontend."""
    ran = run("explain", "--json", *words)
    assert (ran.returncode, ran.stderr) == (0, "")
    (one,) = json.loads(ran.stdout)["frontends"]
    return one


def fingerprint_of(certs, files):
    (found,) = [each.fingerprint for each in certs.made.values() if str(each.pem) == files]
    return found


NAMES = pytest.mark.parametrize(
    "name, match",
    [
        ("www.example.org", "exact"),
        ("WWW.Example.ORG", "exact"),
        ("other.example.org", "wildcard"),
        ("a.b.example.org", "default"),
        ("elsewhere.example", "default"),
        ("", "no-sni"),
    ],
)


@NAMES
@pytest.mark.parametrize("many", [[], ["--certificate-cache", 1]], ids=["few", "many"])
def test_it_is_what_a_handshake_gets(cleat, certs, sites, name, match, many):
    found = explain("--sni", name, *many, *(each.pem for each in sites))
    assert (found["match"], found["refusal"]) == (match, None)
    (shown,) = found["certificates"]
    assert shown["key"] == "ECDSA P-256"
    with TlsClient(cleat(*many, pem=sites).port, name=name or None) as client:
        client.exchange(b"x")
        assert client.fingerprint == fingerprint_of(certs, shown["files"])
        assert client.tls.version().replace("v", " ") == found["versions"][0]


def test_a_refused_name(cleat, sites):
    found = explain(
        "--sni", "elsewhere.example", "--sni-nomatch-abort", *(each.pem for each in sites)
    )
    assert (found["match"], found["refusal"]) == ("refused", "unrecognized_name")
    assert found["certificates"] == []
    why = refused(cleat("--sni-nomatch-abort", pem=sites).port, name="elsewhere.example")
    assert isinstance(why, ssl.SSLError) and "UNRECOGNIZED_NAME" in (why.reason or "")


@pytest.mark.parametrize("offered", [["h2"], ["http/1.1", "h2"], ["http/1.1"]])
def test_the_protocol(cleat, sites, offered):
    flags = ["--alpn-protos", "h2,http/1.1"]
    found = explain("--sni", "x", "--alpn", ",".join(offered), *flags, sites[0].pem)
    with TlsClient(cleat(*flags, pem=sites).port, context(alpn=offered)) as client:
        assert client.tls.selected_alpn_protocol() == found["alpn"]


def test_no_protocol_in_common(cleat, sites):
    flags = ["--alpn-protos", "h2"]
    found = explain("--sni", "x", "--alpn", "imap", *flags, sites[0].pem)
    assert (found["refusal"], found["alpn"]) == ("no_application_protocol", None)
    why = refused(cleat(*flags, pem=sites).port, context(alpn=["imap"]))
    assert isinstance(why, ssl.SSLError) and "no application protocol" in str(why)


def test_kinds_of_keys_in_the_order_of_preference(cleat, certs):
    found = explain("--sni", "localhost", certs.rsa.pem, certs.ecdsa.pem)
    assert [each["key"] for each in found["certificates"]] == ["ECDSA P-256", "RSA"]
    port = cleat(pem=[certs.rsa, certs.ecdsa]).port
    only_rsa = only(TLS_1_2, ciphers="ECDHE-RSA-AES128-GCM-SHA256")
    for tls, shown in zip((context(), only_rsa), found["certificates"]):
        with TlsClient(port, tls) as client:
            assert client.fingerprint == fingerprint_of(certs, shown["files"])


def test_the_text(certs, config):
    ca = certs.authority("ca")
    path = config(f"""
        pem-file = "{certs.rsa.pem}"
        pem-file = "{certs.ecdsa.pem}"
        backend = "[127.0.0.1]:8080"
        write-proxy-v2 = on
        frontend = {{ host = "127.0.0.1"
                      port = 8443 }}
        frontend = {{ host = "127.0.0.1"
                      port = 8444
                      client-verify = required
                      client-verify-ca = "{ca.cert}"
                      tls-protos = TLSv1.3 }}
    """)
    words = ["explain", "--sni", "localhost", "--from", "192.0.2.1", "--config", path]
    ran = run(*words)
    first, second = ran.stdout.split("\n\n")
    assert first == f"""[127.0.0.1]:8443
  sni          localhost: a certificate has this name
  certificate  ECDSA P-256, for clients that verify it, {certs.ecdsa.pem}
               RSA, for the others, {certs.rsa.pem}
  versions     TLS 1.3, TLS 1.2
  alpn         none: alpn-protos is not set
  client cert  not requested
  resumption   session tickets for 43200 seconds; their secret is random, and lost at a restart
  upstream     [127.0.0.1]:8080
  header       write-proxy-v2, with 192.0.2.1"""
    assert second.startswith("[127.0.0.1]:8444\n")
    assert "  versions     TLS 1.3\n" in second
    assert f"  client cert  required: it must verify by {ca.cert}\n" in second
    assert run(*words, "--to", "[127.0.0.1]:8444").stdout == second


def test_the_text_of_a_refusal(sites):
    flags = ["--sni-nomatch-abort", sites[0].pem]
    assert run("explain", "--sni", "elsewhere.example", *flags).stdout == (
        "[*]:8443\n"
        "  sni          elsewhere.example: no certificate has this name\n"
        "  refused      with the alert unrecognized_name: sni-nomatch-abort is set\n"
    )


def test_mistakes(certs, tmp_path):
    for words, line in (
        (["--sni", "https://a.example/"], "is no name, which is all that a client sends."),
        (["--sni", "a.example:443"], "Write a.example alone."),
        (["--sni", "::1"], "is an address, and no client sends one as its SNI"),
        (["--sni", "bücher.example"], "Write the form that begins with xn--"),
        (["--sn", "x"], "--sn: error: there is no such flag. Did you mean --sni?"),
        (["--sni", "x", "--from", "here"], '--from: error: "here" is no IP address.'),
        (["--sni", "x", tmp_path / "missing.pem"], "cannot read"),
    ):
        ran = run("explain", *words, certs.ecdsa.pem)
        assert (ran.returncode, ran.stdout) == (1, "") and line in ran.stderr
    assert "cleat explain" in run("explain", "--help").stdout
    assert "what a client would get" in run("--help").stdout


ROUTES = """
client-verify = optional
client-verify-ca = "{ca}"
upstream = {{ name = "app" server = "[127.0.0.1]:80" }}
upstream = {{ name = "beta" server = "[127.0.0.1]:81" }}
upstream = {{ name = "gamma" server = "[127.0.0.1]:82" }}
frontend = {{ host = "*" port = "8443"
  route = {{ client-certificate = {{ cn = "alice" }} upstream = "beta" }}
  route = {{ sni = "a.example" client-certificate = {{ cn = "bob" }} upstream = "gamma" }}
  {last}
}}
upstream = "app"
"""


@pytest.mark.parametrize("last", ['route = { sni = "a.example" upstream = "app" }', ""])
def test_routes_that_a_certificate_leads_to(sites, config, last):
    good = sites[0]
    file = config(ROUTES.format(ca=good.cert, last=last))
    found = explain("--sni", "a.example", "--config", file, good.pem)
    assert found["upstream"] == "app"
    assert (found["route"] is None) == (not last)
    assert [each["upstream"] for each in found["routes_by_certificate"]] == ["beta", "gamma"]
    other = explain("--sni", "b.example", "--config", file, good.pem)
    assert [each["upstream"] for each in other["routes_by_certificate"]] == ["beta"]
    ran = run("explain", "--sni", "a.example", "--config", file, good.pem)
    assert "cert route   client-certificate cn alice: beta (" in ran.stdout
