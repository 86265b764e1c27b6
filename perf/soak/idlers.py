"""Clients that stay connected and say something now and then, as those of WebSockets do."""

import ssl
import threading
from collections import Counter

from cleat_perf.established import ask, connect, lives

from soak.sites import KILLED, STOPPED, Site

EACH = 50  # behind each server
ROUND_S = 5  # in which each of them asks once


class Idlers:
    """Idlers ask in turn, in a thread of their own. Those behind the server that is killed are cut
    with it, and come again; those behind the other one stay for the whole run."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.clients: dict[str, list[ssl.SSLSocket]] = {}
        self.may_be_cut = False
        self.cut_with_server = 0
        self.asked = 0
        self.cut: Counter[str] = Counter()  # without a reason
        self.more = threading.Condition()
        self.is_over = False
        for name in (KILLED, STOPPED):
            self.clients[name] = [self.connected(name) for _ in range(EACH)]
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self) -> "Idlers":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self.more:
            self.is_over = True
            self.more.notify_all()
        self.thread.join()
        for each in self.clients.values():
            for client in each:
                client.close()

    def connected(self, name: str) -> ssl.SSLSocket:
        client = connect(self.site.ports[name], "localhost")
        ask(client)
        return client

    def run(self) -> None:
        number = 0
        with self.more:
            while not self.more.wait_for(lambda: self.is_over, ROUND_S / (2 * EACH)):
                name = (KILLED, STOPPED)[number % 2]
                self.check(name, number // 2 % EACH)
                number += 1

    def check(self, name: str, number: int) -> None:
        """check asks for one client, which comes again if it was cut."""
        self.asked += 1
        if lives(self.clients[name][number]):
            return
        if name == KILLED and self.may_be_cut:
            self.cut_with_server += 1
            return  # Until its server is back.
        self.cut[f"an idle client behind the {name} server"] += 1
        self.again(name, number)

    def again(self, name: str, number: int) -> None:
        self.clients[name][number].close()
        self.clients[name][number] = self.connected(name)

    def expect_cut(self) -> None:
        """expect_cut comes before the server is killed."""
        with self.more:
            self.may_be_cut = True

    def return_to_server(self) -> None:
        """return_to_server comes once the killed server serves again."""
        with self.more:
            for number in range(EACH):
                self.again(KILLED, number)
            self.may_be_cut = False
