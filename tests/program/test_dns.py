"""Names of servers are looked up again when their TTL is over: a change is followed, and a lookup
that fails leaves what is known."""

import contextlib
import signal
import socket
import time
from collections import Counter

import pytest

from admin_client import admin_of
from deadlines import DEADLINE, eventually
from dns_server import DnsServer
from origins import echo
from own_network import own_network, with_files
from program import complaints
from reloads import reload, reload_is_refused, reload_with, rewrite
from tls_client import TlsClient
from upstream_blocks import answer, saying, upstream

# A change is followed within its TTL and a second; the rest is for a busy machine. Where nothing
# else makes cleat look a name up again, it would never be followed.
SLACK_S = DEADLINE


@pytest.fixture
def dns(tmp_path):
    made = DnsServer(tmp_path)
    yield made
    made.end()


@pytest.fixture
def origins(origin):
    """Servers at one port of several addresses, which say the last part of their address."""

    def make(*hosts):
        port = 0
        for host in hosts:
            made = origin(saying(host.split(".")[-1].split(":")[-1]), host=host, port=port)
            port = made.port
        return port

    return make


@contextlib.contextmanager
def within(seconds):
    begin = time.monotonic()
    yield
    assert time.monotonic() - begin < seconds + SLACK_S


def test_a_change_is_followed(serve, origin, dns):
    old = origin(lambda one: (one.send(b"2"), echo(one)), host="127.0.0.2")
    origin(saying("3"), host="127.0.0.3", port=old.port)
    dns.hosts["app.example"] = ["127.0.0.2"]
    dns.start()
    server = serve(f'backend = "[app.example]:{old.port}"\n{dns.setting}')
    with TlsClient(server.port) as held:
        assert held.receive(1) == b"2"
        dns.change(app=["127.0.0.3"])
        seen = []
        with within(dns.ttl + 1):
            while not seen or seen[-1] != b"3":
                with TlsClient(server.port) as client:
                    seen.append(client.receive(1))
        assert seen == [b"2"] * (len(seen) - 1) + [b"3"]
        old.listener.close()
        assert [answer(server.port) for _ in range(5)] == ["3"] * 5
        assert held.exchange(b"still here") == b"still here"
    line = server.wait_for_log(event="dns-changed")
    assert (line["name"], line["added"], line["removed"]) == (
        "app.example", f"127.0.0.3:{old.port}", f"127.0.0.2:{old.port}")
    assert not server.log(event="connect-failed")


def test_addresses_of_both_families(serve, origins, dns, ipv6):
    port = origins("127.0.0.2", "::1")
    dns.hosts["app.example"] = ["127.0.0.2", "::1"]
    dns.start()
    server = serve(upstream(f"[app.example]:{port}") + f'upstream = "app"\n{dns.setting}')
    assert answer(server.port) == "1"  # IPv6 first.
    dns.change(app=["127.0.0.2"])
    eventually("IPv6 is gone", lambda: answer(server.port) == "2")
    dns.change(app=["::1"])
    eventually("IPv4 is gone", lambda: answer(server.port) == "1")


def test_a_name_that_is_gone_keeps_its_addresses(serve, origins, dns):
    port = origins("127.0.0.2")
    dns.hosts["app.example"] = ["127.0.0.2"]
    dns.start()
    server = serve(
        f'backend = "[app.example]:{port}"\nadmin = "[127.0.0.1]:0"\n'
        f'frontend = "[127.0.0.1]:0"\n{dns.setting}'
    )
    admin = admin_of(server)
    dns.change(app=[])
    line = server.wait_for_log(event="dns-lookup-failed")
    assert line["reason"] == "the name does not exist (NXDOMAIN)"
    assert (line["name"], line["addresses_kept"]) == ("app.example", "1")
    failed = admin.metrics().value("cleat_dns_lookups_total", outcome="failed")
    eventually(
        "it is tried again",
        lambda: admin.metrics().value("cleat_dns_lookups_total", outcome="failed") > failed,
    )
    assert admin.metrics().value("cleat_dns_names_failing") == 1
    assert len(server.log(event="dns-lookup-failed")) == 1
    assert answer(server.port) == "2"
    dns.change(app=["127.0.0.2"])
    assert server.wait_for_log(event="dns-lookup-recovered")["name"] == "app.example"
    assert admin.metrics().value("cleat_dns_names_failing") == 0
    assert admin.metrics().value("cleat_dns_lookups_total", outcome="answered") > 0
    assert not server.log(event="dns-changed")


