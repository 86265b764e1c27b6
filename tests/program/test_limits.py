"""max-connections, client-max-connections and client-handshake-rate: a client beyond a limit is
reset before TLS, counted and logged apart from failures. A reload keeps what was counted."""

import contextlib
import json
import socket
import time

import pytest

from admin_client import admin_of, eventually_counts
from deadlines import DEADLINE, eventually
from origins import echo
from program import complaints, run
from proxy_header import SIGNATURE, make_v2
from reloads import reload_is_refused, reload_with, rewrite
from tls_client import TlsClient

DESTINATION = ("198.51.100.2", 443)
LOCAL = SIGNATURE + b"\x20\x00\x00\x00"


@pytest.fixture
def serve(serve_lines):
    return serve_lines


@pytest.fixture
def connect():
    """Connects clients, and closes those that are left."""
    with contextlib.ExitStack() as all_clients:

        def connect(port, **options):
            return all_clients.enter_context(TlsClient(port, **options))

        yield connect


@pytest.fixture
def is_reset(connect):
    """Whether a client gets a reset instead of an answer."""

    def is_reset(port, **options):
        try:
            connect(port, **options)
        except (ConnectionResetError, BrokenPipeError):
            return True
        return False

    return is_reset


def refused(server, reason, **more):
    return server.wait_for_log(event="connection-refused", reason=reason, **more)


def test_connections_in_all(serve, connect, is_reset):
    server = serve("max-connections = 2", "log-level = 2")
    first, _ = connect(server.port), connect(server.port, source="127.0.0.2")
    assert is_reset(server.port, source="127.0.0.3")
    line = refused(server, "connection-limit")
    assert line["level"] == "warning" and line["peer"].startswith("127.0.0.3:")
    first.socket.close()
    server.wait_for_log(event="connection-closed")
    connect(server.port, source="127.0.0.3")


def test_connections_of_a_frontend(serve, connect, is_reset):
    server = serve(
        'frontend = { host = "127.0.0.1" port = "0" max-connections = 1 }',
        'frontend = { host = "127.0.0.1" port = "0" }',
        "log-level = 2",
    )
    narrow, wide = server.ports
    first = connect(narrow)
    assert is_reset(narrow)
    refused(server, "frontend-connection-limit")
    connect(wide), connect(wide)  # The other frontend has no part in it.
    first.socket.close()
    server.wait_for_log(event="connection-closed")
    connect(narrow)


def test_workers_divide_the_connections_in_all(serve, connect):
    server = serve("max-connections = 4", workers=2)
    opened = 0
    for _ in range(40):
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            connect(server.port)
            opened += 1
    assert opened == 4


def test_connections_of_a_client(serve, connect, is_reset):
    server = serve("client-max-connections = 2", "log-level = 2")
    first, _ = connect(server.port), connect(server.port)
    assert is_reset(server.port)
    assert refused(server, "client-connection-limit")["peer"].startswith("127.0.0.1:")
    connect(server.port, source="127.0.0.2")  # Another client.
    first.socket.close()
    server.wait_for_log(event="connection-closed")
    connect(server.port)
    assert is_reset(server.port)


def test_handshakes_of_a_client(serve, connect, is_reset):
    server = serve("client-handshake-rate = 1", "client-handshake-burst = 3")
    began = time.monotonic()
    admitted = sum(not is_reset(server.port) for _ in range(20))
    assert 3 <= admitted <= 4 + time.monotonic() - began
    refused(server, "client-handshake-limit")
    connect(server.port, source="127.0.0.2")  # Another client.
    eventually("a token has come", lambda: not is_reset(server.port))


def test_the_burst_is_a_second_of_the_rate(serve, is_reset):
    server = serve("client-handshake-rate = 5")
    began = time.monotonic()
    admitted = sum(not is_reset(server.port) for _ in range(50))
    assert 5 <= admitted <= 6 + 5 * (time.monotonic() - began)


def test_a_prefix_of_ipv4_is_one_client(serve, connect, is_reset):
    server = serve("client-max-connections = 1", "client-prefix-ipv4 = 24")
    connect(server.port, source="127.0.0.1")
    assert is_reset(server.port, source="127.0.0.200")
    connect(server.port, source="127.0.1.1")


