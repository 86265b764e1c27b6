"""capsrv: a server of known capacity. So many slots answer at a time, each for so long: what a load
of any rate gets from it is known before, and cleat-bench has to say it.

    python3 tests/bench/capsrv.py --slots 5 --hold 0.05

serves HTTP on a free port of this machine, for a terminator in front of it.
"""

import argparse
import threading
import time
from dataclasses import dataclass

from http_handlers import head_of_request
from origins import Origin, Upstream


@dataclass
class Capacity:
    """Capacity answers `slots` requests at a time, each in `hold` seconds. It is an upstream's
    handler."""

    slots: int = 5
    hold: float = 0.05

    def __post_init__(self) -> None:
        self.free = threading.Semaphore(self.slots)

    @property
    def rate(self) -> float:
        """rate is what it can do in a second."""
        return self.slots / self.hold

    def __call__(self, upstream: Upstream) -> None:
        while head_of_request(upstream):
            with self.free:
                time.sleep(self.hold)  # Its capacity is what is to be found.
            upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")


@dataclass
class Unreliable(Capacity):
    """Unreliable lets every n-th request wait for ever; the others are answered."""

    every: int = 7

    def __post_init__(self) -> None:
        super().__post_init__()
        self.count = 0
        self.turn = threading.Lock()

    def __call__(self, upstream: Upstream) -> None:
        while head_of_request(upstream):
            with self.turn:
                self.count += 1
                mute = self.count % self.every == 0
            if mute:
                upstream.receive_to_end()
                return
            time.sleep(self.hold)  # It is what a response takes.
            upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--slots", type=int, default=5)
    parser.add_argument("--hold", type=float, default=0.05, help="seconds of an answer")
    words = parser.parse_args()
    served = Capacity(words.slots, words.hold)
    print(f"{served.rate:g}/s at {Origin(served).address}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
