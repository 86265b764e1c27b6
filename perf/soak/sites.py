"""cleat with two workers, and two upstream servers that can be killed, stopped and started."""

import signal
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

from cleat_perf import environment, metrics
from cleat_perf.metrics import Metrics
from cleat_perf.ports import free_port
from cleat_perf.processes import Process, anonymous_bytes
from cleat_perf.serve import Unable
from cleat_perf.site_files import SiteFiles

SETTLED_WITHIN_S = 60
# Upstreams of the configuration. Idle clients go to one server, so that it is known which of them a
# killed server takes with it; all others go to BOTH.
BOTH, KILLED, STOPPED = "both", "killed", "stopped"


class Upstream:
    """Upstream is a server behind cleat, always at the same port. A socket holds the port, so that
    no client's connection gets it as its own while the server is killed."""

    def __init__(self, program: Path, log: Path) -> None:
        self.log = log
        self.held = socket.socket()
        self.held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.held.bind(("127.0.0.1", 0))
        self.port = self.held.getsockname()[1]
        self.command = [str(program), "--listen", f"127.0.0.1:{self.port}"]
        self.start()

    def start(self) -> None:
        self.process = Process(self.command, environment.cores(), self.log)
        self.process.ready_port()

    def kill(self) -> None:
        self.process.child.kill()
        self.process.child.wait()

    def halt(self) -> None:
        self.process.child.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.child.send_signal(signal.SIGCONT)

    def end(self) -> None:
        self.resume()
        self.process.stop()
        self.held.close()


class Site:
    """Site runs until `processes` ends it. `binaries` has our programs, and `cleat` may be another
    program that becomes it."""

    def __init__(
        self, binaries: Path, cleat: Path, folder: Path, processes: ExitStack
    ) -> None:
        self.binaries, self.folder = binaries, folder
        self.killed, self.stopped = (
            Upstream(binaries / "perf-origin", folder / f"{name}.log")
            for name in (KILLED, STOPPED)
        )
        for each in (self.killed, self.stopped):
            processes.callback(each.end)
        self.ports = {name: free_port() for name in (BOTH, KILLED, STOPPED)}
        self.admin = free_port()
        pems = []
        for name in ("one", "other"):
            (folder / name).mkdir()
            pems.append(environment.certificates(folder / name))
        self.files = SiteFiles(folder, [each["ecdsa"].read_text() for each in pems])
        self.files.configure(self.configuration(pems[0]["rsa"]))
        self.breakages = self.files.breakages(self.killed.port)
        command = [str(cleat), "--config", str(self.files.config)]
        self.cleat = Process(command, environment.cores(), folder / "cleat.log")
        processes.enter_context(self.cleat)
        self.pid = self.cleat.child.pid
        if not self.cleat.wait_for(self.admin):
            raise Unable(f"cleat does not serve:\n{self.cleat.log.read_text()[-2000:]}")

    def configuration(self, rsa: Path) -> str:
        servers = [f'server = "[127.0.0.1]:{each.port}"' for each in (self.killed, self.stopped)]
        behind = {BOTH: servers, KILLED: servers[:1], STOPPED: servers[1:]}
        lines = ["workers = 2", f'admin = "[127.0.0.1]:{self.admin}"']
        lines += [f'pem-file = "{rsa}"', f'pem-file = "{self.files.pem}"']
        for name, own in behind.items():
            lines.append(f'upstream = {{ name = "{name}" {" ".join(own)} eject-time = 1 }}')
            where = f'host = "127.0.0.1" port = "{self.ports[name]}"'
            lines.append(f'frontend = {{ {where} upstream = "{name}" }}')
        return "\n".join(lines) + "\n"

    def metrics(self) -> Metrics:
        return metrics.scrape(self.admin)

    def reload(self) -> bool:
        command = [str(self.binaries / "cleat"), "reload", str(self.pid)]
        return subprocess.run(command, capture_output=True, timeout=120).returncode == 0

    def sample(self) -> dict[str, float]:
        """sample has what should not grow."""
        found = self.metrics()
        return {
            "memory": anonymous_bytes(self.pid),
            "threads": len(list(Path(f"/proc/{self.pid}/task").iterdir())),
            "descriptors": found.sum("process_open_fds"),
            "connections": found.sum("cleat_connections_open"),
            "upstream_connections": found.sum("cleat_upstream_server_connections_open"),
            "queued": found.sum("cleat_frontend_queued_connections"),
            "configurations": found.sum("cleat_configurations"),
            "metric_series": len(found.samples),
        }

    def on_killed_server(self) -> tuple[int, int]:
        """on_killed_server counts connections to the server that is killed, without those of idle
        clients: the open ones, and all so far."""
        found = self.metrics()
        labels = {"upstream": BOTH, "server": f"[127.0.0.1]:{self.killed.port}"}
        prefix = "cleat_upstream_server_connections_"
        return tuple(int(found.value(prefix + name, **labels)) for name in ("open", "total"))

    def settles(self, connections: int) -> bool:
        """settles waits until no more connections are open than so many."""
        until = time.monotonic() + SETTLED_WITHIN_S
        while time.monotonic() < until:
            if self.metrics().sum("cleat_connections_open") <= connections:
                return True
            time.sleep(0.1)
        return False

    def end(self) -> list[str]:
        """end ends cleat, and tells what was wrong with that."""
        faults = [] if self.settles(0) else ["connections stay open without clients"]
        self.cleat.stop()
        if code := self.cleat.child.returncode:
            faults.append(f"cleat has ended with code {code}")
        return faults
