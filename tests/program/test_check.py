"""`cleat check` reports on every certificate: what is in it, who serves it, and what is wrong. The
exit code is 0 where nothing is worse than a warning."""

import datetime
import json
import re
import socket

import pytest

from certificates import EC, SERVER
from program import run

LONG = ["-days", "400"]  # Longer than any end that is reported.


def check(*words):
    """check is the exit code and the document."""
    ran = run("check", "--json", *words)
    assert ran.stderr == ""
    return ran.returncode, json.loads(ran.stdout)


def found(*words):
    """found is the exit code, and "grade kind" of every finding, by the name of the file."""
    code, document = check(*words)
    assert document["problems"] == []
    all_found = {}
    for each in document["certificates"]:
        name = each["chain"].rsplit("/", 1)[-1]
        all_found[name] = [f"{one['grade']} {one['kind']}" for one in each["findings"]]
    return code, all_found


@pytest.fixture
def good(certs):
    return certs.self_signed("good", EC, "DNS:good.example,DNS:*.good.example", *SERVER, *LONG)


def test_a_good_certificate(good):
    code, document = check("-f", "[127.0.0.1]:8443", good.pem)
    assert code == 0
    assert document["cleat_check"] == 1
    (one,) = document["certificates"]
    assert one["chain"] == one["private_key"] == str(good.pem)
    assert one["names"] == ["good.example", "*.good.example"]
    assert one["key"] == {"type": "ECDSA P-256", "bits": 256}
    assert one["days_left"] in (399, 400)
    assert one["subject"] == one["issuer"] == "good"
    assert one["signature"] == "ecdsa-with-SHA256"
    assert one["frontends"] == one["default_in"] == ["[127.0.0.1]:8443"]
    assert one["findings"] == []
    assert document["counts"] == {"certificates": 1, "errors": 0, "warnings": 0, "notices": 0}


def test_the_text(good, certs):
    old = certs.expired("old", "/CN=old.example")
    ran = run("check", "-f", "[127.0.0.1]:8443", old.pem, good.pem)
    blocks = ran.stdout.split("\n\n")
    assert ran.returncode == 1 and ran.stderr == ""
    assert blocks[0].startswith(f"{old.pem}\n  error     expired: expired on 2020-01-02 00:00 UTC")
    assert blocks[1].startswith(f"{good.pem}\n  names     good.example, *.good.example\n")
    assert "  serves    [127.0.0.1]:8443 (default)" in blocks[1]
    assert blocks[2].startswith("certificates 2, errors 1, warnings 1, notices 0")


def test_what_is_wrong_with_one(certs, good):
    expired = certs.expired("expired", "/CN=expired.example")
    assert found(expired.pem)[1] == {"expired.pem": ["error expired", "warning no-san"]}
    new = certs.self_signed("new", EC, "DNS:new.example", *SERVER)
    assert found(new.pem) == (0, {"new.pem": []})


def test_a_certificate_of_the_future(certs):
    later = certs.dated("later", "/CN=later.example", "20900101000000Z", "20990101000000Z")
    assert found(later.pem) == (1, {"later.pem": ["error not-yet-valid", "warning no-san"]})


@pytest.mark.parametrize(
    "hours, text",
    [(1, "over for less than a day"), (25, "over for 1 day\n"), (49, "over for 2 days\n")],
)
def test_how_long_it_is_over(certs, hours, text):
    end = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=hours)
    last = end.strftime("%Y%m%d%H%M%SZ")
    old = certs.dated(f"over-{hours}", "/CN=over.example", "20200101000000Z", last)
    assert text in run("check", old.pem).stdout


def test_a_key_of_another_certificate(certs, good, tmp_path):
    mixed = tmp_path / "mixed.pem"
    mixed.write_text(good.cert.read_text() + certs.ecdsa.key.read_text())
    assert found(mixed) == (1, {"mixed.pem": ["error key-mismatch"]})


