#!/usr/bin/env python3
"""The cost of many certificates: the start, `cleat -t`, memory, a name's first handshake, a renewed
certificate, and a second start.

    scripts/build release cleat
    perf/certificates.py --counts 1000,20000,100000

Makes ECDSA certificates of two names each, a hundred in a folder, by Python's `cryptography`
(Debian: python3-cryptography). In each round cleat starts with two workers on loopback, with
`pem-dir-recursive`. "First handshake" is the time from the start of the process until a client has
shaken hands with a name that nobody has asked for; "CPU" is what the process has used by then.
Files are in the page cache. Cold and warm are medians of a client's time for TCP and TLS: with 100
names that are asked for the first time, and with the same names again. "Renewed" is the CPU that
cleat has used for one certificate that was replaced, with reload-on-change: the mean of several;
"served" is the median of the times from the new file's name until a client has been shown it;
"ten" is the CPU for ten at once. "Second start" is the first handshake of a start with the file of
certificate-index, which the first start has written.
"""

import argparse
import datetime
import os
import random
import resource
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cleat_perf import results
from cleat_perf.environment import cores, describe
from cleat_perf.ports import free_port
from cleat_perf.processes import Process
from cleat_perf.results import TREE
from cleat_perf.table import table

PER_FOLDER = 100
ASKED = 100  # Names that are asked for cold, and again warm.
RENEWED = 20  # Certificates that are replaced, one after the other.
STAMPS_COUNT_AFTER_S = 3  # A file that has changed later than this is read again.
READY_S = 120


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--cleat", type=Path, default=TREE / "build/release/bin/cleat")
    parse.add_argument("--counts", default="1000,20000,100000", help="certificates, by comma")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--folder", type=Path, help="made certificates stay here (default: none)")
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


