"""A fleet: three machines, each a network of its own and a cleat with two workers, behind a
balancer that sends each connection to one of them at random. Sessions resume on all of them, while
they are restarted, while the secret is rotated, where the clock of one is wrong, and on one that is
added."""

import os
import random
import socket
import subprocess
import threading

import pytest

from deadlines import DEADLINE, eventually
from origins import echo
from own_network import own_network
from reloads import reload, replace
from sessions import visit
from tls_client import TLS_1_2, TLS_1_3, only
from wrong_clock import clock_ahead

OLD, NEW = "0123456789abcdef" * 4, "fedcba9876543210" * 4
EPOCH_S = 3 * 3600
CLIENTS = 8
VISITS = 60  # Of each state that the fleet is in.
RESUMED_AT_LEAST = 0.999

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("CLEAT_SANITIZE")), reason="a sanitizer cannot be loaded after the clock"
)

def ip(words, network=()):
    subprocess.run([*network, "ip", *words.split()], check=True, timeout=DEADLINE)


class Machine:
    """A network with an address, a file of secrets and a cleat."""

    def __init__(self, number, start, folder, upstream):
        self.start, self.upstream = start, upstream
        self.address = f"10.88.{number}.2"
        self.file = folder / f"tickets-{number}"
        self.put(OLD)
        self.network = subprocess.Popen(["unshare", "--net", "sleep", "1000"])
        eventually("it has a network of its own", self.has_network)
        pid = self.network.pid
        self.inside = ("nsenter", "-t", str(pid), "-n")
        ip(f"link add m{number} type veth peer name eth0 netns {pid}")
        ip(f"address add 10.88.{number}.1/24 dev m{number}")
        ip(f"link set dev m{number} up")
        ip(f"address add {self.address}/24 dev eth0", self.inside)
        ip("link set dev eth0 up", self.inside)
        self.server = None

    def has_network(self):
        own = os.readlink("/proc/thread-self/ns/net")
        return os.readlink(f"/proc/{self.network.pid}/ns/net") != own

    def put(self, *secrets):
        replace(self.file, "".join(f"{each}\n" for each in secrets), 0o600)

    def restart(self, *wrapper):
        if self.server:
            self.end_server()
        self.server = self.start(
            "--workers", 2, "--ticket-secret", self.file, "--sandbox", "off",
            "--ticket-epoch", EPOCH_S, "--ticket-lifetime", 4 * EPOCH_S,
            backend=self.upstream, frontend=f"[{self.address}]:8443",
            wrapper=(*self.inside, *wrapper),
        )  # fmt: skip

    def end_server(self):
        self.server.end()
        assert not self.server.log(event="handshake-failed")

    def end(self):
        if self.server:
            self.server.end()
        self.network.kill()
        self.network.wait()


class Balancer:
    """It gives each connection to one of the machines, at random, and carries bytes."""

    def __init__(self):
        self.machines = []
        self.random = random.Random(19)
        self.open = {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        # Of this thread's network, as the threads that it starts.
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            machine = self.random.choice(self.machines)
            self.open[machine] = self.open.get(machine, 0) + 1
            threading.Thread(target=self.relay, args=(client, machine), daemon=True).start()

    def relay(self, client, machine):
        with client, socket.create_connection((machine.address, 8443), DEADLINE) as server:
            back = threading.Thread(target=self.carry, args=(server, client), daemon=True)
            back.start()
            self.carry(client, server)
            back.join(DEADLINE)
        self.open[machine] -= 1

    @staticmethod
    def carry(source, sink):
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # The other end has gone.
            sink.close()

    def take_out(self, machine):
        self.machines.remove(machine)
        eventually("it has no connections", lambda: not self.open.get(machine))


class Load:
    """Clients that come back again and again, one after the other, each with its newest session."""

    def __init__(self, port):
        self.port = port
        self.tls = [only(version) for version in (TLS_1_2, TLS_1_3)] * (CLIENTS // 2)
        self.sessions = [visit(self.port, tls)[1] for tls in self.tls]
        self.offered = self.resumed = 0
        self.failure = None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while not self.over.is_set():
                for number, tls in enumerate(self.tls):
                    session = self.sessions[number]
                    resumed, self.sessions[number] = visit(self.port, tls, session)
                    self.resumed += resumed
                    self.offered += 1
        except BaseException as failure:
            self.failure = failure

    def goes_on(self):
        """goes_on waits for some visits from now on."""
        until = self.offered + VISITS
        eventually("clients have come back", lambda: self.failure or self.offered >= until)
        if self.failure:
            raise self.failure


@pytest.fixture
def machine(cleat, origin, tmp_path):
    upstream = origin(echo, path=tmp_path / "upstream").address
    made = []

    def make():
        made.append(Machine(len(made) + 1, cleat, tmp_path, upstream))
        return made[-1]

    with own_network():
        yield make
        for each in made:
            each.end()


def test_sessions_resume_on_a_fleet_whatever_happens_to_it(machine, tmp_path):
    fleet = [machine() for _ in range(3)]
    for each in fleet:
        each.restart()
    balancer = Balancer()
    balancer.machines = list(fleet)
    load = Load(balancer.port)
    load.goes_on()

    for each in fleet:  # A rolling restart.
        balancer.take_out(each)
        each.restart()
        balancer.machines.append(each)
        load.goes_on()

    for secrets in [(OLD, NEW), (NEW, OLD), (NEW,)]:  # As docs/guides/tickets.md has it.
        for each in fleet:
            each.put(*secrets)
            reload(each.server)
        if secrets == (NEW, OLD):  # In place of ticket-lifetime: no client has an old ticket then.
            renewed = load.offered + 4 * CLIENTS
            eventually("all tickets are new", lambda: load.failure or load.offered >= renewed)
        load.goes_on()

    balancer.take_out(fleet[2])  # Its clock is an epoch ahead.
    fleet[2].restart(*clock_ahead(tmp_path, EPOCH_S))
    balancer.machines.append(fleet[2])
    load.goes_on()

    added = machine()
    added.put(NEW)
    added.restart()
    balancer.machines.append(added)
    load.goes_on()

    load.over.set()
    load.thread.join(DEADLINE)
    assert not load.failure
    for each in [*fleet, added]:
        each.end_server()
    assert load.resumed >= RESUMED_AT_LEAST * load.offered, f"{load.resumed} of {load.offered}"
