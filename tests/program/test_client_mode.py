"""Client mode: plaintext in, TLS out, for a frontend or for all. The servers are verified; ends and
breaks of one side reach the other as they are; admission, routes, PROXY headers, the logs and
reloads are those of any frontend."""

import hashlib
import math
import json
import os
import queue
import time

import pytest

import origins
import proxy_header
from access_logs import AccessLog
from admin_client import Admin
from deadlines import DEADLINE
from plain_client import PlainClient, answer, is_refused
from program import complaints, run
from reloads import reload_is_refused, reload_with, replace, rewrite
from tls_client import VERSIONS, TlsClient
from tls_origins import (  # noqa: F401: the fixtures
    FAULTS, LONG_ANSWER, TlsEnd, answer_at_the_end, block, ca, cut, digest, echo, faulty, good,
    local, noting_the_end, only_server, over_tls, saying, server_certificate, settings,
    speak_nonsense,
)  # fmt: skip

SIZE = 20_000_000


def frontend(*lines, to="app"):
    inner = "\n".join([*lines, f'upstream = "{to}"'])
    return f'frontend = {{ host = "127.0.0.1" port = "0" client = on\n{inner}\n}}\n'


@pytest.fixture
def serve(cleat, config, ca):
    """Starts cleat with one worker, and a frontend that takes plaintext for an upstream of these
    servers. All other lines are the test's."""

    def serve(*servers, text="", lines=(), route="", flags=()):
        named = block(*servers, ca=ca.cert, lines=lines).replace('}\nupstream = "app"\n', "}\n")
        path = config(named + frontend(route) + text)
        server = cleat(
            "--config", path, "--workers", 1, *flags, pem=[], backend="", frontend=None
        )
        server.config = path
        return server

    return serve


@VERSIONS
def test_plaintext_becomes_tls(serve, origin, good, version):
    def answer_and_digest(end: TlsEnd) -> None:
        assert end.receive_exactly(4) == b"ping"
        end.send(b"pong")
        digest(SIZE)(end)

    server = serve(local(origin(over_tls(only_server(good, version), answer_and_digest))))
    with PlainClient(server.port) as client:
        client.send(b"ping")
        assert client.receive_exactly(4) == b"pong"
        for piece in origins.pieces(SIZE):
            client.send(piece)
        client.end()
        whole = client.receive_to_end()
    assert whole[:64].decode() == origins.expected_digest(SIZE)
    assert hashlib.sha256(whole[64:]).hexdigest() == origins.expected_digest(SIZE)
    line = server.wait_for_log(event="connection-closed")
    assert (line["reason"], line["up_bytes"]) == ("done", str(SIZE + 4))


def fastest_answer(port):
    """The time until a client that sends nothing has its answer: the minimum of ten, because load
    only lengthens it. A time that is short enough ends the search."""
    times = [math.inf]
    while min(times) > 0.9 and len(times) <= 10:
        began = time.monotonic()
        assert answer(port) == "220 hello"
        times.append(time.monotonic() - began)
    return min(times)


def test_a_server_that_speaks_first_is_heard_at_once(serve, origin, certs, good):
    """No client's byte is waited for, neither before the accept nor before the handshake's end; nor
    on the socket of a frontend where TLS ended before. TCP_DEFER_ACCEPT would wait for a second."""
    server = serve(local(origin(over_tls(settings(good), saying("220 hello")))))
    assert fastest_answer(server.port) < 0.9
    own = f'pem-file = "{certs.ecdsa.pem}"'
    reload_with(server, "client = on", own)
    reload_with(server, own, "client = on")
    assert fastest_answer(server.port) < 0.9


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_does_not_verify_is_named_and_the_client_is_reset(
    serve, origin, certs, ca, fault
):
    seen = queue.Queue()
    up = origin(over_tls(settings(faulty(certs, ca, fault)), lambda end: seen.put(end.receive())))
    server = serve(local(up))
    assert is_refused(server.port, b"secret")
    assert server.wait_for_log(event="upstream-handshake-failed")["reason"] == FAULTS[fault]
    line = server.wait_for_log(event="connect-failed")
    assert (line["reason"], line["upstream"]) == (FAULTS[fault], local(up))
    assert seen.empty()


