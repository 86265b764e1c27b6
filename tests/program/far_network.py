"""A network that is far away: packets to it and from it take a time. It is made of two networks,
each with a TUN device, and a thread that carries packets from one to the other when they are due.
Only root can make them."""

import contextlib
import ctypes
import fcntl
import os
import select
import struct
import subprocess
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, Iterator

import pytest

from deadlines import DEADLINE
from own_network import CLONE_NEWNET, LIBC, own_network

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
HERE, THERE = "10.77.0.1", "10.77.0.2"


def tun(address: str) -> int:
    """tun is the device of this thread's network, with this address."""
    if not Path("/dev/net/tun").exists():
        pytest.skip("there is no /dev/net/tun")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"far0", IFF_TUN | IFF_NO_PI))
    for command in (f"address add {address}/24 dev far0", "link set far0 up"):
        subprocess.run(["ip", *command.split()], check=True, timeout=DEADLINE)
    return device


def carry(devices: list[int], delay_s: float, over: threading.Event) -> None:
    """carry carries packets between the devices until it is over."""
    waiting: deque[tuple[float, int, bytes]] = deque()
    while not over.is_set():
        left = waiting[0][0] - time.monotonic() if waiting else 0.1
        for device in select.select(devices, [], [], max(left, 0))[0]:
            packet = os.read(device, 1 << 16)
            other = devices[1 - devices.index(device)]
            waiting.append((time.monotonic() + delay_s, other, packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, device, packet = waiting.popleft()
            os.write(device, packet)


@contextlib.contextmanager
def far_network(round_trip_s: float) -> Iterator[Callable]:
    """far_network puts this thread, and what it starts, into a network of its own. It gives a
    function that makes something in the other one, such as an origin that listens at THERE: a
    packet to it and its answer take this time. All is made there by one thread."""
    with own_network(), ThreadPoolExecutor(1) as other, ThreadPoolExecutor(1) as carrier:
        here = tun(HERE)

        def make_there(make: Callable):
            return other.submit(make).result(DEADLINE)

        def move_there() -> int:
            if LIBC.unshare(CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "unshare")
            return tun(THERE)

        there = make_there(move_there)
        over = threading.Event()
        carried = carrier.submit(carry, [here, there], round_trip_s / 2, over)
        try:
            yield make_there
        finally:
            over.set()
            carried.result(DEADLINE)
            os.close(here)
            os.close(there)
