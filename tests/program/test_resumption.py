"""A client that comes back resumes its session with a ticket, whichever worker it meets; one ticket
is given with each full handshake. A ticket of another cleat means a full handshake, not an error.
"""

import re

import pytest

from deadlines import DEADLINE
from origins import answer
from program import capabilities, complaints
from reloads import reload_with
from sessions import resume_at_both_workers, visit
from tls_client import VERSIONS, only


@VERSIONS
def test_python_resumes(cleat, version):
    server = cleat()
    tls = only(version)
    resumed, session = visit(server.port, tls)
    assert not resumed
    assert visit(server.port, tls, session)[0]
    line = server.wait_for_log(event="handshake-done", resumed="true")
    assert 0 <= int(line["session_age_s"]) < DEADLINE
    assert "session_age_s" not in server.log(event="handshake-done", resumed="false")[0]


# openssl s_client stays until it is answered, and so until TLS 1.3's ticket has come.
STAY = {"said": "GET / HTTP/1.0\r\n\r\n"}


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_openssl_resumes(cleat, origin, s_client, tmp_path, version):
    port = cleat(backend=origin(answer)).port
    session = tmp_path / "session"
    first = s_client(port, version, "-sess_out", session, "-ign_eof", **STAY)
    assert re.search(r"^New, TLS", first.stdout, re.M)
    again = s_client(port, version, "-sess_in", session, "-ign_eof", **STAY)
    assert re.search(r"^Reused, TLS", again.stdout, re.M)
    assert "hello from the origin" in again.stdout


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_go_resumes(cleat, go, version):
    made = go.run("resume", cleat().port, version=version, count=4)["connections"]
    assert [each["resumed"] for each in made] == [False, True, True, True]


@VERSIONS
def test_every_worker_takes_the_tickets_of_every_other(cleat, version):
    server = cleat("--workers", 2)
    tls = only(version)
    _, session = visit(server.port, tls)
    resume_at_both_workers(server, tls, session)


@VERSIONS
def test_a_strangers_ticket_is_a_full_handshake(cleat, version):
    tls = only(version)
    _, session = visit(cleat().port, tls)
    assert visit(cleat().port, tls, session)[0] is False


def test_one_ticket_with_a_full_handshake(cleat, origin, s_client):
    ran = s_client(cleat(backend=origin(answer)).port, "-tls1_3", "-msg", "-ign_eof", **STAY)
    assert ran.stdout.count("NewSessionTicket") == 1


def tickets_of(ran):
    return ran.stdout.count("NewSessionTicket")


@pytest.mark.parametrize("full, resumed", [(3, 1), (1, 0)])
def test_the_configuration_says_how_many_tickets(cleat, origin, s_client, tmp_path, full, resumed):
    server = cleat("--tickets", full, "--tickets-resumed", resumed, backend=origin(answer))
    session = tmp_path / "session"
    first = s_client(server.port, "-tls1_3", "-msg", "-ign_eof", "-sess_out", session, **STAY)
    assert tickets_of(first) == full
    again = s_client(server.port, "-tls1_3", "-msg", "-ign_eof", "-sess_in", session, **STAY)
    assert re.search(r"^Reused, TLS", again.stdout, re.M)
    assert tickets_of(again) == resumed


@VERSIONS
def test_without_tickets_none_is_given_and_none_is_taken(cleat, config, certs, version):
    text = f'frontend = "[127.0.0.1]:0"\npem-file = "{certs.ecdsa.pem}"\ntickets = 1\n'
    path = config(text)
    server = cleat("--config", path, pem=[], frontend=None)
    server.config = path
    tls = only(version)
    _, session = visit(server.port, tls)
    assert visit(server.port, tls, session)[0]
    reload_with(server, "tickets = 1", "tickets = 0")
    resumed, new = visit(server.port, tls, session)
    assert not resumed
    assert not (new and new.has_ticket)


def test_more_tickets_than_the_library_sends_are_refused(certs):
    if not capabilities()["TLS library"].startswith("OpenSSL"):
        pytest.skip("AWS-LC and BoringSSL send as many as cleat takes")
    refusal = complaints("--tickets-resumed", 2, certs.ecdsa.pem)
    assert "tickets-resumed: error: OpenSSL" in refusal and "sends 1 at most" in refusal


def test_keys_of_tickets_have_no_effect_without_tickets(certs):
    for flags in [("--ticket-secret", "x"), ("--ticket-epoch", 43200), ("--tickets-resumed", 1)]:
        refusal = complaints("--tickets", 0, *flags, certs.ecdsa.pem)
        assert f"{flags[0]}: error: this has no effect with tickets = 0" in refusal


@VERSIONS
def test_frontends_alike_share_their_tickets(cleat, version):
    server = cleat("-f", "[127.0.0.1]:0")
    tls = only(version)
    _, session = visit(server.ports[0], tls)
    assert visit(server.ports[1], tls, session)[0]


@VERSIONS
def test_a_session_is_no_way_around_a_client_certificate(cleat, config, certs, version):
    """A ticket of a frontend without client certificates opens none that requires them."""
    server = cleat(
        "--config",
        config(f"""
        pem-file = "{certs.ecdsa.pem}"
        frontend = "[127.0.0.1]:0"
        frontend = {{ host = "127.0.0.1"
                      port = 0
                      client-verify = required
                      client-verify-ca = "{certs.authority("ca").cert}" }}
    """),
        pem=[],
        frontend=None,
    )
    public, closed = server.ports
    tls = only(version)
    _, session = visit(public, tls)
    with pytest.raises(OSError):
        visit(closed, tls, session)
    assert server.wait_for_log(event="handshake-failed", reason="no-client-certificate")


@VERSIONS
def test_a_resumed_session_keeps_its_client_certificate(cleat, certs, version):
    ca = certs.authority("ca")
    server = cleat("--client-verify", "required", "--client-verify-ca", ca.cert)
    alice = only(version, certificate=certs.signed("good", ca, "/O=Example/CN=alice").pem)
    _, session = visit(server.port, alice)
    assert visit(server.port, alice, session)[0]
