"""An operator's orders for the servers of upstreams: drain and weight, by the admin server."""

from collections import Counter

import pytest

from admin_client import admin_of, eventually_counts
from deadlines import eventually
from dns_server import DnsServer
from origins import echo
from reloads import reload_with
from tls_client import TlsClient
from upstream_blocks import answer, saying, upstream

ADMIN = '\nupstream = "app"\nadmin = "[127.0.0.1]:0"\n'


def order(server, admin, address, what, status=200):
    """order gives one, and waits until a worker has taken it."""
    escaped = address.replace("[", "%5B").replace("]", "%5D")
    said = admin.post(f"/server?upstream=app&server={escaped}&{what}")
    assert said.status == status, said.text
    admin.get("/status.json")  # A worker answers after what came before.
    return said.json


def test_a_server_is_drained_and_comes_back(serve, origin):
    a, b = origin(echo), origin(saying("b"))
    server = serve(upstream(a.address, b.address, lines=["balance = first"]) + ADMIN)
    admin = admin_of(server)
    with TlsClient(server.port) as client:
        assert client.exchange(b"before") == b"before"
        said = order(server, admin, a.address, "state=drain")
        assert (said["state"], said["open"]) == ("drained", 1)
        assert {answer(server.port) for _ in range(5)} == {"b"}
        assert client.exchange(b"after") == b"after"
    line = server.wait_for_log(event="server-changed")
    assert (line["upstream"], line["server"], line["state"]) == ("app", a.address, "drained")
    order(server, admin, a.address, "state=ready")
    with TlsClient(server.port) as client:
        assert client.exchange(b"again") == b"again"


def test_where_all_are_drained_a_client_is_refused(serve, origin):
    only = origin(saying("only"))
    server = serve(upstream(only.address) + ADMIN)
    order(server, admin_of(server), only.address, "state=drain")
    with TlsClient(server.port) as client:
        client.wait_for_refusal()
    failed = server.wait_for_log(event="connect-failed")
    assert (failed["upstream"], failed["reason"]) == ("app", "no-server")
    assert not only.accepted.qsize()


def test_a_client_in_the_line_of_a_server_that_is_drained_is_refused_as_a_new_one(serve, origin):
    only = origin(echo)
    one = f'{{ address = "{only.address}" max-connections = 1 }}'
    server = serve(upstream(one, lines=["eject-after = 1"]) + ADMIN)
    admin = admin_of(server)
    line = {"upstream": "app", "server": only.address}
    with TlsClient(server.port) as held, TlsClient(server.port) as client:
        assert held.exchange(b"x") == b"x"
        client.send(b"hello")
        eventually_counts(admin, "cleat_upstream_server_connections_waiting", 1, **line)
        order(server, admin, only.address, "state=drain")
        client.wait_for_refusal()
        failed = server.wait_for_log(event="connect-failed")
        assert (failed["upstream"], failed["reason"]) == (only.address, "no-server")
        assert held.exchange(b"y") == b"y"
    value = admin.metrics().value("cleat_upstream_server_connect_failures_total", **line)
    assert value == 0


def test_a_weight_is_changed_and_taken_back(serve, origin):
    a, b = (origin(saying(name)) for name in "ab")
    servers = (f'{{ address = "{a.address}" weight = 2 }}', b.address)
    server = serve(upstream(*servers) + ADMIN)
    admin = admin_of(server)
    assert Counter(answer(server.port) for _ in range(30)) == {"a": 20, "b": 10}
    said = order(server, admin, a.address, "weight=5")
    assert (said["weight"], said["configured_weight"]) == (5, 2)
    assert Counter(answer(server.port) for _ in range(30)) == {"a": 25, "b": 5}
    order(server, admin, a.address, "weight=configured")
    assert Counter(answer(server.port) for _ in range(30)) == {"a": 20, "b": 10}


def test_an_order_holds_through_a_reload(serve, origin):
    a, b = (origin(saying(name)) for name in "ab")
    text = upstream(a.address, b.address) + ADMIN
    server = serve(text + 'frontend = "[127.0.0.1]:0"\n')
    admin = admin_of(server)
    order(server, admin, a.address, "state=drain&weight=9")
    reload_with(server, "", "keepalive = 3599\n")
    assert {answer(server.port) for _ in range(5)} == {"b"}
    (shown,) = admin.get("/status.json").json["upstreams"]
    found = {each["server"]: (each["state"], each["weight"]) for each in shown["servers"]}
    assert found == {a.address: ("drained", 9), b.address: ("serving", 1)}


SERVICE = "srv:_web._tcp.app.example"


