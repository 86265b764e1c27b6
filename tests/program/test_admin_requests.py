"""Requests to the admin server: their targets, their queries, and the statuses of the reference."""

import re

from admin_client import serve  # noqa: F401: the fixture
from program import ROOT


def test_a_key_of_a_command_comes_once(serve):
    _, admin = serve()
    got = admin.post("/log-level?level=1&level=2")
    assert (got.status, got.json["error"]) == (400, "the query has level twice: say it once")
    got = admin.post("/server?upstream=a&server=b&state=drain&state=ready")
    assert (got.status, got.json["error"]) == (400, "the query has state twice: say it once")
    assert admin.get("/status.json").json["log_level"] == 2


def test_a_request_target_may_be_a_whole_url(serve):
    """As a client sends it to a proxy: its host counts, and not the Host header's."""
    server, admin = serve()
    assert admin.get(f"http://127.0.0.1:{admin.where}/readyz", Host="x").json == {"ready": True}
    assert admin.post("http://evil.example/drain", Host="localhost").status == 403
    assert not server.log(event="draining")
    for target in ("https://localhost/readyz", "localhost:80", "*"):
        got = admin.get(target)
        assert got.status == 400 and "a path, a URL" in got.json["error"]


def test_options_of_the_whole_server(serve):
    _, admin = serve()
    got = admin.ask("OPTIONS", "*")
    assert (got.status, got.text) == (204, "")
    assert got.headers["Allow"] == "GET, HEAD, OPTIONS, POST"
    assert admin.ask("OPTIONS", "*", Origin="http://evil.example").status == 403
    assert admin.ask("OPTIONS", "/metrics").headers["Allow"] == "GET, HEAD"


def test_every_status_of_the_reference_comes(serve, certs):
    """docs/reference/admin.md: what each path answers, of what does not need a broken machine."""
    text = (ROOT / "docs/reference/admin.md").read_text()
    rows = re.findall(r"^\| `(/[^`]*)` \| ([A-Z, ]+) \|(.*?)\| ([\d, ]+) \|", text, re.M)
    assert len(rows) == 10
    _, admin = serve()
    queries = {"/log-level": "?level=1", "/server": "?upstream=x&server=y&state=drain"}
    seen = {}
    for path, methods, _, statuses in rows:
        expected = {int(each) for each in statuses.split(", ")}
        method = methods.split(", ")[0]
        for query in {"", queries.get(path, "")} if path != "/drain" else ():
            seen.setdefault(path, set()).add(admin.ask(method, path + query).status)
        assert seen.get(path, set()) <= expected, path
        other = "GET" if method == "POST" else "POST"
        assert admin.ask(other, path).status == 405
    assert admin.post("/drain").status == 200
    assert seen["/log-level"] == {200, 400} and seen["/server"] == {400, 404}
