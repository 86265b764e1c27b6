"""`cleat -t` checks a configuration with its certificates and ends: code 0 and one line where all
is good, code 1 and every mistake where not. It listens nowhere and writes nothing."""

import socket

from program import run


def test_good(certs, config):
    path = config(f'frontend = "[127.0.0.1]:8443"\npem-file = "{certs.ecdsa.pem}"\n')
    ran = run("-t", "--config", path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "the configuration is good\n", "")


def test_a_port_in_use_is_no_concern(certs):
    """The program that it checks for may be running."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run("-t", "-f", f"[127.0.0.1]:{port}", certs.ecdsa.pem).returncode == 0


def test_every_mistake_is_told(certs, config, tmp_path):
    path = config(
        "workers = many\n"
        f'pem-file = "{certs.ecdsa.pem}"\n'
        "bcklog = 10\n"
        'backend = "nowhere"\n'
    )
    ran = run("-t", "--config", path)
    assert ran.returncode == 1 and ran.stdout == ""
    for line in (1, 3, 4):
        assert f"{path}:{line}:" in ran.stderr


def test_certificates_are_read(certs, tmp_path):
    missing = tmp_path / "missing.pem"
    ran = run("-t", missing)
    assert ran.returncode == 1 and str(missing) in ran.stderr


def test_every_mistake_in_a_certificate_is_told(certs, tmp_path):
    mixed = []
    for cert, key in ((certs.rsa, certs.ecdsa), (certs.ecdsa, certs.rsa)):
        path = tmp_path / f"mixed-{len(mixed)}.pem"
        path.write_text(cert.cert.read_text() + key.key.read_text())
        mixed.append(path)
    ran = run("-t", *mixed)
    assert ran.returncode == 1
    assert [line.split(": ")[3] for line in ran.stderr.splitlines()] == [str(p) for p in mixed]

    # Beside authorities that are none, and beside a file that is not there.
    nonsense = tmp_path / "ca.pem"
    nonsense.write_text("nothing\n")
    for ca in (nonsense, tmp_path / "missing.pem"):
        ran = run("-t", "--client-verify", "required", "--client-verify-ca", ca, mixed[0])
        assert ran.returncode == 1
        assert str(ca) in ran.stderr and str(mixed[0]) in ran.stderr, ran.stderr


def test_authorities_count_where_they_are_used(certs, config):
    ca = certs.authority("ca")
    path = config(f"""
        pem-file = "{certs.ecdsa.pem}"
        client-verify = required
        frontend = {{ host = "127.0.0.1"
                      port = 8443
                      client-verify-ca = "{ca.cert}" }}
    """)
    ran = run("-t", "--config", path)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_it_leaves_nothing_behind(certs, tmp_path):
    pidfile, log = tmp_path / "pid", tmp_path / "log"
    ran = run("-t", "--daemon", "--pidfile", pidfile, "--log-filename", log, certs.ecdsa.pem)
    assert ran.returncode == 0
    assert not pidfile.exists() and not log.exists()


def test_the_default_configuration_is_good(certs, config):
    text = run("--default-config").stdout
    assert run("-t", "--config", config(text), certs.ecdsa.pem).returncode == 0
