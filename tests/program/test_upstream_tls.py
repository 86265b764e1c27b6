"""TLS to upstreams: verification, failover, resumption, client certificates, ALPN, the PROXY header
before and inside TLS, ends of every kind, and a change of authorities."""

import hashlib
import os
import queue
import ssl
import time
from collections import Counter

import pytest

import origins
import proxy_header
from program import complaints
from reloads import reload, reload_is_refused, replace
from tls_client import TLS_1_2, VERSIONS, TlsClient, context
from tls_origins import (  # noqa: F401: the fixtures
    FAULTS, LONG_ANSWER, TlsEnd, answer_at_the_end, block, ca, cut, digest, echo, faulty, good,
    local, noting_the_end, only_server, over_tls, saying, server_certificate, settings,
    speak_nonsense,
)  # fmt: skip
from upstream_blocks import answer

SIZE = 20_000_000


@VERSIONS
def test_bytes_go_both_ways(serve, origin, ca, good, version):
    up = origin(over_tls(only_server(good, version), echo))
    server = serve(block(local(up), ca=ca.cert))
    with TlsClient(server.port) as client:
        assert client.exchange(b"ping") == b"ping"
        assert client.exchange(b"pong" * 10_000) == b"pong" * 10_000
        client.close_notify()
        assert client.receive_to_end() == b""
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"


@VERSIONS
def test_large_transfers_are_whole(serve, origin, ca, good, version):
    up = origin(over_tls(only_server(good, version), digest(SIZE)))
    server = serve(block(local(up), ca=ca.cert))
    with TlsClient(server.port) as client:
        for piece in origins.pieces(SIZE):
            client.send(piece)
        client.close_notify()
        whole = client.receive_to_end()
    assert whole[:64].decode() == origins.expected_digest(SIZE)
    assert hashlib.sha256(whole[64:]).hexdigest() == origins.expected_digest(SIZE)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_certificate_that_does_not_verify_is_named(serve, origin, certs, ca, fault, host):
    seen = queue.Queue()
    tls = settings(faulty(certs, ca, fault))
    up = origin(over_tls(tls, lambda end: seen.put(end.receive())))
    server = serve(block(up.address.replace("127.0.0.1", host), ca=ca.cert))
    with TlsClient(server.port) as client:
        client.send(b"secret")
        client.wait_for_refusal()
    line = server.wait_for_log(event="upstream-handshake-failed")
    assert line["reason"] == FAULTS[fault]
    line = server.wait_for_log(event="connect-failed")
    assert line["reason"] == FAULTS[fault]
    assert line["upstream"] == up.address.replace("127.0.0.1", host)


def test_a_failure_is_counted_by_its_reason(serve, origin, certs, ca, tmp_path):
    from admin_client import Admin

    up = origin(over_tls(settings(faulty(certs, ca, "expired")), echo))
    place = tmp_path / "admin.sock"
    server = serve(block(local(up), ca=ca.cert) + f'admin = "{place}"\n')
    for _ in range(3):
        with TlsClient(server.port) as client:
            client.wait_for_refusal()
    seen = Admin(place).metrics()
    name = "cleat_upstream_handshakes_failed_total"
    assert seen.value(name, reason="certificate-expired") == 3
    assert seen.value(name, reason="wrong-name") == 0
    assert seen.value("cleat_connections_closed_total", reason="upstream-tls-failed") == 3


def test_a_server_with_a_wrong_certificate_costs_no_connection(serve, origin, certs, ca, good):
    wrong = origin(over_tls(settings(faulty(certs, ca, "name")), saying("wrong")))
    right = origin(over_tls(settings(good), saying("right")))
    lines = ("eject-after = 2", "eject-time = 60")
    server = serve(block(local(wrong), local(right), ca=ca.cert, lines=lines))
    assert Counter(answer(server.port) for _ in range(10)) == {"right": 10}
    (line,) = server.log(event="server-ejected")
    assert (line["server"], line["failures"]) == (local(wrong), "2")
    assert len(server.log(event="upstream-handshake-failed")) == 2
    assert not server.log(event="connect-failed")


