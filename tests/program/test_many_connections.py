"""200 connections at once, each sending pieces of random length and then closing its own side:
every one gets its whole echo and a clean end, on one worker and on two."""

import pytest


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_200_at_once(cleat, go, workers, version):
    server = cleat("--workers", workers)
    made = go.run("many", server.port, count=200, size=200_000, version=version)
    assert made["errors"] == []
    server.wait_for_log(event="connection-closed", reason="done", times=200)
    ended = server.log(event="connection-closed")
    assert len(ended) == 200 and all(line["up_bytes"] == line["down_bytes"] for line in ended)
