"""With reload-on-change, changes are noticed in folders that only root may read: the opener watches
them for cleat, and follows the links that cleat does not see."""

import os

import pytest

from deadlines import eventually
from privileged_site import place, put, serve, shown, site  # noqa: F401: the fixtures
from reloads import reload

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to keep")


def is_noticed(server, port_name, certificate):
    eventually(
        f"{certificate.pem} is served",
        lambda: shown(server.port, name=port_name) == certificate.fingerprint,
    )


def test_a_renewal_in_folders_of_roots_is_noticed(serve, site, certs):
    """As certbot renews: another file in archive/, and then the link in live/. The first watch was
    made by root, and later ones by the opener."""
    archive, live = site.place / "archive", site.place / "live"
    for folder in (archive, live, live / "example.org"):
        folder.mkdir(mode=0o700)
    put(archive / "0.pem", certs.ecdsa.pem.read_text())
    site.pem = live / "example.org" / "site.pem"
    site.pem.symlink_to("../../archive/0.pem")
    site.write("reload-on-change = on")
    server = serve()
    for number, renewed in enumerate([certs.rsa, certs.ecdsa, certs.rsa], 1):
        put(archive / f"{number}.pem", renewed.pem.read_text())
        link = site.pem.with_suffix(".new")
        link.symlink_to(f"../../archive/{number}.pem")
        link.rename(site.pem)
        eventually("it is served", lambda: shown(server.port) == renewed.fingerprint)
        eventually("it is told", lambda: len(server.log(event="reloaded")) == number)
    assert not server.log(event="not-watched")


def test_folders_below_a_pem_dir_of_roots_are_watched(serve, site, certs):
    pems = site.place / "pems"
    (pems / "below").mkdir(parents=True)
    pems.chmod(0o700)
    put(pems / "default.pem", certs.ecdsa.pem.read_text())
    put(pems / "below" / "other.pem", certs.named("other", "DNS:other.example").pem.read_text())
    folder = [f'pem-dir = "{pems}"', "pem-dir-recursive = on"]
    site.write("reload-on-change = on", *folder, pem=False)
    server = serve()
    reload(server)
    renewed = certs.named("renewed", "DNS:other.example")
    put(pems / "below" / "other.pem", renewed.pem.read_text())
    is_noticed(server, "other.example", renewed)
    deep = certs.named("deep", "DNS:deep.example")
    (pems / "below" / "deeper").mkdir(mode=0o700)
    put(pems / "below" / "deeper" / "deep.pem", deep.pem.read_text())
    is_noticed(server, "deep.example", deep)
    assert not server.log(event="not-watched")


def test_a_key_below_a_link_that_kubernetes_swaps_in_a_folder_of_roots(serve, site, certs):
    """cleat's user sees neither the link in the middle nor the folder that it leads to."""
    mount = site.place / "mount"
    mount.mkdir(mode=0o700)

    def publish(version, certificate):
        (mount / f"..{version}").mkdir()
        put(mount / f"..{version}" / "site.pem", certificate.pem.read_text())
        new = mount / "..data_tmp"
        new.symlink_to(f"..{version}")
        new.rename(mount / "..data")

    publish("1", certs.ecdsa)
    site.pem = mount / "site.pem"
    site.pem.symlink_to("..data/site.pem")
    site.write("reload-on-change = on")
    server = serve()
    for version, certificate in (("2", certs.rsa), ("3", certs.ecdsa), ("4", certs.rsa)):
        publish(version, certificate)
        is_noticed(server, "localhost", certificate)
    put(mount / "..4" / "site.pem", certs.ecdsa.pem.read_text())
    is_noticed(server, "localhost", certs.ecdsa)
    assert not server.log(event="not-watched")


@pytest.mark.parametrize("how", ["two dots", "a link"])
def test_a_key_in_a_folder_of_roots_that_the_configuration_names_otherwise(
    serve, site, certs, how
):
    if how == "two dots":
        named = site.place / ".." / site.place.name / "keys" / "site.pem"
    else:
        named = site.place / "link.pem"
        named.symlink_to("keys/site.pem")
    site.write("reload-on-change = on", f'pem-file = "{named}"', pem=False)
    server = serve()
    reload(server)  # From now on the opener watches.
    for certificate in (certs.rsa, certs.ecdsa):
        put(site.pem, certificate.pem.read_text())
        is_noticed(server, "localhost", certificate)
    assert not server.log(event="not-watched")


def test_a_folder_of_roots_that_goes_and_comes_back(serve, site, certs):
    """Its parent is one that only root may read, so cleat does not see it come."""
    parent = site.place / "live"
    (parent / "site").mkdir(parents=True)
    parent.chmod(0o700)
    site.pem = parent / "site" / "site.pem"
    put(site.pem, certs.ecdsa.pem.read_text())
    site.write("reload-on-change = on")
    server = serve()
    (parent / "site").rename(parent / "away")
    server.wait_for_log(event="reload-refused")
    put(parent / "away" / "site.pem", certs.rsa.pem.read_text())
    (parent / "away").rename(parent / "site")
    is_noticed(server, "localhost", certs.rsa)


def test_a_folder_above_one_of_roots_is_replaced(serve, site, certs):
    """As a deployment does it. cleat sees neither of them, and what it watches has moved away."""
    parent = site.place / "parent"
    for version, certificate in (("present", certs.ecdsa), ("new", certs.rsa)):
        (parent / version / "tls").mkdir(parents=True)
        put(parent / version / "tls" / "site.pem", certificate.pem.read_text())
    parent.chmod(0o700)
    site.pem = parent / "present" / "tls" / "site.pem"
    site.write("reload-on-change = on")
    server = serve()
    (parent / "present").rename(parent / "old")
    (parent / "new").rename(parent / "present")
    is_noticed(server, "localhost", certs.rsa)


def test_a_pem_dir_of_roots_is_watched(serve, site, certs):
    pems = site.place / "pems"
    pems.mkdir(mode=0o700)
    put(pems / "default.pem", certs.ecdsa.pem.read_text())
    site.write("reload-on-change = on", f'pem-dir = "{pems}"', 'pem-dir-glob = "*.pem"', pem=False)
    server = serve()
    for number, count in enumerate(("1", "1"), 1):
        new = certs.named(f"new{number}", f"DNS:new{number}.example")
        put(pems / f"new{number}.pem", new.pem.read_text())
        eventually("it is read", lambda: len(server.log(event="reloaded")) == number)
        assert server.log(event="reloaded")[-1]["certificates_added"] == count
    assert not server.log(event="not-watched")
