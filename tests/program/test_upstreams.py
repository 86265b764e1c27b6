"""Upstreams of several servers: a server that is down costs no connection, is left out, and comes
back; balance and weights; frontends with upstreams of their own."""

import json
from collections import Counter

import pytest

from admin_client import admin_of, eventually_counts
from deadlines import eventually
from origins import echo
from program import complaints, run
from proxy_header import make_v2
from reloads import reload_with
from tls_client import TlsClient
from upstream_blocks import answer, saying, upstream


def test_connections_go_to_all_servers_by_turns(serve, origin):
    servers = [origin(saying(name)).address for name in "abc"]
    server = serve(upstream(*servers) + 'upstream = "app"')
    assert Counter(answer(server.port) for _ in range(30)) == {"a": 10, "b": 10, "c": 10}


def test_weights_and_a_backup(serve, origin):
    a, b, spare = (origin(saying(name)).address for name in ("a", "b", "spare"))
    servers = (f'{{ address = "{a}" weight = 3 }}', b, f'{{ address = "{spare}" backup = on }}')
    server = serve(upstream(*servers) + 'upstream = "app"')
    assert Counter(answer(server.port) for _ in range(40)) == {"a": 30, "b": 10}


@pytest.mark.parametrize("is_reloaded", [False, True], ids=["one configuration", "a reload"])
def test_the_fewest_connections(serve, origin, is_reloaded):
    names = {}
    for name in "ab":
        names[origin(lambda one, name=name: (one.send(name.encode()), echo(one))).address] = name
    server = serve(upstream(*names, lines=["balance = least-connections"]) + 'upstream = "app"')
    held = [TlsClient(server.port) for _ in range(6)]
    seen = [each.receive(1) for each in held]
    assert Counter(seen) == {b"a": 3, b"b": 3}
    for each, name in zip(held, seen):
        if name == b"a":
            each.reset()
    eventually("they have ended", lambda: len(server.log(event="connection-closed")) == 3)
    if is_reloaded:
        reload_with(server, "", "log-burst = 7\n")
    more = [TlsClient(server.port) for _ in range(3)]
    assert [each.receive(1) for each in more] == [b"a"] * 3
    for each, name in zip(held, seen):
        if name == b"b":
            each.reset()
    for each in more:
        each.reset()


def test_a_client_stays_with_its_server(serve, origin):
    servers = [origin(saying(name)).address for name in "abc"]
    server = serve(upstream(*servers, lines=["balance = client-hash"]) + 'upstream = "app"')
    assert len({answer(server.port) for _ in range(20)}) == 1


def test_a_client_is_the_same_as_an_ipv6_address(serve, origin):
    """A load balancer may write a client's IPv4 address as an IPv6 one (RFC 4291, 2.5.5.2)."""
    servers = [origin(saying(name)).address for name in "abcde"]
    lines = ["balance = client-hash"]
    text = upstream(*servers, lines=lines) + 'upstream = "app"\nproxy-from = "127.0.0.1"'
    server = serve(text)
    for number in range(1, 20):
        as_ipv4 = make_v2((f"192.0.2.{number}", 1), ("198.51.100.2", 443))
        as_ipv6 = make_v2((f"::ffff:192.0.2.{number}", 1), ("2001:db8::1", 443))
        found = {answer(server.port, before_tls=header) for header in (as_ipv4, as_ipv6)}
        assert len(found) == 1, number


def test_a_server_that_is_down_costs_no_connection(serve, origin, nobody):
    up = origin(saying("up"))
    server = serve(upstream(nobody, up.address, lines=["eject-after = 2"]) + 'upstream = "app"')
    assert {answer(server.port) for _ in range(20)} == {"up"}
    (line,) = server.log(event="server-ejected")
    assert (line["upstream"], line["server"], line["failures"]) == ("app", nobody, "2")
    assert not server.log(event="connect-failed")


