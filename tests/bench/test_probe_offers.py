"""`cleat-bench probe` finds all that a server offers, also what no TLS library has today, and says
what was not tried."""

import contextlib
import json
import re
import select
import shutil
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Callable, Iterator

import other_servers
import pytest
from certificates import CertificateMaker, openssl
from deadlines import DEADLINE
from ocsp_responses import Authority
from probed import Report, Server, bench
from raw_server import HANDSHAKE, HANDSHAKE_FAILURE, RawServer, alert, record, sized
from ports import free_port

EVERYTHING = "ALL:COMPLEMENTOFALL:@SECLEVEL=0"
AES128, DHE_AES128 = 0x002F, 0x0033


def library_suites(version: str) -> set[str]:
    """library_suites are those that OpenSSL here has in a version, without those that need a key
    which the servers of these tests have not."""
    command = ["openssl", "ciphers", "-v", EVERYTHING]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split() for line in lines]
    return {row[0] for row in rows if row[1] in version and "PSK" not in row[2] + row[3]
            and row[2] not in ("Kx=SRP",) and row[3] not in ("Au=DSS", "Au=SRP")}


@pytest.fixture
def gnutls_server(certs: CertificateMaker) -> Iterator[Callable[[str], int]]:
    """gnutls_server starts gnutls-serv with a priority string, and returns its port."""
    with contextlib.ExitStack() as stack:

        def start(priority: str) -> int:
            port = free_port()
            command = ["gnutls-serv", "--http", "--quiet", "--port", port, "--priority", priority]
            command += ["--x509certfile", certs.rsa.cert, "--x509keyfile", certs.rsa.key]
            stack.enter_context(other_servers.running(*command, port=port))
            return port

        yield start


@pytest.fixture
def nginx_server(certs: CertificateMaker, tmp_path: Path) -> Iterator[Callable[[str], int]]:
    """nginx_server starts nginx with all versions and with these suites, and returns its port."""
    with contextlib.ExitStack() as stack:

        def start(suites: str) -> int:
            parameters = tmp_path / "dh.pem"
            openssl("genpkey", "-genparam", "-algorithm", "DH", "-pkeyopt", "group:ffdhe2048",
                    "-out", parameters)
            lines = f"ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3; ssl_ciphers {suites};"
            lines += f"ssl_dhparam {parameters};"
            return stack.enter_context(other_servers.nginx(tmp_path, certs.rsa, lines=lines))[0]

        yield start


def in_json(tmp_path: Path, port: int, *more: object) -> dict:
    found = tmp_path / "probe.json"
    Report(port, "--json", found, *more)
    return json.loads(found.read_text())["hosts"][0]


def pass_on(one: socket.socket, other: socket.socket) -> None:
    """pass_on relays between two connections until either ends."""
    while True:
        for readable in select.select([one, other], [], [], DEADLINE)[0]:
            got = readable.recv(1 << 16)
            if not got:
                return
            (other if readable is one else one).sendall(got)


def before(port: int, mark: bytes, answer: bytes) -> Server:
    """before is a server that answers hellos with a mark itself, or not at all where the answer is
    empty, and hands all others to the one at the port."""

    def talk(client: socket.socket) -> None:
        hello = client.recv(1 << 16)
        if mark in hello:
            client.sendall(answer) if answer else client.recv(1)
            return
        with socket.create_connection(("127.0.0.1", port)) as server:
            server.sendall(hello)
            pass_on(client, server)

    return Server(talk)


# Suites and groups.


