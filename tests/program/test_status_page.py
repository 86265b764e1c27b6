"""The status page of the admin server, in a browser: live numbers of a running cleat, legible on
every screen, harmless whatever clients and files are called, and usable from the keyboard."""

import json
import re
import signal
import socket
import sys
from datetime import datetime, timedelta, timezone
from typing import Callable, Iterator

import pytest

from access_logs import ACCESS_LOG_ROOM, flood
from admin_client import admin_of, change  # noqa: F401 (a fixture)
from deadlines import DEADLINE, eventually
from held_thread import held, thread_called
from program import ROOT, Cleat
from tls_client import TLS_1_2, TlsClient, only, refused

sys.path.insert(0, str(ROOT / "tests" / "bench"))

from browser import Browser, missing  # noqa: E402
from pages import COLOURS, CONTRAST, PAPER, is_dark, words  # noqa: E402

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "all there")

LOCAL = "[127.0.0.1]:0"
HOSTILE = '<img src=x onerror="document.title=1">'
BROWSER_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

# The highest value of each line of a chart.
HIGHEST = """
return [...document.querySelectorAll('canvas')].map((canvas) =>
    Object.fromEntries(Chart.getChart(canvas).data.datasets.map((set) =>
        [set.label, Math.max(0, ...set.data.map((point) => point.y))])));
"""
# Texts of a kind of element that break within a line.
BROKEN = """
const lines = (node) => {
    const all = document.createRange();
    all.selectNodeContents(node);
    return new Set([...all.getClientRects()].map((each) => Math.round(each.top))).size;
};
return [...document.querySelectorAll('%s')].filter((each) => lines(each) > 1)
    .map((each) => each.textContent);
"""
FOCUSED = """
const at = document.activeElement;
return at.getAttribute('aria-label') ?? at.textContent;
"""


@pytest.fixture(scope="module")
def shown() -> Iterator[Browser]:
    running = Browser()
    yield running
    running.close()


class Page:
    """Page is the status page of a running cleat."""

    def __init__(self, shown: Browser, server: Cleat) -> None:
        self.shown, self.server, self.admin = shown, server, admin_of(server)
        self.address = f"http://127.0.0.1:{self.admin.where}/"

    def open(self, width: int = 1400, dark: bool = False) -> "Page":
        self.shown.show(width, dark=dark)
        self.shown.visit(self.address)
        self.wait_for("Serving", ".state")
        return self

    def words(self, selector: str = "main") -> str:
        return words(self.shown, selector).replace("\u00a0", " ").replace("\u202f", "")

    def wait_for(self, text: str, selector: str = "main") -> None:
        eventually(f"{text!r} in {selector}", lambda: text in self.words(selector))

    def section(self, name: str) -> str:
        return self.words(f"section[aria-labelledby={name}]")


@pytest.fixture
def page(shown: Browser, cleat: Callable[..., Cleat]) -> Callable[..., Page]:
    """page starts cleat with an admin server at a free port; page(...).open() shows its page."""

    def start(*flags: object, **options: object) -> Page:
        return Page(shown, cleat("--admin", LOCAL, *flags, **options))

    return start


def visit(port: int, size: int = 5) -> None:
    """visit is a connection from its handshake to a clean end."""
    with TlsClient(port) as client:
        assert client.exchange(b"x" * size) == b"x" * size
        client.close_notify()
        client.receive_to_end()


def fail(port: int) -> None:
    """fail is two handshakes that fail, each for another reason."""
    refused(port, only(TLS_1_2, ciphers="AES128-SHA"))
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        plain.recv(4096)


# Numbers.


