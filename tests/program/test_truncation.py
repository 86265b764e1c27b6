"""A client's FIN without close_notify is a stream that may have been cut: the upstream gets what
came and the end, and the log tells it apart from a clean end, also at its default level."""

from tls_client import VERSIONS, TlsClient, only


@VERSIONS
def test_a_cut_stream_is_named(proxied, version):
    server, upstreams = proxied
    with TlsClient(server.port, only(version)) as client:
        upstream = upstreams.accept_from(client, b"half of")
        client.truncate()
        assert upstream.receive_to_end() == b""
        upstream.send(b"answer all the same")
        upstream.close()
        assert client.receive_to_end() == b"answer all the same"
    line = server.wait_for_log(event="connection-closed")
    assert (line["reason"], line["up_bytes"]) == ("client-truncated", "7")
    assert line["level"] == "warning"


@VERSIONS
def test_a_whole_stream_is_not(proxied, version):
    server, upstreams = proxied
    with TlsClient(server.port, only(version)) as client:
        client.send(b"all of it")
        client.close_notify()
        client.truncate()  # A FIN behind a close_notify is how it should be.
        upstream = upstreams.accept()
        assert upstream.receive_to_end() == b"all of it"
        upstream.close()
        assert client.receive_to_end() == b""
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"


def test_a_stream_cut_inside_a_record(proxied):
    server, upstreams = proxied
    with TlsClient(server.port) as client:
        upstream = upstreams.accept_from(client, b"whole")
        client.tls.write(b"cut")
        client.socket.sendall(client.outgoing.read()[:-1])
        client.truncate()
        assert upstream.receive_to_end() == b""  # Not one byte of a record that is not whole.
        upstream.close()
        assert client.receive_to_end() == b""  # A client that closes before it would reset.
    line = server.wait_for_log(event="connection-closed")
    assert (line["reason"], line["up_bytes"]) == ("client-truncated", "5")


def test_a_client_that_hangs_up_after_the_answer_is_no_concern(proxied):
    """Most HTTP clients do: the server has said that all is over, and they close."""
    server, upstreams = proxied
    with TlsClient(server.port) as client:
        upstream = upstreams.accept()
        upstream.send(b"answer")
        upstream.close()
        assert client.receive_to_end() == b"answer"
    assert server.wait_for_log(event="connection-closed")["reason"] == "done"
