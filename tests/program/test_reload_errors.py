"""A reload that is refused tells every error at one time, whichever comes first."""

import os
import re
import socket

import pytest

from admin_client import LOCAL, change  # noqa: F401: the fixture
from privileged_site import place, put, serve, site  # noqa: F401: the fixtures
from reloads import reload, reload_is_refused


def test_a_reload_that_needs_a_restart_tells_every_other_error_too(change, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        other = f'frontend = "[127.0.0.1]:{taken.getsockname()[1]}"'
        change.write(
            "sandbox = off", 'admin = "/nonexistent/admin.sock"', other,
            'log-filename = "/nonexistent/log"', 'access-log = "/nonexistent/access"',
        )  # fmt: skip
        problems = change.admin.post("/reload").json["problems"]
        keys = {each["key"] for each in problems}
        assert keys == {"sandbox", "admin", "frontend", "log-filename", "access-log"}, problems
    assert change.admin.get("/readyz").status == 200
    change.write(f'admin = "{LOCAL}"', "idle-timeout = 7")
    assert change.reload().returncode == 0


MISSING = [
    'pem-dir = "/nonexistent/pems"',
    'deny-from = "@/nonexistent/list"',
    'ticket-secret = "/nonexistent/secret"',
]  # fmt: skip
MISSING_KEYS = {"pem-dir", "deny-from", "ticket-secret"}
PLACES = ['log-filename = "/nonexistent/log"', 'access-log = "/nonexistent/access"']
PLACE_KEYS = {"frontend", "log-filename", "access-log"}


@pytest.mark.parametrize(
    ("mistake", "known"),
    [
        ("idle-timeout = x", {"idle-timeout"}),
        ("nonsense = 3", {"nonsense"}),
        ("write-ip = on\nproxy-proxy = on\nworkers = 7", {"proxy-proxy", "workers"}),
        ('pem-file = "/nonexistent/pem"', {"pem-file"}),
    ],
    ids=["a value", "a key", "two keys that exclude each other", "a certificate"],
)
def test_a_mistake_hides_no_file_that_is_missing_and_no_place(change, mistake, known):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        other = f'frontend = "[127.0.0.1]:{taken.getsockname()[1]}"'
        local = f'admin = "{LOCAL}"'
        change.write(mistake, *MISSING, *PLACES, other, local, 'ciphersuites = "TLS_NO_SUCH"')
        problems = change.admin.post("/reload").json["problems"]
        keys = {each["key"] for each in problems}
        assert keys == known | MISSING_KEYS | PLACE_KEYS | {"ciphersuites"}, problems
        asked = change.reload()
        assert asked.returncode == 1
        places = re.findall(r"^cleat: \S+\.conf:(\d+):", asked.stderr, re.M)
        assert len(places) >= 8 and places == sorted(places, key=int)
        for each in ("/nonexistent/pems", "/nonexistent/list", "/nonexistent/secret"):
            assert f"cannot read {each}: No such file or directory" in asked.stderr
    assert change.admin.get("/readyz").status == 200
    change.write(f'admin = "{LOCAL}"', "idle-timeout = 7")
    assert change.reload().returncode == 0


def test_a_mistake_has_no_consequences_at_a_reload(change, certs):
    """A value that cannot be read may be what another setting needs: that is no second error."""
    local = f'admin = "{LOCAL}"'
    for lines in (
        ("client-verify = requierd", f'client-verify-ca = "{certs.ecdsa.cert}"'),
        ('upstrem = { name = "a" }', "upstream = a"),
        ("frontend = nowhere",),
    ):
        change.write(local, *lines)
        problems = change.admin.post("/reload").json["problems"]
        assert len(problems) == 1, problems


def test_warnings_hide_no_error_of_a_reload(change):
    """Each line has a warning for the key, and each but the first one for its repetition."""
    change.write(f'admin = "{LOCAL}"', *["ring-slots = 3"] * 25, "idle-timeout = x")
    asked = change.reload()
    assert asked.returncode == 1
    change.server.wait_for_log(event="reload-refused", problems="1", warnings="49")
    (error,) = change.server.log(event="reload-problem", level="error")
    warnings = change.server.log(event="reload-warning", level="warning")
    logged = [each["problem"] for each in (error, *warnings)]
    for lines in (logged, asked.stderr.splitlines()[:-1]):
        assert "idle-timeout" in lines[0] and "and 29 more warnings" in lines[-1], lines


def test_a_value_that_cannot_be_read_hides_no_key_that_needs_a_restart(change):
    change.write(f'admin = "{LOCAL}"', "idle-timeout = x", "workers = 7")
    asked = change.reload()
    assert asked.returncode == 1
    assert "idle-timeout" in asked.stderr and "workers" in asked.stderr
    # A key without a value that can be read is not one that was removed.
    change.write(f'admin = "{LOCAL}"', "workers = x")
    assert "restart only" not in change.reload().stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to keep")
@pytest.mark.parametrize("mistake", ["idle-timeout = x", "write-ip = on\nproxy-proxy = on"])
def test_a_file_that_only_root_may_read_is_not_missing(serve, site, certs, mistake):
    """The process that opens root's files reads none that only a configuration with mistakes
    names."""
    server = serve()
    other = site.keys / "other.pem"
    put(other, certs.rsa.pem.read_text())
    lines = [f'pem-file = "{other}"', 'pem-file = "/nonexistent/pem"']
    site.write(mistake, *lines)
    wrong, missing = sorted(reload_is_refused(server), key=lambda each: "nonexistent" in each)
    assert mistake.split()[-3] in wrong, wrong
    assert "cannot read /nonexistent/pem: No such file or directory" in missing
    site.write(lines[0])
    assert reload(server)["certificates_added"] == "1"
