"""perf/stream_cost.py: every server echoes to its client, which finds a wrong answer, and a ratio
is of one round."""

import os
import socket
import ssl
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Iterator

import pytest

import stream_cost
from cleat_perf import environment
from cleat_perf.serve import Unable

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("CLEAT_BIN", ROOT / "build/release/bin"))
SERVERS = ("asio", "cleat", "server")


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment.certificates(tmp_path_factory.mktemp("pem"))["ecdsa"]


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def an_arm(
    name: str, pem: Path, folder: Path, held: ExitStack, *, server: tuple[str, ...] = (),
    client: tuple[str, ...] = (),
) -> stream_cost.Arm:  # fmt: skip
    group = stream_cost.Group(0, (), server, client)
    return stream_cost.Arm(
        BIN / f"perf-echo-{name}", BIN / "perf-echo-client", pem, group, folder, held
    )


@pytest.mark.parametrize("kind", [(), ("--websocket",)])
@pytest.mark.parametrize("name", SERVERS)
def test_a_server_echoes_short_and_long_messages(
    name: str, kind: tuple[str, ...], pem: Path, tmp_path: Path, held: ExitStack
) -> None:
    arm = an_arm(name, pem, tmp_path, held, server=kind, client=kind)
    assert arm.ask("open 5")["open"] == 5
    for size, at_once in ((1, 5), (1024, 2), (1_000_000, 5)):
        assert arm.us_each(f"echo {size} {{}} {at_once}", 20) > 0


@pytest.mark.parametrize("name", SERVERS)
def test_handshakes_resume_only_with_tickets(
    name: str, pem: Path, tmp_path: Path, held: ExitStack
) -> None:
    for tickets, resumed in (((), 0), (("--tickets",), 6)):
        arm = an_arm(name, pem, tmp_path, held, server=tickets, client=("--resume",))
        arm.ask("handshakes 2 1")
        found = arm.ask("handshakes 6 2")
        assert (found["closed"], found["messages"], found["resumed"]) == (6, 6, resumed)
        assert found["open"] == 0


def test_a_client_without_its_server_is_unable(pem: Path, tmp_path: Path, held: ExitStack) -> None:
    arm = an_arm("cleat", pem, tmp_path, held)
    arm.ask("open 2")
    arm.server.stop()
    with pytest.raises(Unable, match="the server has closed a connection|send"):
        arm.ask("echo 64 2 2")
    with pytest.raises(Unable):
        arm.ask("open 2")


def test_an_answer_that_is_not_the_message_is_a_failure(
    pem: Path, tmp_path: Path, held: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = held.enter_context(socket.create_server(("127.0.0.1", 0)))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)

    def answer_in_capitals() -> None:
        with context.wrap_socket(listener.accept()[0], server_side=True) as client:
            client.sendall(client.recv(1 << 16).upper())
            client.recv(1)

    answering = threading.Thread(target=answer_in_capitals, daemon=True)
    answering.start()
    port = listener.getsockname()[1]
    monkeypatch.setattr(stream_cost.Process, "ready_port", lambda _: port)
    arm = an_arm("cleat", pem, tmp_path, held)
    arm.ask("open 1")
    with pytest.raises(Unable, match="an answer is not the message"):
        arm.ask("echo 64 1 1")


def test_a_ratio_is_of_one_round_and_to_the_first_server() -> None:
    work = "64 B, 1 connection"

    def a_round(base: float, other: float) -> list[dict]:
        return [
            {"server": "asio", "work": work, "us": base},
            {"server": "cleat", "work": work, "us": other},
            {"server": "asio", "work": stream_cost.IDLE_MEMORY, "bytes": 40_000.0},
            {"server": "cleat", "work": stream_cost.IDLE_MEMORY, "bytes": 5_000.0},
        ]

    shown = stream_cost.rows([*a_round(10.0, 5.0), *a_round(40.0, 40.0), *a_round(20.0, 14.0)])
    assert shown == [
        [work, "20.0 µs", "0.70 (0.50..1.00)", "0.7"],
        [stream_cost.IDLE_MEMORY, "40.00 kB", "0.12 (0.12..0.12)", ""],
    ]
    assert len(stream_cost.heads(["asio", "cleat"])) == len(shown[0])


def test_a_group_takes_turns_and_warms_up(pem: Path, tmp_path: Path, held: ExitStack) -> None:
    works = stream_cost.echoes("", (64, 1024), 3)
    group = stream_cost.Group(3, works)
    arms = {}
    for name in ("asio", "cleat"):
        (tmp_path / name).mkdir()
        arms[name] = an_arm(name, pem, tmp_path / name, held)
    found = [(each["work"], each["server"]) for each in stream_cost.in_turn(arms, group, 0.001)]
    assert found == [
        ("64 B, 3 connections", "asio"), ("64 B, 3 connections", "cleat"),
        ("1 KiB, 3 connections", "asio"), ("1 KiB, 3 connections", "cleat"),
    ]  # fmt: skip