def test_a_server_that_does_not_answer(serve, origins, dns):
    port = origins("127.0.0.2", "127.0.0.3")
    dns.hosts["app.example"] = ["127.0.0.2"]
    dns.start()
    server = serve(f'backend = "[app.example]:{port}"\n{dns.setting}')
    dns.signal(signal.SIGSTOP)
    line = server.wait_for_log(event="dns-lookup-failed")
    assert line["reason"] == "no server of DNS has answered in time"
    assert answer(server.port) == "2"
    dns.signal(signal.SIGCONT)
    dns.change(app=["127.0.0.3"])
    eventually("the change is followed", lambda: answer(server.port) == "3")
    server.wait_for_log(event="dns-lookup-recovered")


@pytest.mark.parametrize(
    "name, why",
    [
        ("none.example", "the name has no such record"),
        ("app.elsewhere", "no server of DNS can be reached, or all have failed"),
        ("missing.example", "the name does not exist (NXDOMAIN)"),
    ],
)
def test_a_name_without_addresses_is_an_error_at_the_start(certs, config, dns, name, why):
    dns.hosts["none.example"] = []
    dns.start()
    path = config(f'{dns.setting}backend = "[{name}]:80"\npem-file = "{certs.ecdsa.pem}"\n')
    errors = complaints("--config", path)
    assert f"{path}:2:11: error: backend: cannot find the host {name}: {why}" in errors


def test_an_answer_without_addresses_keeps_them(serve, origins, dns):
    port = origins("127.0.0.2")
    dns.hosts["app.example"] = ["127.0.0.2"]
    dns.start()
    server = serve(f'backend = "[app.example]:{port}"\n{dns.setting}')
    dns.hosts["app.example"] = []
    dns.restart()
    line = server.wait_for_log(event="dns-lookup-failed")
    assert line["reason"] in (
        "the name has no such record", "no server of DNS can be reached, or all have failed",
        "no server of DNS has answered in time")
    eventually("it was asked", lambda: dns.queries("app.example") > 0)
    assert answer(server.port) == "2"


def test_a_service(serve, origin, dns):
    ports = {}
    for name, host in (("a", "127.0.0.2"), ("b", "127.0.0.3"), ("spare", "127.0.0.4")):
        dns.hosts[f"{name}.example"] = [host]
        ports[name] = origin(saying(name), host=host).port

    def record(name, priority, weight):
        return f"_web._tcp.app.example,{name}.example,{ports[name]},{priority},{weight}"

    dns.services = [record("a", 10, 3), record("b", 10, 1), record("spare", 20, 1)]
    dns.start()
    server = serve(
        upstream("srv:_web._tcp.app.example") + f'upstream = "app"\n{dns.setting}'
    )
    assert Counter(answer(server.port) for _ in range(40)) == {"a": 30, "b": 10}
    dns.services = [record("b", 10, 1), record("spare", 20, 1)]
    dns.restart()
    eventually("one is gone", lambda: {answer(server.port) for _ in range(8)} == {"b"})
    dns.services = [record("spare", 20, 1)]
    dns.restart()
    eventually("the spare one serves", lambda: answer(server.port) == "spare")
    dns.change(spare=["127.0.0.2"])
    dns.services = [record("a", 10, 1)]
    dns.restart()
    eventually("the first one is back", lambda: answer(server.port) == "a")
    assert not server.log(event="connect-failed")


def test_the_backend_is_a_service(serve, origin, dns):
    behind = origin(saying("it"), host="127.0.0.2")
    dns.hosts["a.example"] = ["127.0.0.2"]
    dns.services = [f"_web._tcp.app.example,a.example,{behind.port},1,0"]
    dns.start()
    server = serve(f'backend = "srv:_web._tcp.app.example"\n{dns.setting}')
    assert answer(server.port) == "it"
    reload(server)
    assert answer(server.port) == "it"


def test_a_service_that_is_not_there(certs, config, dns):
    dns.start()
    text = f'{dns.setting}backend = "srv:_web._tcp.app.example"\npem-file = "{certs.ecdsa.pem}"\n'
    assert (
        "backend: cannot find the service _web._tcp.app.example: the name does not exist "
        "(NXDOMAIN). Check its SRV records."
    ) in complaints("--config", config(text))


@pytest.mark.usefixtures("no_look_for_leaks")
def test_a_long_answer_comes_by_tcp_also_in_the_sandbox(serve, origins, dns):
    port = origins("127.0.0.2", "127.0.0.3")
    dns.hosts["app.example"] = ["127.0.0.2"]
    dns.start()
    server = serve(
        f'backend = "[app.example]:{port}"\n{dns.setting}sandbox = "auto, seccomp"\n'
    )
    assert answer(server.port) == "2"
    many = [f"127.0.1.{i}" for i in range(1, 60)]
    dns.change(app=[*many, "127.0.0.3"])
    line = server.wait_for_log(event="dns-changed")
    assert line["addresses"] == "60" and line["added"].endswith(" and 52 more")
    assert line["removed"] == f"127.0.0.2:{port}"
    eventually("one of them serves", lambda: answer(server.port) == "3")


