"""More connections than a worker can serve: those that resume a session go ahead of full
handshakes, and these in the order of their signatures' cost; a client that has left costs no
signature, and where the wait grows too long new ones are shed."""

import select
import socket
import ssl

import pytest

from admin_client import LOCAL, admin_of
from deadlines import DEADLINE, eventually
from origins import echo
from program import complaints
from sessions import visit
from tls_client import TLS_1_2, TLS_1_3, TlsClient, context, only
from upstream_blocks import frontend, route, sni, upstream

# More than limits::crowd_min. Less than the backlog, and than is shed on a busy machine, where each
# takes several times as long.
CROWD = 200


@pytest.fixture
def busy(cleat, certs):
    """busy is a cleat with one worker, for which a signature takes a millisecond."""
    slow = certs.self_signed("rsa-3072", ["-newkey", "rsa:3072"], "DNS:localhost")
    return cleat("--workers", 1, "--admin", LOCAL, "--log-burst", 3, pem=[slow])


def hello_of(port, name="localhost"):
    with TlsClient(port, name=name, handshake=False) as client:
        return client.client_hello()


def begin(port, hello):
    made = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)
    made.sendall(hello)
    return made


def waiting(server):
    """waiting is how many full handshakes wait in line."""
    return admin_of(server).metrics().value("cleat_handshakes_waiting")


def none_was_shed(server):
    return not server.log(event="connection-refused")


def readable(clients):
    """readable are those to which cleat has sent something."""
    poll = select.poll()
    by_number = {client.fileno(): client for client in clients}
    for number in by_number:
        poll.register(number, select.POLLIN)
    return [by_number[number] for number, _ in poll.poll(0)]


def answered(clients):
    """answered is how many of them are readable."""
    return len(readable(clients))


HANDSHAKE = b"\x16"  # The type of a record (RFC 8446, section 5.1).


def first_byte(client):
    """first_byte is empty where cleat has closed the connection without a byte."""
    return client.recv(1)


def time_of(server, phase):
    return admin_of(server).metrics().value("cleat_handshake_phase_seconds_sum", phase=phase)


def close_all(clients):
    for client in clients:
        client.close()


def assert_that_a_session_goes_ahead(busy, tls, hello):
    """A crowd with this ClientHello comes first, and a client with a session after it."""
    _, session = visit(busy.port, tls)
    with busy.paused():
        crowd = [begin(busy.port, hello) for _ in range(CROWD)]
        returning = TlsClient(busy.port, tls, session=session, handshake=False)
        returning.socket.sendall(returning.client_hello())
    with returning:
        returning.handshake()
        before = answered(crowd)
        assert returning.tls.session_reused
        assert returning.exchange(b"first") == b"first"
    assert none_was_shed(busy)
    assert before < CROWD / 2
    close_all(crowd)


@pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3], ids=["1.2", "1.3"])
def test_a_session_goes_ahead_of_full_handshakes(busy, version):
    assert_that_a_session_goes_ahead(busy, only(version), hello_of(busy.port))


def without_tickets():
    tls = only(TLS_1_2)
    tls.options |= ssl.OP_NO_TICKET
    return tls


@pytest.fixture
def foreign(cleat, certs):
    """foreign is the ClientHello of a client that resumes a session of another server: one with
    another secret, whose only worker has the same number."""
    other = cleat("--workers", 1, pem=[certs.ecdsa])

    def hello(tls):
        _, session = visit(other.port, tls)
        with TlsClient(other.port, tls, session=session, handshake=False) as client:
            return client.client_hello()

    return hello


@pytest.mark.parametrize(
    "tls",
    [only(TLS_1_2), only(TLS_1_3), without_tickets()],
    ids=["ticket-1.2", "ticket-1.3", "id"],
)
def test_claims_that_are_false_wait_as_full_handshakes_do(busy, foreign, tls):
    assert_that_a_session_goes_ahead(busy, tls, foreign(tls))