def test_a_server_that_is_not_there_resets_the_client(serve, origin):
    up = origin()
    up.close()
    server = serve(local(up))
    assert is_refused(server.port)
    assert server.wait_for_log(event="connect-failed")["reason"] == "Connection refused"


def test_the_next_server_costs_no_connection(serve, origin, certs, ca, good):
    wrong = origin(over_tls(settings(faulty(certs, ca, "name")), saying("wrong")))
    right = origin(over_tls(settings(good), saying("right")))
    server = serve(local(wrong), local(right))
    assert {answer(server.port) for _ in range(4)} == {"right"}


# Ends.


@VERSIONS
def test_a_client_ends_and_still_reads_its_answer(serve, origin, good, version):
    server = serve(local(origin(over_tls(only_server(good, version), answer_at_the_end))))
    with PlainClient(server.port) as client:
        client.send(b"question")
        client.end()
        assert client.receive_to_end() == LONG_ANSWER
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"


def test_a_server_ends_and_is_still_sent_to(serve, origin, good):
    heard = queue.Queue()
    up = origin(over_tls(settings(good), noting_the_end(heard, saying("goodbye"))))
    server = serve(local(up))
    with PlainClient(server.port) as client:
        assert client.receive_to_end() == b"goodbye"
        client.send(b"and more")
        client.end()
        assert heard.get(timeout=DEADLINE) == b"and more"
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"


def test_a_client_that_has_ended_before_the_handshake(serve, origin, good):
    """The client's bytes and its end leave cleat together."""
    heard = queue.Queue()
    server = serve(local(origin(over_tls(settings(good), lambda e: heard.put(e.receive_to_end())))))
    for text in (b"all of it", b""):
        with PlainClient(server.port) as client:
            client.send(text)
            client.end()
            assert heard.get(timeout=DEADLINE) == text


@VERSIONS
def test_an_answer_without_close_notify_ends_in_a_reset(serve, origin, good, version):
    server = serve(local(origin(over_tls(only_server(good, version), cut(b"half of")))))
    with PlainClient(server.port) as client:
        assert client.wait_for_reset() == b"half of"
    line = server.wait_for_log(event="connection-closed")
    assert (line["reason"], line["level"]) == ("upstream-truncated", "warning")


def test_a_slow_client_gets_all_that_came_before_the_cut(serve, origin, good):
    """The reset comes after the bytes that cleat's kernel still holds for the client."""
    whole = bytes(range(256)) * (1 << 14)
    server = serve(local(origin(over_tls(settings(good), cut(whole)))))
    with PlainClient(server.port, receive_buffer=8192) as client:
        time.sleep(1)  # Until cleat's sockets are full.
        assert client.receive_exactly(len(whole)) == whole
        assert client.wait_for_reset() == b""
    assert server.wait_for_log(event="connection-closed")["reason"] == "upstream-truncated"


def test_a_client_that_breaks_breaks_the_server(serve, origin, good):
    ends = queue.Queue()
    listen = noting_the_end(ends, lambda end: end.send(b"go on"))
    server = serve(local(origin(over_tls(settings(good), listen))))
    with PlainClient(server.port) as client:
        assert client.receive_exactly(5) == b"go on"
        client.send(b"half of")
        client.reset()
        assert isinstance(ends.get(timeout=DEADLINE), ConnectionResetError)
    assert server.wait_for_log(event="connection-closed")["reason"] == "client-reset"


@pytest.mark.parametrize("text", [b"", b"half of"])
def test_a_client_that_breaks_during_the_handshake(serve, origin, good, text):
    """The server must see that the stream was cut."""
    ends = queue.Queue()
    up = origin()
    server = serve(local(up))
    client = PlainClient(server.port)
    client.send(text)
    waiting = up.accept()
    client.reset()
    try:
        over_tls(settings(good), noting_the_end(ends))(waiting)
        assert isinstance(ends.get(timeout=DEADLINE), ConnectionResetError)
    except ConnectionResetError:
        pass  # In the handshake already.
    assert server.wait_for_log(event="connection-closed")["reason"] == "client-reset"


