"""Routes: the upstream of a client is chosen by its name, its protocol and its address; the first
route that takes it is used. Routes that can never be chosen are mistakes."""

import json
from collections import Counter

import pytest

from origins import echo
from proxy_header import make_v2
from program import complaints, run
from reloads import reload_is_refused, reload_with, rewrite
from tls_client import TLS_1_2, VERSIONS, TlsClient, context, only
from upstream_blocks import answer, frontend, route, saying, sni, upstream


@pytest.fixture
def named(origin):
    """Upstream blocks with these names, whose servers say them; the backend says "backend"."""

    def make(*names):
        blocks = [upstream(origin(saying(name)).address, name=name) for name in names]
        return "".join(blocks) + f'backend = "{origin(saying("backend")).address}"\n'

    return make


@VERSIONS
def test_by_name(serve, named, version):
    server = serve(
        named("exact", "wild", "nameless")
        + frontend(
            route("exact", sni("www.example.org", "other.example")),
            route("wild", sni("*.example.org")),
            route("nameless", sni("none")),
        )
    )
    asked = {
        "www.example.org": "exact",
        "WWW.Example.Org": "exact",
        "other.example": "exact",
        "a.example.org": "wild",
        "a.b.example.org": "backend",
        "example.org": "backend",
        "localhost": "backend",
        None: "nameless",
    }
    for name, reached in asked.items():
        assert answer(server.port, only(version), name=name) == reached, name


def test_by_protocol(serve, named):
    """By the protocol that both agree on, not by the one that the client likes best."""
    text = 'alpn-protos = "h2,http/1.1"\n' + named("two", "one", "both")
    server = serve(
        text
        + frontend(
            route("two", sni("a.example"), 'alpn = "h2"'),
            route("both", sni("b.example"), 'alpn = "h2,http/1.1"'),
            route("one", 'alpn = "http/1.1"'),
        )
    )
    asked = [
        ("a.example", ["http/1.1", "h2"], "two"),
        ("a.example", ["http/1.1"], "one"),
        ("a.example", None, "backend"),
        ("b.example", ["h2"], "both"),
        ("b.example", ["http/1.1"], "both"),
        ("b.example", None, "backend"),
        ("c.example", ["h2"], "backend"),
    ]
    for name, offered, reached in asked:
        tls = context(alpn=offered) if offered else context()
        assert answer(server.port, tls, name=name) == reached, (name, offered)


def test_by_address(serve, named, ipv6):
    routes = [
        route("loop", 'client-address = "127.0.0.0/8" client-address = "::1"', sni("a.example")),
        route("other", 'client-address = "192.0.2.0/24"'),
    ]
    text = named("loop", "other") + frontend(*routes)
    server = serve(text + frontend(*routes).replace("127.0.0.1", "::1", 1))
    first, second = server.ports
    assert answer(first, name="a.example") == "loop"
    assert answer(first, name="b.example") == "backend"
    assert answer(second, name="a.example", host="::1") == "loop"


def test_by_the_address_in_a_proxy_header(serve, origin):
    near, far = origin(), origin()
    text = f'proxy-proxy = on\nproxy-from = "127.0.0.1"\nbackend = "{far.address}"\n'
    text += upstream(near.address)
    server = serve(text + frontend(route("app", 'client-address = "192.0.2.0/24"')))
    for source, reached in {"192.0.2.77": near, "192.0.3.1": far}.items():
        header = make_v2((source, 1), ("198.51.100.2", 443))
        with TlsClient(server.port, before_tls=header):
            assert reached.accept().receive_exactly(len(header)) == header


def test_the_first_route_that_takes_a_client_is_used(serve, named):
    server = serve(
        "alpn-protos = h2\n"
        + named("first", "second", "third")
        + frontend(
            route("first", 'alpn = "h2"'),
            route("second", sni("a.example")),
            route("third", 'client-address = "127.0.0.1"'),
        )
    )
    assert answer(server.port, context(alpn=["h2"]), name="a.example") == "first"
    assert answer(server.port, name="a.example") == "second"
    assert answer(server.port, name="b.example") == "third"


@VERSIONS
def test_a_resumed_session_is_routed_too(serve, named, version):
    server = serve(named("app") + frontend(route("app", sni("a.example"))))
    tls = only(version)
    with TlsClient(server.port, tls, name="a.example") as client:
        assert client.receive_to_end() == b"app"
        session = client.tls.session
    for name, reached in {"a.example": b"app", "b.example": b"backend"}.items():
        with TlsClient(server.port, tls, name=name, session=session) as client:
            assert client.receive_to_end() == reached
            assert client.tls.session_reused or version == TLS_1_2


def test_routes_share_the_servers_of_an_upstream(serve, origin):
    servers = [origin(saying(name)).address for name in "ab"]
    server = serve(
        upstream(*servers)
        + frontend(
            route("app", sni("a.example")), route("app", sni("b.example")), lines='upstream = "app"'
        )
    )
    for name in ("a.example", "b.example", "c.example"):
        assert Counter(answer(server.port, name=name) for _ in range(4)) == {"a": 2, "b": 2}


def test_the_first_bytes_go_with_the_route(serve, origin):
    app = origin(echo)
    text = f'write-proxy-v1 = on\n{upstream(app.address)}'
    server = serve(text + frontend(route("app", sni("a.example"))))
    with TlsClient(server.port, name="a.example", handshake=False) as client:
        client.socket.sendall(client.finish_with(b"hello"))
        port = client.socket.getsockname()[1]
        expected = f"PROXY TCP4 127.0.0.1 127.0.0.1 {port} {server.port}\r\nhello".encode()
        assert client.receive_exactly(len(expected)) == expected


