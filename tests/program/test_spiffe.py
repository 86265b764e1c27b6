"""SVIDs and trust bundles as spiffe-helper writes them: files that are written again in place, one
after the other, when the SVID is renewed or the trust domain gets another authority."""

import pytest

from client_authorities import let_in, showing
from deadlines import eventually
from tls_client import refused


@pytest.fixture
def svid(certs):
    """Makes an X.509-SVID of a trust domain's authority."""

    def svid(name, authority, path):
        extensions = (
            f"subjectAltName=URI:spiffe://example.org{path}\n"
            "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n"
            "extendedKeyUsage=serverAuth,clientAuth\n"
        )
        return certs.signed(name, authority, "/C=US/O=SPIRE", extensions)

    return svid


def test_a_renewed_svid_and_a_rotated_bundle(cleat, certs, svid, tmp_path):
    old, new = certs.authority("spiffe-old"), certs.authority("spiffe-new")
    first, second = svid("svid-1", old, "/proxy"), svid("svid-2", new, "/proxy")
    web_old, web_new = svid("web-1", old, "/ns/web/a"), svid("web-2", new, "/ns/web/a")
    cert, key, bundle = (tmp_path / f"svid{part}.pem" for part in ("", "_key", "_bundle"))

    def write(shown, *authorities):
        """The files are written in spiffe-helper's order. cleat may see each of these writes
        alone."""
        cert.write_text(shown.cert.read_text())
        key.write_text(shown.key.read_text())
        bundle.write_text("".join(each.cert.read_text() for each in authorities))

    write(first, old)
    conf = tmp_path / "cleat.conf"
    conf.write_text(f"""
        frontend = "[127.0.0.1]:0"
        reload-on-change = on
        pem-file = {{ cert = "{cert}" private-key = "{key}" }}
        client-verify = required
        client-verify-ca = "{bundle}"
        client-allow = {{ uri = "spiffe://example.org/ns/web/*" }}
    """)
    server = cleat("--config", conf, pem=[], frontend=None)
    assert let_in(server.port, showing(web_old)).fingerprint == first.fingerprint
    refused(server.port, showing(web_new))
    refused(server.port, showing(first))  # Not a web workload.
    detail = server.wait_for_log(event="connection-refused")["detail"]
    assert detail.endswith("the certificate has spiffe://example.org/proxy")

    def serves(certificate, shown):
        try:
            return let_in(server.port, showing(certificate)).fingerprint == shown.fingerprint
        except OSError:
            return False

    write(second, old, new)
    eventually("the new authority's workloads come in", lambda: serves(web_new, second))
    assert let_in(server.port, showing(web_old)).fingerprint == second.fingerprint
    write(second, new)

    def is_refused():
        try:
            let_in(server.port, showing(web_old))
        except OSError:
            return True
        return False

    eventually("the old authority's workloads are refused", is_refused)
    assert let_in(server.port, showing(web_new)).fingerprint == second.fingerprint
