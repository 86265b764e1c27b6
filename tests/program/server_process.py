"""Servers that are processes of their own, so that a test can kill or freeze them. Each connection
sends a line: "PING" is answered by "PONG" and a name by the server's own."""

import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import Iterator

from ports import free_port

PROGRAM = """
import asyncio, sys

async def serve(reader, writer):
    try:
        asked = await reader.readline()
        writer.write(b"PONG\\n" if asked == b"PING\\n" else sys.argv[2].encode() + b"\\n")
        await writer.drain()
        await reader.read()
        writer.close()
    except OSError:
        pass

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=1000)
    print("serving", flush=True)
    await server.serve_forever()

asyncio.run(main())
"""

# For check-send and check-expect.
CHECK = ["check = tcp", "check-interval = 1", 'check-send = "PING\\n"', 'check-expect = "PONG"']


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


class ServerProcess:
    """ServerProcess listens at the same port each time that it starts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.port = free_port()
        self.address = f"[127.0.0.1]:{self.port}"
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(self.port), self.name],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout.readline() == "serving\n"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@contextmanager
def servers(*names: str) -> Iterator[list[ServerProcess]]:
    """servers starts one of each name, and ends those that are left."""
    made = []
    try:
        for name in names:
            made.append(ServerProcess(name))
        yield made
    finally:
        for each in made:
            if each.process.poll() is None:
                each.kill()