def test_every_suite_of_openssl_is_found(s_server, certs):
    """Two certificates: with RSA and ECDSA keys, all suites but those of pre-shared keys are on."""
    flags = ["-cipher", EVERYTHING, "-min_protocol", "TLSv1"]
    flags += ["-dcert", certs.rsa.cert, "-dkey", certs.rsa.key]
    report = Report(s_server(*flags, pem=certs.ecdsa))
    old = library_suites("SSLv3 TLSv1 TLSv1.0")
    assert set(report.suites["TLS 1.2 suites"]) == old | library_suites("TLSv1.2")
    assert set(report.suites["TLS 1.1 suites"]) == old
    assert set(report.suites["TLS 1.0 suites"]) == old
    for kind in ("NULL-SHA256", "ADH-AES128-SHA", "AECDH-NULL-SHA", "DHE-RSA-AES128-GCM-SHA256"):
        assert kind in report.suites["TLS 1.2 suites"]
    broken = next(each for each in report.weak if each.startswith("broken suites accepted"))
    assert "ADH-AES128-SHA" in broken and "NULL-SHA256" in broken


def test_a_server_that_no_library_here_can_connect_to(s_server, certs):
    """NULL suites only: the raw hellos are enough for a report."""
    report = Report(s_server("-tls1_2", "-cipher", "NULL:@SECLEVEL=0", pem=certs.rsa))
    assert report["versions"] == "TLS 1.2"
    assert "NULL-SHA256" in report.suites["TLS 1.2 suites"]
    assert any(each.startswith("broken suites") for each in report.weak)


def test_a_server_that_limits_the_number_of_suites(certs):
    """It refuses a ClientHello with more than 128, so all are offered in batches as well."""
    with RawServer(certs.rsa, suites=[0xC09C, AES128], suites_max=128) as port:
        report = Report(port)
    assert sorted(report.suites["TLS 1.2 suites"]) == ["AES128-CCM", "AES128-SHA"]


