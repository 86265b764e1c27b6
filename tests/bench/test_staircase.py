"""The rate goes up until the server breaks, and where that is, is known."""

import json
import threading
import time

from stories import head_of_request


def one_at_a_time(seconds: float):
    """one_at_a_time is an upstream that can do 1 / seconds answers in a second, and no more."""
    turn = threading.Lock()

    def story(upstream):
        while head_of_request(upstream):
            with turn:
                time.sleep(seconds)  # Its capacity is what is to be found.
            upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")

    return story


def test_the_capacity_is_found(bench, server):
    target = server(one_at_a_time(0.02))
    ran = bench.run("staircase", "-q", "--from", 10, "--to", 1000, "--step", 15, "--hold", "1s",
                    "--json", "s.json", "--html", "s.html", target.address)
    assert ran.returncode == 0, ran.stderr
    found = json.loads((bench.folder / "s.json").read_text())
    highest = {each["criterion"]: each["rate"] for each in found["highest"]}
    # 50 answers a second at best: the step of 70/s cannot be met, and a queue grows.
    assert 10 <= highest["mean response below 100 ms"] <= 55
    assert found["steps"][-1]["rate"] <= 250, "it went on though the server was broken"
    assert found["steps"][0]["ok"] >= 9
    assert found["failed"] == 0, "what was under way when it broke was cut off"
    assert "highest rate with mean response below 100 ms" in ran.stdout
    assert (bench.folder / "s.html").read_text().startswith("<!doctype html>")


def test_a_server_that_does_not_break(bench, server):
    target = server(one_at_a_time(0))
    ran = bench.run("staircase", "-q", "--from", 10, "--to", 20, "--step", 10, "--hold", "500ms",
                    target.address)
    assert ran.returncode == 0, ran.stderr
    assert "did not break" in ran.stdout
