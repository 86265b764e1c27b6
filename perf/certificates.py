#!/usr/bin/env python3
"""The cost of many certificates: the start, `cleat -t`, memory, and a name's first handshake.

    scripts/build release cleat
    perf/certificates.py --counts 1000,20000,100000

Makes ECDSA certificates of two names each, a hundred in a folder, by Python's `cryptography`
(Debian: python3-cryptography). In each round cleat starts with two workers on loopback, with
`pem-dir-recursive`. "First handshake" is the time from the start of the process until a client has
shaken hands with a name that nobody has asked for; "CPU" is what the process has used by then.
Files are in the page cache. Cold and warm are medians of a client's time for TCP and TLS: with 100
names that are asked for the first time, and with the same names again.
"""

import argparse
import datetime
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
from cleat_perf.processes import Process, free_port
from cleat_perf.results import TREE
from cleat_perf.table import table

PER_FOLDER = 100
ASKED = 100  # Names that are asked for cold, and again warm.
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


def make_certificates(folder: Path, count: int) -> None:
    """Makes certificates 0 to count - 1 where they are missing: each has two names."""
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError:
        sys.exit("certificates.py needs Python's cryptography: apt install python3-cryptography")
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "many certificates")])
    issuer_key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.timezone.utc)
    for number in range(count):
        path = folder / str(number // PER_FOLDER) / f"{number}.pem"
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.DNSName(name_of(number)), x509.DNSName(f"www.{name_of(number)}")]
        made = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(number + 1)
            .not_valid_before(now)
            .not_valid_after(now + datetime.timedelta(days=90))
            .add_extension(x509.SubjectAlternativeName(names), critical=True)
            .sign(issuer_key, hashes.SHA256())
        )
        path.write_bytes(
            made.public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )


def name_of(number: int) -> str:
    return f"site-{number}.example"


def handshake_s(port: int, name: str) -> float:
    """The time for TCP and TLS; ConnectionRefusedError where nothing listens yet."""
    settings = ssl.create_default_context()
    settings.check_hostname = False
    settings.verify_mode = ssl.CERT_NONE
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        with settings.wrap_socket(raw, server_hostname=name) as tls:
            took = time.perf_counter() - began
            if name.encode() not in tls.getpeercert(binary_form=True):
                sys.exit(f"cleat did not show the certificate of {name}")
    return took


def first_handshake_s(cleat: Process, port: int, name: str, began: float) -> float:
    while time.perf_counter() < began + READY_S and cleat.child.poll() is None:
        try:
            handshake_s(port, name)
            return time.perf_counter() - began
        except ConnectionRefusedError:
            time.sleep(0.005)
    sys.exit(f"cleat served nothing within {READY_S} s:\n{cleat.log.read_text()[-2000:]}")


def measure(options: argparse.Namespace, folder: Path, count: int, scratch: Path) -> dict:
    """One round: a start, its cost, and the handshakes."""
    port = free_port()
    names = [name_of(n) for n in random.sample(range(count), min(ASKED, count))]
    command = [str(options.cleat), "--config", str(scratch / f"{count}.conf")]
    (scratch / f"{count}.conf").write_text(
        f'frontend = "[127.0.0.1]:{port}"\nbackend = "[127.0.0.1]:9"\nworkers = 2\n'
        f'pem-dir = "{folder}"\npem-dir-recursive = on\nkeepalive = 3600\n'
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    tried_s = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    cleat = Process(command, cores(), scratch / "cleat.log")
    try:
        ready_s = first_handshake_s(cleat, port, names[0], began)
        cpu_s = cleat.cpu_ns() / 1e9
        pss_kib = cleat.pss_kib()
        cold = [handshake_s(port, name) for name in names[1:]]
        warm = [handshake_s(port, name) for name in names[1:]]
    finally:
        cleat.child.send_signal(signal.SIGINT)
        cleat.stop()
    return {
        "certificates": count,
        "first_handshake_s": ready_s,
        "cpu_s": cpu_s,
        "pss_kib": pss_kib,
        "test_s": tried_s,
        "test_cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "cold_ms": statistics.median(cold) * 1e3,
        "cold_max_ms": max(cold) * 1e3,
        "warm_ms": statistics.median(warm) * 1e3,
    }


def rows(rounds: list[dict], counts: list[int]) -> list[list[str]]:
    shown = []
    for count in counts:
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
        ])
    return shown


def main() -> None:
    options = arguments()
    counts = [int(word) for word in options.counts.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        folders = {}
        for count in counts:
            folders[count] = (options.folder or Path(scratch)) / str(count)
            make_certificates(folders[count], count)
        rounds = [
            measure(options, folders[count], count, Path(scratch))
            for _ in range(options.rounds)
            for count in counts
        ]
    heads = ["certificates", "first handshake", "CPU", "PSS", "`cleat -t`", "cold", "warm"]
    print(table(heads, rows(rounds, counts)))
    if options.out:
        document = {"command": results.command(), "environment": describe(TREE), "rounds": rounds}
        results.write(options.out, document)


if __name__ == "__main__":
    main()