def test_a_64_of_ipv6_is_one_client(serve, connect, is_reset):
    server = serve('proxy-from = "127.0.0.1"', "client-max-connections = 1")

    def header(address):
        return f"PROXY TCP6 {address} 2001:db8::1 4711 443\r\n".encode()

    connect(server.port, before_tls=header("2001:db8:0:7::1"))
    assert is_reset(server.port, before_tls=header("2001:db8:0:7:ffff::2"))
    connect(server.port, before_tls=header("2001:db8:0:8::1"))


def test_a_client_by_ipv6(serve, connect, is_reset, ipv6):
    server = serve('frontend = "[::1]:0"', "client-max-connections = 1")
    connect(server.port, source="::1", host="::1")
    assert is_reset(server.port, source="::1", host="::1")


def test_the_client_of_a_proxy_header_is_limited(serve, connect, is_reset):
    server = serve('proxy-from = "127.0.0.1"', "client-max-connections = 1")
    one, other = (make_v2((f"192.0.2.{i}", 4711), DESTINATION) for i in (1, 2))
    connect(server.port, before_tls=one)
    assert is_reset(server.port, before_tls=one)
    line = refused(server, "client-connection-limit")
    assert line["source"] == "192.0.2.1:4711"
    connect(server.port, before_tls=other)
    for _ in range(3):  # The balancer's own health checks.
        connect(server.port, before_tls=LOCAL)


def test_a_full_cleat_does_not_wait_for_a_proxy_header(serve, connect):
    server = serve('proxy-from = "127.0.0.1"', "max-connections = 1")
    connect(server.port, before_tls=LOCAL)
    with socket.create_connection(("127.0.0.1", server.port), DEADLINE) as client:
        client.sendall(SIGNATURE[:1])  # A part of a header, which would be waited for.
        with pytest.raises(ConnectionResetError):
            client.recv(1)
    refused(server, "connection-limit")


def test_a_passthrough_has_the_same_limits(serve, connect, is_reset):
    server = serve(
        'upstream = { name = "far" server = "[127.0.0.1]:9" }',
        'frontend = { host = "127.0.0.1" port = "0" '
        'route = { sni = "far.example" passthrough = on upstream = "far" } }',
        "client-max-connections = 1",
        "log-level = 2",
    )
    connect(server.port)
    assert is_reset(server.port, name="far.example")
    refused(server, "client-connection-limit")


# Limits of a client at one frontend, or on one route.


def frontend(settings=""):
    return f'frontend = {{ host = "127.0.0.1" port = "0" {settings} }}'


def test_a_frontend_replaces_the_limit_of_a_client(serve, connect, is_reset):
    """Its clients are counted apart: their connections elsewhere do not count."""
    server = serve(
        frontend("client-max-connections = 2"),
        frontend(),
        frontend(),
        "client-max-connections = 1",
        "log-level = 2",
    )
    own, one, other = server.ports
    connect(one)
    assert is_reset(one) and is_reset(other)  # These two count together.
    first, _ = connect(own), connect(own)
    assert is_reset(own)
    refused(server, "client-connection-limit")
    first.socket.close()
    server.wait_for_log(event="connection-closed")
    connect(own)
    assert is_reset(own) and is_reset(other)


def test_a_frontend_is_without_the_global_limit(serve, connect, is_reset):
    server = serve(
        frontend("client-max-connections = 0"), frontend(), "client-max-connections = 1"
    )
    free, narrow = server.ports
    connect(narrow)
    assert is_reset(narrow)
    for _ in range(3):
        connect(free)


def test_a_frontend_has_its_own_handshake_rate(serve, is_reset):
    server = serve(
        frontend("client-handshake-rate = 1 client-handshake-burst = 3"),
        frontend(),
        'admin = "[127.0.0.1]:0"',
    )
    narrow, free = server.ports
    began = time.monotonic()
    admitted = sum(not is_reset(narrow) for _ in range(20))
    assert 3 <= admitted <= 4 + time.monotonic() - began
    assert not any(is_reset(free) for _ in range(20))
    eventually_counts(
        admin_of(server), "cleat_connections_refused_total", 20 - admitted,
        reason="client-handshake-limit",
    )  # fmt: skip


def route(settings):
    return f'route = {{ sni = "a.test" upstream = "app" {settings} }}'


@pytest.fixture
def app(origin):
    return f'upstream = {{ name = "app" server = "{origin(echo).address}" }}'