def test_a_server_that_breaks_tls(serve, origin, good):
    server = serve(local(origin(over_tls(settings(good), speak_nonsense))))
    with PlainClient(server.port) as client:
        client.send(b"ping")
        assert client.wait_for_reset() == b""
    assert server.wait_for_log(event="connection-closed")["reason"] == "upstream-failed"


def test_silence_ends_in_a_reset(serve, origin, good):
    server = serve(local(origin(over_tls(settings(good), echo))), text="idle-timeout = 1\n")
    with PlainClient(server.port) as client:
        assert client.exchange(b"ping") == b"ping"
        assert client.wait_for_reset() == b""
    assert server.wait_for_log(event="connection-closed")["reason"] == "idle-timeout"


# Admission of clients, and their destinations.


def test_address_lists_and_limits(serve, origin, good, tmp_path):
    place = tmp_path / "admin.sock"
    server = serve(
        local(origin(over_tls(settings(good), echo))),
        route='deny-from = "127.0.0.2"\nmax-connections = 2',
        text=f'client-max-connections = 1\nadmin = "{place}"\n',
    )
    assert is_refused(server.port, source="127.0.0.2")
    assert server.wait_for_log(event="connection-refused")["reason"] == "address-denied"
    with PlainClient(server.port) as first:
        assert first.exchange(b"ping") == b"ping"
        assert is_refused(server.port)
        with PlainClient(server.port, source="127.0.0.3") as third:
            assert third.exchange(b"ping") == b"ping"
            assert is_refused(server.port, source="127.0.0.4")
    server.wait_for_log(times=3, event="connection-refused")
    reasons = [line["reason"] for line in server.log(event="connection-refused")]
    assert reasons == ["address-denied", "client-connection-limit", "frontend-connection-limit"]
    seen = Admin(place).metrics()
    for each in reasons:
        assert seen.value("cleat_connections_refused_total", reason=each) == 1


def test_the_rate_of_handshakes_counts_connections(serve, origin, good):
    """In client mode each connection makes a handshake: that with a server."""
    server = serve(
        local(origin(over_tls(settings(good), echo))),
        text="client-handshake-rate = 1\nclient-handshake-burst = 2\n",
    )
    with PlainClient(server.port) as first, PlainClient(server.port) as second:
        assert first.exchange(b"ping") == b"ping"
        assert second.exchange(b"ping") == b"ping"
        assert is_refused(server.port)
    line = server.wait_for_log(event="connection-refused")
    assert line["reason"] == "client-handshake-limit"


def test_routes_by_address(serve, origin, ca, good):
    one, other = (origin(over_tls(settings(good), saying(name))) for name in ("one", "other"))
    more = block(local(other), ca=ca.cert, name="other").replace('}\nupstream = "other"\n', "}\n")
    route = 'route = { client-address = "127.0.0.2" upstream = "other" }'
    server = serve(local(one), route=route, text=more)
    assert answer(server.port) == "one"
    assert answer(server.port, source="127.0.0.2") == "other"


def test_a_route_has_its_header_and_its_limit(serve, origin, ca, good):
    seen = queue.Queue()
    one = origin(over_tls(settings(good), echo))
    read = proxy_header.receive_v1
    other = origin(over_tls(settings(good), echo, lambda accepted: seen.put(read(accepted))))
    more = block(local(other), ca=ca.cert, name="other").replace('}\nupstream = "other"\n', "}\n")
    own = 'write-proxy-v1 = on max-connections = 1 upstream = "other"'
    server = serve(local(one), route=f'route = {{ client-address = "127.0.0.2" {own} }}', text=more)
    with PlainClient(server.port, source="127.0.0.2") as client:
        assert client.exchange(b"ping") == b"ping"
        assert seen.get(timeout=DEADLINE).startswith(b"PROXY TCP4 127.0.0.2 127.0.0.1 ")
        assert is_refused(server.port, source="127.0.0.2")
        line = server.wait_for_log(event="connection-refused")
        assert (line["reason"], line["level"]) == ("route-connection-limit", "warning")
        assert "127.0.0.2" in line["route"] and "sni" not in line
        with PlainClient(server.port) as another:
            assert another.exchange(b"ping") == b"ping"
    server.wait_for_log(times=2, event="connection-closed")
    with PlainClient(server.port, source="127.0.0.2") as client:
        assert client.exchange(b"ping") == b"ping"