def test_numbers_of_real_traffic_appear(page):
    view = page("--workers", 2).open()
    assert "No connection has failed yet" in view.section("failures")
    assert "No handshake has finished yet" in view.section("agreed")
    for _ in range(4):
        visit(view.server.port, size=1000)
    fail(view.server.port)

    view.wait_for("6 in all", ".figures")
    handshakes, moved, times, busy = eventually(
        "the charts have handshakes and bytes",
        lambda: (found := view.shown.run(HIGHEST))[0]["full"] and found[0]["failed"] and found,
    )
    assert moved["to clients"] > 0 and moved["to the upstream"] > 0
    assert 0 < times["median"] <= times["90 %"] <= times["99 %"] < DEADLINE
    assert list(busy) == ["worker 0", "worker 1"]
    view.wait_for("of the handshakes of the last", ".attention")
    view.wait_for("http-request", "section[aria-labelledby=failures]")
    view.wait_for("TLS 1.3", "section[aria-labelledby=agreed]")
    failures = view.section("failures")
    assert "handshake-failed" in failures and "client\n127.0.0.1:" in failures
    (line,) = view.server.log(event="handshake-failed", reason="http-request")
    assert line["peer"] in failures
    assert f"127.0.0.1:{view.server.port}" in view.section("frontends")
    assert len(re.findall(r"^[01]\s", view.section("workers"), re.MULTILINE)) == 2
    assert "Within 30 days" in view.section("certificates")


def test_the_answers_of_the_server_are_enough_for_the_page(page):
    view = page()
    fail(view.server.port)

    def both() -> dict | None:
        now = view.admin.get("/status.json").json
        return now if len(now["failures"]) == 2 else None

    status = eventually("two reasons have an example", both)
    assert {each["event"] for each in status["failures"]} == {"handshake-failed"}
    assert {each["count"] for each in status["failures"]} == {1}
    assert [each["frontend"] for each in status["failures"]] == [
        f"127.0.0.1:{view.server.port}"
    ] * 2
    (worker,) = status["by_worker"]
    assert (worker["connections"], worker["handshakes_failed"]) == (2, 2)
    assert "admin" in status["changed_keys"] and "idle-timeout" not in status["changed_keys"]
    assert status["certificates"]["all"] == sum(status["certificates"]["by_days_left"]) == 1


MEMORY = "section[aria-labelledby=process]"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_max_memory_is_shown_with_what_gives_way_to_it(page, dark):
    view = page("--workers", 2, "--max-memory", "512M")
    memory = view.admin.get("/status.json").json["memory"]
    assert memory["limit_bytes"] == 512 << 20 and memory["level"] == "normal"
    view.open(1400, dark)
    used = eventually(
        "memory has been read", lambda: view.admin.get("/status.json").json["memory"]["used_bytes"]
    )
    assert 0 < used < 512 << 20
    shown = view.section("process")
    assert re.search(r"Used of max-memory\n[\d.]+ [KMG]i?B of [\d.]+ [KMG]i?B, [\d.]+ ?%", shown)
    assert "Gives way now\nnothing" in shown
    assert "Refused for memory\n0 connections" in shown
    assert "Ended for room\n0 handshakes, 0 stalled" in shown
    # Memory that is short, as the server would tell it.
    view.shown.run(
        """
        const real = window.fetch;
        window.fetch = async (...all) => {
            const status = await (await real(...all)).json();
            Object.assign(status.memory, { level: 'full', used_bytes: 0.93 * 2 ** 29,
                connections_refused: 1, handshakes_evicted: 1, stalled_evicted: 1234 });
            return new Response(JSON.stringify(status));
        };
        """
    )
    view.wait_for("new and stalled connections", MEMORY)
    view.wait_for("max-memory is nearly used up: new connections are refused.", ".attention")
    shown = view.section("process")
    assert "93" in shown and "1 connection\n" in shown and "1 handshake, 1" in shown
    assert view.shown.run(CONTRAST) >= 4.5
    assert is_dark(view.shown.run(PAPER)) == dark
    assert view.shown.run("return document.documentElement.scrollWidth") <= 1400
    assert view.shown.log("browser") == []


def test_names_that_fail_used_up_ports_and_a_stale_crl_are_matters(page):
    view = page().open()
    view.wait_for("Nothing needs attention.", ".attention")
    # As the server would tell it. Ports are used up again and again.
    view.shown.run(
        """
        const real = window.fetch;
        let used = 0;
        window.fetch = async (...all) => {
            const status = await (await real(...all)).json();
            const set = (name, value) => {
                status.metrics[name] = { samples: [{ labels: {}, value }] };
            };
            set('cleat_dns_names_failing', 2);
            set('cleat_local_ports_used_up_total', ++used);
            set('cleat_crl_soonest_next_update_timestamp_seconds',
                Date.parse(status.now) / 1000 - 1);
            return new Response(JSON.stringify(status));
        };
        """
    )
    matters = "2 names of servers cannot be looked up", "No local port was free", "A CRL is stale"
    for matter in matters:
        view.wait_for(matter, ".attention")
    assert view.shown.log("browser") == []