def test_suites_of_both_certificates_are_found(certs, tmp_path):
    """HAProxy shows the ECDSA certificate to each client that offers a suite for one, and refuses
    the client if it has not that suite."""
    port = free_port()
    (tmp_path / "haproxy.cfg").write_text(
        "defaults\n timeout client 60s\n timeout connect 60s\n timeout server 60s\nfrontend f\n"
        f" bind 127.0.0.1:{port} ssl crt {certs.rsa.pem} crt {certs.ecdsa.pem}\n"
    )
    with other_servers.running("haproxy", "-db", "-f", tmp_path / "haproxy.cfg", port=port):
        suites = Report(port, host="localhost").suites["TLS 1.2 suites"]
    assert {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"} <= set(suites)


def test_a_server_that_wants_a_key_share(s_server, certs):
    """It refuses a hello that has none, where others ask for one."""
    port = s_server("-tls1_3", pem=certs.rsa)
    with before(port, b"\x00\x33\x00\x02\x00\x00", alert(HANDSHAKE_FAILURE)) as server:
        report = Report(server)
    assert len(report.suites["TLS 1.3 suites"]) == 3
    assert report["groups"] == "X25519"
    assert any(each.startswith("groups of TLS 1.3 but X25519") for each in report.said("not tried"))


def test_suites_have_what_the_registry_says(s_server, certs, tmp_path):
    flags = ["-tls1_2", "-cipher", "NULL-SHA256:AES128-SHA:@SECLEVEL=0"]
    found = in_json(tmp_path, s_server(*flags, pem=certs.rsa))
    suites = {each["name"]: each for each in found["versions"][0]["registered"]}
    assert suites["NULL-SHA256"]["null"] and not suites["AES128-SHA"]["null"]
    assert suites["AES128-SHA"]["iana"] == "TLS_RSA_WITH_AES_128_CBC_SHA"
    assert suites["AES128-SHA"]["cbc"] and not suites["AES128-SHA"]["forward_secret"]


def test_groups_of_gnutls(gnutls_server):
    groups = "+GROUP-SECP256R1:+GROUP-X448:+GROUP-FFDHE2048"
    report = Report(gnutls_server(f"NORMAL:-GROUP-ALL:{groups}"))
    yes, no = report["groups"].split("; not ")
    assert yes == "P-256, X448, ffdhe2048"
    assert "X25519MLKEM768" in no and "SecP256r1MLKEM768" in no


@pytest.mark.skipif(shutil.which("sslscan") is None, reason="there is no sslscan")
@pytest.mark.parametrize("kind", ["openssl", "nginx", "gnutls"])
def test_no_suite_that_sslscan_finds_is_missing(
    kind, s_server, nginx_server, gnutls_server, certs, tmp_path
):
    if kind == "openssl":
        flags = ["-cipher", EVERYTHING, "-min_protocol", "TLSv1"]
        port = s_server(*flags, pem=certs.rsa)
    elif kind == "nginx":
        port = nginx_server(EVERYTHING)
    else:
        port = gnutls_server("NORMAL:+VERS-TLS1.0:+VERS-TLS1.1:+DHE-RSA:+RSA:+3DES-CBC:+ANON-ECDH")
    scanned = subprocess.run(
        ["sslscan", "--no-colour", "--no-heartbleed", "--no-groups", f"127.0.0.1:{port}"],
        capture_output=True, text=True, timeout=DEADLINE, check=True,
    ).stdout
    theirs = set(re.findall(
        r"^(?:Preferred|Accepted)\s+(TLSv1\.\d)\s+\d+ bits\s+(\S+)", scanned, re.M
    ))
    ours = {
        (found["version"].replace("TLS ", "TLSv"), suite[key])
        for found in in_json(tmp_path, port)["versions"] for suite in found["registered"]
        for key in ("name", "iana")
    }
    assert len(theirs) > 10, scanned
    assert theirs - ours == set()


def test_a_server_with_nothing_but_ssl_3_0(certs):
    with RawServer(certs.rsa, version=0x0300, suites=[AES128, 0x000A]) as port:
        report = Report(port)
    assert report["versions"] == "SSL 3.0"
    assert sorted(report.suites["SSL 3.0 suites"]) == ["AES128-SHA", "DES-CBC3-SHA"]
    assert "SSL 3.0 accepted" in report.weak and "neither TLS 1.2 nor TLS 1.3" in report.weak
    assert "renegotiation: the server accepts SSL 3.0 only" in report.said("not tried")


# Features.


def test_features_of_openssl(s_server, certs):
    report = Report(s_server("-cipher", "AES128-SHA:AES128-GCM-SHA256", pem=certs.rsa))
    assert report["fallback SCSV"] == "yes"
    assert report["renegotiation"] == "secure (RFC 5746)"
    assert report["master secret"] == "extended (RFC 7627)"
    assert report["compression"] == "no"
    assert report["heartbeat"] == "no"
    assert report["encrypt-then-MAC"] == "yes (RFC 7366)"
    assert report["early data"] == "no"
    assert report["OCSP staple"] == "no"


def test_a_stapled_response_is_seen(s_server, certs, tmp_path):
    authority = Authority(certs, tmp_path)
    site = authority.site("stapled")
    response = authority.response(site, "stapled")
    report = Report(s_server("-status_file", response, "-tls1_2", pem=site))
    assert report["OCSP staple"] == "a response is stapled"


def test_revocation_and_transparency_of_a_certificate(s_server, certs):
    """The text is a SEQUENCE of the feature 5, and any bytes in place of the timestamps."""
    extensions = [
        "crlDistributionPoints=URI:http://crl.test/a.crl,URI:http://crl.test/b.crl",
        "authorityInfoAccess=OCSP;URI:http://ocsp.test,caIssuers;URI:http://ca.test",
        "tlsfeature=status_request", "1.3.6.1.4.1.11129.2.4.2=DER:0402BEEF",
    ]  # fmt: skip
    more = [word for each in extensions for word in ("-addext", each)]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    site = certs.self_signed("revocable", kind, "DNS:localhost", *more)
    report = Report(s_server("-tls1_2", pem=site))
    assert report["revocation"] == (
        "CRL http://crl.test/a.crl, CRL http://crl.test/b.crl, OCSP http://ocsp.test, "
        "clients want a stapled response"
    )
    assert report["transparency"] == "timestamps in the certificate"
    assert "certificate: clients want a stapled OCSP response, and there is none" in report.weak
    plain = Report(s_server("-tls1_2", pem=certs.ecdsa))
    assert plain["revocation"] == "names no CRL and no OCSP responder"
    assert plain["transparency"] == "no"


def test_early_data_that_tickets_allow(s_server):
    assert Report(s_server("-early_data", answers=False))["early data"] == "the tickets allow it"


def test_a_server_without_the_features_is_weak(certs):
    with RawServer(certs.rsa, secure_renegotiation=False, compresses=True) as port:
        report = Report(port)
    assert report["compression"] == "accepted"
    for weakness in ("no secure renegotiation (RFC 5746)", "compression accepted (CRIME)",
                     "no extended master secret (RFC 7627)"):
        assert weakness in report.weak


@pytest.mark.parametrize("suite", ["ECDHE-RSA-AES128-GCM-SHA256", "AES256-GCM-SHA384"])
def test_a_server_that_lets_clients_renegotiate_is_weak(s_server, certs, suite):
    flags = ("-tls1_2", "-cipher", suite)
    permits = Report(s_server("-client_renegotiation", *flags, pem=certs.rsa))
    assert "renegotiation by the client permitted: the server begins" in permits.text
    assert "clients may renegotiate: each costs a handshake, and no connection" in permits.weak
    refuses = Report(s_server(*flags, pem=certs.rsa))
    assert "renegotiation by the client refused with an alert" in refuses.text
    assert not any("renegotiate" in each for each in refuses.weak)


def test_renegotiation_that_is_not_answered_is_not_known(certs):
    """The server reads no more TLS after its handshake."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    tls.load_cert_chain(certs.rsa.pem)

    def talk(accepted: socket.socket) -> None:
        with tls.wrap_socket(accepted, server_side=True) as client:
            rest = socket.socket(fileno=client.detach())
        with rest:
            rest.settimeout(DEADLINE)
            while rest.recv(1 << 16):
                pass

    with Server(talk) as port:
        report = Report(port)
    assert "renegotiation by the client: not answered" in report.said("not tried")


def test_renegotiation_that_could_not_be_asked_for(s_server, certs):
    report = Report(s_server("-tls1_2", "-cipher", "ECDHE-RSA-CHACHA20-POLY1305", pem=certs.rsa))
    (why,) = [each for each in report.said("not tried") if each.startswith("renegotiation by")]
    assert "no handshake of TLS 1.2 with AES-GCM: " in why


def test_what_was_not_tried_has_its_reason(s_server):
    report = Report(s_server("-tls1_3"))
    untried = report.said("not tried")
    assert "renegotiation: the server accepts TLS 1.3 only" in untried
    assert any(each.startswith("renegotiation by the client: ") for each in untried)
    assert report.text.splitlines()[-1].startswith("  not tried: ")


def test_a_server_that_does_not_answer_raw_hellos_is_not_called_sound(s_server, certs):
    """Only the library's hellos reach s_server, so the lists of suites are empty."""
    port = s_server(pem=certs.rsa)
    with before(port, b"c" * 16, b"") as server:  # No random bytes of a library.
        report = Report(server, "--timeout", "1s")
    assert report["versions"] == "TLS 1.3"
    assert report["incomplete"] == "3 ClientHellos had no answer, and the rest was left out"
    for name in ATTACKS:
        assert report[name].startswith("not tried: "), report.text
    assert not any(each.startswith("not vulnerable") for each in report.good)


# Vulnerabilities: a sound server has none of them, and each is found where it is.

ATTACKS = ["Sweet32", "FREAK", "RC4", "POODLE", "BEAST", "DROWN", "Logjam", "Raccoon", "Heartbleed",
           "early CCS", "ROBOT", "Ticketbleed"]


def test_openssl_has_none(s_server, certs):
    flags = ["-tls1_2", "-cipher", "AES128-SHA:DHE-RSA-AES128-SHA"]
    report = Report(s_server(*flags, pem=certs.rsa))
    for name in ATTACKS:
        assert report[name].startswith("not vulnerable: "), report.text
    assert report["Logjam"] == "not vulnerable: 2048 bits with DHE-RSA-AES128-SHA"
    assert report["ROBOT"] == "not vulnerable: right and wrong padding have the same answer"
    assert "not vulnerable to 12 of the known attacks" in report.good


def test_a_sound_raw_server_has_none(certs):
    with RawServer(certs.rsa, suites=[AES128, DHE_AES128]) as port:
        report = Report(port)
    for name in ATTACKS:
        assert report[name].startswith("not vulnerable: "), report.text


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("Heartbleed", {"bleeds": True}),
        ("early CCS", {"takes_early_ccs": True}),
        ("ROBOT", {"tells_padding": True}),
        ("Raccoon", {"suites": [DHE_AES128], "reuses_key": True}),
        ("Logjam", {"suites": [DHE_AES128], "prime_bits": 1024}),
        ("Sweet32", {"suites": [0x000A]}),
        ("FREAK", {"suites": [0x0003]}),
        ("POODLE", {"version": 0x0300}),
        ("DROWN", {"has_ssl_2": True}),
    ],
)
def test_a_vulnerability_is_found(certs, name, settings):
    with RawServer(certs.rsa, **settings) as port:
        report = Report(port)
    assert report[name].startswith("vulnerable: "), report.text
    assert any(each.startswith(f"vulnerable to {name}: ") for each in report.weak)
    others = [each for each in ATTACKS if each != name]
    found = {each for each in others if report[each].startswith("vulnerable: ")}
    # The suite for export has RC4, and what SSL 3.0 has is open to BEAST, too.
    assert found == {"FREAK": {"RC4"}, "POODLE": {"BEAST"}}.get(name, set())