# The PROXY header.


@pytest.mark.parametrize("place", ["before", "inside"])
def test_the_proxy_header_that_is_sent(serve, origin, good, place):
    seen = queue.Queue()

    def inside(end: TlsEnd) -> None:
        if place == "inside":
            seen.put(proxy_header.receive_v2(end))
        echo(end)

    before = {"before": lambda accepted: seen.put(proxy_header.receive_v2(accepted))}
    up = origin(over_tls(settings(good), inside, before.get(place)))
    lines = () if place == "before" else ("tls-proxy-header = inside",)
    server = serve(local(up), lines=lines, text="write-proxy-v2 = on\n")
    with PlainClient(server.port) as client:
        assert client.exchange(b"ping") == b"ping"
        header = proxy_header.parse_v2(seen.get(timeout=DEADLINE))
        assert header.source == client.socket.getsockname()
        assert header.destination == client.socket.getpeername()
        assert not header.tlvs  # Nothing of TLS is known of this client.


@pytest.mark.parametrize("is_passed_on", [False, True])
def test_the_proxy_header_that_comes(serve, origin, good, is_passed_on):
    seen = queue.Queue()
    sent = proxy_header.make_v2(("192.0.2.7", 1234), ("192.0.2.8", 443), b"\xe5\x00\x01x")
    read = proxy_header.receive_v2 if is_passed_on else proxy_header.receive_v1
    up = origin(over_tls(settings(good), echo, lambda accepted: seen.put(read(accepted))))
    text = "proxy-proxy = on\n" if is_passed_on else "write-proxy-v1 = on\n"
    server = serve(local(up), text=text + 'proxy-from = "127.0.0.1"\n')
    with PlainClient(server.port) as client:
        for piece in (sent[:5], sent[5:] + b"pi", b"ng"):
            client.send(piece)
        assert client.receive_exactly(4) == b"ping"
        line = b"PROXY TCP4 192.0.2.7 192.0.2.8 1234 443\r\n"
        assert seen.get(timeout=DEADLINE) == (sent if is_passed_on else line)
        client.end()
        assert client.receive_to_end() == b""
    assert server.wait_for_log(event="connection-closed")["source"] == "192.0.2.7:1234"
    with PlainClient(server.port) as client:
        client.send(b"GET / HTTP/1.0\r\n\r\n")
        assert client.wait_for_close() == b""
    assert server.wait_for_log(event="proxy-header-failed")["reason"] == "bad-proxy-header"


# The logs, metrics, checks and commands.


def test_the_access_log_has_what_there_is(serve, origin, good, tmp_path):
    path = tmp_path / "access.log"
    up = origin(over_tls(settings(good), echo))
    server = serve(local(up), flags=("--access-log", path, "--access-log-format", "json"))
    with PlainClient(server.port) as client:
        assert client.exchange(b"ping") == b"ping"
        client.end()
        assert client.receive_to_end() == b""
    entry = AccessLog(path).wait_for(reason="done")
    assert (entry["up_bytes"], entry["down_bytes"]) == (4, 4)
    assert entry["connect_ms"] > 0 and entry["first_byte_ms"] >= 0
    for absent in ("sni", "version", "cipher", "ja4", "certificate", "handshake_ms"):
        assert absent not in entry


def test_metrics(serve, origin, good, tmp_path):
    place = tmp_path / "admin.sock"
    server = serve(local(origin(over_tls(settings(good), echo))), text=f'admin = "{place}"\n')
    for _ in range(2):
        with PlainClient(server.port) as client:
            assert client.exchange(b"ping") == b"ping"
            client.end()
            assert client.receive_to_end() == b""
    server.wait_for_log(times=2, event="connection-closed")
    seen = Admin(place).metrics()
    assert seen.value("cleat_connections_closed_total", reason="done") == 2
    name = "cleat_upstream_handshakes_total"
    assert seen.value(name, version="TLSv1.3", resumption="full") == 1
    assert seen.value(name, version="TLSv1.3", resumption="resumed") == 1
    assert seen.sum("cleat_handshakes_total") == 0


