"""`cleat health` asks the admin server of a running cleat, and its exit code is the answer."""

import json
import os
import re
import signal
import socket
import threading

import pytest

from admin_client import admin_of
from program import Cleat, open_folder, run, run_as_nobody
from ports import free_port
from tls_client import TlsClient

LOCAL = "[127.0.0.1]:0"


@pytest.fixture
def at_port(cleat):
    server = cleat("--admin", LOCAL, "--workers", 2)
    return server, f"[127.0.0.1]:{admin_of(server).where}"


def test_a_server_whose_workers_answer_is_healthy_and_ready(at_port):
    _, where = at_port
    ran = run("health", where)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout) == {"healthy": True, "workers": 2, "silent_workers": 0}
    ran = run("health", "--ready", where)
    assert (ran.returncode, json.loads(ran.stdout)) == (0, {"ready": True})


def test_a_socket_is_asked_by_its_path(cleat, tmp_path):
    path = tmp_path / "admin.sock"
    cleat("--admin", path)
    assert run("health", path).returncode == 0


def test_the_configuration_names_the_server(cleat, config, certs, tmp_path):
    file = config(
        f'pem-file = "{certs.ecdsa.pem}"\nfrontend = "{LOCAL}"\n'
        f'admin = "{tmp_path}/admin.sock"\nlog-level = 2\n'
    )
    cleat("--config", file, pem=[], frontend=None, log_level=None)
    assert run("health", "--config", file).returncode == 0
    # A running cleat refuses that file and serves on: it is as healthy as before.
    file.write_text(file.read_text() + "idel-timeout = 7\n")
    assert run("health", "--config", file).returncode == 0


def test_a_drain_ends_readiness_and_not_health(certs, origin):
    upstream = origin()
    server = Cleat(
        "-f", LOCAL, "-b", upstream.address, "--log-level", 2, "--admin", LOCAL,
        "--shutdown-timeout", 86400, certs.ecdsa.pem,
    ).wait_until_started()  # fmt: skip
    try:
        where = f"[127.0.0.1]:{admin_of(server).where}"
        with TlsClient(server.port):
            server.signal(signal.SIGTERM)
            server.wait_for_log(event="draining")
            ready = run("health", "--ready", where)
            assert (ready.returncode, ready.stdout) == (1, "")
            assert json.loads(ready.stderr) == {"ready": False, "why": "draining"}
            assert run("health", where).returncode == 0
            server.process.kill()
    finally:
        server.process.kill()
        server.wait()


def test_a_process_that_is_stopped_is_not_healthy(at_port):
    server, where = at_port
    with server.paused():
        ran = run("health", where)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"cleat: no answer from the admin server at {where}: ")


def test_a_server_that_is_not_there_is_not_healthy(tmp_path):
    port = free_port()
    ran = run("health", f"[127.0.0.1]:{port}")
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"cleat: no answer from the admin server at [127.0.0.1]:{port}: ")
    ran = run("health", tmp_path / "none.sock")
    assert ran.returncode == 1 and "No such file" in ran.stderr


def test_another_server_is_not_taken_for_cleat():
    with socket.create_server(("127.0.0.1", 0)) as other:

        def greet():
            with other.accept()[0] as client:
                client.recv(1000)  # To close before it would reset the connection.
                client.sendall(b"220 mail.example.org ESMTP\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        where = f"[127.0.0.1]:{other.getsockname()[1]}"
        ran = run("health", where)
        thread.join()
    assert ran.returncode == 1
    assert ran.stderr == f"cleat: at {where} is no admin server of cleat\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_another_user_may_not_ask_a_socket(cleat):
    with open_folder() as folder:
        cleat("--admin", folder / "admin.sock")
        ran = run_as_nobody("health", folder / "admin.sock")
    assert ran.returncode == 1 and "Permission denied" in ran.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "the address of the admin server is missing"),
        (("localhost:9443",), "is not the number of an address"),
        (("[127.0.0.1]:0",), "port 0 is any free one"),
        (("--loud", "[127.0.0.1]:1"), "--loud"),
        (("/a.sock", "--config", "x"), "ADMIN"),
        (("--config", "/nowhere/cleat.conf"), "/nowhere/cleat.conf"),
    ],
)
def test_wrong_words_are_refused(words, said):
    ran = run("health", *words)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert said in ran.stderr


def test_a_file_without_admin_is_refused_by_its_name(config):
    path = config("workers = 2\n")
    ran = run("health", "--config", path)
    assert ran.returncode == 1
    assert f"{path}: error: admin is not set" in ran.stderr


def test_help_explains_it():
    assert run("health", "--help").stdout.startswith("Usage: cleat health")
    assert re.search(r"^  health |^ *cleat health", run("--help").stdout, re.M)