@pytest.mark.parametrize("suite", ["RSA:+3DES-CBC", "RSA:+AES-128-CBC"])
def test_old_versions_have_old_attacks(gnutls_server, suite):
    priority = f"NONE:+VERS-TLS1.0:+{suite}:+SHA1:+COMP-NULL:+SIGN-ALL:+CTYPE-X509"
    report = Report(gnutls_server(priority))
    assert report["versions"] == "TLS 1.0"
    assert report["BEAST"] == "vulnerable: CBC suites in TLS 1.0"
    sweet = "3DES" in suite
    assert report["Sweet32"].startswith("vulnerable: 1 suite " if sweet else "not vulnerable: ")
    assert "neither TLS 1.2 nor TLS 1.3" in report.weak


def test_ticketbleed_is_found(s_server, certs):
    """The server before s_server answers a ticket with a session ID that is longer than that of the
    hello, as the vulnerable load balancers did."""
    port = s_server("-tls1_2", pem=certs.rsa)
    body = b"\3\3" + b"r" * 32 + b"\x20" + b"T" * 16 + b"m" * 16 + b"\xc0\x2f\0"
    answer = record(HANDSHAKE, b"\2" + sized(body, 3))
    with before(port, b"T" * 16, answer) as server:
        report = Report(server)
    assert report["Ticketbleed"] == "vulnerable: a session ID of 16 bytes was answered with 32"
    assert any(each.startswith("vulnerable to Ticketbleed") for each in report.weak)


