"""`cleat-bench probe` against servers whose settings are known: openssl s_server, cleat itself, and
Python's ssl; and against what is no TLS server at all.

Certificates, origins and cleat are those of the program tests."""

import contextlib
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import threading
from typing import Callable, Iterator

import pytest
from certificates import CertificateMaker
from deadlines import DEADLINE
from origins import Origin, answer
from probed import Report, Server, bench, probe, python_server
from program import Cleat, capabilities

TLS_1_2_DEFAULTS = ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"]


# The server's choices and offers.


def test_versions_and_what_is_preferred(s_server):
    report = Report(s_server())
    assert report["versions"] == "TLS 1.3, TLS 1.2"
    assert report["preferred"].startswith("TLSv1.3, TLS_AES_")
    assert "ecdsa_secp256r1_sha256" in report["preferred"]
    assert "TLS 1.3" in report.good


def test_tls_1_2_only(s_server):
    report = Report(s_server("-tls1_2"))
    assert report["versions"] == "TLS 1.2"
    assert report["preferred"].startswith("TLSv1.2, ECDHE-ECDSA-")
    assert "TLS 1.2 only" in report.weak
    assert "TLS 1.3 tickets" not in report.rows


def test_tls_1_3_only(s_server):
    report = Report(s_server("-tls1_3"))
    assert report["versions"] == "TLS 1.3"
    assert "TLS 1.2 tickets" not in report.rows
    assert "forward secrecy and authenticated encryption only" in report.good


@pytest.mark.parametrize(
    ("oldest", "accepted"), [("TLSv1", ["TLS 1.1", "TLS 1.0"]), ("TLSv1.1", ["TLS 1.1"])]
)
@pytest.mark.parametrize("kind", ["ecdsa", "rsa"])
def test_versions_that_no_library_here_speaks(s_server, certs, oldest, accepted, kind):
    """The first bytes of the answer show it, so it is known with every library."""
    flags = ["-min_protocol", oldest, "-cipher", "ALL:@SECLEVEL=0"]
    report = Report(s_server(*flags, pem=getattr(certs, kind)))
    assert report["versions"] == ", ".join(["TLS 1.3", "TLS 1.2", *accepted])
    assert f"{', '.join(accepted)} accepted" in report.weak


def test_suites_are_those_of_the_server_and_in_its_order(s_server, certs):
    order = ["ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-AES128-GCM-SHA256"]
    flags = ["-cipher", ":".join(order), "-serverpref"]
    report = Report(s_server(*flags, "-tls1_2", pem=certs.rsa))
    assert report.suites["TLS 1.2 suites"] == order
    assert report["TLS 1.2 suites"] == "2 accepted; the server chooses"


def test_a_client_that_chooses(s_server, certs):
    flags = ["-cipher", ":".join(TLS_1_2_DEFAULTS), "-tls1_2"]
    report = Report(s_server(*flags, pem=certs.rsa))
    assert sorted(report.suites["TLS 1.2 suites"]) == sorted(TLS_1_2_DEFAULTS)
    assert report["TLS 1.2 suites"] == "2 accepted; the client chooses"


def test_old_suites_are_weak(s_server, certs):
    suites = "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-SHA:AES128-GCM-SHA256"
    report = Report(s_server("-cipher", suites, pem=certs.rsa))
    assert sorted(report.suites["TLS 1.2 suites"]) == sorted(suites.split(":"))
    assert "CBC suites accepted (1)" in report.weak
    assert "1 suite without forward secrecy accepted" in report.weak


def test_a_server_with_nothing_but_old_suites(s_server, certs):
    report = Report(s_server("-cipher", "AES128-SHA", "-tls1_2", pem=certs.rsa))
    assert report["preferred"] == "TLSv1.2, AES128-SHA, no group"
    assert report.suites["TLS 1.2 suites"] == ["AES128-SHA"]


