"""Several paths in one load: each is asked by its weight, and has figures of its own."""

import collections
import threading

import pytest

from http_handlers import head_of_request


class Site:
    """Site answers /missing with 404 and everything else with 200, and counts the requests."""

    def __init__(self):
        self.asked = collections.Counter()
        self.turn = threading.Lock()

    def __call__(self, upstream):
        while head := head_of_request(upstream):
            path = head.split()[1].decode()
            with self.turn:
                self.asked[path] += 1
            status = "404 Not Found" if path == "/missing" else "200 OK"
            upstream.send(f"HTTP/1.1 {status}\r\nContent-Length: 1\r\n\r\nx".encode())


@pytest.mark.parametrize("loop", [("-c", 2), ("-c", 2, "--keep"), ("-r", 400)])
def test_paths_are_asked_by_their_weights(bench, server, loop):
    site = Site()
    found = bench.load(
        *loop, "-n", 600, "--no-preflight", "--path", "/often 9", "--path", "/missing",
        server(site).address)  # fmt: skip
    paths = {each["path"]: each for each in found["paths"]}
    assert {name: each["attempts"] for name, each in paths.items()} == site.asked
    assert sum(each["attempts"] for each in paths.values()) == found["attempts"] == 600
    assert 500 < site.asked["/often"] < 580, "540 of 600, and seven deviations of 7.3"
    assert paths["/often"]["failed"] == 0 and paths["/missing"]["ok"] == 0
    assert paths["/often"]["response"]["count"] == paths["/often"]["ok"]
    assert paths["/missing"]["failed"] == found["failed"]
    assert f"{site.asked['/missing']} attempts, {site.asked['/missing']} failed" in found["text"]
    assert "request GET /often (weight 9), GET /missing (weight 1)" in found["text"]


def test_each_path_is_tried_before_the_load(bench, server):
    ran = bench.run("load", "--path", "/a 1000", "--path", "/missing", server(Site()).address)
    assert ran.returncode == 1
    assert "the first transaction with /missing failed (answer: wrong status 404)" in ran.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["--path", "/a 0"], "a weight from 1 to 1000000"),
        (["--path", "/a b"], "a blank in a path is %20"),
        (["--path", "/a", "--path", "/a 2"], "given twice"),
        (["--path", "a"], "begins with a slash"),
    ],
)
def test_paths_that_make_no_sense(bench, words, said):
    ran = bench.run("load", *words, "--no-preflight", "127.0.0.1")
    assert ran.returncode == 2 and said in ran.stderr