def test_a_worker_that_does_not_answer_is_a_matter(page):
    view = page("--workers", 2).open()
    view.wait_for("Nothing needs attention.", ".attention")
    with held(thread_called(view.server.pid, "worker-1")):
        view.wait_for("1 worker does not answer", ".attention")
    view.wait_for("Nothing needs attention.", ".attention")


def test_lost_lines_of_the_access_log_are_a_matter(page):
    view = page("--access-log", "/dev/full", "--access-log-format", "json").open()
    assert "Access log lines lost\n0" in view.section("process")
    flood(view.server.port, ACCESS_LOG_ROOM + 100)
    view.wait_for("of the access log were lost.", ".attention")
    assert re.search(r"Access log lines lost\n[1-9]", view.section("process"))


def test_without_max_memory_there_is_nothing_about_it(page):
    view = page().open()
    assert view.admin.get("/status.json").json["memory"] is None
    assert "max-memory" not in view.section("process")


def test_percentiles_are_interpolated_in_buckets(page):
    view = page().open()

    def percentile(share, *counts):
        bounds = [1, 2, 4, None]
        buckets = [{"le": le, "count": n} for le, n in zip(bounds, counts)]
        return view.shown.run(f"return rates.percentile({json.dumps(buckets)}, {share})")

    assert percentile(0.5, 0, 0, 0, 0) is None
    assert percentile(0.5, 4, 4, 4, 4) == 0.5
    assert percentile(0.5, 0, 4, 4, 4) == 1.5
    assert percentile(1, 0, 4, 8, 8) == 4
    assert percentile(0.99, 1, 1, 1, 100) == 4  # Above the last bound: at least that.


def test_of_many_certificates_the_first_to_end_are_named(page, certs, tmp_path):
    folder = tmp_path / "pems"
    folder.mkdir()
    for i in range(20):
        site = certs.named(f"site-{i}", f"DNS:www{i}.example,DNS:a.www{i}.example")
        (folder / f"{i}.pem").write_text(site.pem.read_text())
    expired = certs.expired("gone", "/CN=gone.example")
    (folder / "gone.pem").write_text(expired.pem.read_text())
    view = page("--pem-dir", folder, "--certificate-cache", 5, pem=[])
    found = view.admin.get("/status.json").json["certificates"]
    assert found["all"] == sum(found["by_days_left"]) == 21
    assert found["by_days_left"][0] == 1
    assert len(found["soonest"]) == 12
    assert found["soonest"][0]["origin"].endswith("gone.pem")
    ends = [each["end_seconds"] for each in found["soonest"]]
    assert ends == sorted(ends)
    view.open()
    assert "21 in use" in view.section("certificates")
    assert "gone.pem" in view.section("certificates")
    assert "a.www" in view.section("certificates")
    assert "1 certificate has expired." in view.words(".attention")


@pytest.mark.parametrize("left, alarm", [(48, False), (12, True)])
def test_a_six_day_certificate_is_an_alarm_on_its_last_day(page, certs, left, alarm):
    end = datetime.now(timezone.utc) + timedelta(hours=left)
    dates = [f"{each:%Y%m%d%H%M%SZ}" for each in (end - timedelta(days=6), end)]
    view = page(pem=[certs.dated(f"six-days-{left}", "/CN=short.example", *dates)]).open()
    view.wait_for("short.example", "section[aria-labelledby=certificates]")
    assert ("1 certificate ends within 7 days." in view.words(".attention")) == alarm
    is_red = view.shown.run("return document.querySelector('.soonest > .bad') !== null")
    assert is_red == alarm


