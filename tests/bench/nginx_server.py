"""nginx as a target, on a socket that it inherits."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

from certificates import Certificate
from deadlines import DEADLINE

PROGRAM = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
MISSING = "nginx is missing: apps/cleat-bench/compare/peers/install"


class Nginx:
    """Nginx serves while its `with` lasts. `log` is the format of its log, `settings` are of its
    server, `listens` are words of its listen."""

    CONFIG = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ }}
http {{
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  log_format own "{log}"; access_log {folder}/own.log own;
  server {{
    listen {address} ssl {listens}; ssl_certificate {cert}; ssl_certificate_key {key};
    {settings}
  }}
}}
"""

    def __init__(
        self, folder: Path, certificate: Certificate, settings: str, log: str, listens: str = ""
    ) -> None:
        self.log = folder / "own.log"
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        config = folder / "nginx.conf"
        config.write_text(self.CONFIG.format(
            folder=folder, address=self.address, settings=settings, log=log, listens=listens,
            cert=certificate.cert, key=certificate.key))
        fd = self.listener.fileno()
        assert PROGRAM
        self.process = subprocess.Popen(
            [PROGRAM, "-p", folder, "-e", folder / "error.log", "-c", config], pass_fds=(fd,),
            env=os.environ | {"NGINX": f"{fd};"})

    def __enter__(self) -> "Nginx":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()  # Its worker ends with it.
        self.process.wait(DEADLINE)
        self.listener.close()

    def requests(self) -> list[str]:
        """requests are the lines of its log."""
        return self.log.read_text().split("\n")[:-1]
