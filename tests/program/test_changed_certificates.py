"""With more certificates than certificate-cache, a reload reads the files that have changed, and no
others; and it serves what a new start would."""

import random
import ssl
from pathlib import Path

import pytest

from certificates import Certificate
from deadlines import eventually
from program import run
from reloads import PADDING, bytes_read, reload, replace, wait_for_stamps
from tls_client import shown

# Some have names in common: then the file with the greatest path serves, or the default.
NAMES = {
    "a": ["one.example"],
    "b": ["two.example", "one.example"],
    "c": ["*.wide.example", "three.example"],
    "d": ["x.wide.example"],
    "e": ["two.example"],
    "f": ["three.example", "four.example"],
}
ASKED = ["one.example", "two.example", "three.example", "four.example", "x.wide.example"]
ASKED += ["y.wide.example", "nowhere.example"]


@pytest.fixture(scope="module")
def sites(tmp_path_factory, certs) -> dict[str, Certificate]:
    return {
        name: certs.named(f"changed-{name}", ",".join(f"DNS:{each}" for each in names))
        for name, names in NAMES.items()
    }


class Folder:
    """Files with certificates, and which of them must serve a name."""

    def __init__(self, path: Path, sites: dict[str, Certificate]) -> None:
        self.path, self.sites = path, sites
        self.files: dict[str, str] = {}  # The sites in them.
        path.mkdir()

    def put(self, file: str, site: str) -> None:
        replace(self.path / file, self.sites[site].pem.read_text() + PADDING)
        self.files[file] = site

    def remove(self, file: str) -> None:
        (self.path / file).unlink()
        del self.files[file]

    def expected(self, name: str) -> str:
        """The certificate of the first file is the default, and comes last."""
        first, *others = sorted(self.files)
        order = [*others, first]
        wildcard = "*." + name.split(".", 1)[1]
        for wanted in (name, wildcard):
            having = [file for file in order if wanted in NAMES[self.files[file]]]
            if having:
                return self.sites[self.files[having[-1]]].fingerprint
        return self.sites[self.files[first]].fingerprint

    def check(self, port: int) -> None:
        for name in ASKED:
            assert shown(port, name) == self.expected(name), (name, self.files)

    def grow_old(self) -> None:
        wait_for_stamps(*self.path.rglob("*"))


@pytest.fixture
def folder(tmp_path, sites):
    made = Folder(tmp_path / "pems", sites)
    for number, site in enumerate("abcdef"):
        made.put(f"{number}.pem", site)
    return made


@pytest.fixture
def serve(cleat, folder):
    def start(*flags):
        many = ["--pem-dir", folder.path, "--pem-dir-recursive", "--certificate-cache", 1]
        return cleat(*many, "--workers", 1, *flags, pem=[])

    return start


def counts(line):
    return [int(line[f"certificates_{what}"]) for what in ("added", "removed", "changed")]


def test_a_reload_reads_what_has_changed(serve, folder):
    folder.grow_old()
    server = serve()
    folder.put("3.pem", "e")
    before = bytes_read(server)
    assert counts(reload(server)) == [0, 0, 1]
    # To read it, to try it out; and perhaps once more.
    assert len(PADDING) < bytes_read(server) - before < 3.5 * len(PADDING)
    folder.check(server.port)

    folder.grow_old()
    reload(server)
    before = bytes_read(server)
    assert counts(reload(server)) == [0, 0, 0]
    assert bytes_read(server) - before < len(PADDING)
    folder.check(server.port)


def test_a_change_that_is_watched_reads_what_has_changed(serve, folder):
    folder.grow_old()
    server = serve("--reload-on-change")
    run("reload", server.pid)  # It watches all files when that has ended.
    before = bytes_read(server)
    folder.put("3.pem", "e")
    assert counts(server.wait_for_log(event="reloaded", times=2)) == [0, 0, 1]
    assert len(PADDING) < bytes_read(server) - before < 3.5 * len(PADDING)
    folder.check(server.port)


def test_certificates_that_stay_the_same_stay_loaded(cleat, folder):
    server = cleat(
        *("--pem-dir", folder.path, "--certificate-cache", 5, "--workers", 1), pem=[]
    )
    folder.check(server.port)
    folder.put("3.pem", "e")
    reload(server)
    before = bytes_read(server)
    folder.check(server.port)
    assert bytes_read(server) - before < 1.5 * len(PADDING)  # The one that has changed.


@pytest.mark.parametrize("watched", [True, False])
def test_any_sequence_of_changes_serves_what_a_new_start_would(serve, folder, watched):
    chance = random.Random(27)
    server = serve(*(["--reload-on-change"] if watched else []))
    for _ in range(25):
        file = f"{chance.randrange(9)}.pem"
        if file in folder.files and len(folder.files) > 3 and chance.random() < 0.4:
            folder.remove(file)
        else:
            folder.put(file, chance.choice("abcdef"))
        if watched:
            eventually("it serves", lambda: serves(server, folder))
        else:
            reload(server)
        folder.check(server.port)


def serves(server, folder):
    try:
        return all(shown(server.port, name) == folder.expected(name) for name in ASKED)
    except ssl.SSLError:  # A file that is for other names now is not served before its reload.
        return False