def test_suites_of_tls_1_3(s_server):
    report = Report(s_server("-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"))
    assert report.suites["TLS 1.3 suites"] == ["TLS_CHACHA20_POLY1305_SHA256"]
    assert report["TLS 1.3 suites"] == "1 accepted"


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_groups(s_server, version):
    report = Report(s_server(version, "-groups", "P-256:X25519"))
    yes, no = report["groups"].split("; not ")
    assert yes == "X25519, P-256"
    assert "P-521" in no
    # The raw hellos offer such groups with every library.
    assert report["post-quantum"] == "no"
    assert "no post-quantum group" in report.weak


@pytest.mark.parametrize(
    "offered, found",
    [
        ("h2,http/1.1", "h2, http/1.1 (prefers h2)"),
        ("http/1.1,h2", "http/1.1, h2 (prefers http/1.1)"),
        ("http/1.1", "http/1.1"),
        ("spdy/3", "spdy/3"),
        ("imap,mqtt,h2", "imap, mqtt, h2 (prefers imap)"),
        ("my-own", "none"),
    ],
)
def test_alpn(s_server, offered, found):
    assert Report(s_server("-alpn", offered))["ALPN"] == found


# Certificates and names.


def test_an_rsa_certificate(s_server, certs):
    report = Report(s_server(pem=certs.rsa), "--ca", certs.rsa.cert)
    assert report["certificate"].startswith("RSA-2048, signed with RSA-SHA256")
    assert report["names"] == "localhost, 127.0.0.1, ::1"
    assert report["chain"] == "1 certificate sent; verifies"
    assert report["for this name"] == "yes"
    assert any(each.startswith("certificate verifies, ") for each in report.good)


def test_two_certificates(s_server, certs):
    port = s_server("-dcert", certs.rsa.cert, "-dkey", certs.rsa.key)
    report = Report(port)
    assert re.findall(r"^  certificate +(\S+),", report.text, re.M) == ["ECDSA-256", "RSA-2048"]
    assert any(each.startswith("RSA certificate does not verify") for each in report.weak)


def test_a_certificate_for_another_name(s_server, certs):
    other = certs.named("other", "DNS:other.test")
    report = Report(s_server(pem=other), "--ca", other.cert)
    assert report["for this name"] == "no"
    assert "certificate does not match the server name" in report.weak


def test_an_expired_certificate(s_server, certs):
    old = certs.expired("old", "/CN=localhost")
    report = Report(s_server(pem=old), "--ca", old.cert)
    assert report["valid"] == "2020-01-01 to 2020-01-02 (expired)"
    assert "certificate expired on 2020-01-02" in report.weak


def test_a_chain_without_its_authority(s_server, certs):
    leaf = certs.signed("leaf", certs.authority("root"), "/CN=localhost")
    report = Report(s_server(pem=leaf), "--ca", certs.ecdsa.cert)
    assert any("chain incomplete" in each for each in report.weak)


def test_names_without_a_certificate(s_server, certs):
    other = certs.named("second", "DNS:second.test")
    flags = ["-servername", "localhost", "-cert2", other.cert, "-key2", other.key]
    report = Report(s_server(*flags, pem=certs.ecdsa), host="localhost")
    # To s_server the second one is for the name, and the first for all others.
    assert report["subject"] == "CN=second"
    assert report["without SNI"] == "another certificate: CN=ecdsa"
    assert report["with unknown SNI"] == "another certificate: CN=ecdsa"