def test_checks_take_a_server_out(serve, origin, good):
    gone, serving = (origin(over_tls(settings(good), saying(name))) for name in ("gone", "here"))
    gone.close()
    server = serve(local(gone), local(serving), lines=("check = tcp", "check-interval = 1"))
    server.wait_for_log(event="server-down")
    assert {answer(server.port) for _ in range(4)} == {"here"}
    assert not server.log(event="connect-failed")


def test_explain_and_check(config, certs, ca):
    text = block("[127.0.0.1]:1", ca=ca.cert) + frontend()
    text += 'frontend = { host = "127.0.0.1" port = "1" }\n' + f'pem-file = "{certs.ecdsa.pem}"\n'
    path = config(text)
    ran = run("explain", "--sni", "a.example", "--json", "--config", path)
    plain, tls = json.loads(ran.stdout)["frontends"]
    assert (plain["plaintext"], plain["match"], plain["certificates"]) == (True, "none", [])
    assert (plain["versions"], plain["tickets"], plain["upstream"]) == ([], False, "app")
    assert tls["plaintext"] is False and len(tls["certificates"]) == 1
    ran = run("explain", "--sni", "", "--to", "[127.0.0.1]:0", "--config", path)
    assert "the client speaks no TLS, and the upstream does" in ran.stdout
    assert "certificate" not in ran.stdout
    (found,) = json.loads(run("check", "--json", "--config", path).stdout)["certificates"]
    assert found["frontends"] == ["[127.0.0.1]:1"]
    only = config(block("[127.0.0.1]:1", ca=ca.cert) + frontend())
    assert run("explain", "--sni", "", "--config", only).returncode == 0
    ran = run("check", "--json", "--config", only)
    assert ran.returncode == 0 and json.loads(ran.stdout)["certificates"] == []
    own = 'client-address = "127.0.0.2" write-ip = on max-connections = 64 upstream = "app"'
    text = block("[127.0.0.1]:1", ca=ca.cert) + frontend(f"route = {{ {own} }}")
    ran = run("explain", "--sni", "", "--from", "127.0.0.2", "--json", "--config", config(text))
    (found,) = json.loads(ran.stdout)["frontends"]
    assert (found["announcement"], found["limits"]["route_connections"]) == ("write-ip", 64)


# hitch's client mode.


def backend(cleat, config, *flags, text=""):
    return cleat("--config", config(text), "--workers", 1, "--client", *flags, pem=[], backend="")


def test_hitchs_flag(cleat, config, origin, certs, ca, good):
    up = origin(over_tls(settings(good), saying("hello")))
    flags = ("-b", local(up))
    assert answer(backend(cleat, config, *flags, "--tls-ca", ca.cert).port) == "hello"
    text = f'client = on\nbackend = "{local(up)}"\ntls-ca = "{ca.cert}"\n'
    server = cleat("--config", config(text), "--workers", 1, pem=[], backend="")
    assert answer(server.port) == "hello"
    # hitch verifies nobody; here that must be asked for.
    other = certs.authority("another-authority")
    server = backend(cleat, config, *flags, "--tls-ca", other.cert)
    assert is_refused(server.port)
    assert server.wait_for_log(event="connect-failed")["reason"] == "unknown-authority"
    assert answer(backend(cleat, config, *flags, "--tls-verify=off").port) == "hello"


def test_the_systems_authorities_are_the_default(tmp_path):
    missing = tmp_path / "none.pem"
    ran = run(
        "--client", "-b", "[127.0.0.1]:1", "-f", "[127.0.0.1]:0", "-t",
        env={**os.environ, "SSL_CERT_FILE": str(missing)},
    )  # fmt: skip
    assert ran.returncode != 0
    assert f"--backend: error: cannot read {missing}" in ran.stderr