def test_a_client_has_so_many_connections_on_a_route(serve, app, connect, is_reset):
    """Beside what it may have at the frontend. The reset comes after its ClientHello."""
    server = serve(
        app, frontend(route("client-max-connections = 1")), "client-max-connections = 3",
        "log-level = 2", 'admin = "[127.0.0.1]:0"',
    )  # fmt: skip
    first = connect(server.port, name="a.test")
    assert is_reset(server.port, name="a.test")
    line = refused(server, "client-connection-limit")
    assert (line["level"], line["sni"], line["route"]) == ("warning", "a.test", "sni a.test")
    connect(server.port, name="a.test", source="127.0.0.2")  # Another client.
    connect(server.port, name="b.test"), connect(server.port, name="b.test")
    assert is_reset(server.port, name="b.test")  # The fourth at the frontend.
    assert "route" not in refused(server, "client-connection-limit", times=2)
    first.socket.close()
    server.wait_for_log(event="connection-closed")
    connect(server.port, name="a.test")
    admin = admin_of(server)
    reason = "client-connection-limit"
    counted = eventually_counts(admin, "cleat_connections_refused_total", 2, reason=reason)
    assert counted.sum("cleat_handshakes_failed_total") == 0


def test_a_client_begins_so_many_handshakes_on_a_route(serve, app, connect, is_reset):
    limits = "client-handshake-rate = 1 client-handshake-burst = 3"
    server = serve(app, frontend(route(limits)))
    began = time.monotonic()
    admitted = sum(not is_reset(server.port, name="a.test") for _ in range(20))
    assert 3 <= admitted <= 4 + time.monotonic() - began
    assert refused(server, "client-handshake-limit")["route"] == "sni a.test"
    assert not server.log(event="handshake-failed")
    connect(server.port, name="a.test", source="127.0.0.2")
    assert not any(is_reset(server.port, name="b.test") for _ in range(10))


def test_a_route_counts_the_clients_of_a_passthrough(serve, origin, connect, is_reset):
    away = origin(echo)
    server = serve(
        f'upstream = {{ name = "app" server = "{away.address}" }}',
        frontend(route("passthrough = on client-max-connections = 1")),
        "log-level = 2",
    )
    passed = connect(server.port, name="a.test", handshake=False)
    passed.socket.sendall(passed.client_hello())
    server.wait_for_log(event="passthrough-begins")
    assert is_reset(server.port, name="a.test")
    assert refused(server, "client-connection-limit")["route"] == "sni a.test, passthrough"


def test_a_reload_changes_the_limits_of_scopes_and_keeps_their_counts(
    serve, app, connect, is_reset
):
    server = serve(
        app, frontend("client-max-connections = 1 " + route("max-connections = 9")),
        "log-level = 2", "client-table-size = 100",
    )  # fmt: skip
    connect(server.port, name="b.test")
    assert is_reset(server.port, name="b.test")
    changed = reload_with(server, "client-max-connections = 1", "client-max-connections = 2")
    assert changed["keys"] == "client-max-connections"
    connect(server.port, name="b.test")
    assert is_reset(server.port, name="b.test")  # The one from before counts.
    reload_with(server, "client-max-connections = 2", "client-max-connections = 9")
    connect(server.port, name="a.test")
    changed = reload_with(server, "max-connections = 9 }", "client-max-connections = 1 }")
    assert changed["keys"] == "route"
    connect(server.port, name="a.test")  # The route counted no clients when the older one came.
    assert is_reset(server.port, name="a.test")


def test_refusals_are_counted_apart_from_failures(serve, connect, is_reset):
    server = serve("client-max-connections = 1", 'admin = "[127.0.0.1]:0"', "log-burst = 3")
    connect(server.port)
    for _ in range(20):
        assert is_reset(server.port)
    admin = admin_of(server)
    reason = "client-connection-limit"
    counted = eventually_counts(admin, "cleat_connections_refused_total", 20, reason=reason)
    assert counted.value("cleat_connections_closed_total", reason=reason) == 20
    assert counted.sum("cleat_handshakes_failed_total") == 0
    assert counted.value("cleat_client_limits_shared_total") == 0
    assert admin.get("/status.json").json["failures"] == []
    assert len(server.log(event="connection-refused")) == 3  # A sample, by log-burst.


def test_clients_without_a_place_share_the_limits_of_one(serve, connect, is_reset):
    server = serve(
        "client-max-connections = 1", "client-table-size = 1", 'admin = "[127.0.0.1]:0"'
    )
    for i in range(8):  # Seven places, and the one that is shared.
        connect(server.port, source=f"127.0.0.{i + 1}")
    assert is_reset(server.port, source="127.0.0.9")
    eventually_counts(admin_of(server), "cleat_client_limits_shared_total", 2)


