"""Where and with what a run was made, and the certificates that it needs."""

import datetime
import os
import platform
import subprocess
from pathlib import Path


def _said(*command: str, cwd: Path | None = None) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, cwd=cwd)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "cleat"
# Where apps/cleat-bench/compare/peers/install puts what it builds or fetches.
INSTALLED = Path(os.environ.get("CLEAT_CACHE_DIR", CACHE)) / "peers"


def cores() -> set[int]:
    """The cores that this run may use."""
    return os.sched_getaffinity(0)


def split_cores() -> tuple[set[int], set[int]]:
    """The last core, for the server that is measured, and the others, as far as there are any."""
    own = {max(cores())}
    return own, cores() - own or own


def suite(tls: str) -> str:
    """The cipher suite that is offered alone, so that all servers encrypt with the same."""
    return "TLS_AES_128_GCM_SHA256" if tls == "1.3" else "ECDHE+AESGCM"


def describe(tree: Path) -> dict:
    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    release = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "cpu": cpu,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "system": release,
        "compiler": _said("c++", "--version").split("\n")[0],
        "openssl": _said("openssl", "version"),
        "python": platform.python_version(),
        "commit": _said("git", "rev-parse", "HEAD", cwd=tree) or None,
        "changed": bool(_said("git", "status", "--porcelain", cwd=tree)),
        "load_before": os.getloadavg()[0],
    }


def certificates(folder: Path) -> dict[str, Path]:
    """Makes an ECDSA P-256 and an RSA-2048 certificate with its key, each in one file."""
    made = {}
    for name, key in (
        ("ecdsa", ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]),
        ("rsa", ["rsa:2048"]),
    ):
        cert, secret, pem = folder / f"{name}.crt", folder / f"{name}.key", folder / f"{name}.pem"
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                *key,
                "-nodes",
                "-days",
                "30",
                "-subj",
                "/CN=localhost",
                "-keyout",
                str(secret),
                "-out",
                str(cert),
            ],
            check=True,
            capture_output=True,
        )
        pem.write_text(cert.read_text() + secret.read_text())
        pem.chmod(0o600)
        made[name] = pem
    return made