def test_a_server_that_does_not_speak_tls_costs_no_connection(serve, origin, ca, good):
    plain = origin(lambda one: one.send(b"220 hello\r\n"))
    right = origin(over_tls(settings(good), saying("right")))
    server = serve(block(local(plain), local(right), ca=ca.cert))
    assert Counter(answer(server.port) for _ in range(4)) == {"right": 4}


def test_a_server_that_is_silent_has_its_part_of_the_time(serve, origin, ca, good):
    silent = origin()
    right = origin(over_tls(settings(good), saying("right")))
    text = block(local(silent), local(right), ca=ca.cert, lines=("balance = first",))
    server = serve(text + "backend-connect-timeout = 2\n")
    assert answer(server.port) == "right"


def test_verification_can_be_turned_off(serve, origin, certs, ca):
    up = origin(over_tls(settings(faulty(certs, ca, "expired")), saying("trusted")))
    server = serve(block(local(up), ca=None, lines=("tls-verify = off",)))
    assert answer(server.port) == "trusted"


def test_the_systems_authorities_are_the_default(cleat, config, origin, certs, ca, good):
    up = origin(over_tls(settings(good), saying("hello")))
    text = block(local(up), ca=None) + f'pem-file = "{certs.ecdsa.pem}"\n'

    def serve(authorities):
        environment = {**os.environ, "SSL_CERT_FILE": str(authorities)}
        return cleat("--config", config(text), pem=[], backend="", env=environment)

    assert answer(serve(ca.cert).port) == "hello"
    with TlsClient(serve(certs.authority("another-authority").cert).port) as client:
        client.wait_for_refusal()


def test_a_name_of_its_own(serve, origin, certs, ca):
    names = queue.Queue()

    def tell(end: TlsEnd) -> None:
        names.put(end.name)
        end.close_notify()

    inner = server_certificate(certs, ca, names="DNS:app.internal")
    up = origin(over_tls(settings(inner), tell))
    text = block(f'{{ address = "{up.address}" tls-name = "app.internal" }}', ca=ca.cert)
    answer(serve(text).port)
    assert names.get(timeout=60) == "app.internal"
    answer(serve(block(up.address, ca=ca.cert, lines=('tls-name = "app.internal"',))).port)
    assert names.get(timeout=60) == "app.internal"
    with TlsClient(serve(block(local(up), ca=ca.cert)).port) as client:
        client.wait_for_refusal()


@VERSIONS
def test_sessions_are_resumed(serve, origin, ca, good, version, tmp_path):
    from admin_client import Admin

    resumed = queue.Queue()

    def tell(end: TlsEnd) -> None:
        resumed.put(end.tls.session_reused)
        echo(end)

    up = origin(over_tls(only_server(good, version), tell))
    place = tmp_path / "admin.sock"
    server = serve(block(local(up), ca=ca.cert) + f'admin = "{place}"\n')
    for _ in range(6):
        with TlsClient(server.port) as client:
            assert client.exchange(b"ping") == b"ping"
    assert [resumed.get(timeout=60) for _ in range(6)] == [False] + [True] * 5
    name, text = "cleat_upstream_handshakes_total", "TLSv1.2" if version == TLS_1_2 else "TLSv1.3"
    seen = Admin(place).metrics()
    assert seen.value(name, version=text, resumption="full") == 1
    assert seen.value(name, version=text, resumption="resumed") == 5


def test_a_server_asks_for_a_certificate(serve, origin, certs, ca, good):
    clients = certs.authority("authority-of-clients")
    own = certs.signed("cleat-as-client", clients, "/CN=cleat.internal")
    shown = queue.Queue()

    def tell(end: TlsEnd) -> None:
        shown.put(end.tls.getpeercert()["subject"])
        end.close_notify()

    up = origin(over_tls(settings(good, clients=clients.cert), tell))
    own_lines = (f'tls-cert = "{own.cert}"', f'tls-key = "{own.key}"')
    answer(serve(block(local(up), ca=ca.cert, lines=own_lines)).port)
    assert shown.get(timeout=60) == ((("commonName", "cleat.internal"),),)
    answer(serve(block(local(up), ca=ca.cert, lines=(f'tls-cert = "{own.pem}"',))).port)
    assert shown.get(timeout=60)