def test_a_file_that_is_not_there(tmp_path):
    code, document = check(tmp_path / "missing.pem")
    assert code == 1 and document["problems"] == []
    (one,) = document["certificates"]
    assert one["findings"][0]["kind"] == "unusable"
    assert "No such file" in one["findings"][0]["text"]
    assert one["frontends"] == []


def signed(certs, name, authority):
    """signed is a server's certificate that an authority has signed, without SAN."""
    return certs.signed(name, authority, f"/CN={name}.example")


def kinds(*words):
    code, all_found = found(*words)
    (one,) = all_found.values()
    return code, {each.split()[1] for each in one} - {"no-san"}


def test_a_missing_intermediate(certs, tmp_path):
    authority = certs.authority("ca-of-chain")
    leaf = signed(certs, "leaf", authority)
    assert kinds(leaf.pem) == (0, {"missing-intermediate"})
    whole = tmp_path / "whole.pem"
    whole.write_text(leaf.pem.read_text() + authority.cert.read_text())
    assert kinds(whole) == (0, set())


def test_a_wrong_order(certs, tmp_path):
    authority = certs.authority("ca-of-order")
    leaf = signed(certs, "ordered", authority)
    other = certs.authority("ca-of-others")
    wrong = tmp_path / "wrong.pem"
    wrong.write_text(leaf.pem.read_text() + other.cert.read_text() + authority.cert.read_text())
    assert kinds(wrong) == (0, {"wrong-order"})


def test_two_certificates_for_a_name(certs, good):
    again = certs.self_signed("again", EC, "DNS:good.example", *SERVER, *LONG)
    code, all_found = found(good.pem, again.pem)
    assert code == 0
    assert all_found == {"good.pem": ["warning duplicate-name"], "again.pem": []}


@pytest.mark.parametrize(
    "name, flags, expected",
    [
        ("weak", ["-newkey", "rsa:1024"], "weak-key"),
        ("sha1", ["-newkey", "rsa:2048", "-sha1"], "sha1-signature"),
    ],
)
def test_old_cryptography(certs, name, flags, expected):
    """A TLS library may refuse to serve the certificate: that is a finding of its own."""
    one = certs.self_signed(name, flags, f"DNS:{name}.example", *SERVER, *LONG)
    _, all_found = found(one.pem)
    assert f"warning {expected}" in all_found[f"{name}.pem"]


def test_a_curve_below_256_bits(certs):
    """No TLS library here serves it."""
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp224r1"]
    one = certs.self_signed("p224", curve, "DNS:p224.example", *SERVER, *LONG)
    assert found(one.pem) == (1, {"p224.pem": ["error unusable", "warning weak-key"]})


def test_a_chain_that_has_expired(certs, good, tmp_path):
    old = certs.expired("old-ca", "/CN=old-ca")
    both = tmp_path / "both.pem"
    both.write_text(good.pem.read_text() + old.cert.read_text())
    assert "error chain-date" in found(both)[1]["both.pem"]


def test_names_that_no_client_asks_for(certs):
    odd = certs.self_signed("odd", EC, "DNS:w*.example,DNS:odd.example", *SERVER, *LONG)
    assert found(odd.pem) == (0, {"odd.pem": ["warning unusable-name"]})


def frontend(port, pem, more=""):
    """A frontend with a certificate of its own, as the configuration has it."""
    return f"""
        frontend = {{ host = "127.0.0.1"
                      port = {port}
                      pem-file = "{pem}"
                      {more} }}
    """


def test_who_serves_what(certs, good, config):
    mine = certs.self_signed("mine", EC, "DNS:mine.example", *SERVER, *LONG)
    both = frontend(8002, mine.pem, "match-global-certs = on")
    path = config(f'pem-file = "{good.pem}"' + frontend(8001, mine.pem) + both)
    _, document = check("--config", path)
    served = {each["subject"]: each["frontends"] for each in document["certificates"]}
    assert served == {
        "good": ["[127.0.0.1]:8002"],
        "mine": ["[127.0.0.1]:8001", "[127.0.0.1]:8002"],
    }