class Issuer:
    """Makes certificates of two names each."""

    def __init__(self) -> None:
        try:
            from cryptography import x509
            from cryptography.hazmat.primitives.asymmetric import ec
        except ImportError:
            sys.exit("Python's cryptography is missing: apt install python3-cryptography")
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "many certificates")])
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.now = datetime.datetime.now(datetime.timezone.utc)

    def pem(self, number: int) -> bytes:
        """A new certificate with its key."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.DNSName(name_of(number)), x509.DNSName(f"www.{name_of(number)}")]
        made = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self.now)
            .not_valid_after(self.now + datetime.timedelta(days=90))
            .add_extension(x509.SubjectAlternativeName(names), critical=True)
            .sign(self.key, hashes.SHA256())
        )
        return made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )


def path_of(folder: Path, number: int) -> Path:
    return folder / str(number // PER_FOLDER) / f"{number}.pem"


def make_certificates(folder: Path, count: int, issuer: Issuer) -> None:
    """Makes certificates 0 to count - 1 where they are missing."""
    for number in range(count):
        path = path_of(folder, number)
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(issuer.pem(number))


def replace(path: Path, pem: bytes) -> None:
    """As careful programs do it: under another name first."""
    hidden = path.with_name(".new")
    hidden.write_bytes(pem)
    hidden.rename(path)


def name_of(number: int) -> str:
    return f"site-{number}.example"


def handshake(port: int, name: str) -> tuple[float, bytes]:
    """The time for TCP and TLS, and the certificate. ConnectionRefusedError: nothing listens."""
    settings = ssl.create_default_context()
    settings.check_hostname = False
    settings.verify_mode = ssl.CERT_NONE
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        with settings.wrap_socket(raw, server_hostname=name) as tls:
            took = time.perf_counter() - began
            shown = tls.getpeercert(binary_form=True)
            if name.encode() not in shown:
                sys.exit(f"cleat did not show the certificate of {name}")
    return took, shown


def handshake_s(port: int, name: str) -> float:
    return handshake(port, name)[0]


def served_s(port: int, number: int, path: Path, pem: bytes) -> float:
    """The time from the new file until a client gets it."""
    wanted = ssl.PEM_cert_to_DER_cert(pem[: pem.index(b"-----BEGIN PRIVATE")].decode())
    began = time.perf_counter()
    replace(path, pem)
    while time.perf_counter() < began + READY_S:
        try:
            if handshake(port, name_of(number))[1] == wanted:
                return time.perf_counter() - began
        except ssl.SSLError:  # A file that has changed is not served before its reload.
            pass
        time.sleep(0.01)
    sys.exit(f"the renewed certificate was not served within {READY_S} s")


def first_handshake_s(
    server: Process, port: int, name: str, began: float,
    not_yet: type[OSError] = ConnectionRefusedError,
) -> float | None:  # fmt: skip
    """first_handshake_s tries again after a not_yet. None: not within READY_S, or it has ended."""
    while time.perf_counter() < began + READY_S and server.child.poll() is None:
        try:
            handshake_s(port, name)
            return time.perf_counter() - began
        except not_yet:
            time.sleep(0.005)
    return None


def cleat_serves_s(cleat: Process, port: int, name: str, began: float) -> float:
    took = first_handshake_s(cleat, port, name, began)
    if took is None:
        sys.exit(f"cleat served nothing within {READY_S} s:\n{cleat.log.read_text()[-2000:]}")
    return took


def used_s(cleat: Process) -> float:
    """The CPU of all its threads, also of those that have ended."""
    fields = Path(f"/proc/{cleat.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_reloads(cleat: Process, count: int) -> None:
    until = time.perf_counter() + READY_S
    while cleat.log.read_text().count("event=reloaded") < count:
        if time.perf_counter() > until:
            sys.exit("a change did not lead to a reload")
        time.sleep(0.01)


def renew(cleat: Process, port: int, folder: Path, count: int, issuer: Issuer) -> dict:
    """Certificates are replaced: one after the other, and ten at once."""
    numbers = random.sample(range(1, count), RENEWED + 10)
    pems = {number: issuer.pem(number) for number in numbers}
    one_by_one, together = numbers[:RENEWED], numbers[RENEWED:]
    before = used_s(cleat)
    for done, number in enumerate(one_by_one, 1):
        replace(path_of(folder, number), pems[number])
        wait_for_reloads(cleat, done)
    one_s = (used_s(cleat) - before) / RENEWED
    before = used_s(cleat)
    for number in together:
        replace(path_of(folder, number), pems[number])
    wait_for_reloads(cleat, RENEWED + 1)
    ten_s = used_s(cleat) - before
    served = [
        served_s(port, number, path_of(folder, number), issuer.pem(number))
        for number in one_by_one[:5]
    ]
    return {"renewed_ms": one_s * 1e3, "ten_ms": ten_s * 1e3, "served_s": statistics.median(served)}


def measure(
    options: argparse.Namespace, folder: Path, count: int, scratch: Path, issuer: Issuer
) -> dict:
    """One round: a start, its cost, the handshakes, renewals, and a second start."""
    port = free_port()
    names = [name_of(n) for n in random.sample(range(count), min(ASKED, count))]
    index = scratch / "index"
    index.unlink(missing_ok=True)
    command = [str(options.cleat), "--config", str(scratch / f"{count}.conf")]
    (scratch / f"{count}.conf").write_text(
        f'frontend = "[127.0.0.1]:{port}"\nbackend = "[127.0.0.1]:9"\nworkers = 2\n'
        f'pem-dir = "{folder}"\npem-dir-recursive = on\nkeepalive = 3600\n'
        f'certificate-index = "{index}"\nreload-on-change = on\nlog-level = 2\n'
    )
    time.sleep(STAMPS_COUNT_AFTER_S)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    tried_s = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {
        "certificates": count,
        "test_s": tried_s,
        "test_cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    }
    began = time.perf_counter()
    cleat = Process(command, cores(), scratch / "cleat.log")
    try:
        found["first_handshake_s"] = cleat_serves_s(cleat, port, names[0], began)
        found["cpu_s"] = cleat.cpu_ns() / 1e9
        found["pss_kib"] = cleat.pss_kib()
        cold = [handshake_s(port, name) for name in names[1:]]
        warm = [handshake_s(port, name) for name in names[1:]]
        found |= {
            "cold_ms": statistics.median(cold) * 1e3,
            "cold_max_ms": max(cold) * 1e3,
            "warm_ms": statistics.median(warm) * 1e3,
        }
        found |= renew(cleat, port, folder, count, issuer)
        found["pss_after_kib"] = cleat.pss_kib()
    finally:
        end(cleat)
    time.sleep(STAMPS_COUNT_AFTER_S)
    began = time.perf_counter()
    cleat = Process(command, cores(), scratch / "cleat.log")
    try:
        found["second_s"] = cleat_serves_s(cleat, port, names[0], began)
        found["second_cpu_s"] = cleat.cpu_ns() / 1e9
    finally:
        end(cleat)
    return found


def end(cleat: Process) -> None:
    """It writes its index before it ends."""
    cleat.child.send_signal(signal.SIGINT)
    cleat.child.wait(READY_S)
    cleat.stop()


HEADS = ["certificates", "first handshake", "CPU", "PSS", "`cleat -t`", "cold", "warm"]
HEADS += ["renewed", "ten", "served", "second start"]


def rows(rounds: list[dict]) -> list[list[str]]:
    """rows have the medians for each number of certificates."""
    shown = []
    for count in sorted({each["certificates"] for each in rounds}):
        found = [each for each in rounds if each["certificates"] == count]
        median = {key: statistics.median(each[key] for each in found) for key in found[0]}
        shown.append([
            f"{count:,}",
            f"{median['first_handshake_s']:.2f} s",
            f"{median['cpu_s']:.2f} s",
            f"{median['pss_kib'] / 1024:.0f} MiB",
            f"{median['test_s']:.2f} s",
            f"{median['cold_ms']:.1f} ms",
            f"{median['warm_ms']:.1f} ms",
            f"{median['renewed_ms']:.1f} ms",
            f"{median['ten_ms']:.0f} ms",
            f"{median['served_s']:.2f} s",
            f"{median['second_s']:.2f} s",
        ])
    return shown


def report(shown: str, rounds: list[dict], out: Path | None) -> None:
    """report prints a table, and writes the rounds that it is made of."""
    print(shown)
    if out:
        document = {"command": results.command(), "environment": describe(TREE), "rounds": rounds}
        results.write(out, document)


def main() -> None:
    options = arguments()
    counts = [int(word) for word in options.counts.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        folders = {}
        issuer = Issuer()
        for count in counts:
            folders[count] = (options.folder or Path(scratch)) / str(count)
            make_certificates(folders[count], count, issuer)
        rounds = [
            measure(options, folders[count], count, Path(scratch), issuer)
            for _ in range(options.rounds)
            for count in counts
        ]
    report(table(HEADS, rows(rounds)), rounds, options.out)


if __name__ == "__main__":
    main()
