"""A certificate is reported when its client should have renewed it, whatever its lifetime."""

from datetime import datetime, timedelta, timezone

import pytest

from admin_client import admin_of
from deadlines import eventually
from program import run
from reloads import wait_for_stamps

HOUR = 1 / 24


@pytest.fixture
def site(certs):
    """Makes a certificate with a lifetime and the rest of it, both in days."""

    def make(lifetime, left):
        now = datetime.now(timezone.utc)
        end = now + timedelta(days=left)
        dates = [f"{each:%Y%m%d%H%M%SZ}" for each in (end - timedelta(days=lifetime), end)]
        name = f"of-{lifetime}-with-{left:.2f}-from-{now:%f}"
        return certs.dated(name, f"/CN={name}.example", *dates)

    return make


@pytest.mark.parametrize(
    "lifetime, left, grade",
    [
        (200, 31, ""),
        (200, 29, "notice"),
        (90, 29, "notice"),
        (90, 6, "warning"),
        (90, 23 * HOUR, "error"),
        (47, 15, ""),
        (45, 8, ""),
        (45, 6, "warning"),
        (6, 5, ""),
        (6, 25 * HOUR, ""),
        (6, 23 * HOUR, "error"),
        (1, 23 * HOUR, ""),
        (1, 3 * HOUR, "error"),
    ],
)
def test_check_finds_an_end_that_should_have_been_moved(site, lifetime, left, grade):
    ran = run("check", site(lifetime, left).pem)
    lines = [line.split() for line in ran.stdout.splitlines() if "expires-soon:" in line]
    assert [line[0] for line in lines] == ([grade] if grade else [])
    tested = run("-t", site(lifetime, left).pem)
    assert ("expires on" in tested.stderr) == (grade in ("warning", "error"))


# In order: the days that are left, and the lifetime.
MIXED = {"late": (90, 5), "quick": (6, 2), "slow": (90, 20), "today": (6, 0.5), "new": (90, 80)}


@pytest.fixture
def folder(site, tmp_path):
    made = tmp_path / "pems"
    made.mkdir()
    for name, (lifetime, left) in MIXED.items():
        (made / f"{name}.pem").write_text(site(lifetime, left).pem.read_text())
    return made


def graded(server):
    """graded is the number of certificates by their grades."""
    seen = admin_of(server).metrics()
    return {
        grade: seen.value("cleat_certificates_expiring", grade=grade)
        for grade in ("notice", "warning", "error")
    }


def named(server, folder):
    """named is the certificates that the log has named up to now, with the level of each."""
    lines = [line for line in server.lines if "event=certificate-expires" in line]
    return {
        name: next(part[6:] for part in line.split() if part.startswith("level="))
        for line in lines
        for name in MIXED
        if f"{folder}/{name}.pem" in line
    }


@pytest.mark.parametrize("cache", [1, 1000])
def test_the_log_and_the_metrics_agree(cleat, folder, cache):
    """Also with a later start, which knows the certificates from the index."""
    index = folder.parent / "index"
    wait_for_stamps(*folder.iterdir())
    flags = ["--pem-dir", folder, "--certificate-cache", cache, "--certificate-index", index]
    for _ in range(2):
        server = cleat(*flags, "--log-level", 2, "--admin", "[127.0.0.1]:0", pem=[])
        assert graded(server) == {"notice": 1, "warning": 1, "error": 1}
        server.wait_for_log(event="certificate-expires", times=3)
        assert named(server, folder) == {"slow": "info", "late": "warning", "today": "error"}
        status = admin_of(server).get("/status.json").json["certificates"]
        assert status["expiring"] == {"notice": 1, "warning": 1, "error": 1}
        grades = {each["origin"].rsplit("/")[-1]: each["grade"] for each in status["soonest"]}
        assert grades == {
            "today.pem": "error",
            "quick.pem": "",
            "late.pem": "warning",
            "slow.pem": "notice",
            "new.pem": "",
        }
        if cache == 1:
            eventually("the index is written", index.exists)
        server.end()
