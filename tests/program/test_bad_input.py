"""A mistake in the configuration is reported before anything starts: exit code 1, and a message
with the file, the line and what to do. No port is taken and no file left behind."""

import os
import re
import socket
import stat

import pytest

from certificates import openssl
from program import open_folder, run, run_as_nobody
from tls_client import TlsClient


@pytest.fixture
def port():
    """A port that is free, and must be free afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        number = held.getsockname()[1]
    yield number
    socket.create_server(("127.0.0.1", number)).close()


@pytest.fixture
def refused(certs, config, port, tmp_path):
    """Starts cleat with a configuration that is wrong. Its message is one line for each mistake,
    and has each of the words."""

    def start(text, *words, line=None, pem=certs.ecdsa.pem, mistakes=1):
        first = f'frontend = "[127.0.0.1]:{port}"\n'
        pidfile = tmp_path / "pid"
        second = f'pidfile = "{pidfile}"\n' + (f'pem-file = "{pem}"\n' if pem else "\n")
        path = config(first + second + text)
        ran = run("--config", path)
        assert ran.returncode == 1, ran.stderr
        lines = ran.stderr.splitlines()
        assert len(lines) == mistakes and all(each.startswith("cleat: ") for each in lines), lines
        for word in words:
            assert str(word) in ran.stderr
        if line:
            assert f"{path}:{line}:" in ran.stderr
        assert not pidfile.exists()
        return ran.stderr

    return start


class TestCertificates:
    def test_a_file_that_is_not_there(self, refused, tmp_path):
        missing = tmp_path / "missing.pem"
        refused(f'pem-file = "{missing}"', missing, "No such file", line=4)

    def test_a_file_that_may_not_be_read(self, certs):
        """Root may read everything, so that it becomes another user."""
        is_root = os.geteuid() == 0
        with open_folder() as folder:
            closed = folder / "closed.pem"
            closed.write_text(certs.ecdsa.pem.read_text())
            closed.chmod(0)
            ran = (run_as_nobody if is_root else run)("-f", "[127.0.0.1]:0", closed)
        assert ran.returncode == 1
        assert f"{closed}: " in ran.stderr and "Permission denied" in ran.stderr

    def test_a_directory(self, refused, tmp_path):
        refused(f'pem-file = "{tmp_path}"', tmp_path, "is a directory", "pem-dir", line=4)

    def test_an_empty_file(self, refused, tmp_path):
        empty = tmp_path / "empty.pem"
        empty.touch()
        refused(f'pem-file = "{empty}"', empty)

    def test_a_file_of_something_else(self, refused, tmp_path):
        other = tmp_path / "other.pem"
        other.write_bytes(bytes(range(256)))
        refused(f'pem-file = "{other}"', other)

    def test_a_certificate_without_its_key(self, refused, certs):
        refused(f'pem-file = "{certs.ecdsa.cert}"', certs.ecdsa.cert, "no private key")

    def test_a_key_without_its_certificate(self, refused, certs):
        refused(f'pem-file = "{certs.ecdsa.key}"', certs.ecdsa.key, "certificate")

    def test_the_key_of_another_certificate(self, refused, certs, tmp_path):
        mixed = tmp_path / "mixed.pem"
        mixed.write_text(certs.rsa.key.read_text() + certs.ecdsa.cert.read_text())
        refused(f'pem-file = "{mixed}"', mixed, "does not belong")

    def test_a_key_that_needs_a_passphrase(self, refused, certs, tmp_path):
        locked = tmp_path / "locked.pem"
        key = openssl("pkey", "-in", certs.ecdsa.key, "-aes128", "-passout", "pass:secret")
        locked.write_text(key + certs.ecdsa.cert.read_text())
        refused(f'pem-file = "{locked}"', locked, "encrypted", "openssl pkey")

    def test_a_file_that_is_cut_short(self, refused, certs, tmp_path):
        short = tmp_path / "short.pem"
        short.write_text(certs.ecdsa.pem.read_text()[:-60])
        refused(f'pem-file = "{short}"', short, "cut short")

    def test_a_damaged_certificate(self, refused, certs, tmp_path):
        damaged = tmp_path / "damaged.pem"
        lines = certs.ecdsa.cert.read_text().splitlines()
        lines[3] = lines[3][::-1]
        damaged.write_text(certs.ecdsa.key.read_text() + "\n".join(lines) + "\n")
        refused(f'pem-file = "{damaged}"', damaged)

    def test_no_certificate_at_all(self, refused):
        refused("", "certificate", pem=None)

    def test_an_empty_directory(self, refused, tmp_path):
        folder = tmp_path / "pems"
        folder.mkdir()
        refused(f'pem-dir = "{folder}"', folder, "pem-dir", line=4)

    def test_an_authority_that_is_not_there(self, refused, tmp_path):
        missing = tmp_path / "ca.pem"
        text = f'client-verify = required\nclient-verify-ca = "{missing}"'
        assert "client-verify-ca" in refused(text, missing)

    @pytest.mark.parametrize("verify", ["required", "optional"])
    @pytest.mark.parametrize("text", ["", "\n", "no PEM"], ids=["empty", "a line", "words"])
    def test_an_authority_that_is_none(self, refused, tmp_path, verify, text):
        file = tmp_path / "ca.pem"
        file.write_text(text)
        said = refused(f'client-verify = {verify}\nclient-verify-ca = "{file}"', line=5)
        assert f": error: client-verify-ca: {file}: there is no certificate in it" in said

    def test_verifying_without_an_authority(self, refused):
        refused("client-verify = required", "client-verify-ca", line=4)

    def test_an_expired_one_is_a_warning(self, cleat, certs):
        pem = certs.expired("expired", "/CN=localhost").pem
        server = cleat("--pem-file", pem, pem=[])
        warning = [line for line in server.lines if "expired" in line]
        assert warning and str(pem) in warning[0]
        with TlsClient(server.port) as client:
            assert client.exchange(b"served all the same") == b"served all the same"


class TestSettings:
    @pytest.mark.parametrize(
        "text, words",
        [
            ("wrokers = 2", ["wrokers", "workers"]),
            ("workers = 0", ["workers"]),
            ("workers = 2000", ["workers", "1024"]),
            ("backlog = many", ["backlog"]),
            ("backend = 8080", ["backend"]),
            ('backend = "[127.0.0.1]:99999"', ["backend", "99999"]),
            ("tls-protos = TLSv1.1", ["TLSv1.1"]),
            ('ciphers = "NO-SUCH-CIPHER"', ["NO-SUCH-CIPHER"]),
            ('ciphersuites = "TLS_NO_SUCH"', ["TLS_NO_SUCH"]),
            ('ecdh-curve = "no-such-curve"', ["no-such-curve"]),
            ("log-level = 9", ["log-level"]),
            ("keepalive = -1", ["keepalive"]),
            ("write-ip = on\nwrite-proxy-v2 = on", ["write-ip", "write-proxy-v2"]),
            ('tls-protos = TLSv1.3\nciphers = "ECDHE+AESGCM"', ["ciphers", "TLSv1.2"]),
            (
                'tls-protos = TLSv1.2\nciphersuites = "TLS_AES_128_GCM_SHA256"',
                ["ciphersuites", "TLSv1.3"],
            ),
            ("syslog-facility = local0", ["syslog-facility", "Turn syslog on"]),
            ('frontend = "[127.0.0.1]:http"', ["frontend"]),
            ("frontend = {\nport = 1", ["}"]),
            ('user = "nobody', ['"']),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_a_mistake_is_named_with_its_line(self, refused, text, words):
        # Lines 1 to 3 are what is right.
        assert re.search(r"\.conf:[4-6]:\d+: error: ", refused(text, *words))

    def test_what_two_frontends_share_is_wrong_once(self, refused):
        said = refused('frontend = "[127.0.0.1]:0"\nciphers = "NO-SUCH-CIPHER"', line=5)
        assert ": error: ciphers: " in said

    def test_a_certificate_is_blamed_for_what_is_wrong_with_it(self, refused, certs):
        key = certs.rsa.key
        block = f'cert = "{certs.ecdsa.pem}"\nprivate-key = "{key}"'
        said = refused(f"pem-file = {{\n{block}\n}}", line=4)
        assert ": error: pem-file: " in said

    def test_an_error_hides_no_other(self, refused):
        text = 'user = "no-such-user"\nciphersuites = "TLS_NO_SUCH"'
        refused(text, ":4:", "no-such-user", ":5:", "TLS_NO_SUCH", mistakes=2)
        text = 'write-ip = on\nproxy-proxy = on\nciphersuites = "TLS_NO_SUCH"'
        refused(text, "excludes", ":6:", "TLS_NO_SUCH", mistakes=2)

    @pytest.mark.parametrize(
        "value", ["sandbox = on", "nonsense = 3", 'alpn-protos = "h2;http/1.1"']
    )
    def test_a_value_that_cannot_be_read_hides_no_other(self, refused, value):
        words = [("user", "nosuch"), ("chroot", "/no/such"), ("ciphersuites", "TLS_NO_SUCH")]
        for key, word in words:
            refused(f'{value}\n{key} = "{word}"', ":4:", ":5:", word, mistakes=2)

    def test_a_value_that_cannot_be_read_has_no_consequences(self, refused):
        """Settings are compared, and certificates are read, once all are known. A file that is not
        there is no consequence."""
        refused('client-verify = requierd\nclient-verify-ca = "none.pem"', ":4:")
        refused('upstrem = { name = "a" }\nupstream = a', ":4:")

    @pytest.mark.parametrize("value", ["idle-timeout = x", "nonsense = 3", "proxy-xlient = on"])
    def test_a_value_that_cannot_be_read_hides_no_file_that_is_missing(self, refused, value):
        block = '{\ncert = "no1.pem"\nprivate-key = "no2.key"\nocsp-resp-file = "no3.der"\n}'
        refused(f"{value}\npem-file = {block}", ":4:", *"123", mistakes=5, pem="no.pem")
        client = 'client-verify = required\nclient-verify-ca = "no1"\nclient-verify-crl = "no2"'
        refused(f"{value}\n{client}", ":4:", ":6:", ":7:", "read no1", "read no2", mistakes=3)
        others = 'ticket-secret = "no1"\npem-dir = "no2"\ndeny-from = "@no3"'
        refused(f"{value}\n{others}", ":4:", ":5:", ":6:", ":7:", "No such file", mistakes=4)

    def test_a_word_behind_a_wrong_flag_may_be_its_value(self, tmp_path, certs):
        ran = run("--wrokers", "2", cwd=tmp_path)
        assert (ran.returncode, len(ran.stderr.splitlines())) == (1, 1), ran.stderr
        (tmp_path / "c.conf").write_text("idle-timeout = x\n")
        ran = run("-t", "--config", "c.conf", "no.pem", cwd=tmp_path)
        assert "cannot read no.pem" in ran.stderr and "c.conf:1:16" in ran.stderr

    def test_a_certificate_that_cannot_be_read_hides_no_setting(self, refused, tmp_path):
        text = 'ciphersuites = "TLS_NO_SUCH"'
        for more in ("", "certificate-cache = 1\n"):
            refused(f'{text}\n{more}', "none.pem", "TLS_NO_SUCH", pem="none.pem", mistakes=2)

    def test_a_certificate_that_no_client_gets(self, certs):
        ran = run("--client", certs.ecdsa.pem)
        assert ran.returncode == 1 and "every frontend takes plaintext" in ran.stderr

    def test_a_flag_that_does_not_exist(self, certs):
        ran = run("--wrokers", "2", certs.ecdsa.pem)
        assert ran.returncode == 1
        assert "--wrokers" in ran.stderr and "--workers" in ran.stderr

    def test_a_command_that_does_not_exist(self, certs, tmp_path):
        ran = run("chekc", "--config", "x.conf", cwd=tmp_path)
        assert ran.returncode == 1 and "chekc: error: there is no such command" in ran.stderr
        assert "Did you mean check?" in ran.stderr
        assert "Did you mean ticket-secret?" in run("ticket-secrte", "new").stderr
        (tmp_path / "reloda").write_text(certs.ecdsa.pem.read_text())
        assert run("reloda", "-t", cwd=tmp_path).returncode == 0
        assert "cannot read" in run("site", "-t", cwd=tmp_path).stderr

    def test_a_configuration_that_is_not_there(self, tmp_path):
        ran = run("--config", tmp_path / "missing.conf")
        assert ran.returncode == 1 and "missing.conf" in ran.stderr

    def test_a_configuration_that_is_a_directory(self, tmp_path):
        ran = run("--config", tmp_path)
        assert ran.returncode == 1 and "directory" in ran.stderr

    def test_a_configuration_that_is_a_program(self, tmp_path):
        import program

        # All of a release is 2.8 million errors, and a sanitizer's program is refused for its size.
        beginning = tmp_path / "cleat"
        with program.binary().open("rb") as whole:
            beginning.write_bytes(whole.read(1 << 18))
        ran = run("--config", beginning)
        assert ran.returncode == 1 and len(ran.stderr) < 100_000
        assert not any(c < " " for c in ran.stderr.replace("\n", ""))


class TestTheSystem:
    def test_a_port_in_use(self, certs, tmp_path):
        pidfile, log = tmp_path / "pid", tmp_path / "log"
        with socket.create_server(("127.0.0.1", 0)) as taken:
            number = taken.getsockname()[1]
            files = ["--pidfile", pidfile, "--log-filename", log]
            ran = run("-f", f"[127.0.0.1]:{number}", *files, certs.ecdsa.pem)
        assert ran.returncode == 1
        assert f"127.0.0.1:{number}" in ran.stderr and "in use" in ran.stderr
        assert "stop it, or choose another port" in ran.stderr
        assert not pidfile.exists() and not log.exists()

    def test_one_port_in_use_of_two(self, certs, port):
        """cleat does not take the other port either: the fixture `port` checks that."""
        with socket.create_server(("127.0.0.1", 0)) as taken:
            number = taken.getsockname()[1]
            flags = ["-f", f"[127.0.0.1]:{port}", "-f", f"[127.0.0.1]:{number}"]
            assert run(*flags, certs.ecdsa.pem).returncode == 1

    def test_another_cleat_on_the_same_port(self, cleat, certs):
        """Workers share a port with each other; two programs do not."""
        server = cleat("--workers", 2)
        ran = run("-f", f"[127.0.0.1]:{server.port}", certs.ecdsa.pem)
        assert ran.returncode == 1 and "in use" in ran.stderr
        with TlsClient(server.port) as client:
            assert client.exchange(b"undisturbed") == b"undisturbed"

    def test_an_address_of_another_machine(self, certs):
        ran = run("-f", "[192.0.2.1]:8443", certs.ecdsa.pem)  # RFC 5737: nobody's.
        assert ran.returncode == 1 and "192.0.2.1:8443" in ran.stderr
        assert "no such address" in ran.stderr

    def test_a_user_who_does_not_exist(self, refused):
        refused('user = "no-such-user"', "no-such-user", "getent passwd", line=4)

    def test_a_group_that_does_not_exist(self, refused):
        refused('group = "no-such-group"', "no-such-group", "getent group", line=4)

    def test_a_pidfile_that_cannot_be_written(self, certs, config, tmp_path):
        path = config(f'frontend = "[127.0.0.1]:0"\npidfile = "{tmp_path}/missing/pid"\n')
        log = tmp_path / "log"
        ran = run("--config", path, "--log-filename", log, certs.ecdsa.pem)
        assert ran.returncode == 1 and "missing/pid" in ran.stderr
        assert f"{path}:2:" in ran.stderr and "pidfile" in ran.stderr
        assert not log.exists()

    def test_a_log_that_cannot_be_written(self, refused, tmp_path):
        refused(f'log-filename = "{tmp_path}/missing/log"', "missing/log", "log-filename", line=4)

    def test_a_daemon_that_cannot_start(self, certs, tmp_path):
        """The command that starts the daemon prints the error, and ends with code 1."""
        pidfile = tmp_path / "pid"
        with socket.create_server(("127.0.0.1", 0)) as taken:
            frontend = f"[127.0.0.1]:{taken.getsockname()[1]}"
            flags = ["--daemon", "--pidfile", pidfile, "--log-filename", tmp_path / "log"]
            ran = run("-f", frontend, *flags, certs.ecdsa.pem)
        assert ran.returncode == 1 and "in use" in ran.stderr
        assert not pidfile.exists()


def test_a_pidfile_may_be_read_by_all(cleat, tmp_path):
    pidfile = tmp_path / "pid"
    server = cleat("--pidfile", pidfile)
    assert int(pidfile.read_text()) == server.pid
    assert stat.S_IMODE(pidfile.stat().st_mode) == 0o644
    server.end()
    assert not pidfile.exists()
