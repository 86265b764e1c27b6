"""Two generators on hosts of their own begin together against a server on a third, and their
results add up. The hosts are network namespaces, made here and gone with the test."""

import datetime
import json
import os
import shutil
import subprocess
import uuid

import pytest

from conftest import binary
from deadlines import DEADLINE, eventually
from origins import Origin
from http_handlers import http
import program

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("ip"), reason="network namespaces need root and iproute2"
)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=DEADLINE)


@pytest.fixture
def hosts():
    """hosts are three namespaces: a server's, with a link to each of two clients'."""
    tag = uuid.uuid4().hex[:6]
    names = [f"cleat-{tag}-{role}" for role in ("server", "one", "two")]
    try:
        for name in names:
            try:
                ip("netns", "add", name)
                ip("-n", name, "link", "set", "lo", "up")
            except subprocess.CalledProcessError as failure:
                pytest.skip(f"no network namespaces here: {failure.stderr.decode().strip()}")
        for number, client in enumerate(names[1:], 1):
            ends = [f"s{number}{tag}", f"c{number}{tag}"]
            ip("-n", names[0], "link", "add", ends[0], "type", "veth", "peer", "name", ends[1],
               "netns", client)
            for name, end, last in ((names[0], ends[0], 1), (client, ends[1], 2)):
                ip("-n", name, "addr", "add", f"10.99.{number}.{last}/24", "dev", end)
                ip("-n", name, "link", "set", end, "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=DEADLINE)


def inside(name: str, *command: object) -> list[str]:
    return ["ip", "netns", "exec", name, *map(str, command)]


@pytest.mark.figures
def test_two_hosts_begin_together_and_add_up(hosts, tmp_path, certs):
    server, *clients = hosts
    # The upstream is reached over a UNIX socket, which no namespace divides.
    upstream = Origin(http(), path=tmp_path / "origin")
    command = inside(server, program.binary(), "-f", "[*]:8443", "-b", upstream.address,
                     "--log-level", 2, certs.ecdsa.pem)
    log = tmp_path / "log"
    target = subprocess.Popen(command, stderr=log.open("w"))
    try:
        eventually("cleat serves", lambda: "event=started" in log.read_text())
        lead = datetime.timedelta(seconds=5)
        begin = datetime.datetime.now(datetime.timezone.utc) + lead
        moment = begin.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        runs = [
            subprocess.Popen(
                inside(name, binary(), "load", "-q", "-r", 50, "-d", "2s", "--start-at", moment,
                       "--json", tmp_path / f"{number}.json", f"10.99.{number}.1:8443"),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for number, name in enumerate(clients, 1)
        ]
        for run in runs:
            said, _ = run.communicate(timeout=DEADLINE)
            assert run.returncode in (0, 4), said  # 4: a busy machine was the limit.
    finally:
        target.kill()
        target.wait(DEADLINE)
        upstream.close()
    merged = subprocess.run(
        [binary(), "merge", tmp_path / "1.json", tmp_path / "2.json", "--json",
         tmp_path / "both.json"], capture_output=True, text=True, timeout=DEADLINE)
    assert merged.returncode == 0, merged.stderr
    one, two, both = (
        json.loads((tmp_path / f"{name}.json").read_text()) for name in ("1", "2", "both")
    )
    # Begun at the moment that was given, both of them.
    assert one["started"] == two["started"] == both["started"] == moment
    assert both["failures"] == []
    assert both["attempts"] == both["ok"] == 200
    assert both["rate_asked"] == 100
    assert both["timeline"]["attempted"][:2] == [100, 100]
    for stage in ("tcp", "tls", "response"):
        parts = [each["latency"][stage] for each in (one, two)]
        assert both["latency"][stage]["count"] == sum(each["count"] for each in parts)
        assert both["latency"][stage]["max_ns"] == max(each["max_ns"] for each in parts)
