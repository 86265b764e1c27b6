"""Active checks that speak TLS: what they verify, send and expect, and why they fail."""

import queue

import pytest

import proxy_header
from admin_client import admin_of
from deadlines import eventually
from origins import echo as echo_plain
from other_servers import nginx, s_server
from reloads import reload, replace
from tls_client import TLS_1_2, TLS_1_3, VERSIONS
from tls_origins import block, ca, echo, faulty, good, local, only_server, over_tls, settings
from upstream_blocks import frontend, route, sni, upstream

# The first check is at once, also after a reload, and has the time of a busy machine.
CHECK = ("check-interval = 20", "check-timeout = 20", "check-fall = 1")
OFTEN = ("check-interval = 1", "check-fall = 1")  # For a server that fails after it has passed.
ADMIN = 'admin = "[127.0.0.1]:0"\n'


def state(server):
    upstreams = admin_of(server).get("/status.json").json["upstreams"]
    (shown,) = [each for each in upstreams if each["name"] == "app"]
    (only,) = shown["servers"]
    return only["check"]


def wait_until_it_passes(server):
    eventually("a check has passed", lambda: state(server) == "passed")


@VERSIONS
@pytest.mark.parametrize("kind", ["on", "tls"])
def test_a_server_that_is_trusted_passes(serve, origin, ca, good, version, kind):
    seen = queue.Queue()

    def note(end):
        seen.put((end.name, end.receive_to_end()))

    up = origin(over_tls(only_server(good, version), note))
    lines = (*CHECK, f"check = {kind}")
    server = serve(block(local(up), ca=ca.cert, lines=lines) + ADMIN)
    wait_until_it_passes(server)
    # SNI, no text, and a close_notify.
    assert seen.get(timeout=60) == ("localhost", b"")


FAULTS = {
    "expired": "the server's certificate has expired",
    "unknown": "no trusted authority has signed the server's certificate",
    "name": "the server's certificate is for another name",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_is_not_trusted_is_down(serve, origin, certs, ca, fault):
    up = origin(over_tls(settings(faulty(certs, ca, fault)), echo))
    lines = (*CHECK, "check = on")
    server = serve(block(local(up), ca=ca.cert, lines=lines))
    line = server.wait_for_log(event="server-down")
    assert (line["server"], line["reason"]) == (local(up), FAULTS[fault])


def test_a_server_that_accepts_and_shakes_no_hands_is_down(serve, origin, ca):
    up = origin(lambda accepted: accepted.receive_to_end())
    lines = (*OFTEN, "check = on")
    server = serve(block(f"[127.0.0.1]:{up.port}", ca=ca.cert, lines=lines))
    line = server.wait_for_log(event="server-down")
    assert line["reason"] == "no TLS handshake within 1000 ms"


def test_check_tcp_is_content_with_a_connection(serve, origin, ca):
    up = origin(lambda accepted: accepted.receive_to_end())
    lines = (*CHECK, "check = tcp")
    server = serve(block(f"[127.0.0.1]:{up.port}", ca=ca.cert, lines=lines) + ADMIN)
    wait_until_it_passes(server)


@pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3], ids=["1.2", "1.3"])
def test_a_server_that_asks_for_a_certificate(serve, origin, certs, ca, good, version):
    clients = certs.authority("authority-of-clients")
    own = certs.signed("cleat-as-client", clients, "/CN=cleat.internal")
    up = origin(over_tls(only_server(good, version, clients=clients.cert), echo))
    lines = (*CHECK, "check = on")
    server = serve(block(local(up), ca=ca.cert, lines=lines))
    reason = server.wait_for_log(event="server-down")["reason"]
    alert = "handshake_failure" if version == TLS_1_2 else "certificate_required"
    assert reason == f"the server sent the alert {alert}"
    lines = (*lines, f'tls-cert = "{own.pem}"')
    server = serve(block(local(up), ca=ca.cert, lines=lines) + ADMIN)
    wait_until_it_passes(server)


def test_a_text_inside_tls(serve, origin, ca, good):
    seen = queue.Queue()

    def answer(end):
        seen.put(end.receive())
        end.send(b"500 broken")
        end.close_notify()

    up = origin(over_tls(settings(good), answer))
    lines = (*CHECK, "check = on", 'check-send = "PING\\r\\n"', 'check-expect = "200 "')
    server = serve(block(local(up), ca=ca.cert, lines=lines))
    line = server.wait_for_log(event="server-down")
    assert line["reason"] == "the answer has ended without the expected text"
    assert seen.get(timeout=60) == b"PING\r\n"


@pytest.mark.parametrize("offered", ["h2", "http/1.1"])
def test_the_protocol_of_a_check(serve, origin, ca, good, offered):
    seen = queue.Queue()

    def note(end):
        seen.put(end.tls.selected_alpn_protocol())
        end.receive_to_end()

    up = origin(over_tls(settings(good, alpn=["h2", "http/1.1"]), note))
    lines = [*CHECK, "check = on", 'tls-alpn = "h2,http/1.1"']
    if offered != "h2":
        lines.append(f'check-alpn = "{offered}"')
    server = serve(block(local(up), ca=ca.cert, lines=lines) + ADMIN)
    wait_until_it_passes(server)
    assert seen.get(timeout=60) == offered