def test_a_server_that_refuses_unknown_names(certs):
    def refuse(_tls: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> int | None:
        return None if name == "localhost" else ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME

    with python_server(certs, sni_callback=refuse) as port:
        report = Report(port, host="localhost")
        assert report["with unknown SNI"] == "refused (alert unrecognized_name)"
        assert report["without SNI"] == "refused (alert unrecognized_name)"
        alone = probe(f"127.0.0.1:{port}")
    assert "refuses the handshake with the alert unrecognized_name" in alone


# Resumption.


def test_tickets_of_both_versions(s_server):
    report = Report(s_server("-num_tickets", "3"))
    assert re.match(r"resumed 4 of 4; 3 tickets .*, good for 7200 s", report["TLS 1.3 tickets"])
    assert report["TLS 1.3 tickets"].endswith("; a used ticket is taken again")
    assert re.match(r"resumed 4 of 4; 1 ticket ", report["TLS 1.2 tickets"])
    assert report["TLS 1.2 IDs"] == "resumed 4 of 4"
    assert "resumed none" not in report["time (median)"]


def test_tickets_of_a_server_that_does_not_answer(s_server):
    report = Report(s_server(answers=False))
    assert re.match(r"resumed 4 of 4; 2 tickets ", report["TLS 1.3 tickets"])


def test_tickets_of_a_server_that_speaks_first(certs):
    with python_server(certs, first=b"220 hello\r\n", num_tickets=1) as port:
        report = Report(port)
    assert re.match(r"resumed 4 of 4; 1 ticket ", report["TLS 1.3 tickets"])


def test_no_resumption(s_server):
    report = Report(s_server("-no_ticket", "-num_tickets", "0", "-no_cache"))
    assert report["TLS 1.3 tickets"] == report["TLS 1.2 tickets"] == "no"
    assert report["TLS 1.2 IDs"] in ("no", "resumed 0 of 4")
    assert "no resumption" in report.weak and not any("share" in each for each in report.weak)
    assert "resumed none" in report["time (median)"]


def test_session_ids_without_tickets(s_server):
    report = Report(s_server("-tls1_2", "-no_ticket"))
    assert report["TLS 1.2 tickets"] == "no"
    assert report["TLS 1.2 IDs"] == "resumed 4 of 4"
    assert "resumption by TLS 1.2 session IDs" in report.good


def test_a_ticket_that_is_taken_once_only(s_server):
    """OpenSSL keeps what a ticket stands for, and forgets it at its first use, when early data
    could be repeated by it."""
    report = Report(s_server("-tls1_3", "-early_data", "-num_tickets", "1", answers=False))
    assert report["TLS 1.3 tickets"].endswith("; a used ticket is not taken again")


# cleat.


@pytest.fixture
def cleat(certs: CertificateMaker) -> Iterator[Callable[..., int]]:
    """cleat starts a terminator before an upstream that answers HTTP, and returns its port."""
    upstream = Origin(answer)
    running: list[Cleat] = []

    def start(*flags: object) -> int:
        command = ["-b", upstream.address, "-f", "[127.0.0.1]:0", "--log-level", 2]
        command += ["--shutdown-timeout", 0, *flags, certs.rsa.pem, certs.ecdsa.pem]
        running.append(Cleat(*command).wait_until_started())
        return running[-1].port

    yield start
    for each in running:
        each.end()
    upstream.close()


def test_a_cleat_terminator(cleat, certs, tmp_path):
    both = tmp_path / "both.crt"
    both.write_text(certs.rsa.cert.read_text() + certs.ecdsa.cert.read_text())
    report = Report(cleat("--alpn-protos", "h2,http/1.1"), "--ca", both)
    assert report["versions"] == "TLS 1.3, TLS 1.2"
    assert report["ALPN"] == "h2, http/1.1 (prefers h2)"
    assert re.findall(r"^  certificate +(\S+),", report.text, re.M) == ["ECDSA-256", "RSA-2048"]
    assert len(report.suites["TLS 1.2 suites"]) == 6
    assert re.match(r"resumed 4 of 4; 1 ticket ", report["TLS 1.3 tickets"])
    assert re.match(r"resumed 4 of 4; 1 ticket ", report["TLS 1.2 tickets"])
    if capabilities()["post-quantum group"] == "yes":
        assert report["post-quantum"] == "yes (X25519MLKEM768)"
        assert not report.weak
    else:
        assert report["post-quantum"] == "no"


# Targets that cannot be probed.


def test_a_port_where_nothing_listens():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        assert f"127.0.0.1:{port} refuses the connection: nothing listens" in probe(
            f"127.0.0.1:{port}"
        )


def test_a_name_that_is_nobodys():
    assert "nobody.invalid" in probe("nobody.invalid:443")


def test_plain_http():
    def talk(accepted: socket.socket) -> None:
        # Whatever comes is half a request line until there is a line's end.
        got = b""
        while b"\n" not in got:
            more = accepted.recv(1 << 16)
            if not more:
                return
            got += more
        accepted.sendall(b"HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n")

    with Server(talk) as port:
        text = probe(f"https://127.0.0.1:{port}/")
    assert f"127.0.0.1:{port} speaks plain HTTP, not TLS" in text


def test_ssh():
    with Server(lambda accepted: accepted.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")) as port:
        assert f"127.0.0.1:{port} speaks SSH, not TLS" in probe(f"127.0.0.1:{port}")


def test_a_server_that_says_nothing():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        text = probe(f"127.0.0.1:{port}")
    assert f"127.0.0.1:{port} took the connection, and did not finish the handshake" in text


def test_many_hosts_have_a_line_each(s_server):
    port = s_server()
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        dead = held.getsockname()[1]
        lines = probe(f"127.0.0.1:{dead}", f"127.0.0.1:{port}", f"localhost:{port}").splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"127.0.0.1:{dead} refuses the connection")
    assert lines[1].startswith(f"127.0.0.1:{port}  TLSv1.3 ")
    assert lines[2].startswith(f"localhost:{port}  TLSv1.3 ")


def test_many_hosts_are_probed_at_a_time_and_shown_in_their_order():
    """The last server says nothing until it has seen them all: one after the other, the first
    would have timed out alone."""
    with contextlib.ExitStack() as stack:
        listening = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(4)]
        ports = [each.getsockname()[1] for each in listening]
        together = []

        def hold_until_all_are_there() -> None:
            held = [each.accept()[0] for each in listening]
            together.append(len(held))
            for each in listening:  # Later connections are refused.
                each.close()
            for each in held:
                each.close()

        holding = threading.Thread(target=hold_until_all_are_there)
        holding.start()
        lines = probe("--timeout", "60s", *(f"127.0.0.1:{port}" for port in ports)).splitlines()
        holding.join(DEADLINE)
    assert together == [4]
    assert [line.split()[0] for line in lines] == [f"127.0.0.1:{port}" for port in ports]