def test_the_backends_tls_is_that_of_the_top(cleat, config, origin, certs, ca, good):
    seen = queue.Queue()

    def tell(end: TlsEnd) -> None:
        seen.put((end.tls.version(), end.tls.cipher()[0], end.name, end.tls.getpeercert()))
        end.close_notify()

    clients = certs.authority("authority-of-clients")
    own = certs.signed("cleat-as-client", clients, "/CN=cleat.internal")
    inner = server_certificate(certs, ca, names="DNS:app.internal")
    up = origin(over_tls(settings(inner, clients=clients.cert), tell))
    text = f"""tls-protos = TLSv1.2
        ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384"
        tls-ca = "{ca.cert}"
        tls-name = "app.internal"
        tls-cert = "{own.pem}"
    """
    assert answer(backend(cleat, config, "-b", up.address, text=text).port) == ""
    version, cipher, name, certificate = seen.get(timeout=DEADLINE)
    assert (version, name) == ("TLSv1.2", "app.internal")
    assert cipher == "ECDHE-ECDSA-AES256-GCM-SHA384"
    assert certificate["subject"] == ((("commonName", "cleat.internal"),),)


# Reloads, and both kinds of frontends in one process.


def test_both_at_once_and_cleat_behind_cleat(serve, cleat, origin, certs, ca, good):
    """Plaintext, TLS between two frontends, plaintext: two processes, and then one."""
    inner = cleat(backend=origin(origins.echo), pem=[good])
    server = serve(f"[localhost]:{inner.port}")
    with PlainClient(server.port) as client:
        assert client.exchange(b"ping" * 100_000) == b"ping" * 100_000
        client.end()
        assert client.receive_to_end() == b""
    assert inner.wait_for_log(event="connection-closed")["reason"] == "done"


def test_both_kinds_of_frontends(serve, origin, certs, good):
    secret = origin(over_tls(settings(good), saying("secret")))
    text = 'frontend = { host = "127.0.0.1" port = "0" }\n'
    text += f'backend = "{origin(origins.echo).address}"\npem-file = "{certs.ecdsa.pem}"\n'
    server = serve(local(secret), text=text)
    plain, tls = (int(line["address"].rsplit(":", 1)[1]) for line in server.log(event="listening"))
    assert answer(plain) == "secret"
    with TlsClient(tls) as client:
        assert client.exchange(b"ping") == b"ping"


def test_a_frontend_changes_its_mind_at_a_reload(serve, origin, certs, good):
    up = origin(over_tls(settings(good), echo))
    server = serve(local(up))
    with PlainClient(server.port) as old:
        assert old.exchange(b"ping") == b"ping"
        own = f'pem-file = "{certs.ecdsa.pem}"'
        assert "client" in reload_with(server, "client = on", own)["keys"].split(",")
        with TlsClient(server.port) as client:
            assert client.exchange(b"over TLS") == b"over TLS"
        assert old.exchange(b"and still") == b"and still"
    reload_with(server, own, "client = on")
    with PlainClient(server.port) as client:
        assert client.exchange(b"ping") == b"ping"
    rewrite(server, "tls = on", "tls = off")
    problems = "\n".join(reload_is_refused(server))
    assert "nothing would be encrypted" in problems or "tls is off here" in problems
    with PlainClient(server.port) as client:
        assert client.exchange(b"ping") == b"ping"


def test_authorities_of_the_backend_are_watched(cleat, config, origin, certs, ca, good, tmp_path):
    trusted = tmp_path / "authorities.pem"
    trusted.write_text(certs.authority("another-authority").cert.read_text())
    up = origin(over_tls(settings(good), saying("hello")))
    text = f'tls-ca = "{trusted}"\nreload-on-change = on\n'
    server = backend(cleat, config, "-b", local(up), text=text)
    assert is_refused(server.port)
    replace(trusted, ca.cert.read_text())
    server.wait_for_log(event="reloaded")
    assert answer(server.port) == "hello"


def test_mistakes_are_named(config, ca):
    path = config(block("[127.0.0.1]:1", ca=ca.cert) + frontend('pem-file = "site.pem"'))
    errors = complaints("--config", path)
    assert f"{path}:9:" in errors and "this frontend takes plaintext" in errors
    route = 'route = { client-address = "127.0.0.2" upstream = "app"\ntls-protos = TLSv1.3 }'
    errors = complaints("--config", config(block("[127.0.0.1]:1", ca=ca.cert) + frontend(route)))
    assert ":10:" in errors and "the route's frontend takes plaintext" in errors
