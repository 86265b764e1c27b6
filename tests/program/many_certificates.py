"""Thousands of certificates in a moment: one that openssl has made, with other names in it. Their
signatures are wrong, which only a client would see that verifies them."""

import base64
import subprocess
from pathlib import Path

from certificates import Certificate, CertificateMaker

NAME = "site-00000.example"


class ManyCertificates:
    """ManyCertificates writes a folder of PEM files, a hundred in each subfolder. A certificate has
    a name of its own, and any number of versions."""

    PER_FOLDER = 100

    def __init__(self, maker: CertificateMaker, folder: Path, count: int) -> None:
        self.folder, self.count = folder, count
        made: Certificate = maker.named("many", f"DNS:{NAME}")
        shown = ["openssl", "x509", "-in", str(made.cert), "-outform", "DER"]
        self.der = subprocess.run(shown, capture_output=True, check=True).stdout
        self.key = made.key.read_text()
        assert self.der.count(b"site-") == 1, "the name is in the certificate once"
        for number in range(0, count, self.PER_FOLDER):
            self.path(number).parent.mkdir(parents=True)
        self.write(range(count))

    def path(self, number: int) -> Path:
        return self.folder / f"{number // self.PER_FOLDER:03}" / f"{number:05}.pem"

    def name(self, number: int) -> str:
        return NAME.replace("00000", f"{number:05}")

    def pem(self, number: int, version: int) -> str:
        """The version is the last bytes of the signature."""
        der = self.der.replace(NAME.encode(), self.name(number).encode())
        der = der[:-4] + version.to_bytes(4, "big")
        text = base64.encodebytes(der).decode()
        return f"-----BEGIN CERTIFICATE-----\n{text}-----END CERTIFICATE-----\n{self.key}"

    def write(self, numbers: range, version: int = 0) -> None:
        """write replaces files as certbot does it: nobody sees half of one."""
        for number in numbers:
            path = self.path(number)
            new = path.with_name(f".{path.name}")
            new.write_text(self.pem(number, version))
            new.rename(path)
