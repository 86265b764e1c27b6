"""Certificates for the tests, made with the openssl program: made anew in every run, since what is
committed expires."""

import hashlib
import itertools
import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
RSA = ["-newkey", "rsa:2048"]
SERVER = ["-addext", "basicConstraints=critical,CA:FALSE"]
BOOKS = """[ca]
default_ca = books
[books]
database = {folder}/index
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
"""


@dataclass(frozen=True)
class Certificate:
    """Certificate is a certificate with its key: in one file, and in two."""

    pem: Path  # Both, as cleat and openssl take them.
    cert: Path
    key: Path
    fingerprint: str  # SHA-256 of the DER, in lower case.

    @property
    def issuer(self) -> str:
        """issuer is the issuer's name as RFC 2253 writes it."""
        text = openssl("x509", "-in", self.cert, "-noout", "-issuer", "-nameopt", "RFC2253")
        return text.strip().removeprefix("issuer=")

    @property
    def serial(self) -> str:
        """serial is the serial number in hexadecimal, in lower case."""
        text = openssl("x509", "-in", self.cert, "-noout", "-serial")
        return text.strip().removeprefix("serial=").lower()


class CertificateMaker:
    """CertificateMaker makes certificates in a folder. A name that is asked for again gives the
    certificate that was made for it before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: dict[str, Certificate] = {}
        self.asked: dict[str, tuple[list[str], list[str]]] = {}  # Of those that make has made.

    def self_signed(self, name: str, kind: list[str], names: str, *more: str) -> Certificate:
        """self_signed makes a certificate for names, as openssl's subjectAltName writes them."""
        subject = ["-x509", "-days", "30", "-subj", f"/CN={name}"]
        return self.make(name, kind, subject + ["-addext", f"subjectAltName={names}", *more])

    def authority(self, name: str) -> Certificate:
        """authority makes a certificate that may sign others."""
        more = ["-addext", "basicConstraints=critical,CA:TRUE"]
        more += ["-addext", "keyUsage=keyCertSign,cRLSign"]
        return self.make(name, EC, ["-x509", "-days", "30", "-subj", f"/CN={name}", *more])

    def signed(
        self, name: str, issuer: Certificate, subject: str, extensions: str = ""
    ) -> Certificate:
        """signed makes a client's certificate that an authority has signed. The extensions are
        lines of openssl's configuration."""
        if name in self.made:
            return self.made[name]
        key, cert, request = self.requested(name, subject)
        authority = ["-CA", issuer.cert, "-CAkey", issuer.key, "-CAcreateserial"]
        if extensions:
            file = self.folder / f"{name}.ext"
            file.write_text(extensions)
            authority += ["-extfile", file]
        openssl("x509", "-req", "-in", request, *authority, "-days", "30", "-out", cert)
        return self.keep(name, cert, key)

    def crl(self, name: str, issuer: Certificate, *revoked: Certificate, dates: str = "") -> Path:
        """crl makes a CRL of an authority, in PEM: of now and for a month, or between two dates
        with a blank between them."""
        books = self.folder / f"{name}.books"
        shutil.rmtree(books, ignore_errors=True)
        books.mkdir()
        (books / "index").touch()
        (books / "config").write_text(BOOKS.format(folder=books))
        how = ["-config", books / "config", "-cert", issuer.cert, "-keyfile", issuer.key]
        for each in revoked:
            openssl("ca", *how, "-revoke", each.cert)
        when = ["-crldays", "30"]
        if dates:
            last, upcoming = dates.split()
            when = ["-crl_lastupdate", last, "-crl_nextupdate", upcoming]
        openssl("ca", *how, "-gencrl", *when, "-out", books / "crl.pem")
        return books / "crl.pem"

    def expired(self, name: str, subject: str, issuer: Certificate | None = None) -> Certificate:
        """expired makes a certificate of the past, signed by an authority or by itself."""
        return self.dated(name, subject, "20200101000000Z", "20200102000000Z", issuer)

    def dated(
        self, name: str, subject: str, first: str, last: str, issuer: Certificate | None = None
    ) -> Certificate:
        """dated makes a certificate that is valid between two dates."""
        if name in self.made:
            return self.made[name]
        key, cert, request = self.requested(name, subject)
        # Of openssl's commands only `ca` signs for the past in every version, and it keeps books.
        books = self.folder / f"{name}.books"
        books.mkdir()
        (books / "index").touch()
        (books / "config").write_text(BOOKS.format(folder=books))
        signer = ["-selfsign", "-keyfile", key]
        if issuer:
            signer = ["-cert", issuer.cert, "-keyfile", issuer.key]
        dates = ["-startdate", first, "-enddate", last]
        how = ["-batch", "-notext", "-config", books / "config"]
        openssl("ca", *how, *signer, *dates, "-in", request, "-out", cert)
        return self.keep(name, cert, key)

    def requested(self, name: str, subject: str) -> tuple[Path, Path, Path]:
        """requested makes a key and asks for its certificate: key, certificate to be, request."""
        request = self.folder / f"{name}.csr"
        key = self.folder / f"{name}.key"
        openssl("req", *EC, "-nodes", "-subj", subject, "-keyout", key, "-out", request)
        return key, self.folder / f"{name}.crt", request

    def make(self, name: str, kind: list[str], subject: list[str]) -> Certificate:
        """make gives another certificate of the same name a number."""
        asked = (kind, subject)
        first = name
        for number in itertools.count(2):
            if self.asked.setdefault(name, asked) == asked:
                break
            name = f"{first}-{number}"
        if name in self.made:
            return self.made[name]
        key = self.folder / f"{name}.key"
        cert = self.folder / f"{name}.crt"
        openssl("req", *kind, "-nodes", *subject, "-keyout", key, "-out", cert)
        return self.keep(name, cert, key)

    def keep(self, name: str, cert: Path, key: Path) -> Certificate:
        pem = self.folder / f"{name}.pem"
        pem.write_text(key.read_text() + cert.read_text())
        fingerprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert(cert.read_text())).hexdigest()
        self.made[name] = Certificate(pem, cert, key, fingerprint)
        return self.made[name]

    # The ones that most tests use.

    @property
    def ecdsa(self) -> Certificate:
        return self.self_signed("ecdsa", EC, "DNS:localhost,IP:127.0.0.1,IP:::1", *SERVER)

    @property
    def rsa(self) -> Certificate:
        return self.self_signed("rsa", RSA, "DNS:localhost,IP:127.0.0.1,IP:::1", *SERVER)

    def named(self, name: str, names: str) -> Certificate:
        """named makes an ECDSA certificate for other names: DNS:example.org, for example."""
        return self.self_signed(name, EC, names, *SERVER)


def openssl(*arguments: object) -> str:
    """openssl runs the openssl program to a good end, and returns what it printed."""
    command = ["openssl", *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ran.returncode == 0, f"{command}: {ran.stderr}"
    return ran.stdout
