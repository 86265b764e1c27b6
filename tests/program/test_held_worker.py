"""A worker that stands still is named in the log and the metrics. The others serve on, and the
connections that wait for it are served when it is back."""

import selectors

from admin_client import eventually_counts, serve  # noqa: F401: the fixture
from deadlines import DEADLINE
from held_thread import held, thread_called
from tls_client import TlsClient

CLIENTS = 20  # The kernel spreads them over two workers: one has none in one run of half a million.


def begin(server):
    """begin has sent the ClientHello, and waits."""
    client = TlsClient(server.port, handshake=False)
    client.socket.sendall(client.client_hello())
    return client


def has_answer(client, seconds):
    with selectors.DefaultSelector() as ready:
        ready.register(client.socket, selectors.EVENT_READ)
        return bool(ready.select(seconds))


def test_it_is_named_and_loses_no_connection(serve):
    server, admin = serve("--workers", 2)
    with held(thread_called(server.pid, "worker-1")):
        clients = [begin(server) for _ in range(CLIENTS)]
        line = server.wait_for_log(event="worker-held")
        assert (line["level"], line["worker"]) == ("warning", "1")
        assert int(line["for_ms"]) >= 2000
        eventually_counts(admin, "cleat_workers_held", 1)
        answered = [each for each in clients if has_answer(each, 0)]
        assert 0 < len(answered) < CLIENTS  # By the other worker.
        for client in answered:
            client.handshake()
            assert client.exchange(b"served meanwhile") == b"served meanwhile"
    for client in clients:
        if client not in answered:
            assert has_answer(client, DEADLINE)
            client.handshake()
            assert client.exchange(b"served at last") == b"served at last"
        client.socket.close()
    line = server.wait_for_log(event="worker-back")
    assert line["worker"] == "1" and int(line["held_ms"]) >= 2000
    counted = eventually_counts(admin, "cleat_workers_held", 0)
    assert counted.value("cleat_worker_holds_total") == 1