def test_a_server_comes_back(serve, origin, tmp_path):
    late = tmp_path / "late.sock"
    up = origin(saying("up"))
    lines = ["eject-after = 1", "eject-time = 1", "balance = first"]
    server = serve(upstream(str(late), up.address, lines=lines) + 'upstream = "app"')
    assert answer(server.port) == "up"
    assert server.wait_for_log(event="server-ejected")["server"] == str(late)
    origin(saying("late"), path=late)
    eventually("it is back", lambda: answer(server.port) == "late")
    assert server.wait_for_log(event="server-returned")["server"] == str(late)
    assert {answer(server.port) for _ in range(5)} == {"late"}


def test_when_none_serves_the_last_one_is_named(serve, nobody, tmp_path):
    missing = str(tmp_path / "missing.sock")
    server = serve(upstream(nobody, missing, lines=["balance = first"]) + 'upstream = "app"')
    for _ in range(5):  # Also while both are left out.
        with TlsClient(server.port) as client:
            client.wait_for_refusal()
    eventually("all are logged", lambda: len(server.log(event="connect-failed")) == 5)
    assert {each["upstream"] for each in server.log(event="connect-failed")} <= {nobody, missing}


def test_the_first_bytes_reach_the_server_that_serves(serve, origin, nobody):
    up = origin(echo)
    lines = ["balance = first", "eject-after = 0"]
    server = serve(upstream(nobody, up.address, lines=lines) + 'upstream = "app"')
    for _ in range(5):
        with TlsClient(server.port) as client:
            assert client.exchange(b"hello") == b"hello"
    assert not server.log(event="server-ejected")


def test_frontends_have_upstreams_of_their_own(serve, origin):
    a, b, c = (origin(saying(name)).address for name in "abc")
    text = upstream(a, name="one") + upstream(b, name="two") + f'backend = "{c}"\n'
    for name in ("one", "two", ""):
        own = f'upstream = "{name}"' if name else ""
        text += f'frontend = {{ host = "127.0.0.1" port = "0" {own} }}\n'
    server = serve(text)
    assert [answer(port) for port in server.ports] == ["a", "b", "c"]


def test_a_reload_changes_the_servers(serve, origin):
    a, b = (origin(saying(name)).address for name in "ab")
    server = serve(upstream(a) + 'upstream = "app"\nfrontend = "[127.0.0.1]:0"\n')
    assert answer(server.port) == "a"
    with TlsClient(server.port) as client:
        assert reload_with(server, a, b)["keys"] == "upstream"
        assert client.receive_to_end() == b"a"
    assert answer(server.port) == "b"


def limited(origin, limit=2):
    return f'{{ address = "{origin.address}" max-connections = {limit} }}'


def test_a_server_gets_no_more_connections_than_it_may_have(serve, origin):
    names = {}
    for name in "ab":
        names[name] = origin(lambda one, name=name: (one.send(name.encode()), echo(one)))
    servers = (limited(names["a"]), names["b"].address)
    server = serve(upstream(*servers, lines=["balance = first"]) + 'upstream = "app"')
    held = [TlsClient(server.port) for _ in range(4)]
    assert [each.receive(1) for each in held] == [b"a", b"a", b"b", b"b"]
    held[0].reset()
    server.wait_for_log(event="connection-closed")
    with TlsClient(server.port) as client:
        assert client.receive(1) == b"a"
    for each in held[1:]:
        each.reset()


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_connections_wait_in_line_where_every_server_is_full(serve, origin, tmp_path, kind):
    """Clients that wait for a UNIX socket with a full backlog have a line of their own: no client
    waits in both."""
    one = origin(echo, path=tmp_path / "app.sock" if kind == "unix" else None)
    server = serve(upstream(limited(one)) + 'upstream = "app"\nadmin = "[127.0.0.1]:0"\n')
    line = {"upstream": "app", "server": one.address}
    held = [TlsClient(server.port) for _ in range(2)]
    assert [each.exchange(b"x") for each in held] == [b"x", b"x"]
    waiting = [TlsClient(server.port) for _ in range(3)]
    for each in waiting:
        each.send(b"hello")
    eventually_counts(
        admin_of(server), "cleat_upstream_server_connections_waiting", len(waiting), **line
    )
    for done in held:
        done.reset()
    for each in waiting[:2]:
        assert each.receive_exactly(5) == b"hello"
    waiting[0].reset()
    assert waiting[2].receive_exactly(5) == b"hello"
    for each in waiting[1:]:
        each.reset()
    assert not server.log(event="connect-failed")


