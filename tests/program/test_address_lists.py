"""allow-from and deny-from: a client whose address is not let in is refused before TLS, counted and
logged apart from failures. Lists have files, which a reload reads again."""

import json
import socket
import ssl

import pytest

from admin_client import admin_of, eventually_counts
from deadlines import DEADLINE
from program import complaints, run
from reloads import reload, reload_is_refused, replace
from tls_client import TlsClient


@pytest.fixture
def serve(serve_lines):
    return serve_lines


def check(config, certs, *lines):
    """The errors of a configuration."""
    path = config("\n".join([*lines, f'pem-file = "{certs.ecdsa.pem}"']) + "\n")
    return complaints("--config", path, "--frontend", "[127.0.0.1]:0").replace(str(path), "conf")


def is_served(port, source="127.0.0.1"):
    """Whether a client with this address gets an answer of TLS."""
    with socket.socket() as client:
        client.settimeout(DEADLINE)
        client.bind((source, 0))
        client.connect(("127.0.0.1", port))
        try:
            client.sendall(hello())
            return client.recv(1) != b""
        except (ConnectionResetError, BrokenPipeError):
            return False


def hello():
    outgoing = ssl.MemoryBIO()
    made = ssl.create_default_context().wrap_bio(
        ssl.MemoryBIO(), outgoing, server_hostname="localhost"
    )
    with pytest.raises(ssl.SSLWantReadError):
        made.do_handshake()
    return outgoing.read()


def test_only_the_allowed_are_served(serve):
    server = serve('allow-from = "127.0.0.2, 127.0.1.0/24, 2001:db8::/32"')
    assert is_served(server.port, "127.0.0.2")
    assert is_served(server.port, "127.0.1.255")
    assert not is_served(server.port, "127.0.0.1")
    line = server.wait_for_log(event="connection-refused")
    assert line["reason"] == "address-not-allowed"
    assert line["peer"].startswith("127.0.0.1:")
    assert line["level"] == "warning"


def test_the_denied_are_refused_even_if_allowed(serve):
    server = serve('allow-from = "127.0.0.0/8"', 'deny-from = "127.0.0.2"')
    assert is_served(server.port, "127.0.0.3")
    assert not is_served(server.port, "127.0.0.2")
    assert server.wait_for_log(event="connection-refused")["reason"] == "address-denied"


def test_a_frontends_list_replaces_the_global_one(serve):
    server = serve(
        'deny-from = "127.0.0.1"',
        'frontend = "[127.0.0.1]:0"',
        'frontend = { host = "127.0.0.1" port = "0" deny-from = off }',
        'frontend = { host = "127.0.0.1" port = "0" deny-from = "127.0.0.2" }',
    )
    first, second, third = server.ports
    assert not is_served(first) and is_served(first, "127.0.0.2")
    assert is_served(second) and is_served(second, "127.0.0.2")
    assert is_served(third) and not is_served(third, "127.0.0.2")


def test_ipv6(serve, ipv6):
    server = serve('frontend = "[::1]:0"', 'allow-from = "::1"', "log-level = 2")
    with TlsClient(server.port, host="::1"):
        server.wait_for_log(event="handshake-done")
    other = serve('frontend = "[::1]:0"', 'deny-from = "::/64"')
    with pytest.raises((ConnectionResetError, BrokenPipeError, EOFError, OSError)):
        TlsClient(other.port, host="::1")
    assert other.wait_for_log(event="connection-refused")["reason"] == "address-denied"


def test_refusals_are_counted_apart_from_failures(serve):
    server = serve('deny-from = "127.0.0.2"', 'admin = "[127.0.0.1]:0"', "log-burst = 3")
    for _ in range(20):
        assert not is_served(server.port, "127.0.0.2")
    admin = admin_of(server)
    counted = eventually_counts(
        admin, "cleat_connections_refused_total", 20, reason="address-denied"
    )
    assert counted.value("cleat_connections_closed_total", reason="address-denied") == 20
    assert counted.sum("cleat_handshakes_failed_total") == 0
    assert admin.get("/status.json").json["failures"] == []
    assert len(server.log(event="connection-refused")) == 3  # A sample, by log-burst.


