"""The samples of a scrape of /metrics."""

import re
import urllib.request

SAMPLE = re.compile(r'^([a-zA-Z_]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """Metrics are the samples of one scrape."""

    def __init__(self, text: str) -> None:
        self.samples: dict[tuple[str, frozenset], float] = {}
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            found = SAMPLE.match(line)
            assert found, line
            labels = frozenset(LABEL.findall(found[2] or ""))
            assert (found[1], labels) not in self.samples, line
            self.samples[found[1], labels] = float(found[3])

    def value(self, name: str, **labels: str) -> float:
        """value is a sample's number; 0 where there is none."""
        return self.samples.get((name, frozenset(labels.items())), 0.0)

    def sum(self, name: str) -> float:
        return sum(number for (each, _), number in self.samples.items() if each == name)

    def labels(self, name: str) -> list[dict[str, str]]:
        return [dict(labels) for each, labels in self.samples if each == name]


def scrape(port: int) -> Metrics:
    """scrape asks the admin server at a port of loopback."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as page:
        return Metrics(page.read().decode())