def test_a_client_that_leaves_the_line_never_reaches_the_server(serve, origin):
    one = origin(echo)
    server = serve(upstream(limited(one, 1)) + 'upstream = "app"\nadmin = "[127.0.0.1]:0"\n')
    admin, line = admin_of(server), {"upstream": "app", "server": one.address}
    waiting = "cleat_upstream_server_connections_waiting"
    with TlsClient(server.port) as held:
        assert held.exchange(b"x") == b"x"
        gone = TlsClient(server.port)
        gone.send(b"gone")
        eventually_counts(admin, waiting, 1, **line)
        half_closed = TlsClient(server.port)
        half_closed.send(b"hello")
        half_closed.close_notify()
        half_closed.truncate()
        eventually_counts(admin, waiting, 2, **line)
        gone.reset()
        held.close_notify()
        assert half_closed.receive_to_end() == b"hello"
    server.wait_for_log(event="connection-closed", reason="client-reset")
    assert len(one.all) == 2
    assert not server.log(event="connect-failed")


def test_connections_from_before_a_reload_count_against_the_limit(serve, origin):
    """A client that waits gets the place of one that came before the reload, and so does one that
    came before it and waits still."""
    one = origin(echo)
    text = upstream(limited(one, 1)) + 'upstream = "app"\nadmin = "[127.0.0.1]:0"\n'
    server = serve(text)
    line = {"upstream": "app", "server": one.address}
    waiting = (admin_of(server), "cleat_upstream_server_connections_waiting")
    with TlsClient(server.port) as held:
        assert held.exchange(b"x") == b"x"
        first = TlsClient(server.port)
        first.send(b"hello")
        eventually_counts(*waiting, 1, **line)
        reload_with(server, "", "log-burst = 7\n")
        second = TlsClient(server.port)
        second.send(b"hello")
        eventually_counts(*waiting, 2, **line)
        held.reset()
        assert first.receive_exactly(5) == b"hello"
        first.reset()
        assert second.receive_exactly(5) == b"hello"
        second.reset()


def test_a_limit_that_a_reload_raises_lets_those_in_who_wait(serve, origin):
    one = origin(echo)
    text = upstream(limited(one, 1)) + 'upstream = "app"\nadmin = "[127.0.0.1]:0"\n'
    server = serve(text)
    line = {"upstream": "app", "server": one.address}
    with TlsClient(server.port) as held, TlsClient(server.port) as client:
        assert held.exchange(b"x") == b"x"
        client.send(b"hello")
        eventually_counts(
            admin_of(server), "cleat_upstream_server_connections_waiting", 1, **line
        )
        reload_with(server, "max-connections = 1", "max-connections = 2")
        assert client.receive_exactly(5) == b"hello"


def test_a_client_is_refused_that_has_waited_for_too_long(serve, origin):
    one = origin(echo)
    text = upstream(limited(one, 1)) + 'upstream = "app"\nbackend-connect-timeout = 1\n'
    server = serve(text)
    with TlsClient(server.port) as held:
        assert held.exchange(b"x") == b"x"
        with TlsClient(server.port) as client:
            client.wait_for_refusal()
        failed = server.wait_for_log(event="connect-failed")
        assert (failed["upstream"], failed["reason"]) == (one.address, "servers-full")
        assert held.exchange(b"y") == b"y"
    assert not server.log(event="server-ejected")