def test_few_certificates_have_the_names_of_their_hosts(page, certs):
    site = certs.named("star", "DNS:*.star.example,DNS:b.example,DNS:c.example,DNS:d.example")
    view = page(pem=[certs.ecdsa, site])
    found = view.admin.get("/status.json").json["certificates"]["soonest"]
    assert len(found) == 2
    (star,) = (each for each in found if each["origin"].endswith(site.pem.name))
    assert star["names"] == ["*.star.example", "b.example", "c.example"]
    assert star["name_count"] == 4
    view.open()
    assert "*.star.example, b.example, c.example and 1 more" in view.section("certificates")


# Looks.


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 800, 1400])
def test_it_is_drawn_and_legible_on_every_screen(page, certs, tmp_path, width, dark):
    long_name = tmp_path / ("a-name-that-has-no-place-to-break-" * 4 + ".pem")
    long_name.write_text(certs.rsa.pem.read_text())
    view = page("--workers", 2, long_name)
    view.open(width, dark)
    visit(view.server.port, size=100_000)
    fail(view.server.port)
    view.wait_for("http-request")
    eventually("there is a line", lambda: view.shown.run(HIGHEST)[0]["full"])
    colours = view.shown.run(COLOURS)
    assert len(colours) == 4
    assert all(count > 10 for count in colours), colours
    assert view.shown.run("return document.documentElement.scrollWidth") <= width
    assert view.shown.run(CONTRAST) >= 4.5
    assert is_dark(view.shown.run(PAPER)) == dark
    assert view.shown.log("browser") == []
    assert {each for each in view.shown.requests() if not each.startswith("data:")} == {
        view.address, f"{view.address}status.json",
    }  # fmt: skip


@pytest.mark.parametrize("width", [400, 800, 1280])
def test_addresses_and_names_do_not_break(page, certs, tmp_path, width):
    """With several frontends, servers and certificates of several names. Tables that are wider than
    the screen scroll in themselves."""
    shops = [certs.named(f"shop-{i}", f"DNS:www.shop-{i}.example.org,DNS:shop-{i}.example.org")
             for i in range(3)]  # fmt: skip
    spare = "/run/an-application/spare-server-with-a-long-name.sock"
    conf = tmp_path / "configuration_of_the_office_and_of_all_its_branches_1234567890.conf"
    conf.write_text(f'''
        upstream = {{
            name = "an-application-of-the-office"
            server = "[127.0.0.1]:9"
            server = "[2001:db8:1234:5678:9abc:def0:1234:5678]:8080"
            server = {{ address = "{spare}" backup = on }}
        }}
        upstream = "an-application-of-the-office"
    ''')
    more = ("--config", conf, "--frontend", LOCAL, "--frontend", "[127.0.0.2]:0")
    view = page(*more, pem=shops, backend="").open(width)
    view.wait_for(spare)
    view.wait_for("shop-2.example.org")
    assert view.shown.run("return document.querySelectorAll('tbody th').length") >= 3 + 3
    assert view.shown.run(BROKEN % "tbody th, .whole") == []
    assert view.shown.run("return document.documentElement.scrollWidth") <= width


def test_colours_follow_the_screen_while_the_page_is_open(page):
    view = page().open()
    line = "return Chart.getChart(document.querySelector('canvas')).data.datasets[0].borderColor"
    light = view.shown.run(line)
    view.shown.show(1400, dark=True)
    eventually("the lines have other colours", lambda: view.shown.run(line) != light)


def test_the_configuration_file_is_shown_as_it_was_read(shown, change):
    """It is fetched when it is opened, and again after a reload. Its text is text."""
    change.write(f'admin = "{LOCAL}"', f"# {HOSTILE}", f"# {'long ' * 200}")
    assert change.reload().returncode == 0
    view = Page(shown, change.server).open(360)
    details = "details:has(.file)"
    assert f"{change.path}, as it was read" in view.words(details)
    view.shown.run(f"document.querySelector('{details}').open = true")
    text = "return document.querySelector('.file').textContent"
    eventually("the text", lambda: view.shown.run(text) == change.path.read_text())
    assert view.shown.run("return document.querySelectorAll('img').length") == 0
    assert view.shown.run("return document.documentElement.scrollWidth") <= 360
    change.write(f'admin = "{LOCAL}"', "idle-timeout = 7")
    assert change.reload().returncode == 0
    eventually("the new text", lambda: view.shown.run(text) == change.path.read_text())


