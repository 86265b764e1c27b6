"""A kernel without memory for a send to the upstream: the bytes are lost, so the upstream must not
take what it got before for all there was."""

import os
import subprocess

import pytest

from deadlines import SANITIZED
from tls_client import TlsClient

# A sanitizer wants to be the first library of its process.
pytestmark = pytest.mark.skipif(SANITIZED, reason="the shortage is preloaded")

SHORTAGE = r"""
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

/* What has six bytes finds no memory on its way to the upstream. */
ssize_t send(int fd, void const* bytes, size_t size, int flags)
{
    struct sockaddr_in to;
    socklen_t length = sizeof to;
    if (getpeername(fd, (struct sockaddr*)&to, &length) == 0 && to.sin_family == AF_INET &&
        ntohs(to.sin_port) == atoi(getenv("UPSTREAM_PORT")) && size == 6) {
        errno = ENOBUFS;
        return -1;
    }
    ssize_t (*real)(int, void const*, size_t, int) = dlsym(RTLD_NEXT, "send");
    return real(fd, bytes, size, flags);
}
"""


@pytest.fixture(scope="module")
def shortage(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shortage")
    source, library = folder / "shortage.c", folder / "shortage.so"
    source.write_text(SHORTAGE)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def test_both_sides_see_a_break(cleat, origin, shortage):
    upstreams = origin()
    port = upstreams.address.rsplit(":", 1)[1]
    env = os.environ | {"LD_PRELOAD": str(shortage), "UPSTREAM_PORT": port}
    server = cleat(backend=upstreams, env=env)
    with TlsClient(server.port) as client:
        upstream = upstreams.accept_from(client, b"first")
        client.send(b"second")
        with pytest.raises(ConnectionResetError):
            upstream.socket.recv(100)
        with pytest.raises(ConnectionResetError):
            while client.socket.recv(1000):  # The session ticket may have come before.
                pass
    assert server.wait_for_log(event="connection-closed")["reason"] == "out-of-resources"
