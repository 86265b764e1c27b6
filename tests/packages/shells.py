"""A shell at a terminal, which completes words when Tab is pressed."""

import os
import pty
import select
import shutil
import signal
import time
from pathlib import Path

ANSWER_S = 60


class Shell:
    """Shell is an interactive bash or zsh that has a program's completion. The program itself is a
    function that prints its arguments."""

    def __init__(self, name: str, program: str, script: str, folder: Path) -> None:
        self._file = folder / f"_{program}"
        self._file.write_text(script)
        flags = ["--norc", "--noprofile"] if name == "bash" else ["-f"]
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            settings = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb",
                        "LANG": "C.UTF-8"}  # fmt: skip
            os.execve(shutil.which(name) or name, [name, *flags, "-i"], settings)
        self._said = b""
        self._marks = 0
        if name == "bash":
            self._run(f"source {self._file}")
        else:
            self._run(f"fpath=({folder} $fpath); autoload -Uz compinit")
            self._run("compinit -u -D; setopt no_always_last_prompt; unsetopt auto_list auto_menu")
        self._run(f"{program}() {{ printf '<%s>' \"$@\"; echo; }}")

    def _until(self, text: bytes) -> bytes:
        until = time.monotonic() + ANSWER_S
        while text not in self._said:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._terminal], [], [], left)[0]:
                raise AssertionError(f"the shell did not say {text!r}: {self._said!r}")
            self._said += os.read(self._terminal, 65536)
        before, _, self._said = self._said.partition(text)
        return before

    def _run(self, line: str) -> str:
        """_run gives what is said while the line runs. The mark is not how it is typed."""
        self._marks += 1
        os.write(self._terminal, f"{line}; echo end-'of'-{self._marks}\r".encode())
        return self._until(f"end-of-{self._marks}\r\n".encode()).decode()

    def arguments(self, line: str) -> list[str]:
        """arguments of the program when the line was typed and run; in it Tab completes."""
        said = self._run(line).splitlines()[-1]
        assert said.startswith("<") and said.endswith(">"), said
        return said[1:-1].split("><")

    def close(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._terminal)
