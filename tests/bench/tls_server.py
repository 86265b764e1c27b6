"""openssl s_server as a target: it answers HTTP by itself."""

import re
import subprocess

from certificates import Certificate
from deadlines import DEADLINE


class OpensslServer:
    """OpensslServer serves pages on a free port while its `with` lasts."""

    def __init__(self, certificate: Certificate, *flags: str) -> None:
        self.process = subprocess.Popen(
            ["openssl", "s_server", "-accept", "127.0.0.1:0", "-naccept", "100000", "-www",
             "-cert", str(certificate.cert), "-key", str(certificate.key), *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.address = ""
        assert self.process.stdout
        for line in self.process.stdout:
            if found := re.match(r"ACCEPT (127\.0\.0\.1:\d+)", line):
                self.address = found.group(1)
                break
        assert self.address, "openssl s_server does not start"

    def __enter__(self) -> "OpensslServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(DEADLINE)
