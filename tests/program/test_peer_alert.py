"""Alerts that end a handshake or a connection have their name in the log, and are counted."""

import ssl

import pytest

from admin_client import LOCAL, admin_of
from tls_client import TLS_1_2, TLS_1_3, TlsClient


@pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3], ids=["1.2", "1.3"])
def test_a_client_that_does_not_trust_us(cleat, certs, version):
    server = cleat()
    strict = ssl.create_default_context()
    strict.minimum_version = strict.maximum_version = version
    with pytest.raises(ssl.SSLCertVerificationError):
        TlsClient(server.port, strict)
    line = server.wait_for_log(event="handshake-failed")
    assert (line["reason"], line.get("alert")) == ("peer-alert", "unknown_ca"), line
    assert line["certificate"] == str(certs.ecdsa.pem)
    # A library that mistook the alert for something else would report a misleading reason.
    assert "detail" not in line or "ALERT" in line["detail"].upper(), line


def test_an_alert_later_on(serve_lines):
    """An alert on an established connection is a failure of the client's, too."""
    server = serve_lines(f'admin = "{LOCAL}"')
    admin = admin_of(server)
    with TlsClient(server.port) as client:
        client.exchange(b"x")
        # cleat's bytes are damaged on their way; the client sends an alert.
        client.send(b"more")
        record = bytearray(client.socket.recv(1 << 16))
        record[-1] ^= 1
        client.incoming.write(bytes(record))
        with pytest.raises(ssl.SSLError):
            client.receive()
        client.push()
    line = server.wait_for_log(event="connection-closed")
    assert (line["reason"], line["error"]) == ("client-failed", "peer-alert")
    assert line["alert"] == "bad_record_mac"
    seen = admin.metrics()
    assert seen.value("cleat_connection_alerts_received_total", alert="bad_record_mac") == 1
    assert seen.sum("cleat_connection_alerts_sent_total") == 0
    assert seen.sum("cleat_handshake_alerts_received_total") == 0


def test_an_alert_of_ours_later_on(serve_lines):
    """Bytes of the client that are damaged on their way are answered by an alert."""
    server = serve_lines(f'admin = "{LOCAL}"')
    admin = admin_of(server)
    with TlsClient(server.port) as client:
        client.exchange(b"x")
        client.tls.write(b"more")
        record = bytearray(client.outgoing.read())
        record[-1] ^= 1
        client.socket.sendall(record)
        with pytest.raises(ssl.SSLError, match="(?i)bad.record.mac"):
            client.receive()
    line = server.wait_for_log(event="connection-closed")
    assert line["reason"] == "client-failed"
    seen = admin.metrics()
    assert seen.value("cleat_connection_alerts_sent_total", alert="bad_record_mac") == 1
    assert seen.sum("cleat_connection_alerts_received_total") == 0
