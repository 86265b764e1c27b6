"""A reload for which the main thread finds no memory, at any place: it is done or refused, with an
answer, and the next one works."""

import mmap
import os
import struct
import subprocess
from collections import Counter

import pytest

from admin_client import admin_of
from deadlines import SANITIZED
from program import run
from reloads import replace
from tls_client import TlsClient

# A sanitizer wants to be the first library of its process.
pytestmark = pytest.mark.skipif(SANITIZED, reason="the shortage is preloaded")

SHORTAGE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long *left; /* n: the main thread's n-th allocation from now on fails. 0: none. */

__attribute__((constructor)) static void begin(void)
{
    int const fd = open(getenv("SHORTAGE"), O_RDWR);
    left = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}

void *malloc(size_t size)
{
    static void *(*real)(size_t);
    if (!real)
        real = dlsym(RTLD_NEXT, "malloc");
    if (left && *left > 0 && syscall(SYS_gettid) == getpid() && --*left == 0) {
        errno = ENOMEM;
        return 0;
    }
    return real(size);
}
"""


class Shortage:
    """Shortage makes one allocation of the main thread fail, in a program with this environment."""

    def __init__(self, folder):
        library, source, file = (folder / name for name in ("shortage.so", "shortage.c", "left"))
        source.write_text(SHORTAGE)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        file.write_bytes(bytes(4096))
        with file.open("r+b") as opened:
            self._memory = mmap.mmap(opened.fileno(), 4096)
        self.environment = os.environ | {"LD_PRELOAD": str(library), "SHORTAGE": str(file)}

    @property
    def left(self):
        return struct.unpack_from("q", self._memory)[0]

    @left.setter
    def left(self, n):
        struct.pack_into("q", self._memory, 0, n)


@pytest.fixture
def shortage(tmp_path):
    return Shortage(tmp_path)


def by_command(server):
    ran = run("reload", server.pid)
    return ran.returncode == 0, ran.stdout + ran.stderr


def by_request(server):
    got = admin_of(server).post("/reload")
    return got.status == 200, got.text


@pytest.mark.parametrize("reload", [by_command, by_request])
def test_each_has_an_answer_and_the_next_works(
    reload, cleat, certs, config, shortage, tmp_path
):
    pem = tmp_path / "site.pem"
    pem.write_text(certs.ecdsa.pem.read_text())
    text = f'pem-file = "{pem}"\nfrontend = "[127.0.0.1]:0"\nadmin = "[127.0.0.1]:0"\n'
    server = cleat("--config", config(text), pem=[], frontend=None, env=shortage.environment)
    admin_of(server)  # The start is over.
    outcomes = Counter()
    n = 0
    while not shortage.left:  # Until a whole reload has fewer allocations.
        n += 1
        now = (certs.rsa, certs.ecdsa)[n % 2]
        replace(pem, now.pem.read_text())
        shortage.left = n
        done, answer = reload(server)
        outcomes[done] += 1
        if not done:
            assert "memory" in answer, n
            shortage.left = 0
            assert reload(server)[0], n
        with TlsClient(server.port) as client:
            assert client.fingerprint == now.fingerprint, n
    assert outcomes[True] > 20 and outcomes[False] > 5, outcomes
