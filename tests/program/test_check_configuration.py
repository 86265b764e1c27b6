"""`cleat -t` checks a configuration with its certificates and ends: code 0 and one line where all
is good, code 1 and every mistake where not: also those that a start would meet later, at its files
and addresses, as far as they can be seen. It listens nowhere and writes nothing."""

import os
import pwd
import socket

import pytest

import program
from certificates import SERVER
from program import complaints, run


def test_good(certs, config):
    path = config(f'frontend = "[127.0.0.1]:8443"\npem-file = "{certs.ecdsa.pem}"\n')
    ran = run("-t", "--config", path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "the configuration is good\n", "")


@pytest.mark.parametrize("cache", [1000, 1])
def test_what_clients_would_find_wrong_is_a_warning(certs, tmp_path, cache):
    weak = certs.self_signed("weak", ["-newkey", "rsa:1024"], "DNS:weak.example", *SERVER)
    names = "subjectAltName=DNS:alone.example\n"
    alone = certs.signed("alone", certs.authority("missing"), "/CN=alone", names)
    folder = tmp_path / "pems"
    folder.mkdir()
    (folder / "weak.pem").write_text(weak.pem.read_text())
    ran = run("-t", "--certificate-cache", cache, "--pem-dir", folder, alone.pem)
    assert (ran.returncode, ran.stdout) == (0, "the configuration is good\n")
    first, second = ran.stderr.splitlines()
    assert f"--pem-dir: warning: {folder}/weak.pem: the key has 1024 bits" in first
    assert f"warning: {alone.pem}: its issuer (missing) is not in the file" in second


@pytest.mark.parametrize("cache", [1000, 1])
def test_a_name_of_two_files_is_not_the_fault_of_the_frontend(certs, tmp_path, cache):
    first, second = tmp_path / "first.pem", tmp_path / "second.pem"
    for path in (first, second):
        path.write_text(certs.ecdsa.pem.read_text())
    ran = run("-t", "--certificate-cache", cache, "-f", "[127.0.0.1]:0", first, second)
    assert f"warning: {first} and {second} both answer to localhost" in ran.stderr
    assert "--frontend" not in ran.stderr


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
        errors = complaints("--client-verify", "required", "--client-verify-ca", ca, mixed[0])
        assert str(ca) in errors and str(mixed[0]) in errors


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


FILES = pytest.mark.parametrize("key", ["pidfile", "log-filename"])


def errors_in(text):
    """errors_in leaves out warnings: -t alone warns of pytest's folder, which is below /tmp."""
    return [line for line in text.splitlines() if ": error: " in line]


@pytest.fixture
def found(certs, config):
    """found is the one error that -t has about a text, which a start has too: `file:1:...`."""

    def check(text):
        path = config(f'{text}\npem-file = "{certs.ecdsa.pem}"\n')
        checked = run("-t", "--config", path)
        assert (checked.returncode, checked.stdout) == (1, "")
        (error,) = errors_in(checked.stderr)
        assert error.startswith(f"cleat: {path}:1:")
        frontend = [] if "frontend" in text else ["-f", "[127.0.0.1]:0"]
        started = run("--config", path, *frontend)
        assert (started.returncode, errors_in(started.stderr)) == (1, [error])
        return checked.stderr

    return check


@FILES
def test_a_file_that_could_not_be_made(found, tmp_path, key):
    """Also where another kind of file has the name, and where its folder is a file."""
    missing = tmp_path / "missing" / "file"
    assert f"cannot write {missing}: No such file" in found(f'{key} = "{missing}"')
    assert not missing.parent.exists()
    assert "Name a file in it." in found(f'{key} = "{tmp_path}"')
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    assert "name the file itself" in found(f'{key} = "{link}"')
    plain = tmp_path / "plain"
    plain.write_text("1\n")
    assert "Not a directory" in found(f'{key} = "{plain}/file"')
    os.link(plain, tmp_path / "other-name")
    assert "choose another" in found(f'{key} = "{plain}"')


def test_a_pid_file_that_is_none(found, certs, tmp_path):
    key = tmp_path / "site.pem"
    key.write_bytes(certs.ecdsa.pem.read_bytes())
    assert "is no pid file" in found(f'pidfile = "{key}"')
    assert "is no pid file" in found('pidfile = "/dev/null"')
    assert key.read_bytes() == certs.ecdsa.pem.read_bytes()


@FILES
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start it as somebody else")
def test_a_file_that_this_user_may_not_write(certs, key):
    with program.open_folder() as folder:
        pem = folder / "site.pem"
        pem.write_bytes(certs.ecdsa.pem.read_bytes())
        pem.chmod(0o644)
        closed = folder / "closed"
        closed.write_text("")
        closed.chmod(0o644)
        for path in (folder / "new", closed):
            flags = ["-t", f"--{key}", path, pem]
            ran = program.run_as_nobody(*flags)
            assert ran.returncode == 1
            wrong = f"cleat: --{key}: error: cannot write {path}: Permission denied. Let the user"
            assert ran.stderr.startswith(wrong), ran.stderr
            assert run(*flags).returncode == 0  # root may.
        assert sorted(each.name for each in folder.iterdir()) == ["closed", "site.pem"]