def test_a_subfolder_comes_and_goes(serve, folder):
    server = serve("--reload-on-change")
    (folder.path / "new").mkdir()
    folder.put("new/1.pem", "a")
    eventually("it serves", lambda: serves(server, folder))
    folder.put("new/2.pem", "f")
    eventually("it serves", lambda: serves(server, folder))
    folder.put("new/1.pem", "c")
    eventually("it serves", lambda: serves(server, folder))
    for file in ("new/1.pem", "new/2.pem"):
        folder.remove(file)
    (folder.path / "new").rmdir()
    eventually("it serves", lambda: serves(server, folder))


@pytest.mark.parametrize("spelling", ["{}/", "{}//", "{}/.", "{}/../pems"])
def test_any_spelling_of_the_folder_is_watched(cleat, folder, spelling):
    (folder.path / "sub").mkdir()
    folder.put("sub/1.pem", "a")
    server = cleat(
        *("--pem-dir", spelling.format(folder.path), "--pem-dir-recursive", "--reload-on-change"),
        *("--certificate-cache", 1, "--workers", 1),
        pem=[],
    )
    run("reload", server.pid)
    for file in ("3.pem", "sub/1.pem"):
        folder.put(file, "e")
        eventually("it serves", lambda: serves(server, folder))


def test_a_configuration_in_the_folder_is_still_read(cleat, folder, certs):
    conf = folder.path / "cleat.conf"

    def write(more):
        conf.write_text(f"""
            pem-dir = "{folder.path}/"
            pem-dir-glob = "*.pem"
            certificate-cache = 1
            reload-on-change = on
            log-level = 2
            frontend = {{ host = "127.0.0.1"
                          port = 0 }}
            {more}
        """)

    write("")
    server = cleat("--config", conf, pem=[], frontend=None, log_level=None)
    run("reload", server.pid)
    write("idle-timeout = 77")
    server.wait_for_log(event="reloaded", keys="idle-timeout")


def test_a_link_among_the_files_is_followed(serve, folder, tmp_path):
    target = Folder(tmp_path / "elsewhere", folder.sites)
    target.put("site.pem", "a")
    (folder.path / "7.pem").symlink_to(target.path / "site.pem")
    folder.files["7.pem"] = "a"
    server = serve("--reload-on-change")
    folder.check(server.port)
    target.put("site.pem", "e")
    folder.files["7.pem"] = "e"
    eventually("it serves", lambda: serves(server, folder))


def test_a_broken_file_refuses_the_change_until_it_is_mended(serve, folder):
    server = serve("--reload-on-change")
    before = folder.files["2.pem"]
    folder.put("2.pem", "e")
    server.wait_for_log(event="reloaded")
    (folder.path / "4.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    line = server.wait_for_log(event="reload-problem")
    assert "4.pem" in line["problem"]
    folder.put("2.pem", before)
    folder.put("4.pem", "b")
    eventually("it serves", lambda: serves(server, folder))


def test_a_frontend_with_certificates_of_its_own_follows_the_shared_ones(
    cleat, config, folder, certs
):
    mine = certs.named("mine", "DNS:two.example")
    server = cleat(
        "--config",
        config(f"""
        pem-dir = "{folder.path}"
        certificate-cache = 1
        frontend = {{ host = "127.0.0.1"
                      port = 0 }}
        frontend = {{ host = "127.0.0.1"
                      port = 0
                      pem-file = "{mine.pem}"
                      match-global-certs = on }}
    """),
        pem=[],
        frontend=None,
    )
    shared, both = server.ports
    folder.put("1.pem", "f")
    folder.put("6.pem", "b")
    assert counts(reload(server)) == [1, 0, 1]
    folder.check(shared)
    for name in ("one.example", "three.example", "x.wide.example"):
        assert shown(both, name) == folder.expected(name)
    for name in ("two.example", "nowhere.example"):
        assert shown(both, name) == mine.fingerprint


@pytest.mark.parametrize(("cache", "all_are_loaded"), [(17, False), (18, True)])
def test_a_certificate_counts_for_each_frontend_that_serves_it(
    cleat, config, folder, cache, all_are_loaded
):
    """Each of the three would have a context for each of the six."""
    frontends = 3 * 'frontend = { host = "127.0.0.1" port = 0 }\n'
    server = cleat(
        "--config",
        config(f"""
            pem-dir = "{folder.path}"
            certificate-cache = {cache}
            workers = 1
            {frontends}
        """),
        pem=[],
        frontend=None,
    )
    before = bytes_read(server)
    folder.check(server.ports[2])
    assert (bytes_read(server) - before < len(PADDING)) == all_are_loaded


def test_few_become_many_and_few_again(cleat, config, folder):
    path = config("")

    def lines(cache):
        path.write_text(f"""
            pem-dir = "{folder.path}"
            certificate-cache = {cache}
            frontend = {{ host = "127.0.0.1"
                          port = 0 }}
        """)

    lines(1000)
    server = cleat("--config", path, pem=[], frontend=None)
    for cache, site in ((1, "f"), (1000, "f"), (2, "a"), (3, "f"), (1000, "f")):
        lines(cache)
        has_changed = folder.files["5.pem"] != site
        folder.put("5.pem", site)
        assert counts(reload(server)) == [0, 0, int(has_changed)]
        folder.check(server.port)
    lines(1)
    folder.put("6.pem", "a")
    assert counts(reload(server)) == [1, 0, 0]
    lines(1000)
    folder.remove("6.pem")
    assert counts(reload(server)) == [0, 1, 0]
