"""The surroundings of a measured server: a folder, a certificate, and an origin that runs."""

import contextlib
import resource
import tempfile
from pathlib import Path
from typing import Iterator

from cleat_perf import environment
from cleat_perf.processes import Process

from . import servers


@contextlib.contextmanager
def laid_out(binaries: Path, **settings: object) -> Iterator[tuple[servers.Bench, Path]]:
    """laid_out gives a bench, and an ECDSA certificate with its key. Settings are the bench's own;
    by default TLS 1.3, X25519, the cleat of these binaries, and all cores for everybody."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    everywhere = frozenset(environment.cores())
    use = {
        "cleat": binaries / "cleat",
        "openssl_binaries": None,
        "groups": "X25519",
        "tls": "1.3",
        "server_cores": everywhere,
        "client_cores": everywhere,
    } | settings
    with tempfile.TemporaryDirectory(prefix="cleat-stage-") as name:
        folder = Path(name)
        pem = environment.certificates(folder)["ecdsa"]
        command = [str(binaries / "perf-origin")]
        origin = Process(command, set(use["client_cores"]), folder / "origin.log")
        try:
            bench = servers.Bench(
                binaries=binaries,
                folder=folder,
                origin_port=origin.ready_port(),
                suite=environment.suite(use["tls"]),
                **use,
            )
            yield bench, pem
        finally:
            origin.stop()