def test_hitchs_key_is_a_time_for_the_backend(serve, origins, tmp_path):
    dns = DnsServer(tmp_path, ttl=3600)
    try:
        port = origins("127.0.0.2", "127.0.0.3")
        dns.hosts["app.example"] = ["127.0.0.2"]
        dns.start()
        server = serve(f'backend = "[app.example]:{port}"\nbackend-refresh = 1\n{dns.setting}')
        dns.change(app=["127.0.0.3"])
        with within(1 + 1):
            eventually("the change is followed", lambda: answer(server.port) == "3")
    finally:
        dns.end()


def test_a_reload_takes_other_names(serve, origins, dns):
    port = origins("127.0.0.2", "127.0.0.3")
    dns.hosts |= {"one.example": ["127.0.0.2"], "two.example": ["127.0.0.2"]}
    dns.start()
    server = serve(
        f'backend = "[one.example]:{port}"\nfrontend = "[127.0.0.1]:0"\n{dns.setting}'
    )
    reload_with(server, "one.example", "two.example")
    dns.change(one=["127.0.0.9"], two=["127.0.0.3"])
    eventually("the change is followed", lambda: answer(server.port) == "3")
    reload_with(server, "[two.example]", "[127.0.0.2]")
    asked = dns.queries("two.example")
    dns.change(two=["127.0.0.9"])
    assert answer(server.port) == "2"
    assert dns.queries("two.example") <= asked + 1


def test_a_reload_while_dns_fails_keeps_what_is_known(serve, origins, dns):
    port = origins("127.0.0.2", "127.0.0.3")
    dns.hosts["app.example"] = ["127.0.0.2"]
    dns.start()
    server = serve(
        f'backend = "[app.example]:{port}"\nfrontend = "[127.0.0.1]:0"\n{dns.setting}'
    )
    dns.change(app=["127.0.0.3"])
    eventually("the change is followed", lambda: answer(server.port) == "3")
    dns.change(app=[])
    server.wait_for_log(event="dns-lookup-failed")
    reload(server)
    assert answer(server.port) == "3"  # And not the address of the start.
    rewrite(server, "app.example", "new.example")
    (problem,) = reload_is_refused(server)
    assert "cannot find the host new.example: the name does not exist (NXDOMAIN)" in problem
    rewrite(server, "new.example", "app.example")
    dns.change(app=["127.0.0.2"])
    eventually("the change is followed", lambda: answer(server.port) == "2")
    server.wait_for_log(event="dns-lookup-recovered")
    assert len(server.log(event="dns-lookup-failed")) == 1


OPTIONAL = "resolve-at-start = optional\n"


@pytest.mark.parametrize("kind", ["backend", "upstream", "service"])
def test_a_start_that_goes_on_without_dns(serve, origin, dns, kind):
    behind = origin(saying("it"), host="127.0.0.2")
    text = {
        "backend": f'backend = "[app.example]:{behind.port}"\n',
        "upstream": upstream(f"[app.example]:{behind.port}") + 'upstream = "app"\n',
        "service": upstream("srv:_web._tcp.app.example") + 'upstream = "app"\n',
    }[kind]
    server = serve(text + dns.setting + OPTIONAL)  # There is no server of DNS yet.
    assert any("it gets no client until DNS has an address" in line for line in server.lines)
    line = server.wait_for_log(event="dns-lookup-failed")
    assert line["addresses_kept"] == "0"
    with TlsClient(server.port) as client:
        client.wait_for_refusal()
    assert server.wait_for_log(event="connect-failed")
    dns.hosts["app.example"] = ["127.0.0.2"]
    dns.services = [f"_web._tcp.app.example,app.example,{behind.port},1,0"]
    dns.start()
    assert server.wait_for_log(event="dns-changed")["added"] == f"127.0.0.2:{behind.port}"
    server.wait_for_log(event="dns-lookup-recovered")
    assert answer(server.port) == "it"


def test_a_name_that_was_missing_at_the_start_holds_through_a_reload(serve, origins, dns):
    port = origins("127.0.0.2")
    text = f'backend = "[app.example]:{port}"\nfrontend = "[127.0.0.1]:0"\n'
    server = serve(text + dns.setting + OPTIONAL)
    server.wait_for_log(event="dns-lookup-failed")
    reload(server)  # It is missing still.
    dns.hosts["app.example"] = ["127.0.0.2"]
    dns.start()
    eventually("it serves", lambda: server.log(event="dns-changed"))
    assert answer(server.port) == "2"
    dns.end()
    server.wait_for_log(event="dns-lookup-failed", times=2)
    reload(server)
    assert answer(server.port) == "2"