@pytest.mark.parametrize("place", ["before", "inside"])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_header_is_of_cleats_own_connection(serve, origin, ca, good, place, version):
    seen = queue.Queue()
    receive = proxy_header.receive_v1 if version == "v1" else proxy_header.receive_v2

    def note(end):
        seen.put(receive(end))

    def inside(end):
        if place == "inside":
            note(end)
        echo(end)

    up = origin(over_tls(settings(good), inside, note if place == "before" else None))
    lines = [*CHECK, "check = on", 'check-send = "PING"', 'check-expect = "PING"']
    if place == "inside":
        lines.append("tls-proxy-header = inside")
    text = block(local(up), ca=ca.cert, lines=lines) + f"write-proxy-{version} = on\n"
    server = serve(text + ADMIN)
    wait_until_it_passes(server)
    local_v2 = proxy_header.SIGNATURE + b"\x20\0\0\0"
    assert seen.get(timeout=60) == (b"PROXY UNKNOWN\r\n" if version == "v1" else local_v2)


OF_ROUTE = "write-proxy-v1 = on"


@pytest.mark.parametrize(
    "settings_of_routes, headers",
    [
        ([OF_ROUTE], b"PROXY UNKNOWN\r\n"),
        ([OF_ROUTE, OF_ROUTE], b"PROXY UNKNOWN\r\n"),
        ([OF_ROUTE, ""], b""),
    ],
    ids=["one route", "routes that agree", "routes that differ"],
)
def test_a_check_has_the_header_of_the_routes(serve, origin, settings_of_routes, headers):
    seen = queue.Queue()

    def note(accepted):
        seen.put(accepted.receive_exactly(len(headers + b"PING")))
        accepted.send(b"PONG")

    up, other = origin(note), origin(echo_plain)
    lines = [*CHECK, "check = on", 'check-send = "PING"', 'check-expect = "PONG"']
    routes = [
        route("app", sni(f"{i}.test"), line) for i, line in enumerate(settings_of_routes)
    ]
    server = serve(
        upstream(up.address, lines=lines)
        + upstream(other.address, name="other")
        + 'upstream = "other"\n'
        + frontend(*routes)
        + ADMIN
    )
    assert seen.get(timeout=60) == headers + b"PING"
    wait_until_it_passes(server)
    assert not server.log(event="server-down")


def test_a_reload_takes_new_authorities(serve, origin, certs, ca, good, tmp_path):
    other = certs.authority("another-authority")
    file = tmp_path / "ca.pem"
    file.write_text(other.cert.read_text())
    up = origin(over_tls(settings(good), echo))
    lines = (*CHECK, "check = on")
    text = block(local(up), ca=file, lines=lines) + 'frontend = "[127.0.0.1]:0"\n'
    server = serve(text)
    assert server.wait_for_log(event="server-down")["reason"] == FAULTS["unknown"]
    replace(file, ca.cert.read_text())
    reload(server)
    server.wait_for_log(event="server-up")
    replace(file, other.cert.read_text())
    reload(server)
    assert server.wait_for_log(times=2, event="server-down")["reason"] == FAULTS["unknown"]


@pytest.mark.usefixtures("no_look_for_leaks")
def test_checks_need_no_more_than_the_sandbox_allows(serve, origin, certs, ca, good, tmp_path):
    file = tmp_path / "ca.pem"
    file.write_text(certs.authority("another-authority").cert.read_text())
    up = origin(over_tls(settings(good), echo))
    lines = (*CHECK, "check = on")
    text = block(local(up), ca=file, lines=lines) + "sandbox = seccomp\n"
    server = serve(text + 'frontend = "[127.0.0.1]:0"\n')
    server.wait_for_log(event="server-down")
    replace(file, ca.cert.read_text())
    reload(server)
    server.wait_for_log(event="server-up")


def test_openssl(serve, ca, good):
    lines = (*OFTEN, "check = on", 'check-send = "GET / HTTP/1.0\\r\\n\\r\\n"')
    lines = (*lines, 'check-expect = "200 ok"')
    with s_server(good) as port:
        server = serve(block(f"[localhost]:{port}", ca=ca.cert, lines=lines) + ADMIN)
        wait_until_it_passes(server)
    assert server.wait_for_log(event="server-down")["server"] == f"[localhost]:{port}"


GET = ('check-send = "GET / HTTP/1.0\\r\\n\\r\\n"', 'check-expect = " localhost "')


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("text", [(), GET], ids=["handshake", "text"])
def test_nginx_behind_a_proxy_header(serve, ca, good, tmp_path, version, text):
    lines = (*OFTEN, "check = on", *text)
    with nginx(tmp_path, good) as (_, proxied):
        shown = block(f"[localhost]:{proxied}", ca=ca.cert, lines=lines)
        server = serve(shown + f"write-proxy-{version} = on\n" + ADMIN)
        wait_until_it_passes(server)
    assert "SSL_do_handshake() failed" not in (tmp_path / "error.log").read_text()
    assert server.wait_for_log(event="server-down")["server"] == f"[localhost]:{proxied}"
