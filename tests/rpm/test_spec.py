"""The rpm spec: its files are in the tree, and it is complete with the macros of Fedora and
without."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
SPEC = TREE / "packaging" / "rpm" / "cleat.spec"
# As the macros of Fedora's systemd-rpm-macros begin.
FEDORA = (
    "--define", "_unitdir /usr/lib/systemd/system",
    "--define", "_sysusersdir /usr/lib/sysusers.d",
    "--define", "systemd_post() echo fedora-post",
    "--define", "systemd_preun() echo fedora-preun",
    "--define", "systemd_postun() echo fedora-postun",
    "--define", "fedora 43", "--define", "dist .fc43",
)  # fmt: skip


def parsed(*words):
    if not shutil.which("rpmspec"):
        pytest.skip("there is no rpmspec: run scripts/setup check")
    ran = subprocess.run(["rpmspec", "-P", *words, SPEC], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def section(text, name):
    return re.search(rf"^%{name}\n(.*?)(?=^%[a-z]+$|\Z)", text, re.M | re.S)[1]


def test_it_has_the_version_of_the_program():
    project = (TREE / "CMakeLists.txt").read_text()
    version = re.search(r"^project\(cleat VERSION (\S+)", project, re.M)
    assert re.search(r"^Version: +(\S+)$", SPEC.read_text(), re.M)[1] == version[1]


def test_what_it_installs_is_in_the_tree():
    named = re.findall(r"\bpackaging/\S+", SPEC.read_text().split("%install")[1])
    assert len(named) >= 6
    for path in named:
        assert (TREE / path).exists(), path


@pytest.mark.parametrize("words", [(), FEDORA], ids=["bare", "fedora"])
def test_no_macro_is_left(words):
    text = parsed(*words)
    scripts = [section(text, name) for name in ("install", "pre", "post", "preun", "postun")]
    for script in scripts:
        assert not re.search(r"%[a-z_{]", script), script
        shell = subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True)
        assert shell.returncode == 0, shell.stderr
    assert ("echo fedora-post" in scripts[2]) == bool(words)
    assert ("systemctl --no-reload preset cleat.service" in scripts[2]) != bool(words)


def test_every_installed_file_is_in_the_package():
    text = parsed()
    listed = re.findall(r"(?:^| )(/\S+)", section(text, "files"), re.M)
    lines = [line for line in section(text, "install").splitlines() if "install -d" not in line]
    made = re.findall(r"BUILDROOT\S*?(/(?:usr|etc)/\S+)", "\n".join(lines))
    assert len(made) >= 8
    folders = [name.rstrip("/*") for name in listed if name != "/etc/cleat"]
    for path in made:
        assert any(path == each or path.startswith(f"{each}/") for each in folders), path


def test_it_has_the_files_of_debians_package():
    """A licence has a mark of its own, and rpm may compress a page."""
    files = section(parsed(), "files")
    debian = (TREE / "packaging/debian/cleat.install").read_text().split()
    assert "usr/share/man/man1/cleat.1" in debian
    for path in debian:
        name = path.replace("vendor-completions", "site-functions")
        if name.startswith("usr/share/doc/cleat"):
            name = {"LICENSE.aws-lc": " LICENSE.aws-lc", "*.conf": " packaging/examples"}.get(
                name.rsplit("/", 1)[1], "%doc")  # fmt: skip
        assert name.removesuffix("/self-signed-certificate") in files, path


def test_the_settings_of_an_administrator_stay():
    files = section(parsed(), "files").splitlines()
    settings = [line for line in files if "/etc/" in line and "%dir" not in line]
    assert settings and all(line.startswith("%config(noreplace) ") for line in settings)