def test_a_server_that_misses_a_certificate_says_so(serve, origin, certs, ca, good):
    clients = certs.authority("authority-of-clients")
    tls = settings(good, clients=clients.cert)
    server = serve(block(local(origin(over_tls(tls, echo))), ca=ca.cert))
    with TlsClient(server.port) as client:
        client.wait_for_break()  # It may come before anything could be sent.
    line = server.wait_for_log(event="connection-closed")
    assert line["reason"] in ("upstream-failed", "upstream-reset")
    tls.maximum_version = TLS_1_2  # There the handshake itself fails.
    with TlsClient(server.port) as client:
        client.wait_for_refusal()
    assert server.wait_for_log(event="upstream-handshake-failed")["alert"] == "handshake_failure"


def alpn_of(origin, certificate, seen, protocols=()):
    def tell(end: TlsEnd) -> None:
        seen.put(end.tls.selected_alpn_protocol())
        end.close_notify()

    more = {"alpn": protocols} if protocols else {}
    return local(origin(over_tls(settings(certificate, **more), tell)))


def test_alpn_from_a_list(serve, origin, ca, good):
    seen = queue.Queue()
    up = alpn_of(origin, good, seen, ["http/1.1", "h2"])
    answer(serve(block(up, ca=ca.cert, lines=("tls-alpn = h2,http/1.1",))).port)
    assert seen.get(timeout=60) == "http/1.1"
    answer(serve(block(up, ca=ca.cert)).port)
    assert seen.get(timeout=60) is None


def test_alpn_as_the_clients(serve, origin, ca, good):
    seen = queue.Queue()
    up = alpn_of(origin, good, seen, ["http/1.1", "h2"])
    server = serve(
        block(up, ca=ca.cert, lines=("tls-alpn = client",)) + "alpn-protos = h2,http/1.1\n"
    )
    for offered in ("h2", "http/1.1"):
        answer(server.port, context(alpn=[offered]))
        assert seen.get(timeout=60) == offered
    answer(server.port)
    assert seen.get(timeout=60) is None


def test_a_server_without_the_clients_protocol_has_failed(serve, origin, ca, good):
    seen = queue.Queue()
    up = alpn_of(origin, good, seen)  # It knows nothing of ALPN.
    server = serve(
        block(up, ca=ca.cert, lines=("tls-alpn = client",)) + "alpn-protos = h2,http/1.1\n"
    )
    answer(server.port, context(alpn=["http/1.1"]))
    with TlsClient(server.port, context(alpn=["h2"])) as client:
        client.wait_for_refusal()
    line = server.wait_for_log(event="upstream-handshake-failed")
    assert line["reason"] == "alpn-mismatch"


@pytest.mark.parametrize("place", ["before", "inside"])
def test_the_proxy_header(serve, origin, ca, good, place):
    seen = queue.Queue()

    def before(accepted):
        seen.put(proxy_header.receive_v2(accepted))

    def inside(end: TlsEnd) -> None:
        if place == "inside":
            seen.put(proxy_header.receive_v2(end))
        echo(end)

    up = origin(over_tls(settings(good), inside, before if place == "before" else None))
    lines = () if place == "before" else ("tls-proxy-header = inside",)
    server = serve(block(local(up), ca=ca.cert, lines=lines) + "write-proxy-v2 = on\n")
    with TlsClient(server.port) as client:
        assert client.exchange(b"ping") == b"ping"
        header = proxy_header.parse_v2(seen.get(timeout=60))
        assert header.source == client.socket.getsockname()
    assert header.ssl[proxy_header.SSL_VERSION] == b"TLSv1.3"