def test_a_reload_changes_routes(serve, named):
    routes = [route("old", sni("a.example")), route("new", sni("b.example"))]
    server = serve(named("old", "new") + frontend(*routes, route("old", sni("c.example"))))
    with TlsClient(server.port, name="a.example") as before:
        to_new = 'sni = "a.example" upstream = "new"'
        assert reload_with(server, 'sni = "a.example" upstream = "old"', to_new)["keys"] == "route"
        assert before.receive_to_end() == b"old"
    assert answer(server.port, name="a.example") == "new"
    rewrite(server, "sni =", "no-sni =")
    assert "no-sni: there is no such key" in reload_is_refused(server)[0]
    assert answer(server.port, name="a.example") == "new"


def test_many_routes(serve, named):
    """10,000 routes: start, and every one is found."""
    many = [route("app" if i % 2 else "other", sni(f"{i}.example")) for i in range(10_000)]
    server = serve(named("app", "other") + frontend(*many))
    for i in (0, 1, 4999, 5000, 9998, 9999):
        assert answer(server.port, name=f"{i}.example") == ("app" if i % 2 else "other")
    assert answer(server.port, name="10000.example") == "backend"


def explain(config, *flags):
    return run("explain", "--config", config, *flags)


def test_explain_says_which_route_takes_a_client(certs, config):
    path = config(
        f'alpn-protos = h2\npem-file = "{certs.ecdsa.pem}"\n'
        + upstream("/a", name="a")
        + upstream("/b", name="b")
        + frontend(
            route("a", sni("a.example"), 'alpn = "h2"'),
            route("b", 'client-address = "192.0.2.0/24"'),
            port=4430,
        )
    )
    line = path.read_text()[: path.read_text().index("route")].count("\n") + 1
    ran = explain(path, "--sni", "a.example", "--alpn", "h2")
    assert f"route        sni a.example, alpn h2 ({path}:{line}:3)" in ran.stdout, ran.stdout
    assert "upstream     a, round-robin: /a" in ran.stdout
    ran = explain(path, "--sni", "a.example", "--from", "192.0.2.9")
    assert f"route        client-address 192.0.2.0/24 ({path}:{line + 1}:3)" in ran.stdout
    ran = explain(path, "--sni", "a.example")
    assert "route        none matches; the frontend's upstream is used" in ran.stdout
    for flags, where, to in [
        (["--alpn", "h2"], f"{path}:{line}:3", "a"),
        ([], None, "[127.0.0.1]:8000"),
    ]:
        ran = explain(path, "--sni", "a.example", "--json", *flags)
        (one,) = json.loads(ran.stdout)["frontends"]
        assert (one["route"], one["upstream"]) == (where, to)


def with_app(text, certs):
    return text + upstream("/s") + f'pem-file = "{certs.ecdsa.pem}"\n'


@pytest.mark.parametrize(
    "routes, wrong",
    [
        ([sni("a.example")] * 2, "4:19: error: sni: this is never chosen: the route at "),
        ([sni("a.example")] * 2, ":3:3 takes all clients with a.example. Put the narrower"),
        ([sni("*.example"), sni("b.org", "a.example")], "takes all clients with a.example."),
        ([sni("none")] * 2, "takes all clients with no name."),
        (['client-address = "10.0.0.0/8"', 'client-address = "10.9.0.1"'], "would take. Put"),
        (['client-address = "::/0"', f'client-address = "::1" {sni("a.example")}'], ":3:3 takes"),
        ([""], "route: this takes every client of the frontend. Write its upstream into"),
        (['alpn = "h2"'], "alpn: no client agrees on h2 here, which needs alpn-protos. Add it"),
        ([sni("*")], "sni: * is no name. Leave sni out: a route without it takes clients with any"),
        ([sni("127.0.0.1")], "127.0.0.1 is an address, which a client sends no SNI for."),
        ([sni("a b")], '"a b" is no name that clients ask for. Write www.example.org,'),
        (['client-address = "10.0.0.1/8"'], "Write 10.0.0.0/8 for the network, or 10.0.0.1"),
        (['client-address = "host"'], '"host" is no address and no prefix. Write 192.0.2.1, 192'),
        ([sni("a.example") + " port = 1"], "port: this key does not stand in a route block."),
        ([sni("a.example") + ' name = "x"'], "name: this key does not stand in a route block."),
        (
            [f'alpn = "h2" client-address = "10.0.0.{i}"' for i in range(65)],
            "65 routes are for any name, and may be 64. Join those with the same upstream",
        ),
    ],
)
def test_mistakes_are_named(certs, config, routes, wrong):
    path = config(with_app("# 1\n" + frontend(*(route("app", each) for each in routes)), certs))
    assert wrong in complaints("--config", path)


@pytest.mark.parametrize(
    "text, wrong",
    [
        (frontend(route("ap", sni("a.example"))), "upstream: there is no upstream ap. The"),
        (frontend(route("", sni("a.example"))), "upstream: the route names no upstream. The"),
        (frontend("route = { sni = a.example }"), "the block has no upstream. Add upstream ="),
        (frontend('route = "app"'), "route: a route is a block. Write route = { sni ="),
        (route("app", sni("a.example")), "route: this key does not stand at the top of the file."),
    ],
)
def test_mistakes_in_naming_are_named(certs, config, text, wrong):
    assert wrong in complaints("--config", config(with_app(text, certs)))


def test_a_route_makes_use_of_an_upstream(certs, config):
    path = config(with_app(frontend(route("app", sni("a.example"))), certs))
    ran = run("-t", "--config", path)
    assert ran.returncode == 0 and "no frontend uses" not in ran.stderr, ran.stderr
