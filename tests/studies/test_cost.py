"""The study of what TLS costs is as good as its programs: the relay without TLS relays, and the
bytes on the wire obey what is known of them."""

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Iterator

import pytest

from deadlines import DEADLINE
from origins import Origin, Upstream, reset
from studies.cost import page

ROOT = Path(__file__).resolve().parents[2]

BIN = Path(os.environ.get("CLEAT_BIN", ROOT / "build" / "release" / "bin"))
MIB = 1 << 20


class Relay:
    """Relay is study-plain-relay in front of an origin that the test speaks for."""

    def __init__(self) -> None:
        self.origin = Origin(None)
        upstream = self.origin.address.replace("[", "").replace("]", "")
        self.process = subprocess.Popen(
            [BIN / "study-plain-relay", "--upstream", upstream], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def client(self, says: bytes) -> Upstream:
        """client is a connection that has said something: without, it would not be accepted yet."""
        made = Upstream(socket.create_connection(("127.0.0.1", self.port), DEADLINE))
        made.send(says)
        return made

    def end(self) -> None:
        self.process.terminate()
        code = self.process.wait(DEADLINE)
        self.origin.close()
        assert code == 0


@pytest.fixture
def relay() -> Iterator[Relay]:
    made = Relay()
    yield made
    made.end()


def pattern(size: int) -> bytes:
    return bytes(number * 7 % 251 for number in range(size))


def test_a_mebibyte_each_way_and_each_end_by_itself(relay: Relay) -> None:
    up, down = pattern(MIB), pattern(MIB)[::-1]
    client = relay.client(up[:1000])
    upstream = relay.origin.accept()
    client.send(up[1000:])
    client.end()
    assert upstream.receive_to_end() == up  # The client's end is passed on, and it still listens.
    upstream.send(down)
    upstream.close()
    assert client.receive_to_end() == down
    client.close()


def test_an_upstream_ends_and_is_still_sent_to(relay: Relay) -> None:
    client = relay.client(b"first")
    upstream = relay.origin.accept()
    assert upstream.receive_exactly(5) == b"first"
    upstream.send(b"goodbye")
    upstream.end()
    assert client.receive_to_end() == b"goodbye"
    client.send(b"second")
    client.close()
    assert upstream.receive_to_end() == b"second"


def test_a_client_that_does_not_read_stops_its_upstream_and_loses_nothing(relay: Relay) -> None:
    client = relay.client(b"x")
    upstream = relay.origin.accept()
    upstream.receive_exactly(1)
    upstream.socket.settimeout(2)  # Nothing is taken any more.
    sent = 0
    with pytest.raises(TimeoutError):
        while sent < 256 * MIB:
            sent += upstream.socket.send(bytes(MIB))
    upstream.end()
    assert len(client.receive_to_end()) == sent > MIB
    client.close()


def test_a_clients_reset_reaches_the_upstream(relay: Relay) -> None:
    client = relay.client(b"in the middle of")
    upstream = relay.origin.accept()
    upstream.receive_exactly(16)
    reset(client.socket)
    with pytest.raises(ConnectionResetError):
        assert upstream.socket.recv(1)


def test_an_upstreams_reset_reaches_the_client(relay: Relay) -> None:
    client = relay.client(b"question")
    upstream = relay.origin.accept()
    upstream.receive_exactly(8)
    upstream.send(b"half an ans")
    assert client.receive_exactly(11) == b"half an ans"
    upstream.reset()
    with pytest.raises(ConnectionResetError):
        assert client.socket.recv(1)


def test_a_client_whose_upstream_is_not_there_is_reset(relay: Relay) -> None:
    relay.origin.close()
    client = relay.client(b"anyone?")
    with pytest.raises(ConnectionResetError):
        assert client.socket.recv(1)


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("certs")
    subprocess.run([ROOT / "scripts" / "certs", folder], check=True)
    pems = [f"{name}={folder / name}.pem" for name in ("ecdsa", "rsa")]
    ran = subprocess.run(
        [BIN / "study-wire", *pems], check=True, stdout=subprocess.PIPE, timeout=DEADLINE
    )
    return json.loads(ran.stdout)


def overhead_of(record: dict) -> int:
    """overhead_of a record: its header, the tag, and in TLS 1.3 the type inside (RFC 8446, section
    5.2), in TLS 1.2 the part of AES-GCM's nonce that travels (RFC 5288, section 3)."""
    header, tag = 5, 16
    if record["tls"] == "1.3":
        return header + tag + 1
    return header + tag + (8 if "GCM" in record["cipher"] else 0)


def test_a_message_is_so_many_records_and_each_costs_what_the_rfcs_say(wire: dict) -> None:
    seen = set()
    for each in wire["records"]:
        records = -(-each["message"] // 16384)
        assert each["wire"] == each["message"] + records * overhead_of(each), each
        seen.add(overhead_of(each))
    assert seen == {21, 22, 29}
    assert [each["wire"] for each in wire["close_notify"]] == [
        2 + overhead_of(each) for each in wire["close_notify"]
    ]


def shaken(wire: dict, tls: str, group: str, resumed: bool, certificate: str = "ecdsa") -> dict:
    kind = {"tls": tls, "group": group, "resumed": resumed, "certificate": certificate}
    found = page.handshake_of(wire, **kind)
    if found is None:
        pytest.skip(f"the library has no {group}")
    return found


@pytest.mark.parametrize("tls", ["1.2", "1.3"])
def test_no_certificate_travels_where_a_session_is_resumed(wire: dict, tls: str) -> None:
    ecdsa, rsa = (shaken(wire, tls, "X25519", False, name) for name in ("ecdsa", "rsa"))
    assert ecdsa["to_client"]["max"] + 300 < rsa["to_client"]["min"]
    again, of_rsa = (shaken(wire, tls, "X25519", True, name) for name in ("ecdsa", "rsa"))
    assert again["to_client"] == of_rsa["to_client"]
    assert again["to_client"]["max"] < 300 < ecdsa["to_client"]["min"]
    assert ecdsa["tickets"]["min"] > 100


def test_mlkem768_adds_its_key_and_its_ciphertext(wire: dict) -> None:
    key, ciphertext = 1184, 1088  # FIPS 203, table 3.
    # A ClientHello that resumes is padded by some libraries (RFC 7685) where it has no such key.
    with_it, without = (shaken(wire, "1.3", g, False) for g in ("X25519MLKEM768", "X25519"))
    assert key <= with_it["to_server"]["median"] - without["to_server"]["median"] < key + 100
    # A handshake that resumes has no signature, whose size varies.
    with_it, without = (shaken(wire, "1.3", g, True) for g in ("X25519MLKEM768", "X25519"))
    assert with_it["to_client"]["median"] - without["to_client"]["median"] == ciphertext


def test_what_a_connection_costs_once_is_shared_by_its_requests() -> None:
    assert page.on_a_connection(100.0, 10.0, 1) == 100.0
    assert page.on_a_connection(100.0, 10.0, 10) == pytest.approx(19.0)
    assert page.on_a_connection(100.0, 10.0, 1000) == pytest.approx(10.09)


def test_bytes_of_a_connection_add_up(wire: dict) -> None:
    kind = {"tls": "1.3", "group": "X25519", "certificate": "ecdsa", "resumed": False}
    found = shaken(wire, "1.3", "X25519", False)
    once = sum(found[key]["median"] for key in ("to_server", "to_client", "tickets")) + 2 * 24
    added = once + 10 * (22 + 2 * 22)  # A request is one record, an answer of 20,000 bytes two.
    said = 10 * (page.REQUEST_BYTES + 20_000)
    assert page.network(wire, kind, 10, 20_000) == pytest.approx(added / said)
