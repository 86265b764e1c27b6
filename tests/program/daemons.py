"""cleat in the background."""

import os
import signal
from pathlib import Path

import logfmt
from deadlines import eventually
from program import run


class Daemon:
    """Daemon is a cleat in the background."""

    def __init__(self, pidfile, log, *arguments, **options):
        self.pidfile, self.log = pidfile, log
        flags = ["--daemon", "--pidfile", pidfile, "--log-filename", log]
        self.started = run(*flags, *arguments, **options)
        self.pid = int(pidfile.read_text())

    def lines(self, event, log=None):
        text = (log or self.log).read_text().splitlines()
        return [line for line in map(logfmt.parse, text) if line["event"] == event]

    @property
    def port(self):
        return int(self.lines("listening")[0]["address"].rsplit(":", 1)[1])

    def is_there(self):
        try:
            # Its parent may be gone, so a zombie counts as ended, too.
            return Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def end(self):
        if self.is_there():
            os.kill(self.pid, signal.SIGTERM)
        try:
            eventually("the daemon has ended", lambda: not self.is_there())
        except AssertionError:
            os.kill(self.pid, signal.SIGKILL)
            raise
