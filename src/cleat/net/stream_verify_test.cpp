// A stream's own verification settings, in place of its context's.

#include <cleat/net/channel.hpp>
#include <cleat/net/handshakes_for_tests.hpp>
#include <cleat/tls/context.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace cleat::net::stream_verify_test {
namespace {

// Contexts that have authorities and verify nothing: only their streams' settings verify.
struct trusting
{
    trusting() : server{server_spec()}, client{client_spec()} {}

    static tls::context_spec server_spec()
    {
        test_chain const& made = chain_for_tests();
        tls::context_spec spec;
        spec.certificates.push_back({made.chain(), made.leaf.key_pem, "test"});
        spec.verify_authorities = made.root.certificate_pem;
        return spec;
    }
    static tls::context_spec client_spec(bool with_authorities = true)
    {
        tls::context_spec spec;
        spec.role = tls::role::client;
        if (with_authorities)
            spec.verify_authorities = chain_for_tests().root.certificate_pem;
        return spec;
    }
    static tls::context_spec client_with_certificate()
    {
        test_chain const& made = chain_for_tests();
        tls::context_spec spec = client_spec();
        spec.certificates.push_back({made.chain(), made.leaf.key_pem, "test"});
        return spec;
    }

    tls::context server;
    tls::context client;
};

TEST_CASE("a stream verifies what its context does not")
{
    trusting both;
    tls::context knows_nobody{trusting::client_spec(false)};
    auto const verify = [](plain_stream&, plain_stream& client) {
        client.set_verify_mode(verify_peer);
    };
    CHECK(meet(both.server, both.client).both());
    CHECK(meet(both.server, both.client, verify).both());
    CHECK(meet(both.server, knows_nobody).both());
    CHECK(meet(both.server, knows_nobody, verify).client == error::unknown_authority);
}

TEST_CASE("a stream accepts a peer that its context would refuse")
{
    trusting both;
    tls::context_spec spec = trusting::client_spec();
    spec.verify = tls::peer_verification::required;
    spec.server_name = "another.example";
    tls::context strict{spec};
    CHECK(meet(both.server, strict).client == error::wrong_name);
    CHECK(meet(both.server, strict, [](plain_stream&, plain_stream& client) {
              client.set_verify_mode(verify_none);
          }).both());
}

TEST_CASE("a server's stream asks its client for a certificate")
{
    trusting both;
    tls::context shows_one{trusting::client_with_certificate()};
    auto const ask = [](verify_mode mode) {
        return [mode](plain_stream& server, plain_stream&) { server.set_verify_mode(mode); };
    };
    CHECK(meet(both.server, both.client, ask(verify_peer)).both());
    CHECK(meet(both.server, shows_one, ask(verify_peer)).both());
    verify_mode const must = verify_peer | verify_fail_if_no_peer_cert | verify_client_once;
    CHECK(meet(both.server, both.client, ask(must)).server == error::no_client_certificate);
    CHECK(meet(both.server, shows_one, ask(must)).both());
}

TEST_CASE("a verify callback sees each certificate, and decides")
{
    trusting both;
    std::vector<std::string> seen;
    auto const look = [&seen](bool preverified, verify_context& context) {
        X509* const shown = X509_STORE_CTX_get_current_cert(context.native_handle());
        char name[100];
        X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name, sizeof name);
        seen.emplace_back(name);
        return preverified;
    };
    CHECK(meet(both.server, both.client, [&](plain_stream&, plain_stream& client) {
              client.set_verify_mode(verify_peer);
              client.set_verify_callback(look);
          }).both());
    CHECK(seen == std::vector<std::string>{"test root", "test intermediate", "test leaf"});

    tls::context knows_nobody{trusting::client_spec(false)};
    CHECK(meet(both.server, knows_nobody, [](plain_stream&, plain_stream& client) {
              client.set_verify_callback([](bool, verify_context&) { return true; });
              client.set_verify_mode(verify_peer);
          }).both());
}

TEST_CASE("a verify callback that returns false, or throws, takes effect without a mode too")
{
    trusting both;
    CHECK(meet(both.server, both.client, [](plain_stream&, plain_stream& client) {
              client.set_verify_callback([](bool, verify_context&) { return false; });
          }).client == error::bad_certificate);
    CHECK(meet(both.server, both.client, [](plain_stream&, plain_stream& client) {
              client.set_verify_callback(
                  [](bool, verify_context&) -> bool { throw std::runtime_error{"no"}; });
          }).client == error::bad_certificate);
    tls::context shows_one{trusting::client_with_certificate()};
    auto const refuse = [](plain_stream& server, plain_stream&) {
        server.set_verify_callback([](bool, verify_context&) { return false; });
    };
    CHECK(meet(both.server, shows_one, refuse).server == error::bad_certificate);
    CHECK(meet(both.server, both.client, refuse).both()); // It sends none, and need not.
}

TEST_CASE("the last callback counts, and it moves with its stream")
{
    trusting both;
    CHECK(meet(both.server, both.client, [](plain_stream&, plain_stream& client) {
              client.set_verify_callback([](bool, verify_context&) { return true; });
              client.set_verify_callback([](bool, verify_context&) { return false; });
              plain_stream moved = std::move(client);
              client = std::move(moved);
          }).client == error::bad_certificate);
}