def test_explain_names_the_upstream(certs, config):
    servers = ('{ address = "[127.0.0.1]:1" weight = 2 }', '{ address = "/s" backup = on }')
    path = config(
        upstream(*servers, lines=["balance = first"])
        + f'frontend = {{ port = "4430" upstream = "app" }}\npem-file = "{certs.ecdsa.pem}"\n'
    )
    flags = ["explain", "--config", path, "--sni", "localhost"]
    assert "app, first: [127.0.0.1]:1 (weight 2), /s (backup)" in run(*flags).stdout
    (frontend,) = json.loads(run(*flags, "--json").stdout)["frontends"]
    assert frontend["upstream"] == "app"
    assert frontend["upstream_addresses"] == ["127.0.0.1:1", "unix:/s"]


@pytest.mark.parametrize(
    "text, wrong",
    [
        ('upstream = "app"', ":1:12: error: upstream: there is no upstream app. Write a block"),
        (upstream("[127.0.0.1]:1") + 'upstream = "ap"', "there is no upstream ap. The upstreams"),
        ("upstream = { server = \"/s\" }", "the block has no name. Add name ="),
        ('upstream = { name = "app" }', "the block has no server. Add server ="),
        (
            upstream("{ weight = 2 }") + 'upstream = "app"',
            "server: the block has no address. Add address =",
        ),
        (
            upstream("/s") + upstream("/s") + 'upstream = "app"',
            "error: name: the upstream app is there already, by",
        ),
        (
            upstream("/s") + 'upstream = "app"\nbackend = "/b"',
            "error: backend: this has no effect: the connections of every frontend go to",
        ),
        (upstream("/s", lines=["balance = least"]), '"least" is no way to balance. Write first,'),
        (upstream("/s", "/t", "/s"), "error: server: /s is there already, by"),
        (
            upstream(*(f"/{i}" for i in range(65))) + 'upstream = "app"',
            "app has 65 servers, and may have 64",
        ),
        (upstream("{ address = \"/s\" weight = 0 }"), "weight: 0 is out of range"),
        (
            upstream("/s", lines=["check-fall = 3"]),
            "error: check-fall: this has no effect: the upstream app has no checks. Add check",
        ),
        (upstream("/s", lines=["check = ping"]), '"ping" is no kind of check. Write on, with'),
        (
            upstream("/s", lines=["check = tcp", "check-timeout = 3"]),
            "error: check-timeout: a check may take 3 s, and the next one begins after 2 s. Make",
        ),
        (
            upstream("/s", lines=["check = tcp", "check-interval = 1", 'check-send = "x"']),
            "error: check-send: the check would pass whatever the server answers. Add check-expect",
        ),
        (
            upstream("/s", lines=["check = tcp", r'check-expect = "a\q"']),
            r'"\q" is no escape. Write \r, \n, \t, \\ or \x with two hexadecimal digits.',
        ),
        (
            upstream("/s", lines=["check = on", f'check-expect = "{"x" * 4097}"']),
            "error: check-expect: the text has 4097 bytes, and a check reads 4096 of the answer.",
        ),
        (
            upstream("/s", lines=["check = on", r'check-send = "PROXY UNKNOWN\r\nPING"'])
            + "write-proxy-v1 = on",
            "error: check-send: this begins with a PROXY header, and a check sends one already.",
        ),
        (
            upstream("/s", lines=["balance = first", "slow-start = 5"]),
            "error: slow-start: this has no effect: with balance = first a server has no share.",
        ),
        (
            upstream('{ address = "/s" max-connections = 3 }') + 'workers = 4\nupstream = "app"',
            "error: max-connections: 3 connections are fewer than one for each of 4 workers. Write",
        ),
        (upstream("/s", lines=["port = 1"]), "this key does not stand in an upstream block"),
    ],
)
def test_mistakes_are_named(certs, config, text, wrong):
    assert wrong in complaints("--config", config(text + f'\npem-file = "{certs.ecdsa.pem}"\n'))


def test_an_upstream_that_no_frontend_uses_is_a_warning(certs, config):
    path = config(upstream("/s") + f'pem-file = "{certs.ecdsa.pem}"\n')
    ran = run("-t", "--config", path)
    assert ran.returncode == 0 and "no frontend uses the upstream app" in ran.stderr
