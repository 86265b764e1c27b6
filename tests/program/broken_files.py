"""Files that no certificate can be read from: how to make each, and a part of what cleat says."""

import os
from pathlib import Path
from typing import Callable

BROKEN_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda path: path.write_text(""), "there is no certificate in it"),
    "text": (lambda path: path.write_text("no PEM\n"), "there is no certificate in it"),
    "cut": (lambda path: path.write_text("-----BEGIN CERTIFICATE-----\n"), "cut short"),
    "large": (lambda path: path.write_bytes(bytes(50 << 20)), "is larger than 1 MiB"),
    "dead link": (lambda path: path.symlink_to("nowhere"), "No such file"),
    "FIFO": (lambda path: os.mkfifo(path), "is a FIFO"),
}