@VERSIONS
def test_a_client_ends_and_still_reads_its_answer(serve, origin, ca, good, version):
    up = origin(over_tls(only_server(good, version), answer_at_the_end))
    server = serve(block(local(up), ca=ca.cert))
    with TlsClient(server.port) as client:
        client.send(b"question")
        client.close_notify()
        assert client.receive_to_end() == LONG_ANSWER
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"


def test_an_upstream_ends_and_is_still_sent_to(serve, origin, ca, good):
    heard = queue.Queue()
    up = origin(over_tls(settings(good), noting_the_end(heard, saying("goodbye"))))
    server = serve(block(local(up), ca=ca.cert))
    with TlsClient(server.port) as client:
        assert client.receive_to_end() == b"goodbye"
        client.send(b"and more")
        client.close_notify()
        assert heard.get(timeout=60) == b"and more"
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"


@VERSIONS
def test_an_upstream_without_close_notify_is_no_clean_end(serve, origin, ca, good, version):
    up = origin(over_tls(only_server(good, version), cut(b"half of")))
    server = serve(block(local(up), ca=ca.cert))
    with TlsClient(server.port) as client:
        assert client.receive_exactly(7) == b"half of"
        client.wait_for_break()
    line = server.wait_for_log(event="connection-closed")
    assert (line["reason"], line["level"]) == ("upstream-truncated", "warning")


def test_a_slow_client_gets_all_that_came_before_the_cut(serve, origin, ca, good):
    """cleat sends all bytes that it has taken from the upstream before it ends the connection."""
    whole = bytes(range(256)) * (1 << 14)
    server = serve(block(local(origin(over_tls(settings(good), cut(whole)))), ca=ca.cert))
    with TlsClient(server.port, receive_buffer=8192) as client:
        time.sleep(1)  # Until cleat's sockets are full.
        assert client.receive_exactly(len(whole)) == whole
        client.wait_for_break()
    assert server.wait_for_log(event="connection-closed")["reason"] == "upstream-truncated"


def test_an_upload_that_is_cut_after_the_answer_is_not_whole(serve, origin, ca, good):
    """The answer's end is out, and the upstream reads on."""
    ends = queue.Queue()
    up = origin(over_tls(settings(good), noting_the_end(ends, saying("answer"))))
    server = serve(block(local(up), ca=ca.cert))
    with TlsClient(server.port) as client:
        assert client.receive_to_end() == b"answer"
        client.send(b"half of")
        client.truncate()
        assert isinstance(ends.get(timeout=60), (ssl.SSLEOFError, ConnectionResetError))


def test_a_client_without_close_notify_is_no_clean_end_for_the_upstream(serve, origin, ca, good):
    ends = queue.Queue()
    up = origin(over_tls(settings(good), noting_the_end(ends)))
    server = serve(block(local(up), ca=ca.cert))
    with TlsClient(server.port) as client:
        client.send(b"half of")
        client.truncate()
        assert isinstance(ends.get(timeout=60), ssl.SSLEOFError)
        client.wait_for_break()
    assert server.wait_for_log(event="connection-closed")["reason"] == "client-truncated"


def test_an_upstream_that_breaks(serve, origin, ca, good):
    def break_off(end: TlsEnd) -> None:
        end.receive_exactly(4)
        end.reset()

    server = serve(block(local(origin(over_tls(settings(good), break_off))), ca=ca.cert))
    with TlsClient(server.port) as client:
        client.send(b"ping")
        client.wait_for_break()
    assert server.wait_for_log(event="connection-closed")["reason"] == "upstream-reset"


def test_an_upstream_that_breaks_tls(serve, origin, ca, good):
    server = serve(block(local(origin(over_tls(settings(good), speak_nonsense))), ca=ca.cert))
    with TlsClient(server.port) as client:
        client.send(b"ping")
        client.wait_for_break()
    assert server.wait_for_log(event="connection-closed")["reason"] == "upstream-failed"


