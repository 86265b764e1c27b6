"""A server that is far away: two networks of the caller's own, each with a TUN device, and a thread
that carries packets from one to the other when they are due. Only root can make them."""

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
from typing import Any, Callable, Iterator

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
HERE, THERE = "10.77.0.1", "10.77.0.2"
PATIENCE_S = 30


def tun(address: str) -> int:
    """tun is a TUN device of this thread's network, with this address."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"far0", IFF_TUN | IFF_NO_PI))
    for command in ("link set lo up", f"address add {address}/24 dev far0", "link set far0 up"):
        subprocess.run(["ip", *command.split()], check=True, timeout=PATIENCE_S)
    return device


def move_to_own_network() -> None:
    """move_to_own_network moves this thread into an empty network. The threads and programs that
    it starts are in it, too. Raises OSError for a user that may not."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "a network of its own wants root: unshare")


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
def far_network(round_trip_s: float) -> Iterator[Callable[[Callable[[], Any]], Any]]:
    """far_network joins this thread's network, which is its own (move_to_own_network), to another
    one. It gives a function that calls a function of the caller's there, where programs have the
    address THERE: always on the same thread. A packet and its answer take this time."""
    near = tun(HERE)
    with ThreadPoolExecutor(1) as other, ThreadPoolExecutor(1) as carrier:

        def call_there(made: Callable[[], Any]) -> Any:
            return other.submit(made).result(PATIENCE_S)

        def move_there() -> int:
            move_to_own_network()
            return tun(THERE)

        far = call_there(move_there)
        over = threading.Event()
        carried = carrier.submit(carry, [near, far], round_trip_s / 2, over)
        try:
            yield call_there
        finally:
            over.set()
            carried.result(PATIENCE_S)
            os.close(near)
            os.close(far)
