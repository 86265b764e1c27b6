"""With reload-on-change, cleat reloads when a file changes that its configuration names: however
the file is replaced, and also when a renewal takes several writes."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from certificates import Certificate
from deadlines import eventually
from program import open_files, open_folder, run
from reloads import reload, replace
from tls_client import TlsClient, shown


@pytest.fixture
def serve(cleat, tmp_path):
    """Starts cleat with a configuration file of these lines."""

    def serve(*lines, place=tmp_path, **options):
        path = place / "conf" / "cleat.conf"
        path.parent.mkdir(exist_ok=True)
        always = ['frontend = "[127.0.0.1]:0"', "reload-on-change = on", "log-level = 2"]
        path.write_text("\n".join([*always, *lines]) + "\n")
        server = cleat("--config", path, pem=[], frontend=None, log_level=None, **options)
        server.path = path
        return server

    return serve


@pytest.fixture
def site(certs, tmp_path):
    """A folder with a certificate in two files, and a renewed one to replace it."""

    class Site:
        folder = tmp_path / "site"
        cert, key = folder / "tls.crt", folder / "tls.key"
        lines = (f'pem-file = {{ cert = "{cert}" private-key = "{key}" }}',)
        first: Certificate = certs.ecdsa
        renewed: Certificate = certs.named("renewed", "DNS:localhost")

    Site.folder.mkdir()
    Site.cert.write_text(Site.first.cert.read_text())
    Site.key.write_text(Site.first.key.read_text())
    return Site


def test_a_file_that_is_written_in_place(serve, certs, tmp_path):
    pem = tmp_path / "site.pem"
    pem.write_text(certs.ecdsa.pem.read_text())
    server = serve(f'pem-file = "{pem}"')
    pem.write_text(certs.rsa.pem.read_text())
    server.wait_for_log(event="reloaded", certificates_changed="1")
    assert shown(server.port) == certs.rsa.fingerprint


def test_a_key_and_a_chain_that_come_in_two_renames(serve, site):
    server = serve(*site.lines)
    for number, (path, new) in enumerate(
        [(site.key, site.renewed.key), (site.cert, site.renewed.cert)]
    ):
        written = path.with_suffix(".new")
        written.write_text(new.read_text())
        written.rename(path)
        if number == 0:  # The half that is there is seen alone, and is not served.
            server.wait_for_log(event="reload-waits")
            (problem,) = server.log(event="reload-problem")
            assert str(site.key) in problem["problem"]
            assert shown(server.port) == site.first.fingerprint
    server.wait_for_log(event="reloaded", certificates_changed="1")
    assert shown(server.port) == site.renewed.fingerprint
    assert not server.log(event="reload-refused")


def test_half_a_renewal_is_an_error_in_the_end(serve, site):
    server = serve(*site.lines)
    site.key.write_text(site.renewed.key.read_text())
    server.wait_for_log(event="reload-waits")
    server.wait_for_log(event="reload-refused")
    assert shown(server.port) == site.first.fingerprint
    # Another renewal is seen all the same.
    site.cert.write_text(site.renewed.cert.read_text())
    server.wait_for_log(event="reloaded")
    assert shown(server.port) == site.renewed.fingerprint


def test_certbot_changes_a_link(serve, site, tmp_path):
    live = tmp_path / "live"
    live.mkdir()
    for name in ("tls.crt", "tls.key"):
        (live / name).symlink_to(site.folder / name)
    archive = tmp_path / "archive"
    archive.mkdir()
    (archive / "tls.crt").write_text(site.renewed.cert.read_text())
    (archive / "tls.key").write_text(site.renewed.key.read_text())
    server = serve(
        f'pem-file = {{ cert = "{live}/tls.crt" private-key = "{live}/tls.key" }}'
    )
    for name in ("tls.crt", "tls.key"):
        new = live / f"{name}.new"
        new.symlink_to(archive / name)
        new.rename(live / name)
    server.wait_for_log(event="reloaded", certificates_changed="1")
    assert shown(server.port) == site.renewed.fingerprint


@pytest.mark.parametrize("as_folder", [False, True], ids=["pem-file", "pem-dir"])
def test_kubernetes_swaps_a_folder(serve, site, certs, tmp_path, as_folder):
    mount = tmp_path / "mount"

    def publish(name, certificate):
        version = mount / f"..{name}"
        version.mkdir(parents=True)
        (version / "site.pem").write_text(certificate.pem.read_text())
        new = mount / "..data_tmp"
        new.symlink_to(version.name)
        new.rename(mount / "..data")

    publish("2026_1", site.first)
    (mount / "site.pem").symlink_to("..data/site.pem")
    server = serve(f'pem-dir = "{mount}"' if as_folder else f'pem-file = "{mount}/site.pem"')
    for number, certificate in enumerate([site.renewed, certs.rsa], 1):
        publish(f"2026_{number + 1}", certificate)
        server.wait_for_log(times=number, event="reloaded", certificates_changed="1")
        assert shown(server.port) == certificate.fingerprint


@pytest.mark.parametrize("line", ['pem-file = "{}/site.pem"', 'pem-dir = "{}"'])
def test_a_folder_that_goes_is_watched_again_when_it_is_back(serve, certs, tmp_path, line):
    folder, away = tmp_path / "pems", tmp_path / "away"
    folder.mkdir()
    (folder / "site.pem").write_text(certs.ecdsa.pem.read_text())
    server = serve(line.format(folder))
    folder.rename(away)
    server.wait_for_log(event="reload-refused")
    assert run("reload", server.pid).returncode == 1  # Then it watches what is there.
    away.rename(folder)
    (folder / "site.pem").write_text(certs.rsa.pem.read_text())
    server.wait_for_log(event="reloaded", certificates_changed="1")
    assert shown(server.port) == certs.rsa.fingerprint
    (folder / "site.pem").write_text(certs.ecdsa.pem.read_text())
    server.wait_for_log(times=2, event="reloaded", certificates_changed="1")
    assert shown(server.port) == certs.ecdsa.fingerprint


def test_a_folder_above_is_replaced(serve, certs, tmp_path):
    """As a deployment does it: the present version goes, and the new one gets its name."""
    present, new = tmp_path / "present", tmp_path / "new"
    for version, certificate in ((present, certs.ecdsa), (new, certs.rsa)):
        (version / "tls").mkdir(parents=True)
        (version / "tls" / "site.pem").write_text(certificate.pem.read_text())
    server = serve(f'pem-file = "{present}/tls/site.pem"')
    present.rename(tmp_path / "old")
    new.rename(present)
    server.wait_for_log(event="reloaded", certificates_changed="1")
    assert shown(server.port) == certs.rsa.fingerprint
    (present / "tls" / "site.pem").write_text(certs.ecdsa.pem.read_text())
    server.wait_for_log(times=2, event="reloaded", certificates_changed="1")
    assert shown(server.port) == certs.ecdsa.fingerprint


def test_a_file_and_a_folder_come_into_pem_dir(serve, certs, tmp_path):
    folder = tmp_path / "pems"
    folder.mkdir()
    (folder / "one.pem").write_text(certs.ecdsa.pem.read_text())
    server = serve(f'pem-dir = "{folder}"', "pem-dir-recursive = on")
    two = certs.named("two", "DNS:two.example")
    (folder / "two.pem").write_text(two.pem.read_text())
    server.wait_for_log(event="reloaded", certificates_added="1")
    assert shown(server.port, "two.example") == two.fingerprint
    three = certs.named("three", "DNS:three.example")
    (folder / "sub").mkdir()
    (folder / "sub" / "three.pem").write_text(three.pem.read_text())
    eventually(
        "the folder's certificate is served",
        lambda: shown(server.port, "three.example") == three.fingerprint,
    )
    (folder / "two.pem").unlink()
    server.wait_for_log(event="reloaded", certificates_removed="1")


def test_the_configuration_file_itself_may_turn_it_off(serve, certs, tmp_path):
    pem = tmp_path / "site.pem"
    pem.write_text(certs.ecdsa.pem.read_text())
    server = serve(f'pem-file = "{pem}"')
    replace(server.path, server.path.read_text().replace("change = on", "change = off"))
    line = server.wait_for_log(event="reloaded")
    assert line["keys"] == "reload-on-change"
    eventually("nothing is watched", lambda: "anon_inode:inotify" not in descriptors(server))


def descriptors(server):
    return open_files(server.pid).values()


def test_a_file_that_a_new_configuration_names_may_come_later(serve, certs, tmp_path):
    pem, later = tmp_path / "site.pem", tmp_path / "later" / "site.pem"
    pem.write_text(certs.ecdsa.pem.read_text())
    later.parent.mkdir()
    server = serve(f'pem-file = "{pem}"')
    server.path.write_text(server.path.read_text() + f'pem-file = "{later}"\n')
    server.wait_for_log(event="reload-waits")
    later.write_text(certs.rsa.pem.read_text())
    server.wait_for_log(event="reloaded", certificates_added="1")
    assert not server.log(event="reload-refused")


def test_a_change_that_is_due_at_the_end_keeps_nothing_busy(serve, certs, tmp_path):
    """While connections finish after SIGTERM, the main thread sleeps."""
    pem = tmp_path / "site.pem"
    pem.write_text(certs.ecdsa.pem.read_text())
    server = serve(f'pem-file = "{pem}"', shutdown_timeout=300)
    over = threading.Event()

    def touch():  # So that at any time a reload is due soon, or under way.
        while not over.is_set():
            os.utime(pem)
            time.sleep(0.01)

    toucher = threading.Thread(target=touch)
    with TlsClient(server.port) as old:
        assert old.exchange(b"before") == b"before"
        toucher.start()
        try:
            server.wait_for_log(event="reloaded")
            server.signal(signal.SIGTERM)
            server.wait_for_log(event="draining")
        finally:
            over.set()
            toucher.join()
        before = main_thread_seconds(server)
        time.sleep(3)  # A second longer than a change waits for others.
        assert main_thread_seconds(server) - before < 0.3
        assert old.exchange(b"after") == b"after"
        old.close_notify()
        assert old.receive() == b""
    assert server.wait() == 0


def main_thread_seconds(server):
    """How long its main thread has computed."""
    return int(Path(f"/proc/{server.pid}/schedstat").read_text().split()[0]) / 1e9


def test_files_beside_those_that_are_named_do_not_matter(serve, certs, tmp_path):
    pem = tmp_path / "site" / "site.pem"
    pem.parent.mkdir()
    pem.write_text(certs.ecdsa.pem.read_text())
    server = serve(f'pem-file = "{pem}"')
    for name in ("README", ".site.pem.swp", "other.pem"):
        (pem.parent / name).write_text("x")
    # The kernel reports in order: had they mattered, this would be their reload or a second one.
    eventually("the changes have been read", lambda: not unread_events(server))
    pem.write_text(certs.rsa.pem.read_text())
    server.wait_for_log(event="reloaded", certificates_changed="1")
    assert len(server.log(event="reloading")) == 1


def unread_events(server):
    """Whether cleat is awake: it sleeps when it has read what there is."""
    return server.state() != "S"


@pytest.fixture
def open_place():
    with open_folder() as place:
        yield place


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("is_new", [False, True], ids=["known", "new"])
def test_a_folder_that_may_be_read_again(serve, certs, open_place, is_new):
    """A folder that was closed by mistake refuses the reload, and its mode is mended: of one that
    has been watched before, and of one that a new configuration names."""
    known, new = open_place / "known", open_place / "new"
    for folder in (known, new):
        folder.mkdir(mode=0o755)
        name = folder.name
        (folder / "site.pem").write_text(certs.named(name, f"DNS:{name}.example").pem.read_text())
        (folder / "site.pem").chmod(0o644)
    server = serve(f'pem-dir = "{known}"', 'user = "nobody"', place=open_place)
    server.path.parent.chmod(0o755)
    closed = new if is_new else known
    closed.chmod(0o700)
    text = server.path.read_text()
    replace(server.path, text + f'pem-dir = "{new}"\n', 0o644)
    server.wait_for_log(event="reload-refused")
    problems = [each["problem"] for each in server.log(event="reload-problem")]
    assert any(f"cannot read {closed}" in each for each in problems), problems
    closed.chmod(0o755)
    server.wait_for_log(event="reloaded")
    assert shown(server.port, "new.example") == certs.named("new", "DNS:new.example").fingerprint


def test_more_changes_than_the_kernel_keeps(serve, certs, tmp_path):
    """cleat stands still while its queue of changes overflows: the last one is not in it."""
    folder = tmp_path / "pems"
    folder.mkdir()
    files = [folder / f"{number}.pem" for number in range(3)]
    for number, path in enumerate(files):
        path.write_text(certs.named(f"q{number}", f"DNS:q{number}.example").pem.read_text())
    server = serve(f'pem-dir = "{folder}"', "certificate-cache = 1")
    renewed = certs.named("q2-renewed", "DNS:q2.example")
    with server.paused():
        events = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
        for number in range(events + 2):  # The kernel keeps equal ones in a row as one.
            os.utime(files[number % 2])
        replace(files[2], renewed.pem.read_text())
    server.wait_for_log(event="reloaded", certificates_changed="1")
    assert shown(server.port, "q2.example") == renewed.fingerprint


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_that_cannot_be_watched_is_named(serve, certs, open_place):
    """Its files may be read and not listed; and the opener refuses what is below /tmp."""
    pem = open_place / "archive" / "site.pem"
    pem.parent.mkdir(mode=0o711)
    pem.write_text(certs.ecdsa.pem.read_text())
    server = serve(f'pem-file = "{pem}"', 'user = "nobody"', place=open_place)
    reload(server)
    assert server.wait_for_log(event="not-watched", folder=str(pem.parent))


@pytest.mark.parametrize(
    "limit, number, kernels",
    [
        # One watch may be made, and cleat needs one for its certificate's folder and one for its
        # configuration's.
        ("max_inotify_watches", 1, "max_user_watches"),
        ("max_inotify_instances", 0, "max_user_instances"),
    ],
    ids=["watches", "instances"],
)
def test_without_the_kernel_files_are_compared(serve, certs, tmp_path, limit, number, kernels):
    """A limit of inotify is reached, in a user namespace: other tests need their share."""
    limited = (
        *("unshare", "--user", "--map-root-user", "sh", "-c"),
        f'echo {number} > /proc/sys/user/{limit} && exec "$@"',
        "sh",
    )
    if subprocess.run([*limited, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine has no user namespaces")
    pem = tmp_path / "site.pem"
    pem.write_text(certs.ecdsa.pem.read_text())
    server = serve(f'pem-file = "{pem}"', wrapper=limited)
    assert kernels in server.wait_for_log(event="watching-by-comparison")["cure"]
    pem.write_text(certs.rsa.pem.read_text())
    server.wait_for_log(event="reloaded", certificates_changed="1")
    assert shown(server.port) == certs.rsa.fingerprint
