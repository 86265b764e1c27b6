"""A TLS 1.3 server that takes early data (RFC 8446, section 2.3), or rejects it: the system's
OpenSSL by ctypes, since Python's ssl knows nothing of early data and `openssl s_server` answers no
HTTP with it."""

import ctypes
import os
import socket
import struct
import threading
from dataclasses import dataclass

from certificates import Certificate
from deadlines import DEADLINE
from origins import Origin, Upstream

# Names of <openssl/ssl.h>.
SSL_CTRL_SET_TLSEXT_TICKET_KEYS = 59
SSL_CTRL_SET_GROUPS_LIST = 92
SSL_FILETYPE_PEM = 1
SSL_OP_NO_ANTI_REPLAY = 1 << 24  # Otherwise tickets are numbers of a cache.
SSL_READ_EARLY_DATA_ERROR = 0
SSL_READ_EARLY_DATA_FINISH = 2
TICKET_KEYS_SIZE = 80

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
TOO_EARLY = b"HTTP/1.1 425 Too Early\r\nContent-Length: 0\r\n\r\n"

Chooser = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def library() -> ctypes.CDLL | None:
    """library is the system's libssl, or nothing where there is none of OpenSSL 3."""
    try:
        found = ctypes.CDLL("libssl.so.3")
    except OSError:
        return None
    pointer, number, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
    text, ref = ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t)
    for name, result, arguments in (
        ("TLS_server_method", pointer, ()),
        ("SSL_CTX_new", pointer, (pointer,)),
        ("SSL_CTX_free", None, (pointer,)),
        ("SSL_CTX_ctrl", ctypes.c_long, (pointer, number, ctypes.c_long, pointer)),
        ("SSL_CTX_set_options", ctypes.c_uint64, (pointer, ctypes.c_uint64)),
        ("SSL_CTX_set_max_early_data", number, (pointer, ctypes.c_uint32)),
        ("SSL_CTX_set_allow_early_data_cb", None, (pointer, Chooser, pointer)),
        ("SSL_CTX_use_certificate_chain_file", number, (pointer, text)),
        ("SSL_CTX_use_PrivateKey_file", number, (pointer, text, number)),
        ("SSL_new", pointer, (pointer,)),
        ("SSL_free", None, (pointer,)),
        ("SSL_set_fd", number, (pointer, number)),
        ("SSL_read_early_data", number, (pointer, pointer, size, ref)),
        ("SSL_accept", number, (pointer,)),
        ("SSL_read", number, (pointer, pointer, number)),
        ("SSL_write", number, (pointer, text, number)),
    ):
        function = getattr(found, name)
        function.restype = result
        function.argtypes = arguments
    return found


@dataclass
class Heard:
    """Heard is all that the client of one connection said to the application."""

    early: bytes
    late: bytes


class EarlyServer:
    """EarlyServer serves while its `with` lasts. Its tickets allow `size_max` bytes of early data;
    `takes` says whether they are taken, now. Each connection is one request."""

    def __init__(
        self,
        certificate: Certificate,
        takes: bool = True,
        size_max: int = 16384,
        groups: str = "",
        answer_early: bytes = OK,
    ) -> None:
        ssl = library()
        assert ssl
        self.ssl = ssl
        self.takes = takes
        self.answer_early = answer_early
        self.heard: list[Heard] = []
        self.lock = threading.Lock()
        self.context = ssl.SSL_CTX_new(ssl.TLS_server_method())
        assert ssl.SSL_CTX_use_certificate_chain_file(self.context, bytes(certificate.cert)) == 1
        assert ssl.SSL_CTX_use_PrivateKey_file(
            self.context, bytes(certificate.key), SSL_FILETYPE_PEM
        ) == 1
        ssl.SSL_CTX_set_options(self.context, SSL_OP_NO_ANTI_REPLAY)
        ssl.SSL_CTX_set_max_early_data(self.context, size_max)
        self.chooser = Chooser(lambda *_: int(self.takes))  # Called as long as it lives.
        ssl.SSL_CTX_set_allow_early_data_cb(self.context, self.chooser, None)
        if groups:
            assert ssl.SSL_CTX_ctrl(self.context, SSL_CTRL_SET_GROUPS_LIST, 0, groups.encode()) == 1
        self.origin = Origin(self.serve)
        self.address = "127.0.0.1:%d" % self.origin.listener.getsockname()[1]

    def __enter__(self) -> "EarlyServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.origin.close()

    def forget_keys(self) -> None:
        """forget_keys makes every ticket of before worthless."""
        keys = ctypes.create_string_buffer(os.urandom(TICKET_KEYS_SIZE), TICKET_KEYS_SIZE)
        done = self.ssl.SSL_CTX_ctrl(
            self.context, SSL_CTRL_SET_TLSEXT_TICKET_KEYS, TICKET_KEYS_SIZE, ctypes.addressof(keys)
        )
        assert done == 1

    def serve(self, client: Upstream) -> None:
        """serve is the life of a connection, on a thread of its own."""
        client.socket.settimeout(None)  # The library reads the socket itself, and waits in it.
        patience = struct.pack("ll", int(DEADLINE), 0)
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
        connection = self.ssl.SSL_new(self.context)
        try:
            self.ssl.SSL_set_fd(connection, client.socket.fileno())
            early = self.read_early(connection)
            if early is None or self.ssl.SSL_accept(connection) != 1:
                return
            heard = Heard(early, b"")
            while not whole(heard.early + heard.late):
                more = self.read(connection)
                if not more:
                    break
                heard.late += more
            answer = self.answer_early if early else OK
            self.ssl.SSL_write(connection, answer, len(answer))
            while more := self.read(connection):
                heard.late += more
            with self.lock:
                self.heard.append(heard)
        finally:
            self.ssl.SSL_free(connection)

    def read_early(self, connection: int) -> bytes | None:
        block = ctypes.create_string_buffer(4096)
        size = ctypes.c_size_t()
        early = b""
        while True:
            how = self.ssl.SSL_read_early_data(connection, block, len(block), ctypes.byref(size))
            early += block.raw[: size.value]
            if how == SSL_READ_EARLY_DATA_ERROR:
                return None
            if how == SSL_READ_EARLY_DATA_FINISH:
                return early

    def read(self, connection: int) -> bytes:
        block = ctypes.create_string_buffer(65536)
        size = self.ssl.SSL_read(connection, block, len(block))
        return block.raw[: max(size, 0)]


def whole(request: bytes) -> bool:
    """whole: this is a request, with the body that its head tells of."""
    head, end, body = request.partition(b"\r\n\r\n")
    if not end:
        return False
    _, name, length = head.partition(b"\r\nContent-Length: ")
    return len(body) >= (int(length.split(b"\r\n")[0]) if name else 0)