def test_true_sessions_go_ahead_of_a_flood_with_false_ones(busy, foreign):
    """More false claims than limits::claims_max, until the line is full: none of them takes the
    credit that true sessions go ahead with."""
    tls = only(TLS_1_2)
    hello = foreign(tls)
    _, session = visit(busy.port, tls)
    crowd = crowd_until_shed(busy, hello)
    for _ in range(50):
        crowd.append(begin(busy.port, hello))
        assert visit(busy.port, tls, session)[0]
    close_all(crowd)


def test_claims_of_clients_that_their_route_refuses_take_no_credit(serve, certs, origin):
    """More of them than limits::claims_max. The route resets them before anything is signed."""
    slow = certs.self_signed("rsa-3072", ["-newkey", "rsa:3072"], "DNS:slow.test")
    address = origin(echo).address
    server = serve(
        upstream(address)
        + f'backend = "{address}"\npem-file = "{slow.pem}"\n'
        + frontend(route("app", sni("a.test"), "max-connections = 1"))
    )
    tls = only(TLS_1_3)
    _, session = visit(server.port, tls, name="slow.test")
    back = {"session": session, "handshake": False}
    hello = hello_of(server.port, "slow.test")
    with TlsClient(server.port, tls, name="a.test", **back) as offering:
        claim = offering.client_hello()
    with TlsClient(server.port, tls, name="a.test"):
        with server.paused():
            crowd = [begin(server.port, hello) for _ in range(CROWD)]
            crowd += [begin(server.port, claim) for _ in range(600)]
            returning = TlsClient(server.port, tls, name="slow.test", **back)
            returning.socket.sendall(returning.client_hello())
        with returning:
            returning.handshake()
            before = answered(crowd[:CROWD])
            assert returning.tls.session_reused
    server.wait_for_log(event="connection-refused", reason="route-connection-limit")
    assert before < CROWD / 2
    close_all(crowd)


def test_a_cheap_signature_goes_ahead_of_dear_ones(cleat, certs):
    slow = certs.self_signed("rsa-3072", ["-newkey", "rsa:3072"], "DNS:slow.test")
    server = cleat("--workers", 1, "--log-burst", 3, pem=[slow, certs.ecdsa])
    with server.paused():
        hello = hello_of(server.port, "slow.test")
        crowd = [begin(server.port, hello) for _ in range(CROWD)]
        last = TlsClient(server.port, handshake=False)
        last.socket.sendall(last.client_hello())
    with last:
        last.handshake()
        before = answered(crowd)
        assert last.exchange(b"first") == b"first"
    assert none_was_shed(server)
    assert before < CROWD / 2
    close_all(crowd)


def test_full_handshakes_are_served_in_their_order(busy):
    hello = hello_of(busy.port)
    with busy.paused():
        crowd = [begin(busy.port, hello) for _ in range(CROWD)]
    eventually("they wait in line", lambda: waiting(busy) > 0)
    poll = select.poll()
    numbers = {client.fileno(): number for number, client in enumerate(crowd)}
    for number in numbers:
        poll.register(number, select.POLLIN)
    order = []
    while numbers:
        for found, _ in poll.poll(DEADLINE * 1000):
            poll.unregister(found)
            order.append(numbers.pop(found))
    # poll() gives those of one look by their descriptor.
    assert none_was_shed(busy)
    assert order == sorted(order)
    close_all(crowd)


def test_a_client_that_has_left_costs_no_signature(busy):
    """Half of the crowd has left before its turn, and gets no ServerHello: that has the
    signature's cost."""
    hello = hello_of(busy.port)
    with busy.paused():
        crowd = [begin(busy.port, hello) for _ in range(CROWD)]
        gone = crowd[::2]
        for client in gone:
            client.shutdown(socket.SHUT_WR)
    with TlsClient(busy.port) as last:
        last.exchange(b"the last")
    assert none_was_shed(busy)
    assert {first_byte(client) for client in crowd[1::2]} == {HANDSHAKE}
    signed_for = [number for number, client in enumerate(gone) if first_byte(client) == HANDSHAKE]
    # The worker serves the first ones in the pass of its loop that accepts them: it has not looked
    # then whether they are still there.
    assert signed_for == list(range(len(signed_for))) and len(signed_for) < len(gone) / 4
    close_all(crowd)