def test_a_file_that_is_named_twice(good):
    _, document = check("-f", "[127.0.0.1]:8443", good.pem, good.pem)
    (one,) = document["certificates"]
    assert one["frontends"] == one["default_in"] == ["[127.0.0.1]:8443"]
    assert one["findings"] == []


def test_a_certificate_that_nobody_gets(certs, good, config):
    mine = certs.self_signed("mine", EC, "DNS:mine.example", *SERVER, *LONG)
    path = config(f'pem-file = "{good.pem}"' + frontend(8001, mine.pem))
    assert found("--config", path) == (0, {"good.pem": ["notice not-served"], "mine.pem": []})


def test_mistakes_of_the_configuration_are_in_it(good, tmp_path):
    missing = tmp_path / "missing" / "pid"
    code, document = check("--pidfile", missing, good.pem)
    assert code == 1
    (problem,) = document["problems"]
    assert problem["key"] == "pidfile" and problem["where"] == "--pidfile"
    assert problem["grade"] == "error" and f"cannot write {missing}" in problem["text"]


@pytest.mark.parametrize("pem", ["", 'pem-file = "/no/such.pem"'], ids=["none", "unreadable"])
def test_it_reports_what_the_test_of_a_configuration_does(config, tmp_path, pem):
    """Also where settings do not fit together, or there is no certificate."""
    missing = tmp_path / "missing"
    path = config(f"""
    write-ip = on
    proxy-proxy = on
    frontend = "[192.0.2.1]:8443"
    user = "no-such-user"
    admin = "{missing}/socket"
    log-filename = "{missing}/log"
    access-log = "{missing}/access"
    {pem}
    """)

    def problems(*words):
        ran = run(*words, "--config", path)
        assert ran.returncode == 1
        lines = [line for line in ran.stderr.splitlines() if "pem-file: cannot read" not in line]
        return {re.sub(r": error: .*", "", line) for line in lines}

    assert problems("check") == problems("-t")
    assert len(problems("check")) >= 6


def test_it_takes_no_port_and_makes_no_file(good, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"[127.0.0.1]:{taken.getsockname()[1]}"
        pidfile = tmp_path / "pid"
        assert run("check", "-f", address, "--pidfile", pidfile, good.pem).returncode == 0
    assert not pidfile.exists()


def test_many_certificates_are_summed_up(certs, good, tmp_path):
    """Of more than 100 certificates only those with findings are listed, unless all are asked
    for."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(101):
        (folder / f"{number:03}.pem").write_bytes(good.pem.read_bytes())
    (folder / "old.pem").write_bytes(certs.expired("old", "/CN=old.example").pem.read_bytes())
    ran = run("check", "--pem-dir", folder)
    assert ran.returncode == 1
    assert ran.stdout.startswith(f"{folder}/old.pem\n")
    assert "2 more certificates are left out: --all shows them\n" in ran.stdout
    assert "  error     expired               1\n" in ran.stdout
    assert ran.stdout.endswith("certificates 102, errors 1, warnings 101, notices 0\n")
    every = run("check", "--all", "--pem-dir", folder)
    assert every.stdout.count("  names ") == 102 and "left out" not in every.stdout
    # Read as a start reads them when there are more than it keeps.
    cold = run("check", "--certificate-cache", 1, "--pem-dir", folder)
    assert (cold.stdout, cold.stderr, cold.returncode) == (ran.stdout, ran.stderr, 1)


def test_flags_that_are_none(good):
    ran = run("check", "--jsn", good.pem)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "cleat: --jsn: error: there is no such flag. Did you mean --json?\n"
    assert "cleat check" in run("check", "--help").stdout
    assert "cleat check" in run("--help").stdout