def test_the_access_log_names_the_refusal(serve, tmp_path):
    log = tmp_path / "access.log"
    server = serve(
        'deny-from = "127.0.0.2"', f'access-log = "{log}"', "access-log-format = json"
    )
    assert not is_served(server.port, "127.0.0.2")
    server.wait_for_log(event="connection-refused")
    server.end()
    (line,) = [json.loads(each) for each in log.read_text().splitlines()]
    assert line["reason"] == "address-denied" and line["peer"].startswith("127.0.0.2:")


def test_a_reload_reads_the_file_again(serve, tmp_path):
    listed = tmp_path / "listed"
    listed.write_text("# nobody yet\n192.0.2.0/24\n")
    server = serve(f'deny-from = "@{listed}, 127.0.0.3"', "log-level = 2")
    assert is_served(server.port, "127.0.0.2") and not is_served(server.port, "127.0.0.3")
    replace(listed, "127.0.0.2\n")
    reload(server)
    assert not is_served(server.port, "127.0.0.2")
    replace(listed, "127.0.0.4\nwrong\n")
    refused = reload_is_refused(server)
    assert any(f"{listed}:2:1: error: deny-from:" in line for line in refused), refused
    assert not is_served(server.port, "127.0.0.2")  # The old list is in force.


def test_a_change_of_the_file_is_noticed(serve, tmp_path):
    listed = tmp_path / "listed"
    listed.write_text("192.0.2.0/24\n")
    server = serve(f'allow-from = "@{listed}"', "reload-on-change = on", "log-level = 2")
    assert not is_served(server.port)
    replace(listed, "127.0.0.0/8\n")
    server.wait_for_log(event="reloaded")
    assert is_served(server.port)


def test_a_million_prefixes(serve, tmp_path):
    listed = tmp_path / "listed"
    with listed.open("w") as file:
        for i in range(1_000_000):
            file.write(f"{20 + i // 65536}.{i // 256 % 256}.{i % 256}.0/24\n")
        file.write("127.0.0.2\n")
    server = serve(f'deny-from = "@{listed}"')
    assert is_served(server.port) and not is_served(server.port, "127.0.0.2")


def test_mistakes_are_named_with_file_line_and_cure(config, certs, tmp_path):
    listed = tmp_path / "listed"
    listed.write_text("192.0.2.0/24\n\n192.0.2.1/24 # both\n2001:db8::/129\n")
    said = check(config, certs, f'allow-from = "@{listed}"')
    assert (
        f'{listed}:3:1: error: allow-from: "192.0.2.1/24" has bits behind the length of its '
        "prefix. Write 192.0.2.0/24 for the network, or 192.0.2.1 for the address." in said
    )
    assert f"{listed}:4:1: error: allow-from: the length of the prefix" in said
    said = check(config, certs, 'deny-from = "192.0.2.300"')
    assert 'conf:1:13: error: deny-from: "192.0.2.300" is no address and no prefix.' in said
    said = check(config, certs, 'deny-from = " , "')
    assert "conf:1:13: error: deny-from: there is no prefix in it. Write a prefix, @/PATH" in said
    said = check(config, certs, 'deny-from = "@"')
    assert "deny-from: the name of a file is missing behind @. Write @/PATH." in said
    said = check(config, certs, f'deny-from = "@{tmp_path}/none"')
    assert f"conf:1:13: error: deny-from: cannot read {tmp_path}/none: No such file" in said
    said = check(config, certs, f'deny-from = "@{tmp_path}"')
    assert f"error: deny-from: {tmp_path} is a directory. Name a file." in said
    frontend = 'frontend = { host = "127.0.0.1" port = "1" deny-from = off }'
    path = config(f'{frontend}\ndeny-from = "::1"\npem-file = "{certs.ecdsa.pem}"\n')
    said = run("-t", "--config", path).stderr
    assert "error: deny-from: this has no effect: every frontend has a list of its own" in said