def test_one_at_a_time(s_server):
    port = s_server()
    lines = probe("--parallel", 1, f"127.0.0.1:{port}", f"localhost:{port}").splitlines()
    assert [line.split()[0] for line in lines] == [f"127.0.0.1:{port}", f"localhost:{port}"]
    assert "--parallel" in probe("--parallel", 0, f"127.0.0.1:{port}")


@contextlib.contextmanager
def probing_a_silent_host(found, stdout):
    """A probe of two hosts: the first refuses, and the second says nothing. It is at the second.
    Gives its process and the name of the first."""
    with socket.socket() as closed, socket.create_server(("127.0.0.1", 0)) as silent:
        closed.bind(("127.0.0.1", 0))
        targets = [f"127.0.0.1:{each.getsockname()[1]}" for each in (closed, silent)]
        command = [str(bench()), "probe", "--timeout", "60s", "--json", str(found), *targets]
        child = subprocess.Popen(command, stdout=stdout, text=True)
        accepted, _ = silent.accept()
        with accepted:
            yield child, targets[0]


def test_what_was_found_before_an_interruption_is_kept(tmp_path):
    """The second host is not waited for."""
    found = tmp_path / "p.json"
    with probing_a_silent_host(found, subprocess.PIPE) as (child, refusing):
        first = child.stdout.readline()
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=DEADLINE)
    assert child.returncode == 130
    assert refusing in first
    assert "PARTIAL: ended after 1 of 2 hosts" in rest
    said = json.loads(found.read_text())
    assert said["partial"] and [each["target"] for each in said["hosts"]] == [refusing]


def test_an_interruption_is_heard_where_nobody_reads_the_output(tmp_path):
    """As under a pager that shows its first page: the pipe is full."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    found = tmp_path / "p.json"
    with probing_a_silent_host(found, writer) as (child, _):
        child.send_signal(signal.SIGTERM)
        assert child.wait(DEADLINE) == 130
    os.close(reader)
    os.close(writer)
    assert json.loads(found.read_text())["partial"]