def test_without_a_file_there_is_no_text_of_it(page):
    view = page().open()
    view.wait_for("Set to other values", "section[aria-labelledby=configuration]")
    assert "as it was read" not in view.words()


# Safety.


def test_hostile_names_are_text(page, certs, tmp_path):
    pem = tmp_path / f"{HOSTILE.replace('/', '')}.pem"
    pem.write_text(certs.ecdsa.pem.read_text())
    view = page(pem, pem=[]).open()
    refused(view.server.port, only(TLS_1_2, ciphers="AES128-SHA"), name="<b>bold</b>.example")
    view.wait_for(HOSTILE, "section[aria-labelledby=certificates]")
    view.wait_for("<b>bold</b>.example", "section[aria-labelledby=failures]")
    assert view.shown.run("return document.querySelectorAll('img, b').length") == 0
    assert view.shown.run("return document.title").startswith("Serving")
    assert view.shown.log("browser") == []


def test_only_the_page_itself_may_run_and_no_other_may_show_it(page):
    view = page()
    got = view.admin.get("/", Accept=BROWSER_ACCEPT)
    policy = dict(each.split(" ", 1) for each in got.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert re.fullmatch("'nonce-[0-9a-f]{32}'", policy["script-src"])
    assert "unsafe" not in got.headers["Content-Security-Policy"]
    again = view.admin.get("/", Accept=BROWSER_ACCEPT).headers["Content-Security-Policy"]
    assert again != got.headers["Content-Security-Policy"]
    view.open()
    added = """
        const script = document.createElement('div');
        script.innerHTML = '<img src="data:," onerror="window.ran = true">';
        document.body.append(script);
        const inline = document.createElement('script');
        inline.textContent = 'window.ran = true';
        document.body.append(inline);
        return window.ran === undefined;
    """
    assert view.shown.run(added)
    eventually("the browser says so", lambda: view.shown.log("browser"))


def test_other_clients_get_the_list(page):
    view = page()
    for accept in ("*/*", "text/plain", "application/json"):
        got = view.admin.get("/", Accept=accept)
        assert got.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert "GET  /metrics" in got.text
        assert "Content-Security-Policy" not in got.headers
    got = view.admin.get("/", Accept=BROWSER_ACCEPT)
    assert got.headers["Content-Type"] == "text/html; charset=utf-8"
    assert len(got.text) < 400_000


# Commands and the keyboard.


def tab_to(view: Page, name: str) -> None:
    """tab_to presses Tab until the element with that name has the focus."""
    for _ in range(40):
        view.shown.press("Tab")
        if view.shown.run(FOCUSED) == name:
            return
    raise AssertionError(f"{name} is not reached by Tab")


def test_the_keyboard_reaches_everything_in_the_order_of_the_page(page):
    view = page().open(800)
    seen = []
    while len(seen) < 40 and (not seen or seen[-1] != "Pause" or len(seen) == 1):
        view.shown.press("Tab")
        focused = str(view.shown.run(FOCUSED))
        if view.shown.run("return document.activeElement === document.body"):
            break
        seen.append(focused)
    assert seen[:3] == ["Pause", "Reload", "Drain…"]
    assert seen[3:7] == ["handshake", "upstream", "first byte", "end"]
    assert seen[7:10] == ["Workers", "Frontends", "Servers"]
    assert "keys at their defaults" in seen[10]
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    tab_to(view, "Reload")
    assert view.shown.run(outline) == "solid"


def test_a_reload_says_what_has_come_of_it(page, config, certs, shown, cleat):
    path = config("")
    text = f'admin = "{LOCAL}"\nfrontend = "{LOCAL}"\npem-file = "{certs.ecdsa.pem}"\n'
    path.write_text(text + "log-level = 2\n")
    view = Page(shown, cleat("--config", path, pem=[], frontend=None, log_level=None)).open()
    path.write_text(text + "log-level = 2\nidle-timeout = 77\n")
    tab_to(view, "Reload")
    view.shown.press("Enter")
    view.wait_for("Changed: the key idle-timeout", ".output")
    view.wait_for("idle-timeout", "section[aria-labelledby=configuration] > dl")
    path.write_text(text + "idel-timeout = 7\n")
    eventually("the button is back", lambda: view.shown.run(FOCUSED) == "Reload")
    view.shown.press("Enter")
    view.wait_for("The reload was refused", ".output")
    assert f"{path}:4" in view.words(".output")
    view.wait_for("was refused. The configuration before it is in force.", ".attention")
    # Also for a reader who has not asked for the reload.
    assert f"{path}:4: error: idel-timeout: " in view.words(".attention")
    path.write_text(text)
    view.server.signal(signal.SIGHUP)
    view.wait_for("Nothing needs attention.", ".attention")
    assert view.admin.get("/status.json").json["refused_reload"] is None


def test_a_drain_asks_first(page):
    view = page(shutdown_timeout=int(DEADLINE)).open()
    with TlsClient(view.server.port) as client:
        client.exchange(b"still here")
        view.wait_for("1 in all", ".figures")
        for leave in ("Escape", "Enter"):
            tab_to(view, "Drain…")
            view.shown.press("Enter")
            assert view.shown.run(FOCUSED) == "Go on serving"
            assert "1 connection is open" in view.words("dialog")
            view.shown.press(leave)
            assert not view.shown.run("return document.querySelector('dialog').open")
        assert view.admin.get("/readyz").status == 200
        tab_to(view, "Drain…")
        view.shown.press("Enter", "Tab", "Enter")
        view.wait_for("Draining", ".state")
        assert view.admin.get("/readyz").status == 503
        view.wait_for("accepts no more connections", ".attention")
        assert client.exchange(b"to the end") == b"to the end"
    assert view.server.wait() == 0
    view.wait_for("No answer", ".state")
    assert "The numbers are of" in view.words(".since")


def test_commands_of_another_site_are_refused(page):
    view = page()
    host = f"127.0.0.1:{view.admin.where}"
    for origin in ("http://evil.example", f"http://localhost:{view.admin.where}", "null"):
        assert view.admin.post("/drain", Host=host, Origin=origin).status == 403
    evil = {"Host": "evil.example", "Origin": "http://evil.example"}
    assert view.admin.post("/drain", **evil).status == 403
    assert view.admin.get("/readyz").status == 200
    assert view.admin.post("/reload", Host=host, Origin=f"http://{host}").status in (200, 422)


# Time.


def test_a_server_that_does_not_answer_is_said_and_found_again(page):
    view = page().open()
    # A server that is stuck is for `patience`; the next answer ends that.
    view.shown.run("window.realFetch = fetch; window.fetch = () => Promise.reject(new Error('x'))")
    view.wait_for("No answer", ".state")
    assert view.shown.run("return document.title").startswith("No answer")
    view.shown.run("window.fetch = window.realFetch")
    view.wait_for("Serving", ".state")
    assert view.words(".since") == ""


def test_a_page_that_nobody_sees_asks_nothing(page):
    view = page().open()
    view.shown.run(
        """
        window.asked = 0;
        window.looks = 0;
        window.isHidden = true;
        const real = window.fetch;
        window.fetch = (...all) => { ++window.asked; return real(...all); };
        Object.defineProperty(document, 'hidden',
            { get: () => { ++window.looks; return window.isHidden; } });
        """
    )
    # The timer that runs already finds the page hidden, and sets no other.
    eventually("it has looked", lambda: view.shown.run("return window.looks") > 0)
    assert view.shown.run("return window.asked") == 0
    view.shown.run("isHidden = false; document.dispatchEvent(new Event('visibilitychange'))")
    eventually("it asks again", lambda: view.shown.run("return window.asked") > 1)


def test_a_paused_page_stays_as_it_is(page):
    view = page().open()
    tab_to(view, "Pause")
    view.shown.press("Enter")
    assert view.shown.run("return document.activeElement.getAttribute('aria-pressed')") == "true"
    visit(view.server.port)
    view.shown.press("Enter")
    view.wait_for("1 in all", ".figures")
