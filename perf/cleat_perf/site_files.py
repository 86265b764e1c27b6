"""A configuration of cleat and its certificate, which change, and are broken, for reloads."""

import os
from pathlib import Path


class SiteFiles:
    """SiteFiles are in a folder. `good` are two certificates with their keys, in PEM, which take
    turns; the configuration's text names the file `pem`."""

    def __init__(self, folder: Path, good: list[str]) -> None:
        self.config, self.pem = folder / "cleat.conf", folder / "site.pem"
        self.good, self.text = good, ""
        self.pem.write_text(good[0])

    def configure(self, text: str) -> None:
        self.text = text
        self.config.write_text(text)

    def mend(self, number: int) -> None:
        """mend makes the files sound again, with the other certificate in each second turn."""
        if self.pem.is_dir():
            self.pem.rmdir()
        elif self.pem.exists() and not self.pem.is_file():
            self.pem.unlink()
        new = self.pem.with_suffix(".new")
        new.write_text(self.good[number % 2])
        new.rename(self.pem)
        self.config.write_text(self.text)

    def breakages(self, used_port: int) -> list:
        """breakages are ways to break a reload: each changes a file. Another server listens at
        `used_port`."""
        first, second = self.good
        key = second[second.index("-----BEGIN PRIVATE"):]
        return [
            lambda: self.pem.write_text(""),
            lambda: self.pem.write_text(first[: len(first) // 2]),
            lambda: self.pem.write_text(first[: first.index("-----BEGIN PRIVATE")] + key),
            lambda: self.pem.unlink(),
            lambda: (self.pem.unlink(), self.pem.mkdir()),
            lambda: (self.pem.unlink(), os.mkfifo(self.pem)),
            lambda: self.config.write_text(self.text + "no such line\n"),
            lambda: self.config.write_text(self.text + 'ecdh-curve = "none-such"\n'),
            lambda: self.config.write_text(self.text + "daemon = on\n"),
            lambda: self.config.write_text(
                self.text + f'frontend = "[127.0.0.1]:{used_port}"\n'
            ),
        ]
