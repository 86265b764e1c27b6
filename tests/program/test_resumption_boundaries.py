"""The boundaries of a session, with tickets and by its ID: it resumes where all that made it
acceptable is the same, and elsewhere the handshake is a full one, under the rules of that place."""

import datetime
import ssl

import pytest

import sessions
from client_authorities import ca, good, verifies  # noqa: F401: the fixtures
from deadlines import SANITIZED
from origins import echo
from reloads import reload, replace, rewrite
from tls_client import TLS_1_2, TLS_1_3, only, refused
from upstream_blocks import upstream
from wrong_clock import clock  # noqa: F401: the fixture


def by_ticket(version):
    return lambda **settings: only(version, **settings)


def by_id(**settings):
    tls = only(TLS_1_2, **settings)
    tls.options |= ssl.OP_NO_TICKET
    return tls


WAYS = pytest.mark.parametrize(
    "client",
    [by_ticket(TLS_1_2), by_ticket(TLS_1_3), by_id],
    ids=["ticket-1.2", "ticket-1.3", "id-1.2"],
)


def visit(port, tls, session=None, name="a.test"):
    return sessions.visit(port, tls, session, name=name)


def never_resumes(port, tls, session, **more):
    """Whatever worker the client meets."""
    return not any(visit(port, tls, session, **more)[0] for _ in range(4))


@pytest.fixture
def places(cleat, config, certs):
    """places starts a cleat with two workers and a frontend for each line. It gives the server."""

    def start(*lines, more="", **options):
        text = "".join(f'frontend = {{ host = "127.0.0.1" port = "0" {each} }}\n' for each in lines)
        path = config(text + f'pem-file = "{certs.ecdsa.pem}"\n' + more)
        server = cleat("--config", path, "--workers", 2, pem=[], frontend=None, **options)
        server.config = path
        return server

    return start


OTHERS = {
    "another client-verify": lambda ca, certs: verifies(ca, "optional"),
    "another authority": lambda ca, certs: verifies(certs.authority("second")),
    "a CRL": lambda ca, certs: verifies(ca) + f' client-verify-crl = "{certs.crl("crl", ca)}"',
    "no client-verify": lambda ca, certs: "",
    "other ciphers": lambda ca, certs: verifies(ca)
    + ' ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256" ciphersuites = "TLS_AES_128_GCM_SHA256"',
}


@WAYS
@pytest.mark.parametrize("other", OTHERS, ids=lambda each: each.replace(" ", "-"))
def test_a_session_does_not_resume_under_other_rules(places, certs, ca, good, client, other):
    """The other authority does not know the client, which is refused there."""
    server = places(verifies(ca), verifies(ca), OTHERS[other](ca, certs))
    first, alike, elsewhere = server.ports
    tls = client(certificate=good.pem)
    _, session = visit(first, tls)
    assert visit(alike, tls, session)[0]
    if other == "another authority":
        refused(elsewhere, tls, name="a.test", session=session)
    else:
        assert never_resumes(elsewhere, tls, session)
    # Nor the other way round.
    if other in ("another client-verify", "a CRL", "other ciphers"):
        _, session = visit(elsewhere, tls)
        assert visit(elsewhere, tls, session)[0]
        assert never_resumes(first, tls, session)


@WAYS
def test_a_session_does_not_resume_on_a_route_with_own_settings(
    places, origin, certs, ca, good, client
):
    own = certs.named("own", "DNS:b.test")
    server = places(
        f'{verifies(ca)} route = {{ sni = "b.test" pem-file = "{own.pem}" upstream = "app" }}',
        more=upstream(origin(echo).address),
    )
    tls = client(certificate=good.pem)
    _, session = visit(server.port, tls)
    assert visit(server.port, tls, session)[0]
    assert never_resumes(server.port, tls, session, name="b.test")
    _, session = visit(server.port, tls, name="b.test")
    assert visit(server.port, tls, session, name="b.test")[0]
    assert never_resumes(server.port, tls, session)


@WAYS
def test_a_session_does_not_resume_under_the_name_of_another_certificate(places, certs, client):
    more = "".join(
        f'pem-file = "{certs.named(each, f"DNS:{each}.test").pem}"\n' for each in ("a", "b")
    )
    server = places("", more=more)
    tls = client()
    _, session = visit(server.port, tls)
    assert visit(server.port, tls, session)[0]
    assert never_resumes(server.port, tls, session, name="b.test")


@WAYS
def test_a_session_outlives_the_renewal_of_its_certificate(places, certs, tmp_path, client):
    site = tmp_path / "site.pem"
    replace(site, certs.named("before", "DNS:a.test").pem.read_text(), 0o600)
    server = places("", more=f'pem-file = "{site}"\n')
    tls = client()
    _, session = visit(server.port, tls)
    replace(site, certs.named("after", "DNS:a.test").pem.read_text(), 0o600)
    reload(server)
    assert visit(server.port, tls, session)[0]


@WAYS
def test_a_session_does_not_resume_after_a_reload_with_other_rules(places, certs, ca, good, client):
    server = places(verifies(ca))
    tls = client(certificate=good.pem)
    _, session = visit(server.port, tls)
    rewrite(server, verifies(ca), verifies(ca, "optional"))
    reload(server)
    assert never_resumes(server.port, tls, session)
    rewrite(server, verifies(ca, "optional"), verifies(ca))
    reload(server)
    assert visit(server.port, tls, session)[0]


@pytest.mark.skipif(SANITIZED, reason="the clock is preloaded")
@WAYS
def test_a_session_does_not_outlive_its_clients_certificate(places, certs, ca, clock, client):
    """The session is valid for longer, by cleat's clock too."""
    now = datetime.datetime.now(datetime.timezone.utc)
    dates = [(now + datetime.timedelta(seconds=s)).strftime("%Y%m%d%H%M%SZ") for s in (-60, 600)]
    soon = certs.dated(f"soon-{now:%f}", "/CN=soon", *dates, issuer=ca)
    server = places(verifies(ca), env=clock.environment)
    tls = client(certificate=soon.pem)
    _, session = visit(server.port, tls)
    assert visit(server.port, tls, session)[0]
    clock.jump(900)
    refused(server.port, tls, name="a.test", session=session)
    server.wait_for_log(reason="client-certificate-expired")


@pytest.mark.parametrize("client", [by_ticket(TLS_1_2), by_id], ids=["ticket-1.2", "id-1.2"])
def test_a_session_does_not_resume_in_another_version(places, client):
    server = places("")
    tls = client()
    _, session = visit(server.port, tls)
    tls.maximum_version = TLS_1_3
    assert never_resumes(server.port, tls, session)
    tls.maximum_version = TLS_1_2
    assert visit(server.port, tls, session)[0]