class Service:
    """Service is targets of SRV records, each at an address of its own, that say their names."""

    def __init__(self, dns, origin, names):
        self.dns = dns
        self.ports = {}
        for number, name in enumerate(names, 2):
            host = f"127.0.0.{number}"
            dns.hosts[f"{name}.example"] = [host]
            self.ports[name] = origin(saying(name), host=host).port

    def have(self, names):
        """have makes these the targets that DNS knows."""
        self.dns.services = [
            f"_web._tcp.app.example,{each}.example,{self.ports[each]},1,1" for each in names
        ]
        self.dns.restart()

    def start(self, serve, names):
        self.have(names)
        return serve(
            upstream(SERVICE) + f'{ADMIN}frontend = "[127.0.0.1]:0"\n{self.dns.setting}'
        )


@pytest.fixture
def service(origin, tmp_path):
    dns = DnsServer(tmp_path)
    yield Service(dns, origin, "abcd")
    dns.end()


def answers(server):
    return {answer(server.port) for _ in range(8)}


def test_an_order_holds_for_a_target_that_a_reload_would_sort_elsewhere(serve, service):
    server = service.start(serve, "bc")
    assert answers(server) == {"b", "c"}
    service.have("abc")
    eventually("a serves", lambda: answers(server) == {"a", "b", "c"})
    order(server, admin_of(server), SERVICE, "state=drain&weight=9")
    assert answers(server) == {"a", "c"}
    reload_with(server, "", "keepalive = 3599\n")
    assert answers(server) == {"a", "c"}
    (shown,) = admin_of(server).get("/status.json").json["upstreams"]
    assert [each["weight"] for each in shown["servers"][:3]] == [9, 1, 1]


def test_another_target_at_the_place_of_one_that_was_drained_serves(serve, service):
    server = service.start(serve, "bc")
    order(server, admin_of(server), SERVICE, "state=drain")
    assert answers(server) == {"c"}
    service.have("cd")
    eventually("d serves", lambda: answers(server) == {"c", "d"})
    service.have("bcd")
    eventually("b serves at another place", lambda: answers(server) == {"b", "c", "d"})


def test_a_target_that_was_drained_and_comes_back_to_its_place_is_drained(serve, service):
    server = service.start(serve, "bc")
    order(server, admin_of(server), SERVICE, "state=drain")
    service.have("c")
    server.wait_for_log(event="dns-changed")
    reload_with(server, "", "keepalive = 3599\n")
    service.have("bc")
    server.wait_for_log(event="dns-changed", times=2)
    assert answers(server) == {"c"}
    order(server, admin_of(server), SERVICE, "state=ready")
    assert answers(server) == {"b", "c"}


def test_servers_have_metrics(serve, origin):
    a, b = (origin(saying(name)) for name in "ab")
    gone = "/nonexistent/socket"
    lines = ["balance = first", "check = tcp", "check-interval = 1", "eject-after = 0"]
    server = serve(upstream(gone, a.address, b.address, lines=lines) + ADMIN)
    admin = admin_of(server)
    server.wait_for_log(event="server-down", server=gone)
    order(server, admin, b.address, "state=drain")
    for _ in range(4):
        assert answer(server.port) == "a"

    def value(name, each, **more):
        name = f"cleat_upstream_server_{name}"
        return admin.metrics().value(name, upstream="app", server=each, **more)

    eventually("they have ended", lambda: value("connections_open", a.address) == 0)
    assert value("connections_total", a.address) == 4
    assert value("connections_total", b.address) == 0
    assert value("weight", a.address) == 1
    eventually("a check has passed", lambda: value("check_passed", a.address) == 1)
    assert value("check_passed", gone) == 0
    for each, state in ((gone, "down"), (a.address, "serving"), (b.address, "drained")):
        for one in ("serving", "down", "drained"):
            assert value("state", each, state=one) == (one == state)


@pytest.mark.parametrize(
    "query, status, why",
    [
        ("", 400, "say which server and what"),
        ("upstream=app&server=/s", 400, "say which server and what"),
        ("upstream=app&server=/s&weight=0", 400, "say which server and what"),
        ("upstream=app&server=/s&state=down", 400, "say which server and what"),
        ("upstream=ap&server=/s&state=drain", 404, "there is no upstream ap in use; the"),
        ("upstream=app&server=/t&state=drain", 404, "no server /t; its servers are /s, /u"),
    ],
)
def test_an_order_that_cannot_be_followed_is_refused(serve, query, status, why):
    admin = admin_of(serve(upstream("/s", "/u") + ADMIN))
    said = admin.post(f"/server?{query}")
    assert said.status == status
    assert why in said.json["error"]
    assert admin.get(f"/server?{query}").status == 405
