"""Servers of other makes: how one runs, and OpenSSL's s_server and nginx."""

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Iterator

import pytest

from certificates import Certificate
from deadlines import DEADLINE, eventually
from ports import free_port
from server_process import accepts

NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log info;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl;
    listen 127.0.0.1:{proxied} ssl proxy_protocol;
    ssl_certificate {certificate.cert};
    ssl_certificate_key {certificate.key};
    {lines}
    location / {{
      return 200 "$ssl_session_reused $ssl_server_name $ssl_client_s_dn $proxy_protocol_addr";
    }}
  }}
}}
"""


@contextlib.contextmanager
def running(*command: object, port: int) -> Iterator[None]:
    """running starts a server that listens at a port, and ends it with all that it has started. It
    skips the test where there is no such program.

    hitch listens twice. Its first socket, which only shows that it can, is closed before it has a
    worker, and resets its connections."""
    program = shutil.which(str(command[0]), path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip(f"there is no {command[0]}")
    process = subprocess.Popen(
        [program, *map(str, command[1:])], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")

    def listens() -> bool:
        begun = Path(program).name != "hitch" or bool(children.read_text())
        return (begun and accepts(port)) or process.poll() is not None

    try:
        eventually(f"{command[0]} listens", listens)
        assert process.poll() is None, process.stdout.read()
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):  # It has ended by itself.
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=DEADLINE)


@contextlib.contextmanager
def s_server(certificate: Certificate) -> Iterator[int]:
    """s_server answers HTTP with what it knows of the connection. It gives its port."""
    port = free_port()
    command = ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", certificate.cert]
    with running(*command, "-key", certificate.key, "-www", port=port):
        yield port


@contextlib.contextmanager
def nginx(
    folder: Path, certificate: Certificate, clients: Path | None = None, lines: str = ""
) -> Iterator[tuple]:
    """nginx answers HTTP with what it knows of the connection, and asks for a certificate where it
    has authorities of clients; `lines` are more of its configuration. It gives its port, and one
    for connections with a PROXY header."""
    port, proxied = free_port(), free_port()
    lines += f"ssl_client_certificate {clients}; ssl_verify_client optional;" if clients else ""
    path = folder / "nginx.conf"
    path.write_text(
        NGINX.format(
            folder=folder, port=port, proxied=proxied, certificate=certificate, lines=lines
        )
    )
    with running("nginx", "-p", folder, "-c", path, port=port):
        yield port, proxied
