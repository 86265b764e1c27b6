"""The image: what the Containerfile says, what its root file system has, and what it does. The root
is the one that packaging/container/make-root makes of this build's program; CLEAT_IMAGE_ROOT names
another, as tests/container/prove does with a whole image."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
SOURCES = TREE / "packaging" / "container"
BUILD = Path(os.environ.get("CLEAT_BIN", TREE / "build" / "release" / "bin")).parent
SIZE_MAX = 24 << 20
INSIDE = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make namespaces")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    if made := os.environ.get("CLEAT_IMAGE_ROOT"):
        return Path(made)
    folder = tmp_path_factory.mktemp("image") / "root"
    subprocess.run([SOURCES / "make-root", BUILD, folder], check=True)
    return folder


def files_of(root):
    """files_of are the paths of regular files, as the image has them."""
    return {
        f"/{path.relative_to(root)}": path
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


# The Containerfile.


def instructions(name="Containerfile"):
    """instructions are those of each stage: a list of (word, rest) for each FROM."""
    text = re.sub(r"\\\n\s*", "", (SOURCES / name).read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    stages = []
    for line in lines:
        word, rest = line.split(" ", 1)
        if word == "FROM":
            stages.append([])
        if stages:
            stages[-1].append((word, rest))
    return stages


def test_the_last_stage_has_only_what_make_root_made():
    build, last = instructions()
    assert build[0] == ("FROM", "${BASE} AS build")
    assert last[0] == ("FROM", "scratch")
    assert [rest for word, rest in last if word in ("COPY", "ADD", "RUN")] == [
        "--from=build /image /"
    ]
    made = [rest for word, rest in build if word == "RUN"][-1]
    assert made == "packaging/container/make-root build/release /image"


def test_the_image_runs_as_a_user_and_has_a_health_check():
    last = dict(instructions()[-1])
    assert last["USER"] == "65532:65532"
    assert last["STOPSIGNAL"] == "SIGTERM"
    assert json.loads(last["ENTRYPOINT"]) == ["/usr/bin/cleat"]
    assert json.loads(last["CMD"]) == ["--config", "/etc/cleat/cleat.conf"]
    command = last["HEALTHCHECK"].split(" CMD ")[1]  # No shell: in brackets.
    assert json.loads(command) == ["/usr/bin/cleat", "health", *json.loads(last["CMD"])]


def test_every_path_that_the_containerfile_copies_is_there():
    for word, rest in instructions()[0]:
        if word == "COPY":
            assert (TREE / rest.split()[0]).exists(), rest
    ignored = (TREE / ".dockerignore").read_text().split("\n")
    assert "packaging" not in ignored and "scripts" not in ignored


def test_the_image_of_cleat_bench_is_made_the_same_way():
    build, last = instructions("Containerfile.bench")
    of_cleat, _ = instructions()
    assert [each for each in build if each[0] != "RUN"] == [
        each for each in of_cleat if each[0] != "RUN"
    ]
    made = [rest for word, rest in build if word == "RUN"][-1]
    assert made == "packaging/container/make-root build/release /image cleat-bench"
    assert dict(last)["USER"] == "65532:65532"
    assert json.loads(dict(last)["ENTRYPOINT"]) == ["/usr/bin/cleat-bench"]


@needs_root
def test_the_root_of_cleat_bench_runs_it(tmp_path):
    """Without rights, and with nothing of this system."""
    root = tmp_path / "root"
    subprocess.run([SOURCES / "make-root", BUILD, root, "cleat-bench"], check=True)
    assert not (root / "etc" / "cleat").exists()
    ran = subprocess.run(
        ["chroot", "--userspec=65532:65532", root, "/usr/bin/cleat-bench", "--version"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("cleat-bench ")


# The root file system.


def test_nothing_can_be_run_but_cleat(root):
    runnable = {
        name for name, path in files_of(root).items() if path.stat().st_mode & stat.S_IXUSR
    }
    loaders = {name for name in runnable if re.fullmatch(r"/usr/lib\S*/ld-linux\S*", name)}
    assert runnable - loaders == {"/usr/bin/cleat"}


def test_no_file_has_special_rights_or_another_owner(root):
    for path in [root, *root.rglob("*")]:
        about = path.lstat()
        assert not about.st_mode & (stat.S_ISUID | stat.S_ISGID), path
        assert stat.S_ISLNK(about.st_mode) or not about.st_mode & stat.S_IWOTH, path
        if os.geteuid() == 0:
            assert about.st_uid == (65532 if path == root / "run/cleat" else 0), path


def test_it_is_small(root):
    assert sum(path.stat().st_size for path in files_of(root).values()) < SIZE_MAX


def test_every_library_names_its_package_and_licence(root):
    libraries = [name for name in files_of(root) if re.search(r"\.so\.\d+$", name)]
    packages = [path.name for path in (root / "var/lib/dpkg/status.d").iterdir()]
    assert libraries and {"libc6", "libstdc++6"} <= set(packages)
    for package in packages:
        status = (root / "var/lib/dpkg/status.d" / package).read_text()
        assert f"Package: {package}\n" in status and "\nVersion: " in status
        assert (root / "usr/share/doc" / package / "copyright").exists()
    licences = {path.name for path in (root / "usr/share/doc/cleat").iterdir()}
    wanted = {"LICENSE", "LICENSE.aws-lc", "LICENSE.libcli11-dev", "LICENSE.libjs-chart.js"}
    assert wanted <= licences, licences


def test_make_root_refuses_what_it_cannot_do(tmp_path):
    (tmp_path / "kept").write_text("")
    for words, said in (
        ((BUILD, tmp_path), "is not empty"),
        ((tmp_path / "none", tmp_path / "new"), "there is no /"),
        ((), "usage: "),
    ):
        ran = subprocess.run([SOURCES / "make-root", *words], capture_output=True, text=True)
        assert ran.returncode != 0 and said in ran.stderr
    assert os.listdir(tmp_path) == ["kept"]


@needs_root
def test_it_serves_as_a_container_does(root):
    for program in ("unshare", "curl", "openssl", "ip"):
        if not shutil.which(program):
            pytest.skip(f"there is no {program}")
    script = Path(__file__).parent / "run_image.py"
    ran = subprocess.run([*INSIDE, sys.executable, script, root], capture_output=True, text=True)
    print(ran.stdout)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("proved: ") == 7


@needs_root
def test_the_configuration_of_the_image_is_good(root, tmp_path):
    """It needs a certificate at the place that docs/guides/containers.md names."""
    copy = tmp_path / "root"
    shutil.copytree(root, copy, symlinks=True)
    test = ("chroot", "--userspec=65532:65532", copy, "/usr/bin/cleat", "-t", "--config")
    bare = subprocess.run([*test, "/etc/cleat/cleat.conf"], capture_output=True, text=True)
    assert bare.returncode == 1 and "/etc/cleat/certificates" in bare.stderr
    sys.path.insert(0, str(TREE / "tests" / "program"))
    from certificates import CertificateMaker

    made = CertificateMaker(tmp_path).named("site", "DNS:localhost")
    shutil.copy(made.pem, copy / "etc/cleat/certificates/site.pem")
    (copy / "etc/cleat/certificates/site.pem").chmod(0o644)
    good = subprocess.run([*test, "/etc/cleat/cleat.conf"], capture_output=True, text=True)
    assert (good.returncode, good.stderr) == (0, "")
