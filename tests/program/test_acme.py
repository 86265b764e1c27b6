"""tls-alpn-01 (RFC 8737) through cleat: ACME clients obtain certificates from pebble, which
connects to cleat's port as to any server of the name. A passthrough route hands its connection to
lego; with acme-challenges cleat answers for dehydrated, which speaks no TLS itself."""

import json
import os
import shutil
import socket
import subprocess
from contextlib import contextmanager

import pytest

from deadlines import DEADLINE, eventually
from upstream_blocks import frontend, route, upstream

NAME = "www.cleat.example"

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("lego", "dehydrated", "pebble"))),
    reason="install the packages lego, dehydrated and pebble",
)


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port), DEADLINE).close()
    except ConnectionRefusedError:
        return False
    return True


def names_in(certificate):
    return subprocess.run(
        ["openssl", "x509", "-in", certificate, "-noout", "-ext", "subjectAltName"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@contextmanager
def running(log, *command, **environment):
    with log.open("w") as out:
        process = subprocess.Popen(
            [*map(str, command)], stdout=out, stderr=out, env={**os.environ, **environment}
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(DEADLINE)


@pytest.fixture
def pebble(certs, tmp_path):
    """Starts pebble, which finds every name at 127.0.0.1, and validates at this port. Returns the
    address of its directory."""
    started = []

    def start(tls_port):
        dns, port, management = free_port(), free_port(), free_port()
        settings = {
            "listenAddress": f"127.0.0.1:{port}",
            "managementListenAddress": f"127.0.0.1:{management}",
            "certificate": str(certs.rsa.cert),
            "privateKey": str(certs.rsa.key),
            "httpPort": free_port(),
            "tlsPort": tls_port,
        }
        (tmp_path / "pebble.json").write_text(json.dumps({"pebble": settings}))
        names = ["-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dns01", f"127.0.0.1:{dns}"]
        others = [word for each in ("http01", "https01", "tlsalpn01") for word in (f"-{each}", "")]
        manage = ["-management", f"127.0.0.1:{free_port()}"]
        commands = [
            ["pebble-challtestsrv", *names, *others, *manage],
            ["pebble", "-config", tmp_path / "pebble.json", "-dnsserver", f"127.0.0.1:{dns}"],
        ]
        quick = {"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"}
        for command in commands:
            each = running(tmp_path / f"{command[0]}.log", *command, **quick)
            each.__enter__()
            started.append(each)
        eventually("pebble listens", lambda: accepts(port))
        return f"https://localhost:{port}/dir"

    yield start
    for each in reversed(started):
        each.__exit__(None, None, None)


def test_lego_obtains_a_certificate_from_pebble(serve, certs, pebble, tmp_path):
    challenges = free_port()
    text = "alpn-protos = h2\n" + upstream(f"[127.0.0.1]:{challenges}", name="acme")
    server = serve(text + frontend(route("acme", 'alpn = "acme-tls/1"', "passthrough = on")))
    flags = ["--server", pebble(server.port), "--accept-tos", "--email", "a@cleat.example"]
    flags += ["--domains", NAME, "--path", tmp_path / "lego", "--tls"]
    ran = subprocess.run(
        ["lego", *map(str, flags), "--tls.port", f"127.0.0.1:{challenges}", "run"],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env={**os.environ, "LEGO_CA_CERTIFICATES": str(certs.rsa.cert)},
    )
    assert ran.returncode == 0, ran.stderr + (tmp_path / "pebble.log").read_text()
    assert NAME in names_in(tmp_path / "lego" / "certificates" / f"{NAME}.crt")
    assert server.wait_for_log(event="passthrough-begins")["sni"] == NAME
    assert "handshake-done" not in {line["event"] for line in server.log()}


def test_dehydrated_obtains_a_certificate_from_pebble(serve, certs, pebble, tmp_path):
    challenges = tmp_path / "challenges"
    challenges.mkdir()
    server = serve(f'acme-challenges = "{challenges}"')
    (tmp_path / "config").write_text(f'CA="{pebble(server.port)}"\nBASEDIR="{tmp_path}"\n')
    flags = ["--config", tmp_path / "config"]

    def dehydrated(*words):
        ran = subprocess.run(
            ["dehydrated", *map(str, [*words, *flags])],
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            env={**os.environ, "CURL_CA_BUNDLE": str(certs.rsa.cert)},
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr

    dehydrated("--register", "--accept-terms")
    asked = ["--domain", NAME, "--challenge", "tls-alpn-01", "--alpn", challenges]
    dehydrated("--cron", *asked)
    assert NAME in names_in(tmp_path / "certs" / NAME / "cert.pem")
    answered = server.wait_for_log(event="handshake-done", alpn="acme-tls/1")
    assert answered["sni"] == NAME
    assert not any(challenges.iterdir()), "dehydrated removes what it does not need any more"