def test_authorities_change_at_a_reload(serve, origin, certs, ca, good, tmp_path):
    trusted = tmp_path / "authorities.pem"
    trusted.write_text(ca.cert.read_text())
    up = origin(over_tls(settings(good), saying("hello")))
    server = serve(block(local(up), ca=trusted))
    assert answer(server.port) == "hello"
    replace(trusted, certs.authority("another-authority").cert.read_text())
    reload(server)
    with TlsClient(server.port) as client:  # A session of before must not let the server in.
        client.wait_for_refusal()
    replace(trusted, ca.cert.read_text())
    reload(server)
    assert answer(server.port) == "hello"
    replace(trusted, "nothing of the kind\n")
    (problem,) = reload_is_refused(server)
    assert "tls-ca" in problem and str(trusted) in problem
    assert answer(server.port) == "hello"


def test_authorities_change_by_themselves(serve, origin, certs, ca, good, tmp_path):
    trusted = tmp_path / "authorities.pem"
    trusted.write_text(certs.authority("another-authority").cert.read_text())
    up = origin(over_tls(settings(good), saying("hello")))
    server = serve(block(local(up), ca=trusted) + "reload-on-change = on\n")
    with TlsClient(server.port) as client:
        client.wait_for_refusal()
    replace(trusted, ca.cert.read_text())
    server.wait_for_log(event="reloaded")
    assert answer(server.port) == "hello"


def test_routes_to_upstreams_with_and_without_tls(serve, origin, ca, good):
    secret = origin(over_tls(settings(good), saying("secret")))
    plain = origin(lambda one: one.send(b"plain"))
    text = block(local(secret), ca=ca.cert)
    text += f'upstream = {{ name = "plain" server = "{plain.address}" }}\n'
    text += 'frontend = { host = "127.0.0.1" port = "0"\n'
    text += 'route = { sni = "plain.example" upstream = "plain" } }\n'
    server = serve(text)
    assert answer(server.port) == "secret"
    assert answer(server.port, name="plain.example") == "plain"


MISTAKES = {
    'tls-ca = "ca.pem"': "tls is off here",
    "tls-verify = off": "tls is off here",
    "tls-protos = TLSv1.3": "tls is off here",
    'tls = on\ntls-verify = off\ntls-ca = "ca.pem"': "no server is verified",
    'tls = on\ntls-key = "key.pem"': "this is the key of tls-cert, which is not set",
    f'tls = on\ntls-name = "{"x" * 254}"': "the name has 254 bytes, and may have 253",
    f'tls = on\nserver = {{ address = "/s" tls-name = "{"x" * 256}" }}': "the name has 256 bytes",
    "tls = on\ntls-alpn = client": "alpn-protos is not set",
    "tls = on\ntls-proxy-header = inside": "there is no header to send",
    "tls = on\ntls-proxy-header = outside": "no place for the PROXY header",
    'tls = on\nserver = "/run/app.sock"': "this is no name of a host",
    'tls = on\ncheck = tcp\ncheck-expect = "220"': "a check with check = tcp speaks no TLS",
    "check = tls": "the servers speak no TLS: tls is off here",
    "tls = on\ncheck = tcp\ncheck-alpn = h2": "this has no effect: the check speaks no TLS",
    'tls = on\ntls-ca = "missing.pem"': "missing.pem",
    'tls = on\ntls-verify = off\necdh-curve = "P-257"': "P-257",
}


@pytest.mark.parametrize("lines", MISTAKES)
def test_mistakes(config, certs, lines):
    path = config(
        'upstream = {\nname = "app"\nserver = "[127.0.0.1]:1"\n'
        + lines
        + f'\n}}\nupstream = "app"\npem-file = "{certs.ecdsa.pem}"\n'
    )
    assert MISTAKES[lines] in complaints("--config", path)


def test_a_passthrough_cannot_speak_tls(config, certs):
    path = config(
        'upstream = { name = "app" tls = on server = "[127.0.0.1]:1" }\nupstream = "app"\n'
        'frontend = { port = "0" route = { passthrough = on upstream = "app" } }\n'
        f'pem-file = "{certs.ecdsa.pem}"\n'
    )
    errors = complaints("--config", path)
    assert "passthrough" in errors and "TLS within TLS" in errors
