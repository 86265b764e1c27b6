// issued_session_for_tests: a session as a server gives it to a client.

#pragma once

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace cleat::tls {

/// issued_session is a new one of "a.test", of a handshake in memory.
inline session issued_session(protocol_version version = protocol_version::tls_1_3)
{
    context_spec server;
    server.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
    server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{1}});
    context_spec client;
    client.role = role::client;
    client.server_name = "a.test";
    client.keep_sessions = true;
    client.version_min = client.version_max = version;
    context const server_context{server};
    context const client_context{client};
    engine_pair pair{server_context, client_context};
    REQUIRE(pair.established());
    std::vector<std::byte> text;
    write_all(pair.server, pair.client, pattern(10)); // The ticket comes before it.
    read_all(pair.client, pair.server, text);
    return pair.client.engine.take_sessions().front();
}

} // namespace cleat::tls
