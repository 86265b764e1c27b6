"""`cleat -t`, run as root, warns of a file that the start can read, and no reload will: cleat's
user may not read it, and the opener refuses its path, which another user could change."""

import os
from pathlib import Path

import pytest

from privileged_site import place, put, serve, site  # noqa: F401: the fixtures
from program import open_folder, run
from reloads import reload_is_refused

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to keep")


def warnings_of_test(site):
    ran = run("-t", "--config", site.config)
    assert ran.returncode == 0, ran.stderr
    return [line for line in ran.stderr.splitlines() if "no reload will read" in line]


def test_the_check_warns_of_a_path_that_no_reload_will_take(serve, site, certs):
    """The start reads the key as root, and the first renewal fails, months later."""
    assert warnings_of_test(site) == []
    site.keys.chmod(0o770)
    (line,) = warnings_of_test(site)
    assert f"{site.config}:5:12: warning: pem-file: no reload will read {site.pem}, which" in line
    assert f"other users than root may write to the folder {site.keys} (chmod go-w" in line
    (problem,) = reload_is_refused(serve())
    assert f"other users than root may write to the folder {site.keys} (chmod go-w" in problem
    site.pem.chmod(0o644)
    site.keys.chmod(0o777)
    assert warnings_of_test(site) == []  # cleat's user may read it.
    site.pem.chmod(0o600)
    site.keys.chmod(0o700)
    assert warnings_of_test(site) == []


def test_the_check_names_one_file_for_each_reason(site, certs):
    pems = site.place / "pems"
    pems.mkdir()
    for name, mode in (("a.pem", 0o644), ("b.pem", 0o600), ("c.pem", 0o600), (".d", 0o600)):
        put(pems / name, certs.ecdsa.pem.read_text(), mode)
    site.write(f'pem-dir = "{pems}"', pem=False)
    pems.chmod(0o775)
    (line,) = warnings_of_test(site)
    assert f"pem-dir: no reload will read {pems}/b.pem, which" in line
    pems.chmod(0o755)
    assert warnings_of_test(site) == []
    site.place.chmod(0o777)  # With the configuration in it.
    (line,) = warnings_of_test(site)
    assert f"(chmod go-w {site.place})" in line


def test_the_cure_never_changes_a_folder_of_the_systems(site, certs):
    with open_folder() as folder:
        assert folder.parent == Path("/tmp")
        put(folder / "site.pem", certs.ecdsa.pem.read_text())
        site.pem = folder / "site.pem"
        site.write()
        (line,) = warnings_of_test(site)
        assert "folder /tmp (move the file to a folder of root's" in line and "chmod" not in line