def test_the_access_log_names_the_refusal(serve, connect, is_reset, tmp_path):
    log = tmp_path / "access.log"
    server = serve("max-connections = 1", f'access-log = "{log}"', "access-log-format = json")
    connect(server.port)
    assert is_reset(server.port, source="127.0.0.2")
    refused(server, "connection-limit")
    server.end()
    lines = [json.loads(each) for each in log.read_text().splitlines()]
    (line,) = [each for each in lines if each["reason"] == "connection-limit"]
    assert line["peer"].startswith("127.0.0.2:")


def test_a_reload_keeps_the_counts(serve, connect, is_reset):
    limits = "client-max-connections = 2\nclient-handshake-rate = 1\nclient-handshake-burst = 50"
    server = serve(
        'frontend = { host = "127.0.0.1" port = "0" max-connections = 4 }', limits, "log-level = 2"
    )
    first, _ = connect(server.port), connect(server.port)
    reload_with(server, "log-level = 2", "log-level = 2\nlog-burst = 9")
    assert is_reset(server.port)
    refused(server, "client-connection-limit")
    connect(server.port, source="127.0.0.2"), connect(server.port, source="127.0.0.3")
    assert is_reset(server.port, source="127.0.0.4")  # Two of the four are older.
    refused(server, "frontend-connection-limit")
    first.socket.close()
    server.wait_for_log(event="connection-closed")
    connect(server.port)
    assert is_reset(server.port)


def test_a_reload_keeps_the_buckets(serve, is_reset):
    server = serve("client-handshake-rate = 1", "client-handshake-burst = 30", "log-level = 2")
    began = time.monotonic()
    assert sum(not is_reset(server.port) for _ in range(60)) >= 30
    reload_with(server, "log-level = 2", "log-level = 2\nlog-burst = 9")
    admitted = sum(not is_reset(server.port) for _ in range(30))
    assert admitted <= 1 + time.monotonic() - began


def test_a_reload_brings_and_takes_limits(serve, connect, is_reset):
    server = serve("log-level = 2")
    old = connect(server.port)
    reload_with(server, "log-level", "max-connections = 2\nlog-level")
    connect(server.port)
    assert is_reset(server.port)  # The older connection counts.
    reload_with(server, "max-connections = 2", "client-max-connections = 1")
    connect(server.port)  # Its older ones were not counted as a client's.
    assert is_reset(server.port)
    reload_with(server, "client-max-connections = 1\n", "")
    connect(server.port)
    old.socket.close()
    server.wait_for_log(event="connection-closed")
    reload_with(server, "log-level", "client-max-connections = 1\nlog-level")
    connect(server.port)
    assert is_reset(server.port)


def test_a_reload_with_a_mistake_is_refused(serve, connect, is_reset):
    server = serve("client-max-connections = 1", "log-level = 2")
    connect(server.port)
    rewrite(server, "log-level", "client-handshake-burst = 3\nlog-level")
    (problem,) = reload_is_refused(server)
    assert "client-handshake-burst: this is a part of client-handshake-rate" in problem
    assert is_reset(server.port)  # The old limits are in force.


FRONTEND = 'frontend = { host = "127.0.0.1" port = "1" max-connections = %d }'


