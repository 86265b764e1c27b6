"""TLS 1.3 clients may change their keys in the middle, and ask for ours to change: data goes on."""

import subprocess

import pytest


def read_until(stream, word):
    """The output of a program up to the line with a word; its end is a failure."""
    for line in stream:
        if word in line:
            return
    raise AssertionError(f"it ended without {word}")


@pytest.mark.parametrize("letter", ["k", "K"], ids=["its own keys", "both"])
def test_data_goes_on_under_new_keys(cleat, letter):
    port = cleat().port
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_3"]
    client = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert client.stdin and client.stdout
    with client:
        for number in range(3):
            client.stdin.write(f"{letter}\n")
            client.stdin.flush()
            read_until(client.stdout, "KEYUPDATE")
            client.stdin.write(f"message {number}\n")
            client.stdin.flush()
            read_until(client.stdout, f"message {number}")
        client.stdin.close()
        assert client.wait(30) == 0