# Intolerance.


def test_usual_servers_take_unusual_hellos(s_server, gnutls_server, certs):
    for port in (s_server(pem=certs.rsa), gnutls_server("NORMAL")):
        assert re.match(r"all 1[3-5] accepted$", Report(port)["unusual hellos"])


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({"knows_grease": False}, "GREASE (alert handshake_failure)"),
        ({"hello_max": 5000}, "a ClientHello of 16000 bytes (alert handshake_failure)"),
    ],
)
def test_an_intolerance_is_found(certs, settings, refused):
    with RawServer(certs.rsa, **settings) as port:
        report = Report(port)
    assert report["unusual hellos"].endswith(f"accepted; not {refused}")
    assert f"intolerant of {refused.split(' (')[0]}" in report.weak


# A fleet.


def test_a_fleet_that_shares_its_keys_and_one_that_does_not(s_server, nginx_server):
    """nginx and s_server have keys of their own; an address that is asked twice shares them."""
    port, other = s_server(), nginx_server("HIGH")
    shared = Report(port, "--fleet", f"127.0.0.1:{port}")
    assert shared["fleet"] == (
        f"127.0.0.1:{port}: TLS 1.3 tickets resumed, TLS 1.2 tickets resumed, TLS 1.2 IDs resumed"
    )
    assert "the fleet shares its sessions" in shared.good
    apart = Report(port, "--fleet", f"127.0.0.1:{other}", "no-such-host.invalid")
    assert "TLS 1.3 tickets not resumed" in apart["fleet"]
    assert any(f"127.0.0.1:{other} does not resume sessions of" in each for each in apart.weak)
    assert any("no-such-host.invalid: no address" in each for each in apart.said("not tried"))