@pytest.mark.parametrize(
    "lines, said",
    [
        (
            "max-connections = 10\nclient-max-connections = 10",
            "conf:2:26: error: client-max-connections: this has no effect: max-connections is 10 "
            "in all, by conf:1:19. Write a smaller number, or leave one of them out.",
        ),
        (
            f"max-connections = 10\n{FRONTEND % 20}",
            "error: max-connections: this has no effect: max-connections is 10 in all",
        ),
        (
            f"max-connections = 50\nclient-max-connections = 20\n{FRONTEND % 20}",
            "client-max-connections: this has no effect: the frontends without one of "
            "their own have at most 20 together. "
            "Write a smaller number, or leave one of them out.",
        ),
        (
            'max-connections = 9\nupstream = "app"\nupstream = { name = "app"\n'
            'server = { address = "/s" max-connections = 9 } }',
            "error: max-connections: this has no effect: max-connections is 9 in all, by conf:1",
        ),
        (
            "client-handshake-burst = 5",
            "conf:1:26: error: client-handshake-burst: this is a part of client-handshake-rate, "
            "which is not set. Set client-handshake-rate, or leave this out.",
        ),
        (
            "client-prefix-ipv4 = 24",
            "error: client-prefix-ipv4: clients have no limit: neither client-max-connections nor "
            "client-handshake-rate is set",
        ),
        ("client-prefix-ipv6 = 48", "error: client-prefix-ipv6: clients have no limit"),
        ("client-table-size = 9", "error: client-table-size: clients have no limit"),
        ("client-prefix-ipv4 = 33", "client-prefix-ipv4"),
        ("client-prefix-ipv6 = 0", "client-prefix-ipv6"),
        (
            "proxy-proxy = on\nclient-handshake-rate = 5",
            "conf:2:25: error: client-handshake-rate: proxy-proxy takes a PROXY header from every "
            "peer, so every peer could come as many clients. Name the load balancers with "
            "proxy-from.",
        ),
        (
            "workers = 4\nmax-connections = 3",
            "conf:2:19: error: max-connections: 3 connections cannot be divided among 4 workers. "
            "Write 4 or more, or set workers to fewer.",
        ),
        (f"workers = 4\n{FRONTEND % 2}", "2 connections cannot be divided among 4 workers"),
    ],
)
def test_settings_without_effect_are_errors(config, certs, lines, said):
    path = config(f'{lines}\npem-file = "{certs.ecdsa.pem}"\n')
    frontend = [] if "frontend =" in lines else ["--frontend", "[127.0.0.1]:0"]
    assert said in complaints("--config", path, *frontend).replace(str(path), "conf")


def test_the_default_configuration_has_no_limits(config, certs):
    defaults = run("--default-config").stdout
    path = config(f'{defaults}\npem-file = "{certs.ecdsa.pem}"\nfrontend = "[127.0.0.1]:0"\n')
    assert run("-t", "--config", path).returncode == 0


def test_explain_names_the_limits(config, certs):
    path = config(
        "max-connections = 1000\nclient-max-connections = 10\nclient-handshake-rate = 5\n"
        'frontend = { host = "127.0.0.1" port = "443" max-connections = 100 }\n'
        f'pem-file = "{certs.ecdsa.pem}"\nworkers = 2\n'
    )
    asked = ["explain", "--config", path, "--sni", "localhost"]
    said = " ".join(run(*asked, "--from", "2001:db8:0:7::1").stdout.split())
    assert (
        "limits 1000 connections in all; 100 connections of the frontend; 10 connections and 5 "
        "handshakes a second, 5 at once of 2001:db8:0:7::/64" in said
    )
    assert "of an IPv4 /32 or IPv6 /64" in run(*asked).stdout
    (one,) = json.loads(run(*asked, "--from", "192.0.2.1", "--json").stdout)["frontends"]
    assert one["limits"] == {
        "connections": 1000,
        "frontend_connections": 100,
        "route_connections": None,
        "client": "192.0.2.1/32",
        "client_connections": 10,
        "client_handshake_rate": 5,
        "client_handshake_burst": 5,
        "counted_at_frontend": False,
        "route_client_connections": None,
        "route_client_handshake_rate": None,
        "route_client_handshake_burst": None,
    }


def test_explain_names_the_limits_of_a_frontend_and_a_route(config, certs):
    path = config(
        'client-handshake-rate = 5\nupstream = { name = "app" server = "/nowhere" }\n'
        'frontend = { host = "127.0.0.1" port = "443" client-max-connections = 10\n'
        f"{route('client-handshake-rate = 2')} }}\n"
        f'backend = "/nowhere"\npem-file = "{certs.ecdsa.pem}"\n'
    )
    asked = ["explain", "--config", path, "--from", "192.0.2.1", "--sni"]
    said = " ".join(run(*asked, "a.test").stdout.split())
    assert (
        "limits 10 connections and 5 handshakes a second, 5 at once of 192.0.2.1/32 at this "
        "frontend; 2 handshakes a second, 2 at once of 192.0.2.1/32 at the route" in said
    )
    assert "at the route" not in run(*asked, "b.test").stdout
    (one,) = json.loads(run(*asked, "a.test", "--json").stdout)["frontends"]
    assert one["limits"]["counted_at_frontend"] is True
    assert one["limits"]["client_handshake_rate"] == 5
    assert one["limits"]["route_client_connections"] is None
    assert one["limits"]["route_client_handshake_rate"] == 2
    assert one["limits"]["route_client_handshake_burst"] == 2