class TestFilesOfTheSystem:
    """With files of one's own in /etc."""

    @pytest.fixture(autouse=True)
    def _network(self):
        with own_network():
            yield

    @pytest.fixture
    def dns(self, _network, tmp_path):
        made = DnsServer(tmp_path, port=53)
        yield made
        made.end()

    @pytest.fixture
    def cleat_with(self, cleat, certs, tmp_path):
        def start(
            backend, *more, hosts="", resolv_conf="nameserver 127.0.0.1\n", **settings
        ):
            files = {"hosts": tmp_path / "hosts", "resolv_conf": tmp_path / "resolv.conf"}
            files["hosts"].write_text(hosts)
            files["resolv_conf"].write_text(resolv_conf)
            server = cleat(*more, backend=backend, wrapper=with_files(**files), **settings)
            return server, files["hosts"]

        return start

    def test_the_hosts_file_comes_first(self, cleat_with, origins, dns):
        port = origins("127.0.0.2", "127.0.0.3", "127.0.0.4")
        dns.hosts["app.example"] = ["127.0.0.4"]
        dns.start()
        server, hosts = cleat_with(f"[app.example]:{port}", hosts="127.0.0.2 app.example\n")
        assert answer(server.port) == "2"
        hosts.write_text("127.0.0.3 other app.example\n")
        eventually("the change is followed", lambda: answer(server.port) == "3")
        hosts.write_text("\n")
        eventually("DNS has the name", lambda: answer(server.port) == "4")
        assert not server.log(event="dns-lookup-failed")

    def test_search_domains(self, cleat_with, origins, dns):
        port = origins("127.0.0.2", "127.0.0.3")
        dns.hosts["app.inner.example"] = ["127.0.0.2"]
        dns.start()
        resolv_conf = "search other.example inner.example\nnameserver 127.0.0.1\n"
        server, _ = cleat_with(f"[app]:{port}", resolv_conf=resolv_conf)
        assert answer(server.port) == "2"
        dns.change(**{"app.inner": ["127.0.0.3"]})
        eventually("the change is followed", lambda: answer(server.port) == "3")

    def test_another_resolv_conf_counts_while_a_lookup_waits(
        self, cleat_with, certs, config, origins, dns, tmp_path
    ):
        port = origins("127.0.0.2", "127.0.0.3")
        other = DnsServer(tmp_path, port=53, host="127.0.0.53")
        other.hosts["app.example"] = ["127.0.0.3"]
        dns.hosts["app.example"] = ["127.0.0.2"]
        dns.elsewhere["slow.example"] = "127.0.0.99"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind(("127.0.0.99", 53))
            dns.start()
            other.start()
            try:
                text = upstream(f"[app.example]:{port}") + upstream("[slow.example]:1", name="slow")
                text += 'upstream = "app"\nfrontend = { host = "127.0.0.1" port = "0"\n'
                text += '  route = { sni = "slow.test" upstream = "slow" } }\n'
                path = config(text + f'pem-file = "{certs.ecdsa.pem}"\n')
                server, hosts = cleat_with(
                    "", "--config", path, hosts="127.0.0.9 slow.example\n", pem=[], frontend=None
                )
                assert answer(server.port) == "2"
                hosts.write_text("\n")
                silent.settimeout(60)
                silent.recv(1000)  # The lookup of slow.example waits, for six seconds.
                (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.53\n")
                changed = server.wait_for_log(event="dns-changed", name="app.example")
                events = server.log()
                before = events[: events.index(changed)]
                assert "slow.example" not in [each.get("name") for each in before]
                assert answer(server.port) == "3"
            finally:
                other.end()


def test_the_bounds_of_the_ttl(certs, config):
    text = f'dns-min-ttl = 10\ndns-max-ttl = 5\npem-file = "{certs.ecdsa.pem}"\n'
    errors = complaints("--config", config(text))
    assert "dns-max-ttl: it is shorter than dns-min-ttl, which is 10" in errors


def test_a_service_has_ports_that_the_sandbox_cannot_know(certs, config):
    text = f'backend = "srv:_web._tcp.app.example"\nsandbox = "landlock, ports"\n'
    errors = complaints("--config", config(text + f'pem-file = "{certs.ecdsa.pem}"\n'))
    assert "backend: the SRV records have ports that sandbox = ports cannot know" in errors
