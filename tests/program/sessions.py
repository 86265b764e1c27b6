"""Clients that come back: with a session of an earlier connection, and to every worker."""

import ssl

from program import Cleat
from tls_client import TlsClient


def visit(
    port: int, tls: ssl.SSLContext, session: ssl.SSLSession | None = None, **options: object
) -> tuple[bool, ssl.SSLSession]:
    """One connection; whether it was resumed, and the session to come back with."""
    with TlsClient(port, tls, session=session, **options) as client:
        assert client.exchange(b"hello") == b"hello"  # With it TLS 1.3's ticket has come.
        return client.tls.session_reused, client.tls.session


def resume_at_both_workers(server: Cleat, tls: ssl.SSLContext, session: ssl.SSLSession) -> int:
    """resume_at_both_workers visits two workers until both have resumed the session, which each
    visit must do; it returns how many visits it took.

    The kernel spreads connections by their ports: with one in two, a hundred miss one worker less
    than once in 2^99 runs."""
    workers = set()
    for number in range(100):
        resumed, _ = visit(server.port, tls, session)
        assert resumed, f"visit {number} was not resumed"
        line = server.wait_for_log(event="handshake-done", resumed="true", times=number + 1)
        workers.add(line["worker"])
        if len(workers) == 2:
            return number + 1
    raise AssertionError(f"all connections went to {workers}")
