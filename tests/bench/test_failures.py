"""Failures are counted by stage and kind, and none is dropped. A load that cannot
work is refused before the run."""

import json
import os
import re
import socket
import subprocess
import threading
from typing import Iterator

import pytest

from conftest import binary
from deadlines import DEADLINE, eventually
from origins import Origin
from http_handlers import drips, http, resets, says, silent


def only(found: dict, stage: str, kind: str) -> None:
    """only holds that all attempts failed in one way."""
    (failed,) = found["failures"]
    assert (failed["stage"], failed["kind"], failed["count"]) == (stage, kind, found["attempts"])


def refused(bench, *words: object, code: int = 2) -> str:
    """refused runs a load that must end before it is measured, with one clear line: code 2 for a
    wrong command line, and 1 where the first transaction or a file fails."""
    ran = bench.run("load", "-q", *words)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert ran.stdout == ""
    assert len(ran.stderr.splitlines()) <= 2, ran.stderr
    return ran.stderr


@pytest.fixture
def closed_port() -> Iterator[int]:
    """closed_port refuses connections: it is bound, so no other program has it, and nobody listens.
    """
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.mark.several_workers
def test_refused(bench, closed_port):
    found = bench.load("-n", 10, "-c", 2, "--no-preflight", f"127.0.0.1:{closed_port}", code=1)
    only(found, "connect", "refused")


def test_a_wrong_status(bench, server):
    found = bench.load("-n", 10, "--no-preflight", server(http(status="503 Busy")).address, code=1)
    only(found, "answer", "wrong status 503")


def test_a_wanted_status(bench, server):
    target = server(http(status="404 Not Found"))
    assert bench.load("-n", 10, "--expect-status", 404, target.address)["ok"] == 10


@pytest.mark.parametrize(
    "text, kind",
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "answer cut off"),
        (b"SMTP\r\n\r\n", "no HTTP answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "more than the answer"),
    ],
)
def test_a_wrong_answer(bench, server, text, kind):
    only(bench.load("-n", 5, "--no-preflight", server(says(text)).address, code=1), "answer", kind)


def test_a_wrong_size(bench, server):
    target = server(http(body=b"x" * 10))
    found = bench.load("-n", 5, "--expect-size", 11, "--no-preflight", target.address, code=1)
    only(found, "answer", "short answer")


def test_a_body_without_the_text(bench, server):
    target = server(http(body=b"all is well"))
    words = ("-n", 5, "-c", 1, "--no-preflight", target.address)
    assert bench.load("--expect-body", "is well", *words)["ok"] == 5
    only(bench.load("--expect-body", "is ill", *words, code=1), "answer", "wrong body")
    # The status says more than the body that comes with it.
    found = bench.load("--expect-body", "is ill", "--expect-status", 201, *words, code=1)
    only(found, "answer", "wrong status 200")
    said = refused(bench, "--expect-body", "is ill", target.address, code=1)
    assert "(answer: wrong body): it does not have the text of --expect-body" in said
    assert "no body" in refused(bench, "--expect-body", "x", "--method", "HEAD", target.address)


def test_bytes_without_the_text(bench, server):
    target = server(says(b"+PONG\r\n"))
    words = ("-n", 3, "--raw", "PING\r\n\r\n", "--expect-size", 7, "--no-preflight", target.address)
    assert bench.load("--expect-body", "PONG", *words)["ok"] == 3
    only(bench.load("--expect-body", "PANG", *words, code=1), "answer", "wrong body")


def test_a_body_that_the_preflight_does_not_wait_for(bench, server):
    target = server(http(body=b"x" * 100_000 + b"end"))
    found = bench.load("-n", 2, "--expect-size", 100_003, "--expect-body", "end", target.address)
    assert found["ok"] == 2


@pytest.mark.several_workers
def test_no_answer_in_time(bench, server):
    found = bench.load("-n", 2, "-c", 2, "--answer-timeout", "300ms", "--no-preflight",
                       server(silent).address, code=1)
    only(found, "answer", "timeout")


@pytest.mark.several_workers
def test_a_reset_in_the_answer(bench, server):
    found = bench.load("-n", 5, "--no-preflight", server(resets).address, code=1)
    only(found, "answer", "reset")


