"""States of ticket-ratchet, computed with Python's hmac, independently of cleat, and cleats that
have them at a time of their own."""

import hashlib
import hmac
import os
import pwd
import signal
import subprocess
import time

import pytest

from deadlines import DEADLINE, eventually
from program import open_folder, run
from wrong_clock import Clock

EPOCH_S = 600
LIFETIME_S = 1200
EARLIER = 3  # Two epochs of the lifetime, the second one partly, and one for clocks that differ.
TIMES = ("--ticket-epoch", EPOCH_S, "--ticket-lifetime", LIFETIME_S, "--ticket-ratchet")
SECRET = "0123456789abcdef" * 4


def hkdf(key, info, size):
    """hkdf is that of RFC 5869 with SHA-256 and no salt."""
    prk = hmac.new(bytes(32), key, hashlib.sha256).digest()
    block = made = b""
    for number in range(1, 256):
        if len(made) >= size:
            break
        block = hmac.new(prk, block + info + bytes([number]), hashlib.sha256).digest()
        made += block
    return made[:size]


class State:
    def __init__(self, epoch, chain):
        self.epoch, self.chain = epoch, chain

    @staticmethod
    def of(file):
        word, seconds, epoch, chain = file.read_text().splitlines()[0].split()
        assert (word, int(seconds)) == ("ratchet", EPOCH_S)
        return State(int(epoch), bytes.fromhex(chain))

    def at(self, epoch):
        chain = self.chain
        for _ in range(epoch - self.epoch):
            chain = hkdf(chain, b"cleat ticket ratchet 1: next epoch", 32)
        return State(epoch, chain)

    @property
    def ticket_keys(self):
        """ticket_keys are those for AES and HMAC, behind the name, which is public."""
        key = hkdf(self.chain, b"cleat ticket ratchet 1: ticket key", 80)
        return key[16:48], key[48:80]

    def __eq__(self, other):
        return (self.epoch, self.chain) == (other.epoch, other.chain)


class Time(Clock):
    """Time is in the first seconds of an epoch when it begins, and moves on by whole ones: no test
    meets the end of an epoch by chance."""

    def __init__(self, folder):
        super().__init__(folder)
        now = int(time.time())
        self.ahead = EPOCH_S - now % EPOCH_S
        self.epoch = (now + self.ahead) // EPOCH_S
        self.jump(self.ahead)

    def pass_epochs(self, count, *servers):
        """pass_epochs lets epochs pass; the signal makes the main threads look at the clock."""
        self.ahead += count * EPOCH_S
        self.epoch += count
        self.jump(self.ahead)
        for each in servers:
            each.signal(signal.SIGUSR1)

    @property
    def oldest(self):
        return self.epoch - EARLIER


def preload(folder, name, text):
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    command = ["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"]
    subprocess.run(command, check=True, timeout=DEADLINE)
    return library


@pytest.fixture
def now(tmp_path):
    return Time(tmp_path)


@pytest.fixture
def state_file(tmp_path):
    """A file with a new state, in a folder that is as an administrator makes it."""
    folder = tmp_path / "state"
    folder.mkdir()
    file = folder / "tickets"
    made = run("ticket-secret", "new", f"--ratchet={EPOCH_S}", file)
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    return file


@pytest.fixture
def nobodys_state():
    """A file in a folder, both of the user nobody."""
    nobody = pwd.getpwnam("nobody")
    with open_folder() as above:
        folder = above / "state"
        folder.mkdir()
        file = folder / "tickets"
        assert run("ticket-secret", "new", f"--ratchet={EPOCH_S}", file).returncode == 0
        for each in (folder, file):
            os.chown(each, nobody.pw_uid, nobody.pw_gid)
        yield file


@pytest.fixture
def serve(cleat, now):
    def start(file, *flags, **options):
        options = {"env": now.environment} | options
        return cleat(*TIMES, "--ticket-secret", file, *flags, **options)

    return start


def moves_to(file, epoch):
    eventually(f"the file is at epoch {epoch}", lambda: State.of(file).epoch == epoch)
    return State.of(file)