def test_the_time_in_line_is_the_servers_part_of_a_handshake(busy):
    hello = hello_of(busy.port)
    with busy.paused():
        crowd = [begin(busy.port, hello) for _ in range(CROWD)]
    with TlsClient(busy.port) as last:
        last.exchange(b"the last")
    assert none_was_shed(busy)
    assert time_of(busy, "answer") > time_of(busy, "client_hello")
    close_all(crowd)


def crowd_until_shed(server, hello):
    """A crowd with this ClientHello, of which some have been shed."""
    crowd = []
    while not server.log(event="connection-refused", reason="handshake-shed"):
        assert len(crowd) < 8000  # limits::line_size_max, and what is served meanwhile.
        crowd.append(begin(server.port, hello))
    return crowd


def test_where_the_wait_is_too_long_new_ones_are_shed(busy):
    admin = admin_of(busy)
    with TlsClient(busy.port) as established:
        crowd = crowd_until_shed(busy, hello_of(busy.port))
        assert established.exchange(b"not in line") == b"not in line"
        eventually("the metric has those in line", lambda: 0 < waiting(busy) <= len(crowd))
        close_all(crowd)
    seen = admin.metrics()
    assert seen.value("cleat_connections_closed_total", reason="handshake-shed") > 0


def test_the_status_names_the_networks_of_those_that_are_shed(busy):
    close_all(crowd_until_shed(busy, hello_of(busy.port)))

    def counted():
        shed = admin_of(busy).get("/status.json").json["shed"]
        is_whole = shed["networks"] and shed["networks"][0]["count"] == shed["handshakes"]
        return is_whole and shed["networks"]

    networks = eventually("all that were shed are of one network", counted)
    assert [each["network"] for each in networks] == ["127.0.0.0/24"]
    assert networks[0]["excess"] == 0


INTERNAL_ERROR = b"\x15\x03\x03\x00\x02\x02\x50"  # A fatal alert (RFC 8446, section 6.2).


def answers_of_shed(crowd):
    """answers_of_shed are the bytes for each client that has an answer, and not a ServerHello."""
    begun = [client.recv(4096, socket.MSG_PEEK) for client in readable(crowd)]
    return [each for each in begun if not each.startswith(HANDSHAKE)]


def reason_for_client(answer):
    """reason_for_client is what a client names as the reason when it gets this answer."""
    received = ssl.MemoryBIO()
    client = context().wrap_bio(received, ssl.MemoryBIO(), server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    received.write(answer)
    with pytest.raises(ssl.SSLError) as failed:
        client.do_handshake()
    return failed.value.reason


@pytest.mark.parametrize(
    ("flags", "before_tls"),
    [([], b""), (["--proxy-proxy"], b"PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\n")],
    ids=["at-once", "behind-a-proxy-header"],
)
def test_a_client_that_is_shed_gets_an_alert_where_that_is_set(cleat, certs, flags, before_tls):
    slow = certs.self_signed("rsa-3072", ["-newkey", "rsa:3072"], "DNS:localhost")
    server = cleat(
        "--workers", 1, "--handshake-shed", "alert", "--log-burst", 3, *flags, pem=[slow]
    )
    crowd = crowd_until_shed(server, before_tls + hello_of(server.port))
    alerts = eventually("a client has the alert", lambda: answers_of_shed(crowd))
    assert set(alerts) == {INTERNAL_ERROR}
    assert reason_for_client(alerts[0]) == "TLSV1_ALERT_INTERNAL_ERROR"
    close_all(crowd)


def test_no_other_answer_can_be_set(config, certs):
    path = config(f'handshake-shed = drop\npem-file = "{certs.ecdsa.pem}"\n')
    said = complaints("--config", path, "--frontend", "[127.0.0.1]:0")
    assert 'handshake-shed: "drop" is no answer' in said and "Write reset or alert." in said