LOGS = pytest.mark.parametrize("key", ["log-filename", "access-log"])


@LOGS
def test_a_socket_is_no_log(found, tmp_path, key):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{tmp_path}/socket")
        assert "a socket is no file" in found(f'{key} = "{tmp_path}/socket"')


@LOGS
def test_a_fifo_needs_a_reader(certs, tmp_path, key):
    """-t does not open it, which would end a reader, so it cannot know whether one is there."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    flags = ["-f", "[127.0.0.1]:0", f"--{key}", fifo, certs.ecdsa.pem]
    checked = run("-t", *flags)
    assert checked.returncode == 0
    assert f"--{key}: warning: {fifo} is a FIFO: a start fails" in checked.stderr
    started = run(*flags)
    assert started.returncode == 1
    assert "No such device or address. A FIFO needs a program that reads it" in started.stderr


def test_logs_may_share_a_standard_stream(certs):
    flags = ["--log-filename", "/dev/stdout", "--access-log", "/dev/stdout"]
    assert run("-t", *flags, certs.ecdsa.pem).returncode == 0


def test_where_a_log_may_go(certs, tmp_path):
    for log in ("/dev/stdout", "/dev/stderr", "/dev/null", tmp_path / "log"):
        assert run("-t", "--log-filename", log, certs.ecdsa.pem).returncode == 0
    assert not (tmp_path / "log").exists()


def test_the_cleat_that_it_checks_for_may_be_running(cleat, certs, tmp_path):
    pidfile, log = tmp_path / "pid", tmp_path / "log"
    started = cleat("--pidfile", pidfile)
    log.write_text("what it has said\n")
    files = ["--pidfile", pidfile, "--log-filename", log]
    ran = run("-t", "-f", f"[127.0.0.1]:{started.port}", *files, certs.ecdsa.pem)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (pidfile.read_text(), log.read_text()) == (f"{started.pid}\n", "what it has said\n")


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1"])  # RFC 5737, 3849: nobody's.
def test_an_address_of_another_machine(found, address):
    text = found(f'frontend = "[{address}]:8443"')
    assert address in text and ": error: frontend: cannot listen on " in text
    has_family = ":" not in address or has_ipv6()
    assert ("This machine has no such address:" if has_family else "no such addresses:") in text


def test_an_admin_address_of_another_machine(found):
    text = found('admin = "[192.0.2.1]:9443"\nadmin-allow-remote = on')
    assert ": error: admin: cannot listen on " in text and "192.0.2.1" in text
    assert "This machine has no such address:" in text


@pytest.mark.parametrize("host", ["127.0.0.1", "*"])
def test_an_admin_address_that_a_frontend_has(found, host):
    said = found(f'admin = "[127.0.0.1]:8444"\nfrontend = "[{host}]:8444"')
    assert "error: admin: [127.0.0.1]:8444 is taken already, by the frontend of" in said
    assert ":2:" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start it as somebody else")
def test_an_admin_socket_is_made_by_the_user_that_cleat_becomes(found, certs, tmp_path):
    with program.open_folder() as folder:
        folder.chmod(0o755)
        path = folder / "admin.sock"
        text = found(f'admin = "{path}"\nuser = "nobody"')
        assert f"cannot listen on {path}: Permission denied" in text, text
        assert "Let the user that cleat runs as write the folder" in text
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
        assert run("-t", "--user", "nobody", "--admin", path, certs.ecdsa.pem).returncode == 0
        assert list(folder.iterdir()) == []


def has_ipv6():
    """has_ipv6 says whether the kernel knows such addresses at all."""
    try:
        socket.socket(socket.AF_INET6).close()
    except OSError:
        return False
    return True


def test_a_backend_that_is_a_directory(found, tmp_path):
    assert f": error: backend: {tmp_path} is a directory" in found(f'backend = "{tmp_path}"')


def test_a_backend_that_is_not_there_yet(certs, tmp_path):
    assert run("-t", "--backend", tmp_path / "later", certs.ecdsa.pem).returncode == 0


def test_it_leaves_nothing_behind(certs, tmp_path):
    pidfile, log = tmp_path / "pid", tmp_path / "log"
    ran = run("-t", "--daemon", "--pidfile", pidfile, "--log-filename", log, certs.ecdsa.pem)
    assert ran.returncode == 0
    assert not pidfile.exists() and not log.exists()


def test_the_default_configuration_is_good(certs, config):
    text = run("--default-config").stdout
    assert run("-t", "--config", config(text), certs.ecdsa.pem).returncode == 0