@pytest.mark.several_workers
def test_a_server_that_never_shakes_hands(bench):
    mute = Origin(silent)
    try:
        port = mute.address.rsplit(":", 1)[1]
        found = bench.load("-n", 2, "-c", 2, "--handshake-timeout", "300ms", "--no-preflight",
                           f"127.0.0.1:{port}", code=1)
        only(found, "handshake", "timeout")
    finally:
        mute.close()


def test_a_connection_that_closes_before_its_last_request(bench, server):
    one = says(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx")
    found = bench.load("-n", 4, "-c", 1, "--requests", 2, "--no-preflight", server(one).address)
    assert found["ok"] == found["failed"] == 2
    assert found["failures"][0]["kind"] == "closed early"


def test_a_certificate_that_does_not_verify(bench, server, certs):
    target = server(http())
    found = bench.load("-n", 3, "--verify", "--ca", certs.rsa.cert, "--sni", "localhost",
                       "--no-preflight", target.address, code=1)
    only(found, "handshake", "certificate of an unknown authority")
    found = bench.load("-n", 3, "--verify", "--ca", certs.ecdsa.cert, "--sni", "localhost",
                       target.address)
    assert found["ok"] == 3
    found = bench.load("-n", 3, "--verify", "--ca", certs.ecdsa.cert, "--sni", "other.example",
                       "--no-preflight", target.address, code=1)
    only(found, "handshake", "certificate for another name")


def test_why_a_certificate_does_not_verify_comes_with_its_cure(bench, server, certs):
    target = server(http())
    verified = ("--verify", "--ca", certs.ecdsa.cert)
    said = refused(bench, *verified, "--sni", "other.example", target.address, code=1)
    assert "for another name" in said and "--sni" in said and "--ca" not in said
    said = refused(bench, "--verify", "--ca", certs.rsa.cert, "--sni", "localhost",
                   target.address, code=1)
    assert f"no authority in {certs.rsa.cert}" in said and "--ca" in said


def test_the_systems_authorities_verify(bench, server, certs, monkeypatch):
    target = server(http())
    monkeypatch.setenv("SSL_CERT_FILE", str(certs.ecdsa.cert))
    found = bench.load("-n", 3, "--verify", "--sni", "localhost", target.address)
    assert found["ok"] == 3
    monkeypatch.setenv("SSL_CERT_FILE", str(certs.rsa.cert))
    said = refused(bench, "--verify", "--sni", "localhost", target.address, code=1)
    assert f"no authority in {certs.rsa.cert}" in said


def test_an_answer_that_is_cut_off_is_no_matter_of_an_option(bench, server):
    said = refused(
        bench, server(says(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")).address, code=1)
    assert "answer cut off" in said and "Content-Length" in said and "--expect-size" not in said


def test_what_cannot_be_reached_has_one_exit_code(bench, closed_port):
    """The name has no address, or no server listens at it."""
    for target in ("nobody.invalid:443", f"127.0.0.1:{closed_port}"):
        for command in (["load"], ["probe"], ["staircase"], ["transfer"]):
            ran = bench.run(*command, target)
            assert ran.returncode == 1, (command, target, ran.stderr)


def test_a_path_may_follow_a_port(bench, server):
    target = server(http())
    assert bench.load("-n", 1, "-c", 1, f"{target.address}/")["ok"] == 1
    found = bench.load("-n", 1, "-c", 1, f"{target.address}/some/path")
    assert ["request", "GET /some/path"] in found["asked"]


@pytest.mark.parametrize(
    "word, meant", [("--ratee", "--rate"), ("--conections=5", "--connections"),
                    ("--transact", "--transactions")])
def test_an_unknown_option_names_the_nearest(bench, word, meant):
    said = refused(bench, word, "5", "127.0.0.1")
    assert f"there is no option {word.split('=')[0]}; did you mean {meant}?" in said


@pytest.mark.several_workers
def test_an_interrupted_run_tells_what_it_has(bench, server):
    target = server(http())
    child = bench.start("load", "-r", 50, "-d", "60s", "--json", "p.json", target.address)
    eventually("ten connections", lambda: len(target.log(event="handshake-done")) > 10)
    out, _ = bench.interrupted(child)
    assert out.startswith("PARTIAL")
    found = bench.read(bench.folder / "p.json")
    assert found["partial"] and 0 < found["attempts"] < 3000


# Before the run.


def test_what_the_first_transaction_finds(bench, closed_port):
    said = refused(bench, f"127.0.0.1:{closed_port}", code=1)
    assert f"nothing listens at 127.0.0.1:{closed_port}: " in said, "also where the port is 443"
    assert "refused" in said and "check the address" in said

    def speaks_http(upstream):
        upstream.socket.recv(1 << 16)
        upstream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        upstream.end()

    plain = Origin(speaks_http)
    try:
        said = refused(bench, f"127.0.0.1:{plain.address.rsplit(':', 1)[1]}", code=1)
        assert "does not speak TLS" in said
    finally:
        plain.close()


def test_an_answer_that_never_ends_is_not_waited_for(bench, server):
    said = refused(bench, "-d", "60s", "--connect-timeout", "2s", "--handshake-timeout", "2s",
                   "--answer-timeout", "4s", server(drips).address, code=1)
    assert "unfinished" in said and "--answer-timeout" in said


@pytest.mark.several_workers
def test_an_interruption_before_the_run(bench, server):
    asked = threading.Event()

    def handle(upstream):
        asked.set()
        upstream.receive_to_end()

    child = bench.start("load", "-q", server(handle).address)
    assert asked.wait(30)
    out, said = bench.interrupted(child)
    assert out == "" and "interrupted" in said


@pytest.mark.several_workers
def test_an_interruption_while_the_time_to_begin_is_waited_for(bench, server):
    target = server(http())
    child = bench.start("load", "-q", "-c", 3, "--workers", 3, "--start-at",
                        "2099-01-01T00:00:00Z", "--json", "s.json", target.address)
    # The preflight has one worker only.
    eventually("its workers", lambda: len(os.listdir(f"/proc/{child.pid}/task")) > 3)
    bench.interrupted(child)
    found = bench.read(bench.folder / "s.json")
    assert found["attempts"] == found["measured_ns"] == 0 and not found["client_limited"]


@pytest.mark.parametrize(
    "words, part",
    [
        (["--start-at", "2020-01-01T00:00:00Z", "127.0.0.1"], "has passed"),
        (["127.0.0.1:0"], "port"),
        (["127.0.0.1:http"], "port"),
        (["http://127.0.0.1"], "https://"),
        (["::1:443"], "brackets: [::1]:443, or [::1:443]:443"),
        (["-r", "0", "127.0.0.1"], "--rate"),
        (["-r", "-5", "127.0.0.1"], "--rate"),
        (["-c", "0", "127.0.0.1"], "--connections"),
        (["-c", "1000000", "127.0.0.1"], "ulimit"),
        (["-d", "soon", "127.0.0.1"], "--duration"),
        (["--phases", "100", "127.0.0.1"], "--phases"),
        (["-r", "1", "--phases", "1/1s", "127.0.0.1"], "one of them"),
        (["--groups", "X448X", "127.0.0.1"], "X448X"),
        (["--ciphers", "NOPE", "127.0.0.1"], "NOPE"),
        (["--ca", "/nowhere.pem", "127.0.0.1"], "--verify"),
        (["--verify", "--ca", "/nowhere.pem", "127.0.0.1"], "/nowhere.pem"),
        (["--key", "k.pem", "127.0.0.1"], "--cert"),
        (["--session-ids", "127.0.0.1"], "--tls 1.2"),
        (["--early-data", "127.0.0.1"], "--reuse"),
        (["--early-data", "--reuse", "2", "--tls", "1.2", "127.0.0.1"], "--tls 1.3"),
        (["--early-data", "--session-ids", "--tls", "1.2", "127.0.0.1"], "--reuse"),
        (["--server-pid", "999999999", "127.0.0.1"], "no such process"),
        (["--source", "127.0.0.9-127.0.0.1", "127.0.0.1"], "--source"),
        (["--source", "192.0.2.1", "127.0.0.1"], "source"),
        (["--nonsense", "127.0.0.1"], "--nonsense"),
        ([], "target"),
        (["--json", "x", "--html", "./x", "127.0.0.1"], "one file"),
    ],
)
def test_bad_words(bench, words, part):
    assert part in refused(bench, *words)


def test_a_file_that_cannot_be_written_is_found_before_the_run(bench):
    said = refused(bench, "--json", "/nowhere/x.json", "127.0.0.1", code=1)
    assert "/nowhere/x.json" in said


# Words that make no sense, and those that would have no effect, with what their cure names.
@pytest.mark.parametrize(
    "words, part",
    [
        ("load -c 5 -r 5", "--connections"),
        ("load -c 5 --phases 5/1s", "--connections"),
        ("load -d 5s --phases 5/1s", "--duration"),
        ("load --arrivals poisson", "--rate"),
        ("load --seed 7", "--rate"),
        ("load --seed 7 -r 5", "--arrivals poisson"),
        ("load --tls 1.3 --ciphers ECDHE-RSA-AES128-GCM-SHA256", "--ciphersuites"),
        ("load --tls 1.2 --ciphersuites TLS_AES_128_GCM_SHA256", "--ciphers"),
        ("load --method PUT --raw x", "--method"),
        ("staircase --interval 1s", "--hold"),
        ("idle --server-pid 1 --reuse 2", "--reuse"),
        ("idle --server-pid 1 --resume-ratio 0.5", "--resume-ratio"),
        ("idle --server-pid 1 --interval 1s", "--settle"),
        ("transfer --direction both --path /x", "--path"),
        ("load --in-flight 0", "--in-flight"),
        ("load --expect-status 99", "100 to 599"),
        ("load -n 0", "--transactions"),
        ("load --phases 0/1s", "--phases"),
        ("load -r 0.1 -d 1s", "--rate"),
        ("load --path slashless", "slash"),
        ("load --path /with%space", "%20"),
        ("load --method GET%x", "--method"),
        ("load --ciphers FOO", "FOO"),
        ("load --ciphersuites FOO", "FOO"),
        ("load --groups FOO", "FOO"),
        ("probe --timeout 0s", "--timeout"),
        ("load --source 192.0.2.1", "not an address of this machine"),
    ],
)
def test_words_that_make_no_sense_are_told_before_the_run(bench, words, part):
    # A % stands for a space in a word.
    said = [word.replace("%", " ") for word in words.split()]
    ran = bench.run(*said, "127.0.0.1:1")
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert part in ran.stderr, ran.stderr


def test_what_was_not_written_is_not_held_against_anybody(bench, server):
    """Many defaults have no effect: only options that the user has written are errors."""
    target = server(http())
    for words in (["-r", 20, "-d", "1s"], ["--phases", "20/1s"], ["-n", 2, "--tls", "1.3"]):
        assert bench.load(*words, target.address)["ok"] > 0


def test_an_unknown_subcommand_is_named(bench):
    ran = bench.run("foo")
    assert ran.returncode == 2
    assert "'foo'" in ran.stderr and "staircase" in ran.stderr
    ran = bench.run("staircsae", "127.0.0.1")
    assert ran.returncode == 2
    assert "'staircsae'" in ran.stderr and "did you mean staircase" in ran.stderr


def test_a_server_that_wants_a_certificate(bench, server, certs):
    target = server(http(), "--client-verify", "required", "--client-verify-ca", certs.ecdsa.cert)
    said = refused(bench, target.address, code=1)
    assert "certificate_required" in said and "--cert" in said


def test_the_fragment_of_an_address_stays_here(bench, server):
    asked = []

    def handle(upstream):
        asked.append(upstream.socket.recv(1 << 16).split(b"\r\n")[0])
        upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        upstream.end()

    target = server(handle)
    bench.load("-n", 1, "--no-preflight", f"https://{target.address}/page?a=b#part")
    assert asked == [b"GET /page?a=b HTTP/1.1"]


SUBCOMMANDS = (
    "load", "staircase", "transfer", "idle", "probe", "merge", "report", "compare", "serve"
)


@pytest.mark.parametrize("subcommand", SUBCOMMANDS)
def test_help_teaches(bench, subcommand):
    """The help has examples, and every option in them is one of the subcommand's."""
    ran = bench.run(subcommand, "--help")
    assert ran.returncode == 0
    _, examples = ran.stdout.split("Examples:")
    assert f"  cleat-bench {subcommand} " in examples
    assert not re.search(r"  cleat-bench (?!" + subcommand + " )", examples)
    for option in re.findall(r" (--[a-z-]+)", examples):
        assert option in ran.stdout.split("Examples:")[0], option


def test_the_programs_own_help(bench):
    ran = bench.run("--help")
    assert ran.returncode == 0
    assert all(f"  {each} " in ran.stdout for each in SUBCOMMANDS)
    assert "cleat-bench 0." in bench.run("--version").stdout


@pytest.mark.parametrize(
    "words",
    [["load", "--json", ""], ["load", "--raw", ""], ["load", "--phases", ""],
     ["load", "--expect-size", ""], ["load", "--alpn", ""], ["staircase", "--html", ""],
     ["probe", "--ca", ""], ["compare", "--servers", ""]],
    ids=lambda words: f"{words[0]} {words[1]}",
)  # fmt: skip
def test_a_word_that_is_empty_is_nobodys_wish(bench, words):
    """An empty word is a variable of the shell that is not set: the run would have no result."""
    target = [] if words[0] == "compare" else ["localhost:1"]
    ran = bench.run(*words, *target)
    assert ran.returncode == 2
    assert f"{words[1]}: the word for it is empty" in ran.stderr


def test_what_is_no_number_is_no_ratio(bench):
    assert "--resume-ratio nan" in refused(bench, "--resume-ratio", "nan", "localhost:1")


def test_a_folder_is_no_file(bench):
    for code, *words in ((2, "load", "--raw-file", "/tmp"), (1, "probe", "--ca", "/tmp"),
                         (1, "merge", "/tmp"), (1, "report", "--out", "r.html", "/tmp"),
                         (2, "compare", "--scenario", "/tmp")):
        target = ["127.0.0.1:1"] if words[0] in ("load", "probe") else []
        ran = bench.run(*words, *target)
        assert ran.returncode == code
        assert "/tmp: is a folder" in ran.stderr, ran.stderr


def test_a_header_that_is_given_is_the_only_one_of_its_name(bench, server):
    heads = []

    def handle(upstream):
        heads.append(upstream.socket.recv(1 << 16))
        upstream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        upstream.end()

    bench.load("-n", 1, "--no-preflight", "--header", "host: example.org", "--header",
               "X-Mine: yes", server(handle).address)
    lines = heads[0].lower().split(b"\r\n")
    assert [line for line in lines if line.startswith(b"host:")] == [b"host: example.org"]
    assert b"x-mine: yes" in lines
    assert "write 'Name: value'" in refused(bench, "--header", ": x", "localhost:1")


def test_http_2_is_named_where_it_was_offered(bench, server):
    """This client speaks HTTP/1.1, and a server that agrees to h2 would answer in HTTP/2."""
    target = server(says(b"\x00\x00\x06\x04\x00\x00\x00\x00\x00"), "--alpn-protos", "h2,http/1.1")
    said = refused(bench, "-n", 1, "--alpn", "h2", target.address, code=1)
    assert "leave h2 out of --alpn" in said


def test_more_connections_than_may_be_open(bench):
    said = refused(bench, "-c", 10, "--in-flight", 2, "--workers", 2, "localhost:1")
    assert "--in-flight 2 for each of 2 workers" in said


def test_a_result_goes_into_a_pipe_of_which_somebody_reads(bench, server):
    """To open the pipe as a trial and to close it would be the end of the file for its reader."""
    os.mkfifo(bench.folder / "pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((bench.folder / "pipe").read_text()))
    reader.start()
    ran = bench.run("load", "-q", "-n", 3, "--json", "pipe", server(http()).address)
    reader.join(DEADLINE)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(got[0])["ok"] == 3


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
@pytest.mark.parametrize("what", ["load", "probe", "help"])
def test_what_did_not_reach_standard_output_is_an_error(bench, server, closed_port, what):
    words = {
        "load": ["load", "-q", "-n", "3", server(http()).address],
        "probe": ["probe", f"127.0.0.1:{closed_port}"],
        "help": ["--help"],
    }
    with open("/dev/full", "w") as full:
        command = [str(binary()), *words[what]]
        ran = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=DEADLINE
        )
    assert ran.returncode == 1
    assert "cleat-bench: standard output: " in ran.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
@pytest.mark.parametrize(
    "words", [["nope"], ["load", "127.0.0.1:1"], ["load", "-n", "1", "/nope"]], ids=" ".join
)
def test_a_failure_that_nobody_hears_ends_as_one_that_is_heard(bench, words):
    with open("/dev/full", "w") as full:
        unheard = subprocess.run(
            [str(binary()), *words], stdout=subprocess.DEVNULL, stderr=full, timeout=DEADLINE
        )
    assert unheard.returncode == bench.run(*words).returncode > 0