TEST_CASE("a host's name is verified by a callback, as in Asio, or by the context")
{
    trusting both;
    auto const named = [&](std::string const& host) {
        return meet(both.server, both.client, [&](plain_stream&, plain_stream& client) {
            client.set_verify_mode(verify_peer);
            client.set_verify_callback(host_name_verification{host});
        });
    };
    CHECK(named("cleat.example").both());
    CHECK(named("CLEAT.example").both());
    CHECK(named("another.example").client == error::bad_certificate);
    CHECK(named("127.0.0.1").client == error::bad_certificate);
    CHECK(named("").client == error::bad_certificate);

    tls::context_spec spec = trusting::client_spec();
    spec.server_name = "another.example";
    tls::context by_name{spec};
    CHECK(meet(both.server, by_name, [](plain_stream&, plain_stream& client) {
              client.set_verify_mode(verify_peer);
          }).client == error::wrong_name);
}

TEST_CASE("a chain may be as long as the depth says")
{
    trusting both;
    auto const at_most = [&](int intermediates) {
        return meet(both.server, both.client, [=](plain_stream&, plain_stream& client) {
            client.set_verify_mode(verify_peer);
            client.set_verify_depth(intermediates);
        });
    };
    error_code const refused = at_most(0).client; // TLS libraries differ in the fault.
    CHECK((refused == error::bad_certificate || refused == error::unknown_authority));
    CHECK(at_most(1).both());
}

TEST_CASE("a setting that would have no effect is an error")
{
    trusting both;
    boost::asio::io_context io{1};
    auto ends = connected_pair(io);
    plain_stream client{std::move(ends.second), both.client};
    error_code ec;
    CHECK(client.set_verify_mode(8, ec) == error::bad_verify_setting);
    CHECK(client.set_verify_mode(verify_fail_if_no_peer_cert, ec));
    CHECK(client.set_verify_depth(-1, ec) == error::bad_verify_setting);
    CHECK_THROWS_AS(client.set_verify_mode(8), boost::system::system_error);
    CHECK(!client.set_verify_mode(verify_peer, ec));

    client.async_handshake(stream_base::client, [](error_code) {});
    CHECK(client.set_verify_mode(verify_none, ec) == error::handshake_begun);
    CHECK(client.set_verify_depth(1, ec) == error::handshake_begun);
    CHECK(
        client.set_verify_callback([](bool, verify_context&) { return true; }, ec) ==
        error::handshake_begun);
    client.lowest_layer().close();
    io.run();
}

// The outcome of a handshake with a client whose engine the test drives. The client also reads one
// byte, which comes behind the session ticket.
struct resumption
{
    error_code server;
    bool resumed = false;
    std::vector<tls::session> sessions;
};

template <class SetUp>
resumption resume(
    tls::context& server_context, tls::context& client_context,
    std::vector<tls::session> const& offered, SetUp set_up)
{
    boost::asio::io_context io{1};
    auto ends = connected_pair(io);
    plain_stream server{std::move(ends.first), server_context};
    set_up(server);
    resumption found;
    server.async_handshake(stream_base::server, [&](error_code ec) {
        found.server = ec;
        error_code ignored;
        if (!ec)
            server.write_some(boost::asio::buffer("x", 1), ignored);
    });
    channel client{client_context};
    if (!offered.empty())
        client.engine().resume(offered.back());
    int const fd = ends.second.native_handle();
    std::byte room[1];
    bool established = false;
    for (int turns = 0; turns < 20; ++turns) {
        if (!established)
            established = client.handshake(fd).next == wait::none;
        else
            static_cast<void>(client.read(fd, room, limits::record_max));
        io.restart();
        io.poll();
    }
    found.resumed = client.engine().info().resumed;
    found.sessions = client.engine().take_sessions();
    return found;
}

TEST_CASE("a server's stream with settings of its own resumes no session")
{
    // Else a client without a certificate could use a ticket of a stream that asked for none.
    tls::context_spec for_server = trusting::server_spec();
    for_server.tickets = std::make_shared<tls::ticket_secret const>();
    tls::context server{for_server};
    tls::context_spec for_client = trusting::client_spec();
    for_client.keep_sessions = true;
    for (tls::protocol_version const version :
         {tls::protocol_version::tls_1_2, tls::protocol_version::tls_1_3}) {
        for_client.version_max = version;
        tls::context client{for_client};
        auto const unchanged = [](plain_stream&) {};
        resumption const first = resume(server, client, {}, unchanged);
        REQUIRE(!first.sessions.empty());
        CHECK(resume(server, client, first.sessions, unchanged).resumed);
        resumption const strict = resume(server, client, first.sessions, [](plain_stream& s) {
            s.set_verify_mode(verify_peer | verify_fail_if_no_peer_cert);
        });
        CHECK(!strict.resumed);
        CHECK(strict.server == error::no_client_certificate);
    }
}

} // namespace
} // namespace cleat::net::stream_verify_test
