"""Fixtures: Boost's TLS examples with cleat, built beside an installation of cleat as a user would
build them, and the certificates that they read."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "program"))

import replacements
from certificates import CertificateMaker, openssl

HERE = Path(__file__).resolve().parent

# Beside these, CLEAT_BOOST_EXAMPLES=all takes all others, which compile for minutes.
FEW = {
    "asio.example.cpp11.ssl.client",
    "asio.example.cpp11.ssl.server",
    "beast.example.http.client.sync-ssl.http_client_sync_ssl",
    "beast.example.http.server.async-ssl.http_server_async_ssl",
    "beast.example.websocket.client.sync-ssl.websocket_client_sync_ssl",
    "beast.example.websocket.server.sync-ssl.websocket_server_sync_ssl",
}


def boosts_libraries() -> Path | None:
    """boosts_libraries is where Debian's package has the examples of the Boost that compiles."""
    version = Path("/usr/include/boost/version.hpp")
    if not version.exists():
        return None
    found = re.search(r'BOOST_LIB_VERSION "(\d+)_(\d+)', version.read_text())
    assert found, f"{version} has no version"
    folder = Path(f"/usr/share/doc/libboost{found[1]}.{found[2]}-doc/examples/libs")
    return folder if (folder / "beast").exists() else None


@dataclass
class Build:
    """Build has the examples that are tested, by their names, and where they run."""

    bin: Path
    all_names: list[str]
    names: list[str]
    work: Path  # With ca.pem and server.pem.

    def named(self, *parts: str) -> list[str]:
        return [name for name in self.names if all(part in name for part in parts)]

    def command(self, name: str, *arguments: object) -> list[str]:
        return [str(self.bin / name), *map(str, arguments)]


def run(*command: object) -> None:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.fixture(scope="session")
def build(certs: CertificateMaker, tmp_path_factory: pytest.TempPathFactory) -> Build:
    libraries = boosts_libraries()
    if libraries is None:
        pytest.skip("install the package with the examples of the installed Boost")
    cleat = Path(os.environ["CLEAT_BUILD"])
    folder = cleat / "boost_examples"
    shutil.rmtree(folder / "installed", ignore_errors=True)
    run("cmake", "--install", cleat, "--prefix", folder / "installed")
    programs = replacements.copy(libraries, folder / "examples")
    names = {str(Path(each).with_suffix("")).replace("/", "."): each for each in programs}
    wanted = sorted(names if os.environ.get("CLEAT_BOOST_EXAMPLES") == "all" else FEW & set(names))
    os.environ["CCACHE_BASEDIR"] = str(folder)
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    # -g and optimization would make it slower, and tell no more.
    run("cmake", "-S", HERE, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
        f"-DCMAKE_PREFIX_PATH={folder / 'installed'}", f"-DFOLDER={folder / 'examples'}",
        "-DEXAMPLES=" + ";".join(names[each] for each in wanted), *launcher)  # fmt: skip
    run("cmake", "--build", folder / "build")
    return Build(folder / "build", sorted(names), wanted, work_folder(certs, tmp_path_factory))


@pytest.fixture(scope="session")
def certs(tmp_path_factory: pytest.TempPathFactory) -> CertificateMaker:
    return CertificateMaker(tmp_path_factory.mktemp("certs"))


def work_folder(certs: CertificateMaker, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """work_folder has ca.pem, and server.pem with a key that the password "test" encrypts."""
    folder = tmp_path_factory.mktemp("work")
    server = certs.rsa
    openssl("rsa", "-aes256", "-passout", "pass:test", "-in", server.key, "-out", folder / "key")
    (folder / "ca.pem").write_text(server.cert.read_text())
    (folder / "server.pem").write_text((folder / "key").read_text() + server.cert.read_text())
    (folder / "index.html").write_text("the page of an example\n" * 1000)
    return folder
