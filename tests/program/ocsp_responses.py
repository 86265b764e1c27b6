"""OCSP responses for tests: an authority that gives them, and a client that asks for them."""

import re
import subprocess
from pathlib import Path

from certificates import Certificate, CertificateMaker, openssl


class Authority:
    """Authority signs certificates, and OCSP responses for them."""

    def __init__(self, certs: CertificateMaker, folder: Path) -> None:
        self.root = certs.authority("ocsp-root")
        self.certs = certs
        self.folder = folder

    def site(self, name: str) -> Certificate:
        return self.certs.signed(f"ocsp-{name}", self.root, f"/CN={name}.example")

    def response(self, site: Certificate, name: str) -> Path:
        """A response that says that the certificate is good."""
        request, path = self.folder / f"{name}.req", self.folder / f"{name}.ocsp"
        index = self.folder / f"{name}.index"
        serial = openssl("x509", "-in", site.cert, "-noout", "-serial").split("=")[1].strip()
        index.write_text(f"V\t400101000000Z\t\t{serial}\tunknown\t/CN=site\n")
        openssl("ocsp", "-issuer", self.root.cert, "-cert", site.cert, "-reqout", request)
        signer = ["-rsigner", self.root.cert, "-rkey", self.root.key, "-CA", self.root.cert]
        files = ["-index", index, "-reqin", request, "-respout", path]
        openssl("ocsp", *files, *signer, "-ndays", "7")
        return path


def said(port: int, name: str, version: str, *flags: str) -> str:
    """What `openssl s_client` prints of a site, whose certificate it has got."""
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", version, *flags]
    command += ["-servername", f"{name}.example"]
    text = subprocess.run(command, input="", capture_output=True, text=True).stdout
    assert f"subject=CN = {name}.example" in text or f"subject=CN={name}.example" in text
    return text


def stapled(port: int, name: str, version: str = "-tls1_3") -> bool:
    """Whether a client that asks gets a response."""
    text = said(port, name, version, "-status")
    is_sent = "OCSP Response Status: successful" in text
    assert is_sent != ("OCSP response: no response sent" in text)
    return is_sent


def make_stale(response: Path) -> Path:
    """The time of nextUpdate, the last one in a response, becomes one of the past."""
    der = response.read_bytes()
    times = list(re.finditer(rb"\x18\x0f(\d{14}Z)", der))
    begin, end = times[-1].span(1)
    response.write_bytes(der[:begin] + b"20200101000000Z" + der[end:])
    return response
