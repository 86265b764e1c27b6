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


def packages(text):
    """packages are the lists of files, by the name of the package."""
    pattern = r"^%files(?: (-n )?(\S+))?\n(.*?)(?=^%(?:files|changelog)\b|\Z)"
    found = re.findall(pattern, text, re.M | re.S)
    return {
        (name if flag else f"cleat-{name}") if name else "cleat": files
        for flag, name, files in found
    }


def test_every_installed_file_is_in_the_package():
    text = parsed()
    listed = re.findall(r"(?:^| )(/\S+)", packages(text)["cleat"], re.M)
    steps = section(text, "install").replace("\\\n", " ")
    made = re.findall(r"install -D .*BUILDROOT\S*?(/(?:usr|etc)/\S+)", steps)
    assert len(made) >= 6
    folders = [name.rstrip("/*") for name in listed if name != "/etc/cleat"]
    for path in made:
        assert any(path == each or path.startswith(f"{each}/") for each in folders), path


# Debian's name of a package, and ours.
NAMES = {"libcleat-dev": "libcleat-devel"}
# Debian's paths, and ours. A licence has a mark of its own, and so has a page for reading.
PATHS = {
    "usr/share/doc/cleat/LICENSE.aws-lc": " LICENSE.aws-lc",
    "usr/share/doc/cleat/examples/*.conf": " packaging/examples",
    "usr/share/doc/cleat/examples/alerts.yml": " monitoring/alerts.yml",
    "usr/share/doc/cleat/examples/dashboard.json": " monitoring/dashboard.json",
    "usr/share/doc/cleat/examples/CMakeLists.txt": " installed/*",
    "usr/share/doc/cleat/examples/*pp": " installed/*",
    "usr/share/doc/libcleat-doc/html": " reference/html",
    "usr/include": "/usr/include/cleat/",
    "usr/lib/*.a": "/usr/lib64/libcleat_*.a",
    "usr/lib/cleat/*.a": "/usr/lib64/cleat/libssl.a",
    "usr/lib/cmake": "/usr/lib64/cmake/cleat/",
    "usr/lib/pkgconfig": "/usr/lib64/pkgconfig/cleat.pc",
    "usr/lib/cleat/libcleat-lines.so": "/usr/lib64/cleat/libcleat-lines.so",
    "usr/lib/cleat/libcleat-locks.so": "/usr/lib64/cleat/libcleat-locks.so",
}


def test_it_has_the_packages_of_debian_with_their_files():
    text = packages(parsed("--define", "_lib lib64", "--define", "_libdir /usr/lib64"))
    control = (TREE / "packaging/debian/control").read_text()
    debian = re.findall(r"^Package: (\S+)$", control, re.M)
    assert {NAMES.get(name, name) for name in debian} == set(text)
    for name in debian:
        # The second word of a line is where Debian puts it.
        lines = (TREE / f"packaging/debian/{name}.install").read_text().splitlines()
        for path in (line.split()[0] for line in lines):
            own = PATHS.get(path, path.replace("vendor-completions", "site-functions"))
            assert own in text[NAMES.get(name, name)], (name, path)


def test_the_settings_of_an_administrator_stay():
    files = packages(parsed())["cleat"].splitlines()
    settings = [line for line in files if "/etc/" in line and "%dir" not in line]
    assert settings and all(line.startswith("%config(noreplace) ") for line in settings)
