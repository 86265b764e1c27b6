// handshakes_for_tests: a handshake of two streams on a socket pair, and its outcome for each.

#pragma once

#include <cleat/net/stream.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <string>
#include <utility>

namespace cleat::net {

using plain_socket = boost::asio::local::stream_protocol::socket;
using plain_stream = stream<plain_socket>;

inline std::pair<plain_socket, plain_socket> connected_pair(boost::asio::io_context& io)
{
    std::pair<plain_socket, plain_socket> both{plain_socket{io}, plain_socket{io}};
    boost::asio::local::connect_pair(both.first, both.second);
    return both;
}

/// outcome is how a handshake ended for each side.
struct outcome
{
    error_code server;
    error_code client;

    /// both: no error on either side. In TLS 1.3 a client ends before its certificate is verified.
    [[nodiscard]] bool both() const { return !server && !client; }
};

/// meet makes a handshake. set_up may change the server's and the client's stream before it.
template <class SetUp>
outcome meet(tls::context& server_context, tls::context& client_context, SetUp set_up)
{
    boost::asio::io_context io{1};
    auto ends = connected_pair(io);
    plain_stream server{std::move(ends.first), server_context};
    plain_stream client{std::move(ends.second), client_context};
    set_up(server, client);
    outcome found;
    auto const note = [](error_code& side, plain_stream& s) {
        return [&side, &s](error_code ec) {
            side = ec;
            if (ec)
                s.lowest_layer().close();
        };
    };
    server.async_handshake(stream_base::server, note(found.server, server));
    client.async_handshake(stream_base::client, note(found.client, client));
    io.run();
    return found;
}

inline outcome meet(tls::context& server_context, tls::context& client_context)
{
    return meet(server_context, client_context, [](plain_stream&, plain_stream&) {});
}

/// test_chain is a peer's certificate under an intermediate under a root.
struct test_chain
{
    tls::test_identity root = tls::make_identity({.common_name = "test root", .authority = true});
    tls::test_identity middle = tls::make_identity(
        {.common_name = "test intermediate", .issuer = &root, .authority = true});
    tls::test_identity leaf = tls::make_identity(
        {.names = {"cleat.example"}, .common_name = "test leaf", .issuer = &middle});

    [[nodiscard]] std::string chain() const
    {
        return leaf.certificate_pem + middle.certificate_pem;
    }
};

inline test_chain const& chain_for_tests()
{
    static test_chain const made;
    return made;
}

} // namespace cleat::net
