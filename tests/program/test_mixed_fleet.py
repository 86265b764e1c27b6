"""Which TLS libraries resume each other's sessions with one ticket secret: the table of
docs/decisions/ticket-secrets.md. It tests pairs of the builds that are in this tree, of which
`scripts/check` makes one with each library, and needs one beside the build under test. A pair that
does not resume each other's sessions makes full handshakes, and none fails."""

import subprocess
from pathlib import Path

import pytest

import program
from deadlines import DEADLINE
from sessions import visit
from tls_client import VERSIONS, only

SECRET = "0123456789abcdef" * 4
FAMILY = ("AWS-LC", "BoringSSL")  # Their encoding of sessions has one source.


def library_of(binary: Path) -> str:
    """library_of is the name of a build's TLS library, or empty where the build does not run."""
    try:
        ran = subprocess.run(
            [binary, "--version"], capture_output=True, text=True, timeout=DEADLINE, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    lines = (line.split() for line in ran.stdout.splitlines())
    return next((words[2] for words in lines if words[:2] == ["TLS", "library"]), "")


def newest_source() -> float:
    """newest_source is when the sources of cleat last changed."""
    folders = [program.ROOT / "src", program.ROOT / "apps" / "cleat"]
    return max(each.stat().st_mtime for folder in folders for each in folder.rglob("*.[ch]pp"))


@pytest.fixture(scope="module")
def builds() -> dict[str, Path]:
    """builds are a build with each library: the one under test, and others of this tree, unless
    the sources have changed since."""
    found = {library_of(program.binary()): program.binary()}
    changed = newest_source()
    for each in sorted(program.ROOT.glob("build/*/bin/cleat")):
        if each.stat().st_mtime > changed:
            found.setdefault(library_of(each), each)
    found.pop("", None)
    return found


def resume_each_other(maker: str, opener: str) -> bool:
    return maker == opener or (maker in FAMILY and opener in FAMILY)


@VERSIONS
@pytest.mark.parametrize("opener", ["AWS-LC", "BoringSSL", "OpenSSL"])
@pytest.mark.parametrize("maker", ["AWS-LC", "BoringSSL", "OpenSSL"])
def test_a_pair_of_libraries(cleat, tmp_path, builds, maker, opener, version):
    if missing := {maker, opener} - builds.keys():
        pytest.skip(f"there is no build with {' and '.join(sorted(missing))} of these sources")
    secret = tmp_path / "tickets"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    one, other = (
        cleat("--ticket-secret", secret, program=builds[each]) for each in (maker, opener)
    )
    tls = only(version)
    _, session = visit(one.port, tls)
    assert visit(other.port, tls, session)[0] == resume_each_other(maker, opener)