# Certificates.


def test_certificates_of_three_kinds_of_key(s_server, certs):
    """s_server takes two of a kind for a name, so the third is on a server of its own."""
    ed25519 = certs.self_signed("ed25519", ["-newkey", "ed25519"], "DNS:localhost")
    flags = ["-dcert", certs.rsa.cert, "-dkey", certs.rsa.key]
    keys = {
        key
        for port in (s_server(*flags, pem=ed25519), s_server(*flags, pem=certs.ecdsa))
        for key in re.findall(r"^  certificate +(\S+),", Report(port).text, re.M)
    }
    assert keys == {"Ed25519", "RSA-2048", "ECDSA-256"}


def test_the_order_of_the_chain(s_server, certs, tmp_path):
    root = certs.authority("root")
    leaf = certs.signed("chained", root, "/CN=localhost")
    other = tmp_path / "other.pem"
    other.write_text(certs.rsa.cert.read_text() + root.cert.read_text())
    report = Report(s_server("-cert_chain", other, pem=leaf))
    assert report["chain"].startswith("3 certificates sent, out of order, with the root; ")
    assert any("the chain is out of order" in each for each in report.weak)
    right = Report(s_server("-cert_chain", root.cert, pem=leaf))
    assert right["chain"].startswith("2 certificates sent, with the root; ")
    assert not any("out of order" in each for each in right.weak)


def test_days_left_with_a_limit(s_server):
    port = s_server()
    assert not any("expires in" in each for each in Report(port).weak)
    days = int(re.search(r"\((\d+) days left\)", Report(port)["valid"])[1])
    warned = Report(port, "--warn-days", days + 1)
    assert f"certificate expires in {days} days" in warned.weak


# The page.


def test_the_page_of_a_report_has_the_answers(certs, tmp_path):
    found, page = tmp_path / "probe.json", tmp_path / "page.html"
    with RawServer(certs.rsa, bleeds=True) as port:
        Report(port, "--json", found)
    subprocess.run([bench(), "report", found, "--out", page], check=True, timeout=DEADLINE)
    data = json.loads(re.search(r'id="data">([^<]*)<', page.read_text())[1])
    facts = dict(data["probes"][0]["hosts"][0]["facts"])
    assert facts["vulnerable to"].startswith("Heartbleed: a heartbeat of 3 bytes")
    assert "ROBOT" in facts["not vulnerable to"]
    assert "renegotiation: secure (RFC 5746)" in facts["features"]
    assert "renegotiation by the client: " in facts["not tried"]
